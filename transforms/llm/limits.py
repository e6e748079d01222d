"""What an endpoint allows, kept by all who ask it: so many at once, so many a minute, and pauses.

The limit of requests under way adapts as TCP's window does (additive increase, multiplicative
decrease: Chiu and Jain, 1989). A minute is any stretch of sixty seconds, and a request counts from
when it is sent until a minute after its reply, or a minute after it must have arrived: wherever in
between the endpoint counts it, what is allowed is not exceeded. Requests are spread over the
minute, since endpoints enforce theirs over shorter stretches.
"""

import asyncio
import json
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from math import inf
from typing import Any, Final

from transforms.llm.base import LlmError
from transforms.llm.failures import SendError, used_up
from transforms.llm.notices import Notices
from transforms.llm.retry import Sleep

_OVERLOAD: Final = {"429", "503", "529"}
_STEP: Final = 0.125  # of a request, by which a good reply widens the limit again
_ON_ITS_WAY: Final = 6.0  # seconds after which a request has been counted, if not answered
_CATCH_UP: Final = 0.05  # of a minute: what a late wake-up may make good
_STOPPED_SECONDS: Final = 10.0
_HEADROOM: Final = 1.1  # of tokens reserved, over the most that requests came to of late
_LOOK_AGAIN: Final = 1.0  # second
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


@dataclass(slots=True, eq=False)
class Sent:
    """A request in the endpoint's books: its number, and the tokens estimated and reserved."""

    number: int
    started: float
    estimate: float = 0.0
    tokens: float = 0.0
    ended: float = inf


class Limiter:
    """Lets requests to one endpoint pass, in the order in which they came.

    For one event loop. `minute` is in seconds, and another number is for tests; `sent_before` is
    how many requests others have sent within this minute. Nobody is held for more than
    `longest_pause` seconds because an endpoint asked for it.
    """

    def __init__(
        self,
        limits: Limits,
        notices: Notices,
        minute: float = 60.0,
        sent_before: int = 0,
        longest_pause: float = inf,
        sleep: Sleep = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit = float(limits.concurrency or inf)
        self.in_flight = 0
        self._limits = limits
        self._notices = notices
        self._longest_pause = longest_pause
        self._minute = minute
        self._sleep = sleep
        self._chance = chance
        self._clock = clock
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()
        self._number = 0
        self._last_cut = 0
        self._books: deque[Sent] = deque()
        self._tokens = 0.0  # reserved in the books
        self._ratio = 1.0  # tokens that came to those estimated, the highest of late
        self._next = -inf  # when the even spacing of requests allows the next
        self._pacing = limits.requests_per_minute or 0
        if self._pacing or limits.tokens_per_minute:
            now = clock()
            self._books.extend(Sent(0, now) for _ in range(sent_before))

    @asynccontextmanager
    async def admitted(self, body: Mapping[str, Any]) -> AsyncIterator[Sent]:
        """Wait until the request may be sent; it is under way until the block ends.

        Raises:
            LlmError: final, where the endpoint has just told that no request can succeed.
        """
        tokens = float(estimated(body)) if self._limits.tokens_per_minute else 0.0
        async with self._turn:
            await self._let(tokens)
            sent = self._enter(tokens)
        try:
            yield sent
        finally:
            self.in_flight -= 1
            sent.ended = self._clock()
            self._freed.set()

    def answered(self, sent: Sent, headers: Mapping[str, str], tokens: int | None) -> None:
        """Take note of a good reply, and of the `tokens` that it came to."""
        if self._limits.concurrency is not None:
            self.limit = min(float(self._limits.concurrency), self.limit + _STEP)
        if tokens is not None and sent.estimate:
            self._ratio = max(tokens / sent.estimate, self._ratio * 0.95)
            self._tokens += tokens - sent.tokens
            sent.tokens = float(tokens)
        self._pause(used_up(headers, time.time()))

    def failed(self, sent: Sent, error: SendError) -> None:
        """Take note of an error: fewer at once, a pause for all, or the end of all."""
        if error.final:
            self._notices.stop(error.message, self._clock() + _STOPPED_SECONDS)
        # What was sent before the last cut knows nothing of it yet.
        if error.status in _OVERLOAD and sent.number > self._last_cut:
            self.limit = max(1.0, min(self.limit, self.in_flight) / 2)
            self._last_cut = self._number
        self._pause(error.retry_after)

    def _pause(self, seconds: float | None) -> None:
        if seconds and seconds <= self._longest_pause:
            self._notices.pause(self._clock() + seconds)

    async def _let(self, tokens: float) -> None:
        while True:
            self._check_stopped()
            if self.in_flight >= int(self.limit):
                self._freed.clear()
                await self._freed.wait()
                continue
            now = self._clock()
            paused = self._notices.paused_until() - now
            if paused > 0:
                # Not all processes at that very moment.
                await self._sleep(paused + min(1.0, paused / 10) * self._chance())
                continue
            wait = max(self._next, self._room(now, self._reserved(tokens))) - now
            if wait <= 0:
                return
            # A reply that was shorter than reserved makes room before that.
            await self._sleep(min(wait, _LOOK_AGAIN))

    def _check_stopped(self) -> None:
        message = self._notices.stopped(self._clock())
        if message is not None:
            raise LlmError(message, final=True)

    def _room(self, now: float, tokens: float) -> float:
        """Return when the books have room for one more request with so many tokens."""
        books = self._books
        while books and self._leaves(books[0]) <= now:
            self._tokens -= books.popleft().tokens
        when = now
        requests, most = self._limits.requests_per_minute, self._limits.tokens_per_minute
        if requests is not None and len(books) >= requests:
            when = self._leaves(books[len(books) - requests])
        if most is not None:
            # One that is larger than the limit goes alone: it would else never go.
            left = self._tokens
            for entry in books:
                if left + tokens <= most:
                    break
                when = max(when, self._leaves(entry))
                left -= entry.tokens
        return when

    def _reserved(self, tokens: float) -> float:
        return tokens * self._ratio * _HEADROOM

    def _leaves(self, sent: Sent) -> float:
        return min(sent.ended, sent.started + _ON_ITS_WAY) + self._minute

    def _enter(self, tokens: float) -> Sent:
        now = self._clock()
        self._number += 1
        sent = Sent(self._number, now, tokens, self._reserved(tokens))
        self.in_flight += 1
        if self._pacing:
            earliest = now - _CATCH_UP * self._minute
            self._next = max(self._next, earliest) + self._minute / self._pacing
        if self._pacing or self._limits.tokens_per_minute:
            self._books.append(sent)
            self._tokens += sent.tokens
        return sent


def estimated(body: Mapping[str, Any]) -> int:
    """Return about how many tokens a request is; replies correct the ratio as they come."""
    return len(json.dumps(body, ensure_ascii=False).encode()) // _BYTES_A_TOKEN + 1


class Limiters:
    """The limiters of a loop: whoever asks the same endpoint, under the same limits, shares one."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Limiter] = {}

    def of(self, key: Hashable, make: Callable[[], Limiter]) -> Limiter:
        """Return the limiter of that key, made if need be."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]
