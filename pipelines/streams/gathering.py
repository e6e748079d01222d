"""Decide when the window of a stream opens and closes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipelines.streams.arrivals import Arrivals, Say
from pipelines.streams.windows import Windows

SECONDS = 60.0
_LOOKS_A_WINDOW = 4
_LONGEST_LOOK = 1.0  # second


@dataclass(slots=True)
class Gathering:
    """A window opens with its first file and closes `seconds` later, full or not.

    After `idle_seconds` without a new file the gathering is `over`; without that never.
    """

    windows: Windows
    arrivals: Arrivals
    seconds: float
    idle_seconds: float | None
    clock: Callable[[], float]
    over: bool = False
    _opened: float | None = None
    _news: float | None = None

    @classmethod
    def begin(
        cls,
        windows: Windows,
        patterns: Sequence[str],
        say: Say,
        seconds: float | None = None,
        idle_seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> "Gathering":
        """Return a gathering of the files that are in no window yet."""
        arrivals = Arrivals(patterns, windows.taken(patterns), say)
        return cls(windows, arrivals, SECONDS if seconds is None else seconds, idle_seconds, clock)

    @property
    def step(self) -> float:
        """How long to wait from one look to the next, in seconds."""
        return min(_LONGEST_LOOK, self.seconds / _LOOKS_A_WINDOW)

    def look(self) -> str | None:
        """Look for files once; return the name of the window if one closes now."""
        waiting = self.arrivals.look()
        now = self.clock()
        if self._news is None:
            self._news = now
        if not waiting:
            self._opened = None  # or what waited went away
            idle = self.idle_seconds is not None and now - self._news >= self.idle_seconds
            self.over = idle and not self.arrivals.unsettled
            return None
        if self._opened is None:
            self._opened = self._news = now
        if now - self._opened < self.seconds:
            return None
        window = self.windows.close(waiting)
        if window is None:
            # Another command takes files here too; those that it has not taken still wait.
            self.arrivals.taken.update(self.windows.taken(self.arrivals.patterns))
            return None
        self.arrivals.take(waiting)
        self._opened = self._news = None
        return window
