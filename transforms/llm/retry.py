"""Retry transient errors: rate limits, overload, broken connections, time-outs.

`retrying` retries one request. The `Limiter` of an endpoint has the state that its requests share:
the requested pause, how long it has been silent, and messages to the user.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final, TypeVar

from ufo.transforms.llm.errors import SendError

if TYPE_CHECKING:
    from ufo.transforms.llm.limiter import Limiter

_STOPPED_SECONDS: Final = 10.0

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
    """A flag, shared by the endpoints of a run, that stops all further requests.

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


async def retrying(
    send: Callable[[int], Awaitable[T]],
    retry: Retry,
    timing: Timing = REAL,
    limiter: "Limiter | None" = None,
) -> T:
    """Return the result of `send(attempt)`, called again after transient errors.

    `limiter` reports each retry. If the endpoint answered before, only `retry.seconds` limits the
    number of attempts.

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
            waits = limiter is not None and limiter.waits(error)
            if not error.transient or (attempt + 1 >= retry.attempts and not waits):
                raise
            failed = timing.clock() if failed is None else failed
            left = failed + retry.seconds - timing.clock()
            pause = retry.pause(attempt, error.retry_after, timing.chance())
            if waits and left > 0:
                pause = min(pause, left)  # one last attempt when the time is over
            if pause > left:
                raise
            if limiter is not None:
                limiter.retrying(error, pause)
        await timing.sleep(pause)
        attempt += 1
