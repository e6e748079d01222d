"""Retry transient errors: rate limits, overload, broken connections, time-outs.

`retrying` retries one request. All requests to an endpoint share a `Backoff`: the pause that the
endpoint asked for, the time since when it does not answer, and the messages to the user about it.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import ceil, inf
from typing import Final, TypeVar

from ufo.transforms.llm.base import Report
from ufo.transforms.llm.failures import SendError

UNANSWERED: Final = ("timeout", "connection")
_BETWEEN_REPORTS: Final = 3.0  # seconds
_STOPPED_SECONDS: Final = 10.0
_WORDS: Final = {
    "timeout": "timed out",
    "connection": "lost the connection",
    "garbled": "got a reply that cannot be read",
    "429": "met a rate limit (429)",
}
_LOG = logging.getLogger("ufo.llm")

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock, sleep and random numbers; tests pass their own."""

    sleep: Sleep = asyncio.sleep
    chance: Callable[[], float] = random.random
    clock: Callable[[], float] = time.monotonic


REAL: Final = Timing()


@dataclass(frozen=True, slots=True)
class Retry:
    """A retry policy: at most `attempts` requests, within `seconds` of the first failure.

    Pauses double from `first` to `longest` seconds. An endpoint's `retry-after` replaces them as
    long as it ends within `seconds`.
    """

    attempts: int = 8
    seconds: float = 900.0
    first: float = 0.5
    longest: float = 60.0

    def pause(self, attempt: int, asked: float | None, chance: float) -> float:
        """Return the pause after attempt 0, 1, …; `chance` in [0, 1) spreads the callers out."""
        backoff = min(self.first * 2.0 ** min(attempt, 30), self.longest)
        if asked is None:
            return backoff * (0.5 + chance / 2)
        # Never before the time asked for, and with jitter after it.
        return asked + min(backoff, 1.0) * chance

    def within(self, error: SendError) -> SendError:
        """Return the error, or a final one where the endpoint asks for a pause over `seconds`,
        since every further request would get the same reply."""
        if not error.transient or (error.retry_after or 0.0) <= self.seconds:
            return error
        return SendError(
            f"{error.message}. It asks to wait {error.retry_after:,.0f} s, and retries may take "
            f"{self.seconds:,.0f} s (--retry_seconds); run the same command again after that",
            error.status,
            final=True,
            request_id=error.request_id,
        )


class Stop:
    """A flag, shared by the endpoints of a run, that no request is to be sent any more.

    It is reset after `seconds`, for processes that are used beyond one run.
    """

    def __init__(self, seconds: float = _STOPPED_SECONDS) -> None:
        self._seconds = seconds
        self._message = ""
        self._until = -inf

    def stop(self, message: str, now: float) -> None:
        """Set the flag, with the message of the error that caused it."""
        self._message, self._until = message, now + self._seconds

    def stopped(self, now: float) -> str | None:
        """Return the message of the error that set the flag, None where it is not set."""
        return self._message if now < self._until else None


class Backoff:
    """The pause of an endpoint, and the time since when it does not answer.

    An endpoint that answered before and no longer does is waited for `seconds`; then the run stops.
    Messages call the endpoint `name` and go to `report`, by default the log. `reached` says that it
    answered another process of the run.
    """

    def __init__(
        self,
        seconds: float = inf,
        report: Report | None = None,
        name: str = "the endpoint",
        reached: bool = False,
    ) -> None:
        self.seconds = seconds
        self.paused_until = -inf
        self._report = report or _LOG.warning
        self._name = name
        self._reached = reached
        self._down_since: float | None = None
        self._next_report = -inf

    def pause(self, until: float) -> None:
        """Send nothing before the time `until`, or the end of an earlier, longer pause."""
        self.paused_until = max(self.paused_until, until)

    def answered(self) -> None:
        """Record that the endpoint answered, with success or with an error."""
        self._reached = True
        self._down_since = None

    def waits(self, error: SendError) -> bool:
        """Return whether the number of attempts is unlimited: the endpoint answered before."""
        return self._reached and error.status in UNANSWERED

    def failed(self, error: SendError, now: float) -> SendError:
        """Record an error; return it, or a final one where the endpoint is away for too long."""
        if error.status != "connection":
            if error.status not in UNANSWERED:
                self.answered()
            return error
        self._down_since = now if self._down_since is None else self._down_since
        if not error.transient or not 0 < self.seconds <= now - self._down_since:
            return error
        away = _duration(now - self._down_since)
        self._down_since = None
        return SendError(
            f"{self._name} has not answered for {away}: {error.message}; start it again, and run "
            "the same command again",
            error.status,
            final=True,
            request_id=error.request_id,
        )

    def retrying(self, error: SendError, pause: float, now: float) -> None:
        """Report a retry to the user, once in a few seconds."""
        if now < self._next_report:
            return
        self._next_report = now + _BETWEEN_REPORTS
        if self._down_since is not None and self.seconds < inf:
            left = _duration(self._down_since + self.seconds - now, " more")
            self._report(f"{self._name} does not answer, retrying for {left}")
        else:
            word = _WORDS.get(error.status, f"got status {error.status}")
            self._report(f"a request {word}, retrying in {max(1, ceil(pause))} s")


def _duration(seconds: float, more: str = "") -> str:
    if seconds < 90:
        return f"{max(0, ceil(seconds))}{more} seconds"
    return f"{round(seconds / 60)}{more} minutes"


async def retrying(
    send: Callable[[int], Awaitable[T]],
    retry: Retry,
    timing: Timing = REAL,
    backoff: Backoff | None = None,
) -> T:
    """Return the result of `send(attempt)`, called again after transient errors.

    `backoff` reports each retry; where it says that the endpoint answered before, the number of
    attempts is limited by `retry.seconds` alone.

    Raises:
        SendError: one that is not transient, or the last one.
    """
    failed: float | None = (
        None  # the first failure: waiting before the first attempt is not counted
    )
    attempt = 0
    while True:
        try:
            return await send(attempt)
        except SendError as error:
            waits = backoff is not None and backoff.waits(error)
            if not error.transient or (attempt + 1 >= retry.attempts and not waits):
                raise
            failed = timing.clock() if failed is None else failed
            left = failed + retry.seconds - timing.clock()
            pause = retry.pause(attempt, error.retry_after, timing.chance())
            if waits and left > 0:
                pause = min(pause, left)  # one last attempt when the time is over
            if pause > left:
                raise
            if backoff is not None:
                backoff.retrying(error, pause, timing.clock())
        await timing.sleep(pause)
        attempt += 1
