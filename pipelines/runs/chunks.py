"""Cut the input into chunks, which are evaluated and finished on disk together.

Cutting numbers the lines and marks repeated ids, so chunks can be evaluated in any order and by any
number of workers with the same results.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil
from typing import Any

import numpy as np

from ufo.pipelines.runs.inputs import InputFile, PlainFile
from ufo.schemas import storage
from ufo.schemas.records import Failure
from ufo.transforms.read import parse
from ufo.transforms.splits import Line, Split, lines

MAX_LINES = 4_000
_MIN_LINES = 500
_MAX_EVEN_CHUNKS = 8

_ID_BYTES = 12
_LINE_BYTES = 4
_HASH = np.dtype(f"S{_ID_BYTES + _LINE_BYTES}")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Up to `--chunk_size` lines, evaluated as one pipeline and finished on disk together."""

    number: int
    splits: tuple[Split, ...]
    n_lines: int


def default_chunk_size(files: Sequence[InputFile], asks_models: bool) -> int:
    """Return the number of lines in a chunk if `--chunk_size` is not given."""
    # Requests to a model overlap best with many responses at once, even in a small input.
    return MAX_LINES if asks_models else even_chunk_size(sum(file.lines for file in files))


def even_chunk_size(n_lines: int) -> int:
    """Return the number of lines in a chunk for a run that is limited by the processor.

    A small input is divided evenly among up to eight processes. Each chunk is large enough to be
    worth its fixed cost (about that of 150 responses). A large input is divided into chunks of up
    to MAX_LINES; their number is a multiple of four. The size depends on the input alone, so a run
    can be resumed with another number of processes.
    """
    pieces = max(1, min(_MAX_EVEN_CHUNKS, n_lines // _MIN_LINES))
    if n_lines > pieces * MAX_LINES:
        pieces = 4 * ceil(n_lines / MAX_LINES / 4)
    return max(1, ceil(n_lines / pieces))


def in_chunks(
    files: Sequence[PlainFile],
    chunk_size: int,
    max_line_bytes: int,
    reused: Callable[[Any], bool] = lambda record: False,
    parse: Callable[[str, bytes, int], Any] = parse,
) -> Iterator[Chunk]:
    """Yield the chunks, reading the files once and lazily.

    `reused` returns whether a record's results are taken from an earlier run. `parse` converts a
    line to a record or a failure.
    """
    seen = SeenRecords()
    number = 0
    splits: list[Split] = []
    room = chunk_size

    for file in files:
        gathered: list[tuple[Line, bool, bool, bool]] = []
        whole = Split(file.name, file.path, 0, file.size, file.first_line)
        with storage.open_read(file.path) as stream:
            for line in lines(stream, whole, max_line_bytes):
                record = parse(line.key, line.data, max_line_bytes)
                repeated = reuse = same = False
                if not isinstance(record, Failure):
                    repeated, same = seen.add(record.response_id.encode(), line.data)
                    reuse = not repeated and reused(record)
                # Without its text: a chunk of long lines would take much memory.
                gathered.append((line._replace(data=b""), repeated, reuse, same))
                room -= 1
                if not room:
                    yield Chunk(number, (*splits, _split(file, gathered)), chunk_size)
                    number, splits, gathered, room = number + 1, [], [], chunk_size
        if gathered:
            splits.append(_split(file, gathered))
    if splits:
        yield Chunk(number, tuple(splits), chunk_size - room)


def _split(file: PlainFile, gathered: Sequence[tuple[Line, bool, bool, bool]]) -> Split:
    first, last = gathered[0][0], gathered[-1][0]
    return Split(
        file.name,
        file.path,
        first.start,
        last.end,
        first.number,
        *(
            frozenset(row for row, found in enumerate(gathered) if found[mark])
            for mark in (1, 2, 3)
        ),
    )


class SeenRecords:
    """The records of an input that were read so far, in about 30 bytes each.

    Each record is a hash of its id and a shorter hash of its line. Most are in a sorted array, the
    latest in a dictionary, which takes several times the memory.
    """

    def __init__(self, recent: int = 50_000) -> None:
        self._most_recent = recent
        self._recent: dict[bytes, bytes] = {}
        self._sorted = np.empty(0, _HASH)

    def add(self, identifier: bytes, line: bytes) -> tuple[bool, bool]:
        """Add a record; return whether its id was added before, and whether with the same line."""
        hashed = blake2b(identifier, digest_size=_ID_BYTES).digest()
        of_line = blake2b(line, digest_size=_LINE_BYTES).digest()
        earlier = self._recent.get(hashed) or self._in_sorted(hashed)
        if earlier is not None:
            return True, earlier == of_line
        self._recent[hashed] = of_line
        # A share of the total, so that the cost of sorting per record stays constant.
        if len(self._recent) > max(self._most_recent, len(self._sorted) // 8):
            latest = [one + other for one, other in self._recent.items()]
            self._sorted = np.concatenate([self._sorted, np.array(latest, _HASH)])
            self._sorted.sort()
            self._recent.clear()
        return False, False

    def _in_sorted(self, hashed: bytes) -> bytes | None:
        at = self._sorted.searchsorted(np.array(hashed, _HASH))
        if at == len(self._sorted):
            return None
        # NumPy drops zeros at the end of bytes.
        entry = bytes(self._sorted[at]).ljust(_HASH.itemsize, b"\0")
        return entry[_ID_BYTES:] if entry.startswith(hashed) else None
