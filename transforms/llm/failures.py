"""Classify the errors of one HTTP request: try again, pass on, or stop the run.

The statuses and codes are those of the OpenAI API's error reference; other servers share the
statuses and not always the codes, so messages are looked at where a code is missing.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final

from schemas.records import FILTERED, TRANSPORT, TRUNCATED
from transforms.llm.endpoint import NO_KEY, URL_VARIABLE, Endpoint

_SPENT = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "access_terminated",
}
_FILTERED = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
# What a server cannot do, under a status that says something else. llama.cpp answers 500 to tools
# (github.com/ggml-org/llama.cpp/issues/10920, github.com/defilantech/LLMKube/issues/126) and `n`,
# OpenRouter 404 where no provider of the model has tools.
_UNSUPPORTED = re.compile(
    r"unsupported param|requires --jinja|only one completion choice|endpoints found that support",
    re.IGNORECASE,
)
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|Bearer)[-_ ][\w*.-]{6,}", re.IGNORECASE)
_LONGEST = 300
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}
_MOMENT = 1e9  # so many seconds are a moment since the epoch, and no wait

# Where the words about a request that is too long are from (all on github.com):
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

Tokens = tuple[int | None, int | None]
"""Those of a request's prompt and of its reply, None where they are not known."""


@dataclass(frozen=True, slots=True)
class Overflow:
    """The tokens of the model's context and of the prompt, None where they were not said."""

    context: int | None = None
    prompt: int | None = None


class SendError(Exception):
    """One request that got no usable reply.

    `status` is the HTTP status, or `timeout`, `connection`, `garbled`. `transient` errors are worth
    another try, after `retry_after` seconds where the endpoint said so; `final` ones every further
    request would meet as well. `param` is the parameter that the endpoint objected to, `overflow`
    what it said where the request was too long for the model. `tokens` are those of a reply that
    could not be read.
    """

    def __init__(
        self,
        message: str,
        status: str,
        *,
        reason: str = TRANSPORT,
        transient: bool = False,
        final: bool = False,
        retry_after: float | None = None,
        param: str | None = None,
        request_id: str | None = None,
        overflow: Overflow | None = None,
        tokens: Tokens = (None, None),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.reason = reason
        self.transient = transient
        self.final = final
        self.retry_after = retry_after
        self.param = param
        self.request_id = request_id
        self.overflow = overflow
        self.tokens = tokens


def of_response(
    endpoint: Endpoint,
    key: str,
    status: int,
    headers: Mapping[str, str],
    payload: Any,
    now: float,
) -> SendError:
    """Return what a response of status 400 and above means; `now` is seconds since the epoch."""
    error = payload.get("error", payload) if isinstance(payload, dict) else payload
    fields: Mapping[str, Any] = error if isinstance(error, dict) else {"message": error}
    message = _shown(fields.get("message") or fields.get("detail") or payload, key)
    codes = {str(fields.get(name) or "").lower() for name in ("code", "type")}
    param = fields.get("param")
    where = endpoint.shown_url
    said = f"{where} answered {status}" + (f": {message}" if message else "")
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
            f"{said}. The key in {endpoint.api_key_env} may not use model {endpoint.model!r}; "
            "name another with --model, or set another key",
            final=True,
            **common,
        )
    if status not in (400, 429) and _UNSUPPORTED.search(message):
        return SendError(said, **common)
    if status in (404, 405):
        return SendError(_not_found(endpoint, codes, message, status), final=True, **common)
    overflow = overflow_of(status, codes, fields, message)
    if overflow is not None:
        message = f"{said}; {LARGER}"
        return SendError(message, reason=TRUNCATED, overflow=overflow, **common)
    if status in (408, 409, 425, 429) or status >= 500:
        asked = retry_after(headers, now)
        if asked is None and status == 429:
            asked = used_up(headers, now)
        return SendError(said, transient=True, retry_after=asked, **common)
    if codes & _FILTERED:
        return SendError(said, reason=FILTERED, **common)
    return SendError(said, **common)


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


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that the endpoint asks to wait: RFC 9110, 10.2.3, or in milliseconds."""
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
    """Return the seconds until a budget is filled again of which the endpoint says nothing is left
    (`x-ratelimit-remaining-…: 0` and `x-ratelimit-reset-…`), None where there is none."""
    waits = [
        _seconds(headers.get(f"x-ratelimit-reset-{what}", ""), now)
        for what in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{what}", "").strip() == "0"
    ]
    return max(waits, default=0.0) or None


def _seconds(text: str, now: float) -> float:
    """Read `20ms`, `6m0.5s`, a number of seconds, or a moment since the epoch; else 0."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|[dhms]|)", text.strip())
    if not parts or "".join(map("".join, parts)) != text.strip():
        return 0.0
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    return max(seconds - now, 0.0) if seconds > _MOMENT else seconds


def _key_refused(endpoint: Endpoint, key: str) -> str:
    # The server's own words are left out: some repeat the key.
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
    """The endpoint's words on one line, without what could be a key."""
    if not isinstance(message, str):
        message = json.dumps(message, ensure_ascii=False) if message else ""
    line = " ".join(message.split())
    if key != NO_KEY:
        line = line.replace(key, "***")
    return _KEY_LIKE.sub("***", line)[:_LONGEST]
