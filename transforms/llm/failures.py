"""Classify the errors of one HTTP request: retry it, fail it, or stop the run.

Statuses and codes are those of the OpenAI API's error reference. Other servers share the statuses
but not always the codes, so the message is matched where a code is missing.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final

from ufo.schemas.records import FILTERED, TRANSPORT, TRUNCATED
from ufo.transforms.llm.endpoint import NO_KEY, URL_VARIABLE, Endpoint

_SPENT = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "access_terminated",
}
_FILTERED = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
# Messages about unsupported parameters under a misleading status: llama.cpp answers 500 to tools
# (github.com/ggml-org/llama.cpp/issues/10920, github.com/defilantech/LLMKube/issues/126) and `n`,
# OpenRouter 404 where no provider of the model supports tools.
_UNSUPPORTED = re.compile(
    r"unsupported param|requires --jinja|only one completion choice|endpoints found that support",
    re.IGNORECASE,
)
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|Bearer)[-_ ][\w*.-]{6,}", re.IGNORECASE)
_LONGEST = 300
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}
_MOMENT = 1e9  # a number of seconds above this is a time since the epoch, not a wait

# Sources of the messages about a request that is too long (all on github.com):
# llama.cpp: ggml-org/llama.cpp/pull/15780, can1357/oh-my-pi/issues/556; and Ollama, which passes
# them on for some models: ollama/ollama/issues/17889;
# llama-cpp-python: run-llama/llama_index/issues/8046;
# vLLM: vllm-project/vllm/issues/20409, vllm-project/vllm/issues/42474,
# claude-code-best/claude-code/issues/272;
# LM Studio: lmstudio-ai/lmstudio-bug-tracker/issues/546, Gitlawb/openclaude/issues/353,
# anomalyco/opencode/issues/11141;
# OpenAI: The-Vibe-Company/quivr/issues/505, ChatGPTNextWeb/NextChat/issues/3195;
# Anthropic: stackblitz-labs/bolt.diy/issues/401.
LARGER: Final = (
    "give the server a larger context (OLLAMA_CONTEXT_LENGTH for Ollama, -c for llama.cpp, "
    "--max-model-len for vLLM), or ask for less at once with --formulation prompt"
)
_CODES: Final = {"context_length_exceeded", "exceed_context_size_error"}
_OVERFLOW: Final = re.compile(
    r"context[ _](length|window|size)|maximum context|prompt is too long|too many (input )?tokens|"
    r"\bn_ctx\b",
    re.IGNORECASE,
)
_CONTEXT: Final = re.compile(
    r"context[ _](?:length|window|size)[^\d.;:]{0,24}?(\d+)|\bn_ctx\W{1,4}(\d+)|(\d+) maximum\b",
    re.IGNORECASE,
)
# vLLM's "at least … input tokens" is the context minus the reply's limit, not a count.
_PROMPT: Final = re.compile(
    r"resulted in (\d+)|(\d+) in (?:the messages|the prompt|your prompt)|request \((\d+) tokens|"
    r"request has (\d+) input|\bn_keep\W{1,4}(\d+)|keep the first (\d+)|"
    r"requested tokens \((\d+)|too long: (\d+)",
    re.IGNORECASE,
)

Tokens = tuple[int | None, int | None]
"""The tokens of a request's prompt and of its reply, None where unknown."""


@dataclass(frozen=True, slots=True)
class Overflow:
    """The tokens of the model's context and of the prompt that an error names, else None."""

    context: int | None = None
    prompt: int | None = None


@dataclass(eq=False)
class SendError(Exception):
    """An HTTP request that got no usable reply.

    `status` is the HTTP status, or `timeout`, `connection`, `garbled`. A `transient` error is worth
    a retry, after `retry_after` seconds where the endpoint asks for that; a `final` one would meet
    every further request as well. `param` is the parameter that the error names, `overflow` is set
    where the request was too long for the model. `tokens` are those of a reply that could not be
    parsed.
    """

    message: str
    status: str
    _: KW_ONLY
    reason: str = TRANSPORT
    transient: bool = False
    final: bool = False
    retry_after: float | None = None
    param: str | None = None
    request_id: str | None = None
    overflow: Overflow | None = None
    tokens: Tokens = (None, None)

    def __post_init__(self) -> None:
        super().__init__(self.message)


def of_response(
    endpoint: Endpoint,
    key: str,
    status: int,
    headers: Mapping[str, str],
    payload: Any,
    now: float,
) -> SendError:
    """Return the error for a response of status 400 and above; `now` is seconds since the epoch."""
    error = payload.get("error", payload) if isinstance(payload, dict) else payload
    fields: Mapping[str, Any] = error if isinstance(error, dict) else {"message": error}
    message = _shown(fields.get("message") or fields.get("detail") or payload, key)
    codes = {str(fields.get(name) or "").lower() for name in ("code", "type")}
    param = fields.get("param")
    where = endpoint.shown_url
    answered = f"{where} answered {status}" + (f": {message}" if message else "")
    common: dict[str, Any] = {
        "status": str(status),
        "param": param if isinstance(param, str) else None,
        "request_id": headers.get("x-request-id"),
    }
    if status == 401:
        return SendError(_key_refused(endpoint, key), final=True, **common)
    if status == 402 or codes & _SPENT:
        return SendError(
            f"the quota of the key in {endpoint.api_key_env} at {where} is spent ({status}); "
            "top it up, or set another key, and run the same command again",
            final=True,
            **common,
        )
    if status == 403:
        return SendError(
            f"{answered}. The key in {endpoint.api_key_env} may not use model {endpoint.model!r}; "
            "name another with --model, or set another key",
            final=True,
            **common,
        )
    if status not in (400, 429) and _UNSUPPORTED.search(message):
        return SendError(answered, **common)
    if status in (404, 405):
        return SendError(_not_found(endpoint, codes, message, status), final=True, **common)
    overflow = overflow_of(status, codes, fields, message)
    if overflow is not None:
        message = f"{answered}; {LARGER}"
        return SendError(message, reason=TRUNCATED, overflow=overflow, **common)
    if status in (408, 409, 425, 429) or status >= 500:
        seconds = retry_after(headers, now)
        if seconds is None and status == 429:
            seconds = used_up(headers, now)
        return SendError(answered, transient=True, retry_after=seconds, **common)
    if codes & _FILTERED:
        return SendError(answered, reason=FILTERED, **common)
    return SendError(answered, **common)


def overflow_of(
    status: int, codes: Collection[str], fields: Mapping[str, Any], message: str
) -> Overflow | None:
    """Return the sizes that a "request too long" error names, None for any other error."""
    if status == 429 or not (
        status == 413 or not _CODES.isdisjoint(codes) or _OVERFLOW.search(message)
    ):
        return None

    def number(name: str, pattern: re.Pattern[str]) -> int | None:
        if isinstance(fields.get(name), int):
            return int(fields[name])
        match = pattern.search(message)
        return int(next(filter(None, match.groups()))) if match else None

    return Overflow(number("n_ctx", _CONTEXT), number("n_prompt_tokens", _PROMPT))


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds to wait by `retry-after` (RFC 9110, 10.2.3) or `retry-after-ms`."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        return max(parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now, 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def used_up(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds until a rate limit is reset that `x-ratelimit-remaining-…: 0` says is used
    up, by `x-ratelimit-reset-…`; None where no limit is used up."""
    waits = [
        _seconds(headers.get(f"x-ratelimit-reset-{what}", ""), now)
        for what in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{what}", "").strip() == "0"
    ]
    return max(waits, default=0.0) or None


def _seconds(text: str, now: float) -> float:
    """Parse `20ms`, `6m0.5s`, a number of seconds, or a time since the epoch; 0 otherwise."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|[dhms]|)", text.strip())
    if not parts or "".join(map("".join, parts)) != text.strip():
        return 0.0
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    return max(seconds - now, 0.0) if seconds > _MOMENT else seconds


def _key_refused(endpoint: Endpoint, key: str) -> str:
    # The server's message is left out: some contain the key.
    if key == NO_KEY:
        return f"{endpoint.shown_url} wants a key (401): set {endpoint.api_key_env}"
    return (
        f"{endpoint.shown_url} refused the key in {endpoint.api_key_env} (401); "
        "set it to one that is valid there"
    )


def _not_found(endpoint: Endpoint, codes: set[str], message: str, status: int) -> str:
    model_unknown = "model_not_found" in codes or (
        endpoint.model in message or re.search(r"\bmodel\b", message, re.IGNORECASE)
    )
    if model_unknown:
        return f"{endpoint.shown_url} does not know the model {endpoint.model!r} ({status})"
    return (
        f"there is no chat endpoint at {endpoint.shown_url} ({status}); check --base_url or "
        f"{URL_VARIABLE}: most end in /v1"
    )


def _shown(message: Any, key: str) -> str:
    """Return the endpoint's message on one line, without what could be a key."""
    if not isinstance(message, str):
        message = json.dumps(message, ensure_ascii=False) if message else ""
    line = " ".join(message.split())
    if key != NO_KEY:
        line = line.replace(key, "***")
    return _KEY_LIKE.sub("***", line)[:_LONGEST]
