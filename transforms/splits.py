"""Read splits of the input: byte ranges of a file that begin and end at line ends.

Workers read them in parallel. A local run has one split for each chunk of records, with the number
of its first line. Where the file was not read in advance, line numbers are unknown; the records'
keys are then byte offsets.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Split:
    """Bytes `start` to `end` of the file at `path`, which messages call `name`.

    `first_line` is the number of its first line, from 1, or None. The other fields are positions of
    lines: from 0 within the split, without blank lines. `repeated` lines have the id of an earlier
    record, and `same` lines repeat an earlier line exactly. Results for `skipped` lines are reused
    from an earlier run.
    """

    name: str
    path: str
    start: int
    end: int
    first_line: int | None = None
    repeated: frozenset[int] = frozenset()
    skipped: frozenset[int] = frozenset()
    same: frozenset[int] = frozenset()


class Line(NamedTuple):
    """A line without its end: its key, its text, its number from 1 or None, and its byte range."""

    key: str
    data: bytes
    number: int | None
    start: int
    end: int


def lines(stream: BinaryIO, split: Split, max_line_bytes: int) -> Iterator[Line]:
    """Yield the lines of the split that are not blank.

    A line is cut one byte after `max_line_bytes`, so that it is seen to be too long; the rest is
    skipped without keeping it in memory.
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
