"""Keep the limits of an endpoint, and learn how many requests at once it can take.

The limit of requests under way adapts as TCP's window does (additive increase, multiplicative
decrease: Chiu and Jain, 1989). Where it starts low, it grows by one with each reply (TCP's slow
start) until the first overload, or until replies take a good part of the time-out. Requests are
spread over the minute, since endpoints enforce its limits over shorter stretches.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass
from math import inf
from typing import Any, Final

from transforms.llm.base import LlmError
from transforms.llm.failures import SendError, used_up
from transforms.llm.retry import REAL, Backoff, Stop, Timing

LOCAL_START: Final = 2
"""How many requests are under way at first at an address on this machine."""

_OVERLOAD: Final = {"408", "429", "502", "503", "504", "529", "timeout", "connection"}
_STEP: Final = 0.125  # of a request, by which a good reply widens the limit again
_SLOW: Final = 0.25  # of the time-out, over which a reply shows that the endpoint has enough
_MINUTE: Final = 60.0
_CATCH_UP: Final = 3.0  # seconds that a late wake-up may make good
_HEADROOM: Final = 1.1  # of tokens reserved, over the most that requests came to of late
_LOOK_AGAIN: Final = 1.0  # second
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
        pairs = zip(astuple(self), astuple(general), strict=True)
        return Limits(*(its if mine is None else mine for mine, its in pairs))

    def divided(self, workers: int) -> "Limits":
        """Return the share of each of so many processes; at least 1, see `most_workers`."""
        return Limits(*(limit and max(1, limit // workers) for limit in astuple(self)))

    @property
    def most_workers(self) -> float:
        """How many processes can have a share, so that all of them keep within the limits."""
        return min((limit for limit in astuple(self) if limit is not None), default=inf)


def strictest(limits: Iterable[Limits]) -> Limits:
    """Return the lowest of each."""
    kinds = zip(*map(astuple, limits), strict=True)
    return Limits(*(min((n for n in kind if n is not None), default=None) for kind in kinds))


def estimated(body: Mapping[str, Any]) -> int:
    """Return about how many tokens a request is; replies correct the ratio as they come."""
    return len(json.dumps(body, ensure_ascii=False).encode()) // _BYTES_A_TOKEN + 1


@dataclass(slots=True, eq=False)
class Sent:
    """A request that was let pass: when it was sent and ended, the tokens estimated from its text,
    and those that count for the limit a minute."""

    number: int
    at: float
    estimate: float
    tokens: float
    ended: float = inf


class Minute:
    """The requests of the last minute.

    A minute is any stretch of sixty seconds, and a request counts from when it is sent until a
    minute after its reply, or a minute after it must have arrived: wherever in between the endpoint
    counts it, what is allowed is not exceeded.
    """

    def __init__(self, limits: Limits) -> None:
        self._requests = limits.requests_per_minute
        self._tokens = limits.tokens_per_minute
        self._sent: deque[Sent] = deque()

    def add(self, sent: Sent) -> None:
        """Add a request."""
        self._sent.append(sent)

    def room(self, now: float, tokens: float) -> float:
        """Return when there is room for one more request, with so many tokens."""
        sent = self._sent
        while sent and _leaves(sent[0]) <= now:
            sent.popleft()
        when = now
        if self._requests is not None and len(sent) >= self._requests:
            when = _leaves(sent[len(sent) - self._requests])
        if self._tokens is not None:
            # One that is larger than the limit goes alone: it would else never go.
            left = sum(one.tokens for one in sent)
            for one in sent:
                if left + tokens <= self._tokens:
                    break
                when = max(when, _leaves(one))
                left -= one.tokens
        return when


def _leaves(sent: Sent) -> float:
    return min(sent.ended, sent.at + _ON_ITS_WAY) + _MINUTE


class Limiter:
    """Lets requests to one endpoint pass, in the order in which they came; for one event loop.

    `before` requests were sent just before the first of them. `start` is how many are under way at
    first, where that is not all that `limits` allow; `timeout` is of one request. Nobody is held
    for longer than `backoff` waits for the endpoint. `stop` is heard by all endpoints of a run.
    """

    def __init__(
        self,
        limits: Limits,
        backoff: Backoff | None = None,
        stop: Stop | None = None,
        before: int = 0,
        start: int | None = None,
        timeout: float = inf,
        timing: Timing = REAL,
    ) -> None:
        self.backoff = backoff or Backoff()
        self.timing = timing
        self._stop = stop or Stop()
        self._slow = _SLOW * timeout
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()
        self._most = inf if limits.concurrency is None else float(limits.concurrency)
        self.limit = min(self._most, inf if start is None else start)
        """How many requests may be under way at once, for now."""
        self.in_flight = 0
        """How many requests are under way."""
        self._starting = self.limit < self._most
        self._number = self._last_cut = 0
        self._pace = limits.requests_per_minute
        self._counts_tokens = bool(limits.tokens_per_minute)
        self._ratio = 1.0  # what tokens came to, of those estimated
        self._next = -inf  # when the even spacing allows the next request
        self._minute = Minute(limits)
        for _ in range(before):
            self._minute.add(Sent(0, timing.clock(), 0.0, 0.0))

    @asynccontextmanager
    async def admitted(self, body: Mapping[str, Any]) -> AsyncIterator[Sent]:
        """Wait until the request may be sent; it is under way until the block ends.

        Raises:
            LlmError: final, where an endpoint has just said that no request can succeed.
        """
        tokens = float(estimated(body)) if self._counts_tokens else 0.0
        async with self._turn:
            sent = await self._wait_turn(tokens)
        try:
            yield sent
        finally:
            self.in_flight -= 1
            sent.ended = self.timing.clock()
            self._freed.set()

    def answered(self, sent: Sent, headers: Mapping[str, str], tokens: int | None) -> None:
        """Learn from a good reply, and from the `tokens` that it came to."""
        self.backoff.answered()
        if self.timing.clock() - sent.at > self._slow:
            self._starting = False
        step = 1.0 if self._starting else _STEP
        self.limit = min(self._most, self.limit + step)
        if tokens is not None and sent.estimate:
            self._ratio = max(tokens / sent.estimate, self._ratio * 0.95)
            sent.tokens = float(tokens)
        self._pause(used_up(headers, time.time()))

    def failed(self, sent: Sent, error: SendError) -> SendError:
        """Learn from an error: fewer at once, a pause for all, or the end of all.

        Returns the error, or a final one where the endpoint has not answered for too long.
        """
        now = self.timing.clock()
        error = self.backoff.failed(error, now)
        if error.final:
            self._stop.stop(error.message, now)
        # What was sent before the last cut knows nothing of it yet.
        if error.status in _OVERLOAD and sent.number > self._last_cut:
            self.limit = max(1.0, min(self.limit, self.in_flight) / 2)
            self._last_cut = self._number
            self._starting = False
        self._pause(error.retry_after)
        return error

    def _pause(self, seconds: float | None) -> None:
        if seconds and seconds <= self.backoff.seconds:
            self.backoff.pause(self.timing.clock() + seconds)

    async def _wait_turn(self, tokens: float) -> Sent:
        while True:
            now = self.timing.clock()
            message = self._stop.stopped(now)
            if message is not None:
                raise LlmError(message, final=True)
            reserved = tokens * self._ratio * _HEADROOM
            paused = self.backoff.paused_until - now
            if paused > 0:
                # Not all processes at that very moment.
                await self.timing.sleep(paused + min(1.0, paused / 10) * self.timing.chance())
            elif self.in_flight + 1 > self.limit:
                self._freed.clear()
                await self._freed.wait()
            elif (wait := max(self._next, self._minute.room(now, reserved)) - now) > 0:
                # A reply that was shorter than reserved makes room before that.
                await self.timing.sleep(min(wait, _LOOK_AGAIN))
            else:
                return self._send(now, tokens, reserved)

    def _send(self, now: float, estimate: float, reserved: float) -> Sent:
        self.in_flight += 1
        self._number += 1
        sent = Sent(self._number, now, estimate, reserved)
        if self._pace:
            self._next = max(self._next, now - _CATCH_UP) + _MINUTE / self._pace
        if self._pace or self._counts_tokens:
            self._minute.add(sent)
        return sent
