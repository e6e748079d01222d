"""The part of a file that a window of a stream takes, recognised under any name by checksums.

A window takes the bytes from `start` to `size`. It is recognised by the checksums of the first and
of the last 64 KiB before `size`: in the file that has grown since, and in one that was renamed.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import BinaryIO, Final

from ufo.schemas import storage
from ufo.schemas.errors import reason_of
from ufo.schemas.file_systems import is_remote
from ufo.schemas.rows import HEAD_BYTES, LINES, format_of
from ufo.transforms.columns import NAMES

MARKED: Final = 64 * 1024
"""The number of bytes that each of the two checksums covers."""

READ: Final = "read"
UNUSABLE: Final = "unusable"
LOST: Final = "lost"
"""The outcomes of a file in its window: it was read; nothing in it can be used; or it was gone or
replaced when the window was evaluated."""

_LONGEST_LINE: Final = 64 << 20
_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ArrivedFile:
    """The part of a file that a window takes: the bytes from `start` to `size`, its size then.

    `first` and `last` are checksums of the first and last bytes before `size`. A file that could
    not be read when the window was closed has none, but a `problem`: the reason.
    """

    path: str
    size: int
    start: int = 0
    first: str | None = None
    last: str | None = None
    problem: str | None = None

    @property
    def is_without_checksums(self) -> bool:
        """Whether the window has recorded only the path and size of the file."""
        return self.first is None and self.problem is None


@dataclass(frozen=True, slots=True)
class WindowFile:
    """A file of a closed window, with its `outcome`, which is READ until another is known."""

    window: str
    file: ArrivedFile
    outcome: str = READ


class Content:
    """The first `size` bytes of the file at `path`, read on demand.

    `problem` is the reason that the file cannot be read, once known.
    """

    def __init__(self, path: str, size: int) -> None:
        self.path = path
        self.size = size
        self.head = b""
        self.problem: str | None = None
        self._marks: dict[int, tuple[str, str]] = {}
        try:
            self.head = self.bytes(0, min(size, MARKED))
        except OSError as error:
            self.problem = reason_of(error)

    def bytes(self, start: int, end: int) -> bytes:
        """Return the bytes in a range; fewer where the file is shorter.

        Raises:
            OSError: the file cannot be read.
        """
        check_regular(self.path)
        return storage.read_range(self.path, start, end)

    def marks(self, size: int) -> tuple[str, str] | None:
        """Return the two checksums of the first `size` bytes, None if these cannot be read.

        The problem is then noted.
        """
        if self.problem is None and size not in self._marks:
            try:
                last = self.head[:size]
                if size > MARKED:
                    last = self.bytes(size - MARKED, size)
            except OSError as error:
                self.problem = reason_of(error)
            else:
                first = sha256(self.head[:size]).hexdigest()
                self._marks[size] = first, sha256(last).hexdigest()
        return self._marks[size] if self.problem is None else None

    def begins_with(self, taken: ArrivedFile) -> bool:
        """Return whether the file still begins with the bytes up to the end of a taken range."""
        if self.problem is not None or taken.problem is not None:
            return (self.size, self.problem) == (taken.size, taken.problem)
        if taken.size > self.size:
            return False
        if taken.is_without_checksums:
            return taken.size == self.size or self._line_ends_at(taken.size)
        return self.marks(taken.size) == (taken.first, taken.last)

    def arrived_file(self, start: int, end: int) -> ArrivedFile:
        """Return the record of a window that takes this range."""
        marks = self.marks(end)
        if marks is None:
            return ArrivedFile(self.path, end, start, problem=self.problem)
        return ArrivedFile(self.path, end, start, *marks)

    def is_blank(self, start: int, end: int) -> bool:
        """Return whether a range holds nothing but white space."""
        return end - start <= MARKED and not self.bytes(start, end).strip(b" \t\r\n\0")

    def has_lines(self, size: int) -> bool:
        """Return whether the first `size` bytes are JSON Lines."""
        try:
            return format_of(self.head[: min(size, HEAD_BYTES)], NAMES) == LINES
        except ValueError:
            return False

    def line_start(self, at: int) -> int:
        """Return the start of the line that is unfinished at a position, or the position itself.

        No line is unfinished after a whole line or a whole JSON value.
        """
        if self._line_ends_at(at) or not self.has_lines(at):
            return at
        begin, tail = at, b""
        while begin > 0 and b"\n" not in tail and len(tail) < _LONGEST_LINE:
            earlier = max(0, begin - _BLOCK)
            tail = self.bytes(earlier, begin) + tail
            begin = earlier
        line = tail.rpartition(b"\n")[2]
        try:
            json.loads(line)
        except (ValueError, RecursionError):
            return at - len(line) if len(line) < _LONGEST_LINE else at
        return at

    def _line_ends_at(self, at: int) -> bool:
        around = self.bytes(max(0, at - 1), at + 1)
        return at == 0 or around[:1] == b"\n" or around[1:] in (b"\n", b"\r")


def check_regular(path: str) -> None:
    """Raise an OSError if a path is a folder, a pipe or a device, which have no size."""
    if not is_remote(path) and os.path.exists(path) and not os.path.isfile(path):
        folder = os.path.isdir(path)
        raise OSError("it is a folder" if folder else "it is a pipe or a device")


def open_regular(path: str) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    check_regular(path)
    return storage.open_read(path)


def first_gap(covered: Iterable[tuple[int, int]], size: int) -> tuple[int, int] | None:
    """Return the first range from 0 to `size` that is not covered; None if all is covered."""
    at = 0
    for start, end in sorted(covered):
        if start > at:
            return at, min(start, size)
        at = max(at, end)
    return (at, size) if at < size else None
