"""Where servers state the size of a model's context, each in its own way.

The shapes are those of the servers' own documents: `api.md` of Ollama, `tools/server/README.md` of
llama.cpp, the REST API of LM Studio, `max_model_len` of vLLM and SGLang, `/info` of TGI, and the
lists of models of OpenRouter, Groq and Mistral.
"""

from collections.abc import Callable, Mapping
from typing import Any


def _listed(**fields: Any) -> Callable[[str, int], Mapping[str, Any]]:
    """A list of two models, of which the second is the one asked for."""

    def answer(model: str, context: int) -> Mapping[str, Any]:
        own = {name: context if value is None else value for name, value in fields.items()}
        return {"data": [{"id": "another", "object": "model"}, {"id": model, **own}]}

    return answer


def _shown(model: str, context: int) -> Mapping[str, Any]:
    return {"parameters": f'stop    "<|eot_id|>"\nnum_ctx    {context}', "model_info": {}}


# The name of a way, and the route and answer of it.
STATEMENTS: Mapping[str, tuple[tuple[str, str], Callable[[str, int], Any]]] = {
    "vllm": (("GET", "/v1/models"), _listed(max_model_len=None)),
    "openrouter": (("GET", "/v1/models"), _listed(context_length=None, created=1722470400)),
    "together": (
        ("GET", "/v1/models"),
        lambda model, context: [{"id": "another"}, {"id": model, "context_length": context}],
    ),
    "novita": (("GET", "/v1/models"), _listed(context_size=None)),
    "litellm": (("GET", "/v1/models"), _listed(max_input_tokens=None)),
    "groq": (("GET", "/v1/models"), _listed(context_window=None, max_completion_tokens=128)),
    "mistral": (("GET", "/v1/models"), _listed(max_context_length=None)),
    "llamacpp": (
        ("GET", "/props"),
        lambda _, context: {
            "default_generation_settings": {"id": 0, "n_ctx": context, "params": {"n_predict": -1}},
            "total_slots": 1,
        },
    ),
    "lmstudio": (
        ("GET", "/api/v0/models"),
        _listed(loaded_context_length=None, max_context_length=131072, state="loaded"),
    ),
    "ollama": (
        ("GET", "/api/ps"),
        lambda model, context: {
            "models": [{"name": f"{model}:latest", "model": model, "context_length": context}]
        },
    ),
    "ollama show": (("POST", "/api/show"), _shown),
    "ollama model": (
        ("POST", "/api/show"),
        lambda _, context: {"model_info": {"llama.context_length": context, "llama.rope": 128}},
    ),
    "tabbyapi": (
        ("GET", "/v1/model"),
        lambda model, context: {"id": model, "parameters": {"max_seq_len": context, "rope": 1.0}},
    ),
    "koboldcpp": (
        ("GET", "/api/extra/true_max_context_length"),
        lambda _, context: {"value": context},
    ),
    "tgi": (("GET", "/info"), lambda _, context: {"max_total_tokens": context, "model_id": "x"}),
}
