"""Classify the errors of one HTTP request: retry it, fail it, change it, or stop the run.

`refusals.yaml` says what the messages of endpoints mean, with an example from each provider. Where
no row of it matches, the HTTP status decides.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from importlib import resources
from typing import Any, Final

from ufo.schemas.records import FILTERED, TRANSPORT, TRUNCATED
from ufo.transforms.llm.endpoint import NO_KEY, URL_VARIABLE, Endpoint

QUOTA: Final = "quota"
KEY: Final = "key"
UNLOADED: Final = "unloaded"
MODEL: Final = "model"
STREAM: Final = "stream"
THOUGHTS: Final = "thoughts"
CAP: Final = "cap"
OVERFLOW: Final = "overflow"
BUSY: Final = "busy"

LARGER: Final = (
    "ask for less at once with --formulation prompt or, where the server is yours, give it a "
    "larger context (OLLAMA_CONTEXT_LENGTH for Ollama, -c for llama.cpp, --max-model-len for vLLM)"
)
_KEY_LIKE = re.compile(
    r"\b(?:(?:sk|pk)[-_ ]|(?:key|Bearer)[-_ ](?=[\w.-]*[\d*]))[\w*.-]{6,}", re.IGNORECASE
)
_READ = 4000  # characters of an endpoint's message that are searched
_SHOWN = 300
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}
_MOMENT = 1e9  # a number of seconds above this is a time since the epoch, not a wait

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
    a retry, after `retry_after` seconds where the endpoint asks for that. A `final` one would occur
    for every further request. `kinds` are the kinds of the matching rows of `refusals.yaml`; the
    first decides. `overflow` is set where the request was too long for the model. `cap` is the
    highest token limit for a reply that the error names. `tokens` were used by a reply that could
    not be parsed.
    """

    message: str
    status: str
    _: KW_ONLY
    reason: str = TRANSPORT
    transient: bool = False
    final: bool = False
    retry_after: float | None = None
    kinds: tuple[str, ...] = ()
    request_id: str | None = None
    overflow: Overflow | None = None
    cap: int | None = None
    tokens: Tokens = (None, None)

    def __post_init__(self) -> None:
        super().__init__(self.message)

    @property
    def kind(self) -> str:
        """The kind of the error by the endpoint's message, "" where the message is unknown."""
        return self.kinds[0] if self.kinds else ""

    @property
    def refusal(self) -> bool:
        """Whether the error may be about a parameter, not about time, key, model or text."""
        return not (self.transient or self.final) and self.reason == TRANSPORT

    @property
    def unexplained(self) -> bool:
        """Whether the endpoint refused the request with a message that is not known."""
        return self.refusal and self.status in ("400", "413", "422")


def of_response(
    endpoint: Endpoint,
    key: str,
    status: int,
    headers: Mapping[str, str],
    payload: Any,
    now: float,
    inside: bool = False,
) -> SendError:
    """Return the error for a response of status 400 and above; `now` is seconds since the epoch.

    `inside` is for an error in a response of status 200, where `status` is the error's own.
    """
    words, codes, param = words_of(payload, key)
    kinds, numbers = known(status, f"{status} {codes} {param}: {words}")
    kind = kinds[0] if kinds else _by_status(status)
    if kind == _PATH and (endpoint.model in words or re.search(r"\bmodel\b", words, re.IGNORECASE)):
        kind = MODEL
    shown = f": {words[:_SHOWN]}" if words else ""
    said, where = f"{status}{shown}", endpoint.shown_url
    answered = f"{where} answered {'200 with the error ' if inside else ''}{said}"
    common: dict[str, Any] = {
        "status": str(status),
        "kinds": kinds or (kind,) * bool(kind),
        "request_id": headers.get("x-request-id"),
    }
    if kind in _REMEDIES:
        message = _REMEDIES[kind].format(
            said=said, where=where, key=endpoint.api_key_env, model=endpoint.model, url=URL_VARIABLE
        )
        if key == NO_KEY and kind == KEY:
            message = f"{where} wants a key: set {endpoint.api_key_env} ({said})"
        return SendError(message, final=True, **common)
    if kind == OVERFLOW:
        fields = _fields(payload)
        overflow = Overflow(
            _whole(fields.get("n_ctx")) or numbers.get("context"),
            _whole(fields.get("n_prompt_tokens")) or numbers.get("prompt"),
        )
        message = f"{answered}; {LARGER}"
        return SendError(message, reason=TRUNCATED, overflow=overflow, **common)
    if kind == BUSY:
        seconds = retry_after(headers, now)
        if seconds is None and status == 429:
            seconds = used_up(headers, now)
        return SendError(answered, transient=True, retry_after=seconds, **common)
    reason = FILTERED if kind == FILTERED else TRANSPORT
    return SendError(answered, reason=reason, cap=numbers.get("cap"), **common)


_FORBIDDEN: Final = "forbidden"
_PATH: Final = "path"
_REMEDIES: Final[Mapping[str, str]] = {
    QUOTA: "the quota of the key in {key} at {where} is spent ({said}); top it up, or set another "
    "key, and run the same command again",
    KEY: "{where} refused the key in {key}; set it to one that is valid there ({said})",
    _FORBIDDEN: "{where} answered {said}. The key in {key} may not use model {model!r}; name "
    "another with --model, or set another key",
    UNLOADED: "{where} has no model loaded ({said}); load {model!r} there, and run the same "
    "command again",
    MODEL: "{where} does not know the model {model!r} ({said})",
    _PATH: "there is no chat endpoint at {where} ({said}); check --base_url or {url}: most end in "
    "/v1",
}


def _by_status(status: int) -> str:
    """Return the kind of an error with an unknown message, "" for a refusal of the request."""
    if status in (408, 409, 425, 429) or status >= 500:
        return BUSY
    return {401: KEY, 402: QUOTA, 403: _FORBIDDEN, 404: _PATH, 405: _PATH}.get(status, "")


@dataclass(frozen=True, slots=True)
class _Row:
    kind: str
    pattern: re.Pattern[str]
    always: bool


@cache
def _rows() -> list[_Row]:
    import yaml  # not needed until an endpoint refuses something

    text = (resources.files(__package__) / "refusals.yaml").read_text(encoding="utf-8")
    rows = yaml.safe_load(text)
    return [
        _Row(row["kind"], re.compile(row["text"], re.IGNORECASE), row.get("always", False))
        for row in rows
    ]


def known(status: int, text: str) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the kinds of the rows that match an error, and the numbers that the first one reads:
    `context`, `prompt`, `cap`."""
    rows = (row for row in _rows() if row.always or status in (400, 413, 422))
    found = [(row.kind, match) for row in rows if (match := row.pattern.search(text))]
    if not found:
        return (), {}
    groups = found[0][1].groupdict()
    numbers = {
        name.rstrip("2"): int(value.replace(",", "")) for name, value in groups.items() if value
    }
    return tuple(dict.fromkeys(kind for kind, _ in found)), numbers


def _fields(payload: Any) -> Mapping[str, Any]:
    """Return the fields of an error: OpenAI's, or a list of it (Gemini), a text, or FastAPI's."""
    if isinstance(payload, list) and payload:
        payload = payload[0]
    error = payload.get("error", payload) if isinstance(payload, dict) else payload
    return error if isinstance(error, dict) else {"message": error}


def words_of(payload: Any, key: str) -> tuple[str, str, str]:
    """Return an error's message with its provider's (OpenRouter), its codes and parameter.

    The message is on one line, without the `key` and what else could be one.
    """
    fields = _fields(payload)
    metadata = fields.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    said = [fields.get("message") or fields.get("Message") or fields.get("detail") or payload, raw]
    codes = [fields.get(name) for name in ("code", "type", "status")]
    param = fields.get("param")
    return (
        ": ".join(text for text in (_clean(one, key) for one in said) if text),
        " ".join(code for code in codes if isinstance(code, str)),
        param if isinstance(param, str) else "",
    )


def _clean(message: Any, key: str) -> str:
    """Return a message on one line, without what could be a key."""
    if not isinstance(message, str):
        message = json.dumps(message, ensure_ascii=False) if message else ""
    line = " ".join(message[:_READ].split())
    if key != NO_KEY:
        line = line.replace(key, "***")
    return _KEY_LIKE.sub("***", line)


def inside(payload: Any) -> tuple[int, Any] | None:
    """Return the status and body of an error in a response of status 200, None without one.

    OpenRouter sends one in place of the choices, or in a choice.
    """
    if not isinstance(payload, dict):
        return None
    choices = payload.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    error = payload.get("error") or (choice.get("error") if isinstance(choice, dict) else None)
    if not error:
        return None
    code = str(error.get("code")) if isinstance(error, dict) else ""
    return int(code) if re.fullmatch("[45][0-9]{2}", code) else 400, {"error": error}


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) else None


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
    """Return the seconds until a used-up rate limit is reset, by `x-ratelimit-reset-…`. A limit is
    used up if `x-ratelimit-remaining-…` is 0; None without one."""
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
