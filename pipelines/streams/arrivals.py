"""Find the files of a stream that have arrived and are in no window yet."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from schemas import storage

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Taken:
    """A file in a window: its path, and its size in bytes when the window was closed."""

    path: str
    size: int


@dataclass(slots=True)
class Arrivals:
    """The files that match some patterns and are in no window yet.

    A file counts as arrived when two looks in a row find it unchanged and not empty, so that a file
    that is still being written is not read.
    """

    patterns: Sequence[str]
    taken: dict[str, int]
    say: Say
    unsettled: bool = False
    _seen: dict[str, tuple[int, ...]] = field(default_factory=dict)
    _waiting: dict[str, Taken] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def look(self) -> list[Taken]:
        """Return the files that wait for a window, in the order in which they came."""
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
        if self.taken[path] != size and path not in self._told:
            self._told.add(path)
            self.say(
                f"{path} has changed since a window took it; what was added is not evaluated. "
                "Write new responses to files of their own."
            )


def _state(path: str) -> tuple[int, ...] | None:
    try:
        if storage.is_remote(path):
            return (storage.size(path),)
        found = os.stat(path)
    except (OSError, IndexError):
        return None  # it went away while we looked
    return found.st_size, found.st_mtime_ns
