"""Recognise what endpoints say of a request that is longer than the model's context.

Where these words are from (all on github.com):
llama.cpp: ggml-org/llama.cpp/pull/15780, can1357/oh-my-pi/issues/556; and Ollama, which passes them
on for some models: ollama/ollama/issues/17889;
llama-cpp-python: run-llama/llama_index/issues/8046;
vLLM: vllm-project/vllm/issues/20409, vllm-project/vllm/issues/42474,
claude-code-best/claude-code/issues/272;
LM Studio: lmstudio-ai/lmstudio-bug-tracker/issues/546, Gitlawb/openclaude/issues/353,
anomalyco/opencode/issues/11141;
OpenAI: The-Vibe-Company/quivr/issues/505, ChatGPTNextWeb/NextChat/issues/3195;
Anthropic: stackblitz-labs/bolt.diy/issues/401.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

LARGER: Final = (
    "give the server a larger context (OLLAMA_CONTEXT_LENGTH for Ollama, -c for llama.cpp, "
    "--max-model-len for vLLM), or ask for less at once with --formulation prompt"
)
_CODES: Final = {"context_length_exceeded", "exceed_context_size_error"}
_SAID: Final = re.compile(
    r"context[ _](length|window|size)|maximum context|prompt is too long|too many (input )?tokens|"
    r"\bn_ctx\b",
    re.IGNORECASE,
)
_CONTEXT: Final = re.compile(
    r"context[ _](?:length|window|size)[^\d.;:]{0,24}?(\d+)|\bn_ctx\W{1,4}(\d+)|(\d+) maximum\b",
    re.IGNORECASE,
)
# What vLLM calls "at least … input tokens" is what the reply's limit left, and no count.
_PROMPT: Final = re.compile(
    r"resulted in (\d+)|(\d+) in (?:the messages|the prompt|your prompt)|request \((\d+) tokens|"
    r"request has (\d+) input|\bn_keep\W{1,4}(\d+)|keep the first (\d+)|"
    r"requested tokens \((\d+)|too long: (\d+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Overflow:
    """The tokens of the model's context and of the prompt, None where they were not said."""

    context: int | None = None
    prompt: int | None = None


def overflow_of(
    status: int, codes: Collection[str], fields: Mapping[str, Any], message: str
) -> Overflow | None:
    """Return what an error says of the context, None where it is about something else."""
    if status == 429 or not (
        status == 413 or not _CODES.isdisjoint(codes) or _SAID.search(message)
    ):
        return None

    def number(name: str, pattern: re.Pattern[str]) -> int | None:
        if isinstance(fields.get(name), int):
            return int(fields[name])
        found = pattern.search(message)
        return int(next(filter(None, found.groups()))) if found else None

    return Overflow(number("n_ctx", _CONTEXT), number("n_prompt_tokens", _PROMPT))
