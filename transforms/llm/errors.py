"""Classify the errors of one HTTP request: retry it, fail it, change it, or stop the run.

`refusals.yaml` says what the messages of endpoints mean, with an example from each provider. Where
no row of it matches, the HTTP status decides. `remedies.yaml` says what the user can do.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cache
from html import unescape
from importlib import resources
from typing import Any, Final

from ufo.schemas.records import FILTERED, TRANSPORT, TRUNCATED
from ufo.transforms.llm.endpoint import NO_KEY, URL_VARIABLE, Endpoint
from ufo.transforms.llm.waits import per_minute, wait_asked_for

KEY: Final = "key"
MODEL: Final = "model"
STREAM: Final = "stream"
THOUGHTS: Final = "thoughts"
CAP: Final = "cap"
OVERFLOW: Final = "overflow"
BUSY: Final = "busy"
FORBIDDEN: Final = "forbidden"
PAGE: Final = "page"
_PATH: Final = "path"

LARGER: Final = (
    "ask for less at once with --formulation prompt or, where the server is yours, give it a "
    "larger context (OLLAMA_CONTEXT_LENGTH for Ollama, -c for llama.cpp, --max-model-len for vLLM)"
)
_KEY_LIKE = re.compile(
    r"\b(?:(?:sk|pk)[-_ ]|(?:key|Bearer)[-_ ](?=[\w.-]*[\d*]))[\w*.-]{6,}", re.IGNORECASE
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"https?://\S+")
_QUOTAS = re.compile(r'"(?:quotaId|reason)": "([^"]+)"')  # Google's names of limits
_PARTICULAR = re.compile(r"\"[^\"]*\"|(?<!\w)'[^']*'|`[^`]*`|\S*\d\S*|\b[\w-]{24,}\b")
_READ = 4000  # characters of an endpoint's message that are searched
_SHOWN = 300
_SECRET = 8  # characters of the shortest key that is a secret
_SAID = re.compile(
    r"(?:error_?|status_)?(?:message|msg|description)|details?|reason|title|errors?", re.IGNORECASE
)
_CODES = ("code", "type", "status", "status_code", "http_code")

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
    highest token limit for a reply that the error names, `per_minute` the number of requests a
    minute that are allowed, and `words` the endpoint's words. `tokens` were used by a reply that
    could not be parsed. The request waited for its turn for `queued` seconds.
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
    per_minute: int | None = None
    words: str | None = None
    tokens: Tokens = (None, None)
    queued: float = 0.0

    def __post_init__(self) -> None:
        super().__init__(self.message)

    @property
    def kind(self) -> str:
        """The kind of the error by the endpoint's message, "" where the message is unknown."""
        return self.kinds[0] if self.kinds else ""

    @property
    def refusal(self) -> bool:
        """Whether the error may be about a parameter, not about time, key, model or text."""
        own = self.reason == TRANSPORT and self.kind not in (FORBIDDEN, PAGE)
        return own and not (self.transient or self.final)

    @property
    def unexplained(self) -> bool:
        """Whether the endpoint refused the request with a message that is not known."""
        return self.refusal and self.status in ("400", "413", "422")

    @property
    def sameness(self) -> str:
        """The words by which refusals of several requests are compared, "" where they do not count.

        They have no numbers, ids and quotations. An error about one request, or one that passes,
        does not count.
        """
        refused = self.status.startswith("4") and not (self.transient or self.final)
        if self.words is None or not refused or self.reason != TRANSPORT:
            return ""
        if self.kind not in ("", FORBIDDEN):
            return ""
        return f"{self.status} {_PARTICULAR.sub('#', self.words.casefold())}"


def of_response(
    endpoint: Endpoint,
    key: str,
    status: int,
    headers: Mapping[str, str],
    payload: Any,
    now: float,
    inside: bool = False,
) -> SendError:
    """Return the error for a response of status 300 and above; `now` is seconds since the epoch.

    `inside` is for an error in a response of status 200, where `status` is the error's own.
    """
    words, codes, param = words_of(payload, key)
    kinds, numbers = match_refusals(status, f"{status} {codes} {param}: {_ADDRESS.sub('', words)}")
    kind = kinds[0] if kinds else _by_status(status, payload)
    if kind == _PATH and (endpoint.model in words or re.search(r"\bmodel\b", words, re.IGNORECASE)):
        kind = MODEL
    shown = f": {words[:_SHOWN]}" if words else ""
    reply, where = f"{status}{shown}", endpoint.shown_url
    answered = f"{where} answered {'200 with the error ' if inside else ''}{reply}"
    common: dict[str, Any] = {
        "status": str(status),
        # By its status alone an error says little of whether the endpoint is busy.
        "kinds": kinds or tuple({kind} - {"", BUSY}),
        "request_id": headers.get("x-request-id"),
        "words": words[:_SHOWN],
    }
    remedy = table("remedies")["kinds"].get("no key" if key == NO_KEY and kind == KEY else kind)
    if remedy:
        message = remedy.format(
            said=reply,
            where=where,
            key=endpoint.api_key_env,
            model=endpoint.model,
            url=URL_VARIABLE,
        )
        # A filter answers 403 for one text, so that status alone says nothing of the others.
        return SendError(message, final=kind != FORBIDDEN, **common)
    if kind == OVERFLOW:
        fields = _fields(payload)
        overflow = Overflow(
            _whole(fields.get("n_ctx")) or numbers.get("context"),
            _whole(fields.get("n_prompt_tokens")) or numbers.get("prompt"),
        )
        message = f"{answered}; {LARGER}"
        return SendError(message, reason=TRUNCATED, overflow=overflow, **common)
    if kind == BUSY:
        headers = {**headers, **_headers_inside(payload)}
        text = f"{words} {_json(payload)}"[:_READ]
        seconds = wait_asked_for(headers, text, now, limited=status == 429)
        common["per_minute"] = per_minute(words, headers, now)
        return SendError(answered, transient=True, retry_after=seconds, **common)
    reason = FILTERED if kind == FILTERED else TRANSPORT
    return SendError(answered, reason=reason, cap=numbers.get("cap"), **common)


def _by_status(status: int, payload: Any) -> str:
    """Return the kind of an error with an unknown message, "" for a refusal of the request."""
    kind: str = table("remedies")["statuses"].get(status, BUSY if status >= 500 else "")
    return PAGE if status < 400 or (kind == FORBIDDEN and is_page(payload)) else kind


@cache
def table(name: str) -> Any:
    """Return the table of this name beside this module."""
    import yaml  # not needed until an endpoint refuses something

    text = (resources.files(__package__) / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def match_refusals(status: int, text: str) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the kinds of the rows of `refusals.yaml` that match an error, and its numbers.

    The first row that matches reads the numbers: `context`, `prompt`, `cap`.
    """
    matches = [
        (row["kind"], match)
        for row in table("refusals")
        if (row.get("always") or status in (400, 413, 422))
        and (match := re.search(row["text"], text, re.IGNORECASE))
    ]
    if not matches:
        return (), {}
    groups = matches[0][1].groupdict()
    numbers = {
        name.rstrip("23"): int(value.replace(",", "")) for name, value in groups.items() if value
    }
    return tuple(dict.fromkeys(kind for kind, _ in matches)), numbers


def payload_of(text: str) -> Any:
    """Return the JSON of a response's body, else its text, such as a proxy's error page."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def is_page(payload: Any) -> bool:
    """Return whether a response's body is a web page."""
    return isinstance(payload, str) and re.match(r"\s*<[!?a-z]", payload, re.IGNORECASE) is not None


def _fields(payload: Any) -> Mapping[str, Any]:
    """Return the fields of an error in the form of OpenAI, Gemini (a list), FastAPI, or a text."""
    if isinstance(payload, list) and payload:
        payload = payload[0]
    if not isinstance(payload, dict):
        return {"message": payload}
    error, base = payload.get("error"), payload.get("base_resp")  # of MiniMax
    fields = error if isinstance(error, dict) else payload
    return {**fields, **base} if isinstance(base, dict) else fields


def words_of(payload: Any, key: str) -> tuple[str, str, str]:
    """Return an error's message, its codes and the parameter that it names.

    The message is on one line, without the `key` or what may be one. OpenRouter's has the message
    of its provider after it.
    """
    fields = _fields(payload)
    metadata = fields.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    messages = [_longest_text(fields) or payload, raw]
    codes = [str(fields[name]) for name in _CODES if isinstance(fields.get(name), str | int)]
    param = fields.get("param")
    return (
        ": ".join(filter(None, (_clean(message, key) for message in messages))),
        " ".join([*codes, *_QUOTAS.findall(_json(fields.get("details")))]),
        param if isinstance(param, str) else "",
    )


def _longest_text(value: Any) -> str:
    """Return the longest text for people in the fields of an error, at any depth."""
    if isinstance(value, list):
        return "; ".join(filter(None, map(_longest_text, value[:5])))
    if isinstance(value, dict):
        named = (below for name, below in value.items() if _SAID.fullmatch(name))
        return max(map(_longest_text, named), key=len, default="")
    return value if isinstance(value, str) else ""


def _clean(message: Any, key: str) -> str:
    """Return a message, or the title of a page, on one line and with `***` for keys."""
    if is_page(message):
        title = _TITLE.search(message)
        message = unescape(title[1]) if title else "a page without a title"
    line = " ".join((message if isinstance(message, str) else _json(message))[:_READ].split())
    if len(key) >= _SECRET:  # for a server without keys it may be a word such as "ollama"
        line = line.replace(key, "***")
    return _KEY_LIKE.sub("***", line)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if value else ""


def _headers_inside(payload: Any) -> dict[str, str]:
    """Return the headers of the provider's response, which OpenRouter puts into an error."""
    metadata = _fields(payload).get("metadata")
    headers = metadata.get("headers") if isinstance(metadata, dict) else None
    named = headers.items() if isinstance(headers, dict) else ()
    return {str(name).lower(): str(value) for name, value in named}


def error_inside(payload: Any) -> tuple[int, Any] | None:
    """Return the status and body of an error in a response of status 200, None without one.

    The error is in place of the choices, beside them, or in one of them. Words and codes beside
    choices are no error: good replies have them too.
    """
    if not isinstance(payload, dict):
        return None
    choices = payload.get("choices")
    parts = [payload, *(choices if isinstance(choices, list) else ())]
    error = next(filter(None, map(_error_in, parts)), None)
    if error is None and not choices and _longest_text(payload):
        error = payload
    if error is None:
        return None
    fields = _fields(error)
    codes = (str(fields.get(name)) for name in _CODES)
    status = next((code for code in codes if re.fullmatch("[45][0-9]{2}", code)), "400")
    return int(status), error


def _error_in(fields: Any) -> Any:
    """Return the error that the fields of a reply, or of one of its choices, name; else None."""
    if not isinstance(fields, dict):
        return None
    error, base = fields.get("error"), fields.get("base_resp")
    if isinstance(error, dict):
        error = any(error.values()) and str(error.get("code")) != "0" and error
    if error:
        return {"error": error}
    failed = isinstance(base, dict) and str(base.get("status_code") or 0) != "0"
    named = fields.get("object") == "error" or fields.get("success") is False
    return fields if failed or named else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) else None
