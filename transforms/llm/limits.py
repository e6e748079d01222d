"""Describe the limits of an endpoint: requests at once, requests and tokens a minute."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from math import inf
from typing import Any, Final

_ON_ITS_WAY: Final = 6.0  # seconds after which a request has been counted, if not answered
_BYTES_A_TOKEN: Final = 3  # few, so that rather too many tokens are reserved than too few


@dataclass(frozen=True, slots=True)
class Limits:
    """What one endpoint allows; None for no limit of that kind."""

    concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def or_else(self, general: "Limits") -> "Limits":
        """Return these, and the general ones where there is none."""
        return _each(lambda mine, its: its if mine is None else mine, self, general)

    def divided(self, workers: int) -> "Limits":
        """Return the share of each of so many processes; at least 1, see `most_workers`."""
        return _each(lambda limit: None if limit is None else max(1, limit // workers), self)

    @property
    def most_workers(self) -> float:
        """How many processes can have a share, so that all of them keep within the limits."""
        values = (getattr(self, field.name) for field in fields(self))
        return min((value for value in values if value is not None), default=inf)


def strictest(limits: Iterable[Limits]) -> Limits:
    """Return the lowest of each."""

    def lowest(*values: int | None) -> int | None:
        return min((value for value in values if value is not None), default=None)

    return _each(lowest, *limits)


def _each(choose: Callable[..., int | None], *limits: Limits) -> Limits:
    names = [field.name for field in fields(Limits)]
    return Limits(*(choose(*(getattr(one, name) for one in limits)) for name in names))


def estimated(body: Mapping[str, Any]) -> int:
    """Return about how many tokens a request is; replies correct the ratio as they come."""
    return len(json.dumps(body, ensure_ascii=False).encode()) // _BYTES_A_TOKEN + 1


@dataclass(slots=True, eq=False)
class Entry:
    """A request that counts for the limits a minute: when it was sent and ended, and its tokens."""

    sent: float
    tokens: float = 0.0
    ended: float = inf


class Minute:
    """The requests of the last minute.

    A minute is any stretch of sixty seconds, and a request counts from when it is sent until a
    minute after its reply, or a minute after it must have arrived: wherever in between the endpoint
    counts it, what is allowed is not exceeded. `seconds` of it are other than 60 in tests.
    """

    def __init__(self, limits: Limits, seconds: float = 60.0) -> None:
        self._requests = limits.requests_per_minute
        self._tokens = limits.tokens_per_minute
        self._seconds = seconds
        self._entries: deque[Entry] = deque()

    def enter(self, entry: Entry) -> None:
        """Add a request."""
        self._entries.append(entry)

    def room(self, now: float, tokens: float) -> float:
        """Return when there is room for one more request, with so many tokens."""
        entries = self._entries
        while entries and self._leaves(entries[0]) <= now:
            entries.popleft()
        when = now
        if self._requests is not None and len(entries) >= self._requests:
            when = self._leaves(entries[len(entries) - self._requests])
        if self._tokens is not None:
            # One that is larger than the limit goes alone: it would else never go.
            left = sum(entry.tokens for entry in entries)
            for entry in entries:
                if left + tokens <= self._tokens:
                    break
                when = max(when, self._leaves(entry))
                left -= entry.tokens
        return when

    def _leaves(self, entry: Entry) -> float:
        return min(entry.ended, entry.sent + _ON_ITS_WAY) + self._seconds
