"""The plan of a local run: the input in chunks of records, in the input's order.

The plan is what makes results independent of how the work is cut: it numbers the lines and knows
which ids were used before, so that chunks can be evaluated in any order by anybody.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil
from typing import Any

from schemas import storage
from schemas.records import Failure
from transforms.read import parse
from transforms.splits import Line, Split, lines

MOST_LINES = 4_000
_FEWEST_LINES = 500
_PIECES = 8


@dataclass(frozen=True, slots=True)
class Chunk:
    """Up to `--chunk_size` lines, evaluated as one pipeline and finished on disk as one."""

    number: int
    splits: tuple[Split, ...]
    n_lines: int


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A local JSON Lines file: where it is, and what its lines are named after."""

    name: str
    path: str
    size: int


def even_chunks(n_lines: int) -> int:
    """Return how many lines a chunk should have where processors are all that a run waits for.

    A small input goes evenly into two, four or eight processes, in chunks that are large beside
    what one costs (as much as 150 responses); a large one into chunks of up to MOST_LINES. It
    depends on the input alone, so that a run goes on with any number of processes.
    """
    pieces = max(1, min(_PIECES, n_lines // _FEWEST_LINES), ceil(n_lines / MOST_LINES))
    return max(1, ceil(n_lines / pieces))


def plan(
    files: Sequence[PlainFile],
    chunk_size: int,
    max_line_bytes: int,
    reused: Callable[[Any], bool] = lambda record: False,
    parse: Callable[[str, bytes, int], Any] = parse,
) -> Iterator[Chunk]:
    """Yield the chunks. Reads the files once, a line at a time, as the chunks are asked for.

    `reused` tells a record whose results are taken over from an earlier run. `parse` makes a
    record, or a failure, of a line.
    """
    seen: set[bytes] = set()
    number = 0
    splits: list[Split] = []
    room = chunk_size

    for file in files:
        gathered: list[tuple[Line, bool, bool]] = []
        whole = Split(file.name, file.path, 0, file.size, first_line=1)
        with storage.open_read(file.path) as stream:
            for line in lines(stream, whole, max_line_bytes):
                record = parse(line.key, line.data, max_line_bytes)
                repeated = reuse = False
                if not isinstance(record, Failure):
                    digest = _digest(record.response_id)
                    repeated = digest in seen
                    seen.add(digest)
                    reuse = not repeated and reused(record)
                gathered.append((line, repeated, reuse))
                room -= 1
                if not room:
                    yield Chunk(number, (*splits, _split(file, gathered)), chunk_size)
                    number, splits, gathered, room = number + 1, [], [], chunk_size
        if gathered:
            splits.append(_split(file, gathered))
    if splits:
        yield Chunk(number, tuple(splits), chunk_size - room)


def _split(file: PlainFile, gathered: Sequence[tuple[Line, bool, bool]]) -> Split:
    first, last = gathered[0][0], gathered[-1][0]
    return Split(
        file.name,
        file.path,
        first.start,
        last.end,
        first.number,
        frozenset(row for row, (_, repeated, _) in enumerate(gathered) if repeated),
        frozenset(row for row, (_, _, reuse) in enumerate(gathered) if reuse),
    )


def _digest(response_id: str) -> bytes:
    return blake2b(response_id.encode(), digest_size=16).digest()
