"""What an endpoint does wrong. Some faults replace the HTTP response, some spoil the answer in it.

Faults come from a queue, one a request in the order of arrival, or from a mix: by a hash of the
request's body and of how often it came, so that the order of arrival decides nothing.
"""

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from . import errors

# --- of the connection and the status -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fault:
    """`kind` is one of KINDS; `value` is what that kind takes."""

    kind: str
    value: Any = None


RESET, HANG, DRIP, TRUNCATED_BODY = "reset", "hang", "drip", "truncated_body"


def _kind(kind: str) -> Callable[[], Fault]:
    return lambda: Fault(kind)


def rate_limited(retry_after: float | str | None = None) -> Fault:
    """429, with `retry-after` in seconds or as an HTTP date, or without."""
    return Fault("429", retry_after)


def status(code: int) -> Fault:
    """500, 503, or another status with an error in the API's shape."""
    return Fault("status", code)


def html(code: int = 502) -> Fault:
    """A proxy's page in place of an answer."""
    return Fault("html", code)


def drip(seconds: float = 0.05) -> Fault:
    """Send the body eight bytes at a time, `seconds` apart."""
    return Fault(DRIP, seconds)


quota_spent = _kind("quota")
reset = _kind(RESET)
hang = _kind(HANG)  # take the request and never answer
truncated_body = _kind(TRUNCATED_BODY)  # status 200 and half of the JSON
no_choices = _kind("no_choices")

_ERRORS: dict[Any, Callable[[], errors.ApiError]] = {
    "quota": errors.quota_spent,
    "filtered_prompt": errors.filtered_prompt,
    500: errors.server_error,
    503: errors.overloaded,
    401: errors.no_key,
}


def error_of(fault: Fault) -> errors.ApiError | None:
    """The error that a fault is, None where it is none."""
    if fault.kind == "429":
        headers = {} if fault.value is None else {"retry-after": str(fault.value)}
        return errors.rate_limited("requests", 1, headers)
    if fault.kind == "error":
        assert isinstance(fault.value, errors.ApiError)
        return copy(fault.value)
    kind = fault.value if fault.kind == "status" else fault.kind
    if kind in _ERRORS:
        return _ERRORS[kind]()
    if fault.kind == "status":
        return errors.ApiError(int(kind), f"Status {kind}", "server_error")
    return None


# --- of the answer ------------------------------------------------------------------------------


wrong_types = _kind("wrong_types")  # each value of the arguments has a type it should not have
missing_arguments = _kind("missing_arguments")  # every second one is left out
extra_arguments = _kind("extra_arguments")
half_arguments = _kind("half_arguments")  # the text breaks off, though nothing says so
prose = _kind("prose")  # words in place of the call
ignored_n = _kind("ignored_n")  # one choice, however many were asked for
empty_tool_calls = _kind("empty_tool_calls")  # though the finish reason is tool_calls
refusal = _kind("refusal")
content_filter = _kind("content_filter")  # as the finish reason, and nothing was written
filtered_prompt = _kind("filtered_prompt")  # 400 with code content_filter
length = _kind("length")  # the answer breaks off in its middle with finish reason length


def spoil(fault: Fault, choice: dict[str, Any]) -> None:
    """Spoil a choice of the reply in place."""
    if fault.kind in _SPOILERS:
        _SPOILERS[fault.kind](choice)


def _arguments(change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    def spoiler(choice: dict[str, Any]) -> None:
        for call in choice["message"].get("tool_calls") or ():
            arguments = change(json.loads(call["function"]["arguments"]))
            call["function"]["arguments"] = json.dumps(arguments, ensure_ascii=False)

    return spoiler


def _halved(choice: dict[str, Any]) -> None:
    message = choice["message"]
    if message.get("content"):
        message["content"] = message["content"][: len(message["content"]) // 2]
    for call in message.get("tool_calls") or ():
        text = call["function"]["arguments"]
        call["function"]["arguments"] = text[: len(text) // 2]


def _cut(choice: dict[str, Any]) -> None:
    _halved(choice)
    choice["finish_reason"] = "length"


def _said(text: str | None, finish: str, refused: str | None = None) -> Callable[..., None]:
    def spoiler(choice: dict[str, Any]) -> None:
        choice["message"] = {"role": "assistant", "content": text, "refusal": refused}
        choice["finish_reason"] = finish

    return spoiler


def _emptied(choice: dict[str, Any]) -> None:
    choice["message"] = {"role": "assistant", "content": None, "tool_calls": []}
    choice["finish_reason"] = "tool_calls"


def _mistyped(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _mistyped(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_mistyped(item) for item in value] or "none"
    return {"value": value} if isinstance(value, str) else "perhaps"


def _thinned(value: Any) -> Any:
    if isinstance(value, dict):
        if len(value) == 1:
            return {name: _thinned(item) for name, item in value.items()}
        return {name: item for k, (name, item) in enumerate(value.items()) if k % 2 == 0}
    return value[::2] if isinstance(value, list) else value


def _widened(value: Any) -> Any:
    return value | {"confidence": 0.9, "comment": "Happy to help!"}


_SPOILERS: dict[str, Callable[[dict[str, Any]], None]] = {
    "wrong_types": _arguments(_mistyped),
    "missing_arguments": _arguments(_thinned),
    "extra_arguments": _arguments(_widened),
    "half_arguments": _halved,
    "length": _cut,
    "prose": _said("Certainly! Let me think about that. It seems plausible to me.", "stop"),
    "empty_tool_calls": _emptied,
    "refusal": _said(None, "stop", "I'm sorry, I can't help with that."),
    "content_filter": _said("", "content_filter"),
}


# --- which request gets which -------------------------------------------------------------------


class Mix:
    """A `share` of the requests gets one of `faults`, a body at most `most` of them."""

    def __init__(self, share: float, faults: Sequence[Fault], seed: int = 0, most: int = 2) -> None:
        self._share = share
        self._faults = faults
        self._seed = seed
        self._most = most
        self._seen: dict[bytes, int] = {}
        self._given: dict[bytes, int] = {}

    def next(self, body: bytes) -> Fault | None:
        digest = hashlib.sha256(body).digest()
        times = self._seen[digest] = self._seen.get(digest, 0) + 1
        chance = random.Random(f"{self._seed}/{times}/{digest.hex()}")
        if chance.random() >= self._share or self._given.get(digest, 0) >= self._most:
            return None
        self._given[digest] = self._given.get(digest, 0) + 1
        return chance.choice(self._faults)


class Stops:
    """An account that stops: `after` so many requests each gets this error."""

    def __init__(self, after: int, error: errors.ApiError) -> None:
        self._left = after
        self._error = error

    def next(self, body: bytes) -> Fault | None:
        self._left -= 1
        return None if self._left >= 0 else Fault("error", self._error)


def fixed(seconds: float) -> Callable[[], float]:
    """A latency for every request."""
    return lambda: seconds


def exponential(mean: float, seed: int = 0) -> Callable[[], float]:
    """Latencies with that mean, the same sequence for the same seed."""
    chance = random.Random(seed)
    return lambda: chance.expovariate(1 / mean)
