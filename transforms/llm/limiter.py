"""Enforce the rate limits of an endpoint, and adapt the number of concurrent requests to it.

Concurrency is adapted by additive increase and multiplicative decrease (Chiu and Jain, 1989), as in
TCP. Where it starts low, it grows by one with each reply (slow start) until the first overload, or
until replies take a quarter of the time-out. Requests are spread evenly over the minute, since
endpoints enforce limits a minute over shorter intervals.
"""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import astuple, dataclass
from math import ceil, inf
from typing import Any, Final

from ufo.transforms.llm.errors import SendError, used_up
from ufo.transforms.llm.request import LlmError, Report
from ufo.transforms.llm.retry import REAL, Stop, Timing

LOCAL_START: Final = 2
"""The initial number of concurrent requests to an endpoint on this machine."""

_UNANSWERED: Final = ("timeout", "connection")
_WORDS: Final = {
    "timeout": "timed out",
    "connection": "lost the connection",
    "garbled": "got a reply that cannot be read",
    "429": "met a rate limit (429)",
}
_BETWEEN_REPORTS: Final = 3.0  # seconds
_LOG = logging.getLogger("ufo.llm")

_OVERLOAD: Final = {"408", "429", "502", "503", "504", "529", "timeout", "connection"}
_STEP: Final = 0.125  # added to the concurrency by each reply after an overload
_SLOW: Final = 0.25  # share of the time-out: a slower reply shows a busy endpoint
_MINUTE: Final = 60.0
_CATCH_UP: Final = 3.0  # seconds of delay for which requests may be sent faster afterwards
_HEADROOM: Final = 1.1  # factor of tokens reserved over the highest recent use
_LOOK_AGAIN: Final = 1.0  # second
_ON_ITS_WAY: Final = 6.0  # seconds after which the endpoint has counted a request
_BYTES_A_TOKEN: Final = 3  # low, so that too many tokens are reserved rather than too few


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The rate limits of one endpoint; None for no limit of that kind."""

    concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def divided(self, workers: int) -> "RateLimits":
        """Return the share of each of `workers` processes; at least 1, see `most_workers`."""
        return RateLimits(*(limit and max(1, limit // workers) for limit in astuple(self)))

    @property
    def most_workers(self) -> float:
        """The largest number of processes that together can keep within the limits."""
        return min((limit for limit in astuple(self) if limit is not None), default=inf)


def estimated(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of a request's JSON; the limiter corrects the ratio by the replies."""
    return len(json.dumps(body, ensure_ascii=False).encode()) // _BYTES_A_TOKEN + 1


@dataclass(slots=True, eq=False)
class Sent:
    """A request that the limiter admitted: the times when it was sent and ended, the tokens
    estimated from its text, and the tokens that count against the limit a minute."""

    number: int
    at: float
    estimate: float
    tokens: float
    ended: float = inf


def _expires(sent: Sent) -> float:
    return min(sent.ended, sent.at + _ON_ITS_WAY) + _MINUTE


class Limiter:
    """Admits requests to one endpoint in the order of arrival; use it on one event loop.

    `before` is the number of requests sent just before this object was made. `start` is the initial
    concurrency, None for all that `limits` allow; `timeout` is of one request, in seconds. `stop`
    is shared by all endpoints of a run.

    If an endpoint that answered before stops answering, the run stops after `patience` seconds. No
    request is delayed for longer. `reached` says that the endpoint answered another process of the
    run. Messages call it `name` and go to `report`, by default the log.
    """

    def __init__(
        self,
        limits: RateLimits,
        stop: Stop | None = None,
        before: int = 0,
        start: int | None = None,
        timeout: float = inf,
        timing: Timing = REAL,
        patience: float = inf,
        report: Report | None = None,
        name: str = "the endpoint",
        reached: bool = False,
    ) -> None:
        self.timing = timing
        self._patience = patience
        self._report = report or _LOG.warning
        self._name = name
        self._reached = reached
        self._paused_until = self._next_report = -inf
        self._stop = stop or Stop()
        self._slow = _SLOW * timeout
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()
        self._most = inf if limits.concurrency is None else float(limits.concurrency)
        self.limit = min(self._most, inf if start is None else start)
        """The current limit of concurrent requests."""
        self.in_flight = 0
        """The number of requests in flight."""
        self._asked = 0
        self._silent_since: float | None = None
        self._starting = self.limit < self._most
        self._number = self._last_cut = 0
        self._requests = limits.requests_per_minute
        self._tokens = limits.tokens_per_minute
        self._ratio = 1.0  # tokens reported by tokens estimated
        self._next = -inf  # the time from which even spacing allows the next request
        # Requests of the last minute. It is unknown when an endpoint counts a request. So it counts
        # here from when it is sent until a minute after its reply, or after it must have arrived.
        self._sent = deque(Sent(0, timing.clock(), 0.0, 0.0) for _ in range(before))

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Count a request as in progress, over all of its attempts."""
        self._asked += 1
        try:
            yield
        finally:
            self._asked -= 1
            if not self._asked:
                self._silent_since = None

    def silence(self) -> float:
        """Return for how many seconds the endpoint has been asked without answering."""
        since = self._silent_since
        return 0.0 if since is None else self.timing.clock() - since

    @asynccontextmanager
    async def admitted(self, body: Mapping[str, Any]) -> AsyncIterator[Sent]:
        """Wait until the request may be sent; it counts as in flight until the block ends.

        Raises:
            LlmError: final; an endpoint of the run has just failed for good.
        """
        tokens = float(estimated(body)) if self._tokens else 0.0
        async with self._turn:
            sent = await self._wait_turn(tokens)
        try:
            yield sent
        finally:
            self.in_flight -= 1
            sent.ended = self.timing.clock()
            self._freed.set()

    def answered(self, sent: Sent, headers: Mapping[str, str], tokens: int | None) -> None:
        """Adapt the limits to a good reply and the `tokens` that it reports."""
        self._heard()
        if self.timing.clock() - sent.at > self._slow:
            self._starting = False
        step = 1.0 if self._starting else _STEP
        self.limit = min(self._most, self.limit + step)
        if tokens is not None and sent.estimate:
            self._ratio = max(tokens / sent.estimate, self._ratio * 0.95)
            sent.tokens = float(tokens)
        self._pause(used_up(headers, time.time()))

    def failed(self, sent: Sent, error: SendError) -> SendError:
        """Adapt to an error: lower the concurrency, pause all requests, or stop the run.

        Returns the error, or a final one where the endpoint has not answered for too long.
        """
        now = self.timing.clock()
        if error.status not in _UNANSWERED:
            self._heard()
        elif error.status == "connection" and error.transient:
            error = self._gone(error)
        if error.final:
            self._stop.stop(error.message, now)
        # A request sent before the last cut says nothing about the lower limit.
        if error.status in _OVERLOAD and sent.number > self._last_cut:
            self.limit = max(1.0, min(self.limit, self.in_flight) / 2)
            self._last_cut = self._number
            self._starting = False
        self._pause(error.retry_after)
        return error

    def waits(self, error: SendError) -> bool:
        """Return whether the number of attempts is unlimited: the endpoint answered before."""
        return self._reached and error.status in _UNANSWERED

    def retrying(self, error: SendError, pause: float) -> None:
        """Report a retry to the user, once in a few seconds."""
        now = self.timing.clock()
        if now < self._next_report:
            return
        self._next_report = now + _BETWEEN_REPORTS
        if error.status == "connection" and self._patience < inf:
            left = _duration(self._patience - self.silence(), " more")
            self._report(f"{self._name} does not answer, retrying for {left}")
        else:
            word = _WORDS.get(error.status, f"got status {error.status}")
            self._report(f"a request {word}, retrying in {max(1, ceil(pause))} s")

    def _gone(self, error: SendError) -> SendError:
        """Return the error, or a final one where the endpoint has not answered for too long."""
        if not 0 < self._patience <= self.silence():
            return error
        message = (
            f"{self._name} has not answered for {_duration(self.silence())}: {error.message}; "
            "start it again, and run the same command again"
        )
        return SendError(message, error.status, final=True, request_id=error.request_id)

    def _heard(self) -> None:
        self._reached = True
        # An answered request counts as in flight until its block ends.
        self._silent_since = self.timing.clock() if self.in_flight > 1 else None

    def _pause(self, seconds: float | None) -> None:
        if seconds and seconds <= self._patience:
            self._paused_until = max(self._paused_until, self.timing.clock() + seconds)

    async def _wait_turn(self, tokens: float) -> Sent:
        while True:
            now = self.timing.clock()
            message = self._stop.stopped(now)
            if message is not None:
                raise LlmError(message, final=True)
            reserved = tokens * self._ratio * _HEADROOM
            paused = self._paused_until - now
            if paused > 0:
                # Jitter, so that not all processes send at the same moment.
                await self.timing.sleep(paused + min(1.0, paused / 10) * self.timing.chance())
            elif self.in_flight + 1 > self.limit:
                self._freed.clear()
                await self._freed.wait()
            elif (wait := max(self._next, self._room(now, reserved)) - now) > 0:
                # A reply shorter than reserved may make room earlier.
                await self.timing.sleep(min(wait, _LOOK_AGAIN))
            else:
                return self._send(now, tokens, reserved)

    def _send(self, now: float, estimate: float, reserved: float) -> Sent:
        self.in_flight += 1
        self._number += 1
        if self._silent_since is None:
            self._silent_since = now
        sent = Sent(self._number, now, estimate, reserved)
        if self._requests:
            self._next = max(self._next, now - _CATCH_UP) + _MINUTE / self._requests
        if self._requests or self._tokens:
            self._sent.append(sent)
        return sent

    def _room(self, now: float, tokens: float) -> float:
        """Return the time from which one more request of `tokens` tokens is within the limits."""
        sent = self._sent
        while sent and _expires(sent[0]) <= now:
            sent.popleft()
        when = now
        if self._requests is not None and len(sent) >= self._requests:
            when = _expires(sent[len(sent) - self._requests])
        if self._tokens is not None:
            # A request larger than the limit is sent alone.
            left = sum(one.tokens for one in sent)
            for one in sent:
                if left + tokens <= self._tokens:
                    break
                when = max(when, _expires(one))
                left -= one.tokens
        return when


def _duration(seconds: float, more: str = "") -> str:
    if seconds < 90:
        return f"{max(0, ceil(seconds))}{more} seconds"
    return f"{round(seconds / 60)}{more} minutes"
