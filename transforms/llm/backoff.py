"""Decide when an endpoint is asked again after errors, and report that to the user."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from math import ceil, inf
from typing import Final

from transforms.llm.failures import SendError

UNANSWERED: Final = ("timeout", "connection")
_TELL_AFTER: Final = 1.0  # second: what fails within it is one message
_BETWEEN_MESSAGES: Final = 3.0
_STOPPED_SECONDS: Final = 10.0
_WORDS: Final = {
    "timeout": "timed out",
    "connection": "lost the connection",
    "garbled": "got a reply that cannot be read",
    "429": "met a rate limit (429)",
}
_LOG = logging.getLogger("ufo.llm")

Tell = Callable[[str], None]


class Stop:
    """That the run is over, whichever endpoint said so: nothing is sent to any of them any more.

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
    then the run ends. `name` is what the endpoint is called in messages, which `tell` is given, or
    the log. `reached` if it has answered another process of the run.
    """

    def __init__(
        self,
        seconds: float = inf,
        tell: Tell | None = None,
        name: str = "the endpoint",
        reached: bool = False,
    ) -> None:
        self._seconds = seconds
        self._tell = tell or _LOG.warning
        self._name = name
        self._reached = reached
        self._down_since: float | None = None
        self._paused_until = -inf
        self._failed: Counter[str] = Counter()
        self._next_try = inf
        self._next_message = -inf
        self._timer: asyncio.TimerHandle | None = None

    @property
    def paused_until(self) -> float:
        """The end of the pause, which may be over."""
        return self._paused_until

    def pause(self, until: float) -> None:
        """Send nothing until then; an earlier and longer pause holds on."""
        self._paused_until = max(self._paused_until, until)

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
        if not error.transient or not 0 < self._seconds <= now - self._down_since:
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
            at = max(now + _TELL_AFTER, self._next_message)
            self._timer = loop.call_at(at, self._say, loop)

    def _say(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        failed, self._failed = self._failed, Counter()
        pause, self._next_try = self._next_try - now, inf
        self._next_message, self._timer = now + _BETWEEN_MESSAGES, None
        if self._down_since is not None and self._seconds < inf:
            left = _duration(self._down_since + self._seconds - now, " more")
            self._tell(f"{self._name} does not answer, retrying for {left}")
            return
        self._tell(f"{_said(failed)}, retrying in {max(1, ceil(pause))} s")


def _said(failed: Counter[str]) -> str:
    (status, count), *others = failed.most_common()
    first = f"{count} request{'s' if count > 1 else ''} {_word(status)}"
    return ", ".join([first, *(f"{number} {_word(other)}" for other, number in others)])


def _word(status: str) -> str:
    return _WORDS.get(status, f"got status {status}")


def _duration(seconds: float, more: str = "") -> str:
    if seconds < 90:
        return f"{max(0, ceil(seconds))}{more} seconds"
    return f"{round(seconds / 60)}{more} minutes"
