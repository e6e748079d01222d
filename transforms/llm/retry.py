"""The retry policy: when a failed request is sent again."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

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
    """A retry policy.

    A request is tried for `seconds` after its first failure, and at most `attempts` times where
    only this request fails. Pauses double from `first` to `longest` seconds. An endpoint's
    `retry-after` replaces them as long as it ends within `seconds`.
    """

    attempts: int = 8
    seconds: float = 900.0
    first: float = 0.5
    longest: float = 60.0

    def pause(self, attempt: int, asked: float | None, chance: float) -> float:
        """Return the pause after attempt 0, 1, …; `chance` in [0, 1) spreads the callers out."""
        backoff = min(self.first * 2.0 ** min(attempt, 30), self.longest)
        if not asked:
            return backoff * (0.5 + chance / 2)
        # Never before the time asked for, and with jitter after it.
        return asked + min(backoff, 1.0) * chance
