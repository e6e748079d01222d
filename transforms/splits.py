"""The input in stretches that workers read by themselves.

A split is a range of bytes of a JSON Lines file that begins and ends at line ends. The plan of a
local run makes one for each chunk of records and knows the number of its first line; where the
plan did not read the file, a split has no line numbers and its records are named by their byte.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Split:
    """Bytes `start` to `end` of the file at `path`, known to the user as `name`.

    `first_line` is the number of its first line, from 1, or None. `repeated` are the lines, counted
    from 0 within the split without blank ones, whose id an earlier record has; `skipped` are those
    whose results are carried over from an earlier run.
    """

    name: str
    path: str
    start: int
    end: int
    first_line: int | None = None
    repeated: frozenset[int] = frozenset()
    skipped: frozenset[int] = frozenset()


class Line(NamedTuple):
    """A line without its end: its key, its text, its number from 1 or None, and its byte range."""

    key: str
    data: bytes
    number: int | None
    start: int
    end: int


def lines(stream: BinaryIO, split: Split, max_line_bytes: int) -> Iterator[Line]:
    """Yield the lines of the split that are not blank.

    Of a line over `max_line_bytes` no more than that is kept, and one byte to tell; the rest is
    read past, so that one endless line takes no memory.
    """
    stream.seek(split.start)
    at = split.start
    number = split.first_line
    while at < split.end:
        start = at
        line = stream.readline(max_line_bytes + 2)
        if not line:
            return
        at += len(line)
        rest = line
        while rest and not rest.endswith(b"\n") and at < split.end:
            rest = stream.readline(_BLOCK)
            at += len(rest)
        cut = rest is not line
        if cut or line.strip():
            place = f"@{start}" if number is None else f":{number}"
            data = line if cut else line.rstrip(b"\r\n")
            yield Line(split.name + place, data, number, start, at)
        if number is not None:
            number += 1
