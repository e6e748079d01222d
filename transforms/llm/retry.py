"""Try again what passes: rate limits, overload, broken connections, time-outs."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from transforms.llm.backoff import Backoff
from transforms.llm.failures import SendError

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and how long: `attempts` requests at most, within `seconds` from the first failure.

    Pauses double from `first` to `longest` seconds; what the endpoint asks for in `retry-after`
    goes before, however long it is, as long as it ends within `seconds`.
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
        # Never before the moment asked for, and not all at that very moment either.
        return asked + min(backoff, 1.0) * chance

    def within(self, error: SendError) -> SendError:
        """Return the error; a final one where the endpoint asks for a longer pause than all tries
        may take, since every further request would get the same reply."""
        if not error.transient or (error.retry_after or 0.0) <= self.seconds:
            return error
        return SendError(
            f"{error.message}. It asks to wait {error.retry_after:,.0f} s, and retries may take "
            f"{self.seconds:,.0f} s (--retry_seconds); run the same command again after that",
            error.status,
            final=True,
            request_id=error.request_id,
        )


async def retrying(
    send: Callable[[int], Awaitable[T]],
    retry: Retry,
    sleep: Sleep = asyncio.sleep,
    chance: Callable[[], float] = random.random,
    clock: Callable[[], float] = time.monotonic,
    backoff: Backoff | None = None,
) -> T:
    """Return what `send(attempt)` returns, trying again after transient errors.

    Where there is a `backoff`, it hears of each further try, and an endpoint that answers no more
    is waited for as long as `retry` allows, however many tries that takes.

    Raises:
        SendError: one that is not transient, or the last one.
    """
    failed: float | None = None  # that it had to wait before its first try is not its fault
    attempt = 0
    while True:
        try:
            return await send(attempt)
        except SendError as error:
            waits = backoff is not None and backoff.waits(error)
            if not error.transient or (attempt + 1 >= retry.attempts and not waits):
                raise
            failed = clock() if failed is None else failed
            left = failed + retry.seconds - clock()
            pause = retry.pause(attempt, error.retry_after, chance())
            if waits and left > 0:
                pause = min(pause, left)  # one last try when the time is over
            if pause > left:
                raise
            if backoff is not None:
                backoff.retrying(error, pause)
        await sleep(pause)
        attempt += 1
