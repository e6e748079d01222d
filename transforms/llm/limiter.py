"""Keep the limits of an endpoint, and learn how many requests at once it can take.

The limit of requests under way adapts as TCP's window does (additive increase, multiplicative
decrease: Chiu and Jain, 1989). Where it starts low, it grows by one with each reply (TCP's slow
start) until the first overload, or until replies take a good part of the time-out. Requests are
spread over the minute, since endpoints enforce its limits over shorter stretches.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from transforms.llm.backoff import Backoff, Stop
from transforms.llm.base import LlmError
from transforms.llm.failures import SendError, used_up
from transforms.llm.limits import Entry, Limits, Minute, estimated
from transforms.llm.retry import Sleep

LOCAL_START: Final = 2
"""How many requests are under way at first at an address on this machine."""

_OVERLOAD: Final = {"408", "429", "502", "503", "504", "529", "timeout", "connection"}
_STEP: Final = 0.125  # of a request, by which a good reply widens the limit again
_SLOW: Final = 0.25  # of the time-out, over which a reply shows that the endpoint has enough
_CATCH_UP: Final = 0.05  # of a minute: what a late wake-up may make good
_HEADROOM: Final = 1.1  # of tokens reserved, over the most that requests came to of late
_LOOK_AGAIN: Final = 1.0  # second


@dataclass(slots=True, eq=False)
class Sent:
    """A request that was let pass: its number, when, its entry, and the tokens estimated."""

    number: int
    entry: Entry
    estimate: float = 0.0


class Limiter:
    """Lets requests to one endpoint pass, in the order in which they came; for one event loop.

    `before` requests were sent just before the first of them. `start` is how many are under way at
    first, where that is not all that `limits` allow; `timeout` is of one request. Nobody is held
    for more than `longest_pause` seconds because an endpoint asked for it. `stop` is heard by all
    endpoints of a run. `minute` is in seconds, and another number is for tests.
    """

    def __init__(
        self,
        limits: Limits,
        backoff: Backoff | None = None,
        minute: float = 60.0,
        before: int = 0,
        longest_pause: float = inf,
        sleep: Sleep = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
        stop: Stop | None = None,
        start: int | None = None,
        timeout: float = inf,
    ) -> None:
        self.backoff = backoff or Backoff()
        self._stop = stop or Stop()
        self._longest_pause = longest_pause
        self._seconds = minute
        self._sleep = sleep
        self._chance = chance
        self._clock = clock
        self._slow = _SLOW * timeout
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()
        self._most = inf if limits.concurrency is None else float(limits.concurrency)
        self._limit = min(self._most, inf if start is None else start)
        self._starting = self._limit < self._most
        self._in_flight = self._number = self._last_cut = 0
        self._pace = limits.requests_per_minute
        self._counts_tokens = bool(limits.tokens_per_minute)
        self._ratio = 1.0  # what tokens came to, of those estimated
        self._next = -inf  # when the even spacing allows the next request
        self._minute = Minute(limits, minute)
        for _ in range(before):
            self._minute.enter(Entry(clock()))

    @property
    def limit(self) -> float:
        """How many requests may be under way at once, for now."""
        return self._limit

    @property
    def in_flight(self) -> int:
        """How many requests are under way."""
        return self._in_flight

    @asynccontextmanager
    async def admitted(self, body: Mapping[str, Any]) -> AsyncIterator[Sent]:
        """Wait until the request may be sent; it is under way until the block ends.

        Raises:
            LlmError: final, where an endpoint has just said that no request can succeed.
        """
        tokens = float(estimated(body)) if self._counts_tokens else 0.0
        async with self._turn:
            sent = await self._let(tokens)
        try:
            yield sent
        finally:
            self._in_flight -= 1
            sent.entry.ended = self._clock()
            self._freed.set()

    def answered(self, sent: Sent, headers: Mapping[str, str], tokens: int | None) -> None:
        """Take note of a good reply, and of the `tokens` that it came to."""
        self.backoff.answered()
        if self._clock() - sent.entry.sent > self._slow:
            self._starting = False
        step = 1.0 if self._starting else _STEP
        self._limit = min(self._most, self._limit + step)
        if tokens is not None and sent.estimate:
            self._ratio = max(tokens / sent.estimate, self._ratio * 0.95)
            sent.entry.tokens = float(tokens)
        self._pause(used_up(headers, time.time()))

    def failed(self, sent: Sent, error: SendError) -> SendError:
        """Take note of an error: fewer at once, a pause for all, or the end of all.

        Returns the error, or a final one where the endpoint has not answered for too long.
        """
        error = self.backoff.failed(error, self._clock())
        if error.final:
            self._stop.stop(error.message, self._clock())
        # What was sent before the last cut knows nothing of it yet.
        if error.status in _OVERLOAD and sent.number > self._last_cut:
            self._limit = max(1.0, min(self._limit, self._in_flight) / 2)
            self._last_cut = self._number
            self._starting = False
        self._pause(error.retry_after)
        return error

    def _pause(self, seconds: float | None) -> None:
        if seconds and seconds <= self._longest_pause:
            self.backoff.pause(self._clock() + seconds)

    async def _let(self, tokens: float) -> Sent:
        while True:
            message = self._stop.stopped(self._clock())
            if message is not None:
                raise LlmError(message, final=True)
            now = self._clock()
            paused = self.backoff.paused_until - now
            if paused > 0:
                # Not all processes at that very moment.
                await self._sleep(paused + min(1.0, paused / 10) * self._chance())
            elif self._in_flight + 1 > self._limit:
                self._freed.clear()
                await self._freed.wait()
            elif (wait := self._wait(now, tokens)) > 0:
                # A reply that was shorter than reserved makes room before that.
                await self._sleep(min(wait, _LOOK_AGAIN))
            else:
                return self._send(now, tokens)

    def _wait(self, now: float, tokens: float) -> float:
        """Return the seconds until the limits a minute let a request pass."""
        if not self._pace and not self._counts_tokens:
            return 0.0
        reserved = tokens * self._ratio * _HEADROOM
        return max(self._next, self._minute.room(now, reserved)) - now

    def _send(self, now: float, tokens: float) -> Sent:
        self._in_flight += 1
        self._number += 1
        entry = Entry(now, tokens * self._ratio * _HEADROOM)
        if self._pace:
            spacing = self._seconds / self._pace
            self._next = max(self._next, now - _CATCH_UP * self._seconds) + spacing
        if self._pace or self._counts_tokens:
            self._minute.enter(entry)
        return Sent(self._number, entry, tokens)
