"""Try again what passes: rate limits, overload, broken connections, time-outs.

`retrying` repeats one request. `Backoff` is what all requests to an endpoint share: the pause that
it asked for, since when it does not answer, and what the user is told of that.
"""

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import ceil, inf
from typing import Final, TypeVar

from transforms.llm.base import Report
from transforms.llm.failures import SendError

UNANSWERED: Final = ("timeout", "connection")
_REPORT_AFTER: Final = 1.0  # second: what fails within it is one message
_BETWEEN_REPORTS: Final = 3.0
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
    """How time passes and chance falls; others than these are for tests."""

    sleep: Sleep = asyncio.sleep
    chance: Callable[[], float] = random.random
    clock: Callable[[], float] = time.monotonic


REAL: Final = Timing()


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


class Stop:
    """The end of a run, whichever endpoint caused it: nothing is sent to any of them any more.

    It holds for `seconds`: where there is no run that ends, a later request may find it mended.
    """

    def __init__(self, seconds: float = _STOPPED_SECONDS) -> None:
        self._seconds = seconds
        self._message = ""
        self._until = -inf

    def stop(self, message: str, now: float) -> None:
        """Let no request be sent any more, since none can succeed."""
        self._message, self._until = message, now + self._seconds

    def stopped(self, now: float) -> str | None:
        """Return why no request can succeed, None where one may."""
        return self._message if now < self._until else None


class Backoff:
    """Until when nothing is sent to an endpoint, and since when it does not answer.

    `seconds` is how long an endpoint that had answered before, and no longer does, is waited for;
    then the run ends. `name` is what the endpoint is called in messages, which `report` is given,
    or the log. `reached` if it has answered another process of the run.
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
        self._failed: Counter[str] = Counter()
        self._next_try = inf
        self._next_report = -inf
        self._timer: asyncio.TimerHandle | None = None

    def pause(self, until: float) -> None:
        """Send nothing until then; an earlier and longer pause holds on."""
        self.paused_until = max(self.paused_until, until)

    def answered(self) -> None:
        """Note that the endpoint answers, whatever it says."""
        self._reached = True
        self._down_since = None

    def waits(self, error: SendError) -> bool:
        """Tell whether the endpoint has gone away, and is waited for whatever tries that takes."""
        return self._reached and error.status in UNANSWERED

    def failed(self, error: SendError, now: float) -> SendError:
        """Note an error; returns it, or a final one where the endpoint has been away for long."""
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

    def retrying(self, error: SendError, pause: float) -> None:
        """Tell the user, together with what else fails at about this time, of another try."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._failed[error.status] += 1
        self._next_try = min(self._next_try, now + pause)
        if self._timer is None:
            at = max(now + _REPORT_AFTER, self._next_report)
            self._timer = loop.call_at(at, self._send_report, loop)

    def _send_report(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        failed, self._failed = self._failed, Counter()
        pause, self._next_try = self._next_try - now, inf
        self._next_report, self._timer = now + _BETWEEN_REPORTS, None
        if self._down_since is not None and self.seconds < inf:
            left = _duration(self._down_since + self.seconds - now, " more")
            self._report(f"{self._name} does not answer, retrying for {left}")
            return
        (status, count), *others = failed.most_common()
        first = f"{count} request{'s' if count > 1 else ''} {_word(status)}"
        summary = ", ".join([first, *(f"{number} {_word(other)}" for other, number in others)])
        self._report(f"{summary}, retrying in {max(1, ceil(pause))} s")


def _word(status: str) -> str:
    return _WORDS.get(status, f"got status {status}")


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
            failed = timing.clock() if failed is None else failed
            left = failed + retry.seconds - timing.clock()
            pause = retry.pause(attempt, error.retry_after, timing.chance())
            if waits and left > 0:
                pause = min(pause, left)  # one last try when the time is over
            if pause > left:
                raise
            if backoff is not None:
                backoff.retrying(error, pause)
        await timing.sleep(pause)
        attempt += 1
