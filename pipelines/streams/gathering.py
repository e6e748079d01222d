"""Find the files of a stream as they arrive, and decide when its windows open and close."""

import os
import time
from collections.abc import Callable, Sequence

from ufo.pipelines.streams.windows import Taken, Windows
from ufo.schemas import storage

SECONDS = 60.0
_LOOKS_A_WINDOW = 4
_LONGEST_LOOK = 1.0  # second

Say = Callable[[str], None]


class Arrivals:
    """The files that match the patterns and are in no window yet.

    `taken` has the sizes of files that are in a window. A file counts as arrived once two looks in
    a row find it unchanged and not empty, so that a file that is being written is not read.
    `unsettled` if the last look found such a file.
    """

    def __init__(self, patterns: Sequence[str], taken: dict[str, int], say: Say) -> None:
        self.patterns = patterns
        self.taken = taken
        self.unsettled = False
        self._say = say
        self._seen: dict[str, tuple[int, ...]] = {}
        self._waiting: dict[str, Taken] = {}
        self._reported: set[str] = set()

    def look(self) -> list[Taken]:
        """Return the files that wait for a window, in order of arrival."""
        self.unsettled = False
        for pattern in self.patterns:
            for path in storage.matches(pattern):
                state = _state(path)
                if state is None:
                    continue
                if path in self.taken:
                    self._waiting.pop(path, None)
                    self._tell_change(path, state[0])
                elif state[0] and self._seen.get(path) == state:
                    self._waiting[path] = Taken(storage.absolute(path), state[0])
                else:
                    self.unsettled |= bool(state[0])
                    self._waiting.pop(path, None)
                self._seen[path] = state
        return list(self._waiting.values())

    def take(self, files: Sequence[Taken]) -> None:
        """Record that a window has these files."""
        for path, file in list(self._waiting.items()):
            if file in files:
                self.taken[path] = file.size
                del self._waiting[path]

    def _tell_change(self, path: str, size: int) -> None:
        if self.taken[path] != size and path not in self._reported:
            self._reported.add(path)
            self._say(
                f"{path} has changed since a window took it; what was added is not evaluated. "
                "Write new responses to files of their own."
            )


class Gathering:
    """Open a window with its first file and close it `seconds` later.

    It is `over` after `idle_seconds` without a new file; never if that is None.
    """

    def __init__(
        self,
        windows: Windows,
        patterns: Sequence[str],
        say: Say,
        seconds: float | None = None,
        idle_seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.windows = windows
        self.over = False
        self._arrivals = Arrivals(patterns, windows.taken(patterns), say)
        self._seconds = SECONDS if seconds is None else seconds
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._opened: float | None = None
        self._news: float | None = None

    @property
    def step(self) -> float:
        """How long to wait from one look to the next, in seconds."""
        return min(_LONGEST_LOOK, self._seconds / _LOOKS_A_WINDOW)

    def look(self) -> str | None:
        """Look for files once; return the name of the window if one closes now."""
        waiting = self._arrivals.look()
        now = self._clock()
        if self._news is None:
            self._news = now
        if not waiting:
            self._opened = None  # the waiting files may have been deleted
            idle = self._idle_seconds is not None and now - self._news >= self._idle_seconds
            self.over = idle and not self._arrivals.unsettled
            return None
        if self._opened is None:
            self._opened = self._news = now
        if now - self._opened < self._seconds:
            return None
        window = self.windows.close(waiting)
        if window is None:
            # Another command takes files of this stream too; the others still wait.
            self._arrivals.taken.update(self.windows.taken(self._arrivals.patterns))
            return None
        self._arrivals.take(waiting)
        self._opened = self._news = None
        return window


def _state(path: str) -> tuple[int, ...] | None:
    try:
        if storage.is_remote(path):
            return (storage.size(path),)
        found = os.stat(path)
    except (OSError, IndexError):
        return None  # it went away while we looked
    return found.st_size, found.st_mtime_ns
