"""Servers as people run them: what each takes, passes over and refuses, in its own words.

The words are those of public issues, which are named beside them.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from .chat import IGNORED, REJECTED, Switches
from .errors import ApiError

_TABLE = Path(__file__).parents[2] / "transforms" / "llm" / "refusals.yaml"


def _ollama(message: str) -> ApiError:
    return ApiError(400, message, "api_error")


def _lmstudio(message: str) -> ApiError:
    return ApiError(400, message, body={"error": message})


def _llamacpp(
    message: str, status: int = 500, kind: str = "server_error", **numbers: int
) -> ApiError:
    error = {"code": status, "message": message, "type": kind, **numbers}
    return ApiError(status, message, body={"error": error})


def _vllm(message: str) -> ApiError:
    body = {
        "object": "error",
        "message": message,
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    }
    return ApiError(400, message, body=body)


PROFILES: Mapping[str, Switches] = {
    "openai": Switches(),
    # A model without a template for tools: github.com/pydantic/pydantic-ai/issues/703. Fields that
    # Ollama does not know are passed over: docs/openai.md in github.com/ollama/ollama. A prompt
    # that is longer than its context of 4,096 is cut: github.com/ollama/ollama/issues/17889, which
    # also has a model whose runner refuses it, as llama.cpp's server does.
    "ollama": Switches(
        tools=REJECTED,
        n=IGNORED,
        logprobs=IGNORED,
        max_completion_tokens=IGNORED,
        json_object_schema=IGNORED,
        context=4096,
        cuts=True,
        refusals={"tools": _ollama("registry.ollama.ai/library/llama3:8b does not support tools")},
    ),
    # tool_choice: github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670; response_format:
    # github.com/LoadShine/tada/issues/16; the context: github.com/Gitlawb/openclaude/issues/353.
    # What it enforces is a json_schema: lmstudio.ai/docs/advanced/structured-output.
    "lmstudio": Switches(
        tool_choice=REJECTED,
        strict=IGNORED,
        n=IGNORED,
        logprobs=IGNORED,
        json_object=REJECTED,
        json_object_schema=REJECTED,
        context=4096,
        too_long=lambda context, prompt, _: _lmstudio(
            "The number of tokens to keep from the initial prompt is greater than the context "
            f"length (n_keep: {prompt}>= n_ctx: {context}). Try to load the model with a larger "
            "context length, or provide a shorter input."
        ),
        refusals={
            "tool_choice": _lmstudio(
                "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"
            ),
            **dict.fromkeys(
                ("json_object", "json_object_schema"),
                _lmstudio("'response_format.type' must be 'json_schema' or 'text'"),
            ),
        },
    ),
    # Started without --jinja: github.com/containers/ramalama/issues/988. The context:
    # github.com/can1357/oh-my-pi/issues/556, with the numbers of
    # github.com/ggml-org/llama.cpp/pull/15780. `n`: the file tools/server/utils.hpp in
    # github.com/ggml-org/llama.cpp.
    "llamacpp": Switches(
        tools=REJECTED,
        n=REJECTED,
        context=4096,
        too_long=lambda context, prompt, _: _llamacpp(
            f"request ({prompt} tokens) exceeds the available context size ({context} tokens), try "
            "increasing it",
            400,
            "exceed_context_size_error",
            n_prompt_tokens=prompt,
            n_ctx=context,
        ),
        refusals={
            "tools": _llamacpp("tools param requires --jinja flag"),
            "n": _llamacpp("Only one completion choice is allowed"),
        },
    ),
    # Before 0.6.4: github.com/vllm-project/vllm/issues/10078. The context:
    # github.com/meta-llama/llama-verifications/issues/58.
    "vllm": Switches(
        max_completion_tokens=REJECTED,
        context=8192,
        counts_limit=True,
        too_long=lambda context, prompt, allowed: _vllm(
            f"This model's maximum context length is {context} tokens. However, you requested "
            f"{prompt + allowed} tokens ({prompt} in the messages, {allowed} in the completion). "
            "Please reduce the length of the messages or completion."
        ),
        refusals={
            "max_completion_tokens": _vllm(
                "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), "
                "'msg': 'Extra inputs are not permitted', 'input': 1024}]"
            )
        },
    ),
}


def refusals() -> list[dict[str, Any]]:
    """The rows of the table of what providers say, with their examples."""
    rows: list[dict[str, Any]] = yaml.safe_load(_TABLE.read_text(encoding="utf-8"))
    return rows


def of_example(kind: str, example: Mapping[str, Any]) -> Switches:
    """A server that refuses what this kind is about, in the words of an example of the table."""

    def error(**numbers: int) -> ApiError:
        text = str(example["says"])
        for name, number in numbers.items():
            text = text.replace(str(example.get(name, "?")), str(number))
        codes, status = example.get("codes"), example.get("status", 400)
        return ApiError(status, text, code=codes, param=example.get("param"))

    if kind == "overflow":
        return Switches(
            context=2000, too_long=lambda context, prompt, _: error(context=context, prompt=prompt)
        )
    if kind == "cap":
        return Switches(cap=1500, capped=lambda _, cap: error(cap=cap))
    if kind == "schema":
        return Switches(grammar='"$ref"', refusals={"grammar": error()})
    refused = {"limit": "max_tokens", "format": "response_format"}.get(kind, kind)
    if kind == "stream":
        return Switches(streams=True, refusals={"stream": error()})
    if kind == "temperature":
        return Switches(temperature_fixed=True)
    if kind in ("tools", "tool_choice", "strict", "limit", "logprobs", "n"):
        changes: dict[str, Any] = {refused: REJECTED}
        return replace(Switches(refusals={refused: error()}), **changes)
    if kind == "format":
        return Switches(
            tools=REJECTED, response_format=REJECTED, refusals={"response_format": error()}
        )
    return Switches(fails=error())
