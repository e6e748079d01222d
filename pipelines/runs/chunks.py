"""Cut the input into chunks of records, with a report on those that are not usable.

Cutting numbers the lines and marks repeated ids, so chunks can be evaluated in any order and by any
number of workers with the same results.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil
from typing import Any, TypeVar

import numpy as np

from ufo.pipelines.runs.inputs import InputFile, PlainFile
from ufo.schemas import storage
from ufo.schemas.errors import NothingUsable, UsageError, unknown_value
from ufo.schemas.records import Failure
from ufo.schemas.row import OF_CELLS, has_value
from ufo.schemas.text import quantity
from ufo.transforms.columns import FIELDS, map_advice, paths_of
from ufo.transforms.extract import LABELS_LEFT_OUT, OUT_OF_RANGE, REPEATED
from ufo.transforms.read import Columns, parse
from ufo.transforms.splits import Line, Split, lines

MAX_LINES = 4_000
_MIN_LINES = 500
_MAX_EVEN_CHUNKS = 8
_KEYS_SHOWN = 8
_KEYS_KEPT = 1_000
_EXAMPLE = 200
_COLUMNS_SHOWN = 40

_ID_BYTES = 12
_LINE_BYTES = 4
_HASH = np.dtype(f"S{_ID_BYTES + _LINE_BYTES}")

R = TypeVar("R")
C = TypeVar("C")


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


class InputReport:
    """A report on the input: usable lines, missing columns of `--map`, and unknown keys."""

    def __init__(self, files: Sequence[PlainFile] = (), columns: Columns | None = None) -> None:
        self._lines = 0
        self._usable = False
        self._first: Failure | None = None
        self._unknown: Counter[str] = Counter()
        self._advice: dict[str, str | None] = {}
        self._left_out = {name: None for file in files for name in file.left_out}
        self._guessed = [file.name for file in files if file.is_guessed]
        self._missing = dict(columns or {})
        self._present: dict[str, None] = {}

    def wrap_parse(
        self, parse: Callable[[str, bytes, int], R | Failure]
    ) -> Callable[[str, bytes, int], R | Failure]:
        """Return a function that calls `parse`, and counts its records and failures here."""

        def parsed(key: str, line: bytes, max_line_bytes: int) -> R | Failure:
            record = parse(key, line, max_line_bytes)
            self._lines += 1
            if not isinstance(record, Failure):
                self._usable = True
            elif self._first is None:
                self._first = record
            return record

        return parsed

    def add_keys(self, raw: Mapping[str, Any]) -> None:
        """Note the keys of a JSON object, whether or not it is usable as a record."""
        if self._missing:
            for name, value in raw.items():
                self._present.update(dict.fromkeys(paths_of(name, value)))
            missing = self._missing.items()
            self._missing = {key: name for key, name in missing if not has_value(raw, name)}

    def add_unknown(self, others: Mapping[str, Any]) -> None:
        """Count the unknown keys of one record, which are kept in its `metadata`."""
        for name, value in others.items():
            if name in self._unknown:
                self._unknown[name] += 1
            elif len(self._unknown) < _KEYS_KEPT:
                self._unknown[name] = 1
                self._advice[name] = None if name in FIELDS else map_advice(name, value)

    def with_warnings(self, chunks: Iterator[C], say: Callable[[str], object]) -> Iterator[C]:
        """Yield the chunks; at the end pass the warnings about their records to `say`."""
        yield from chunks
        if self._missing and self._present:
            missing = ", ".join(f"{key}={name}" for key, name in self._missing.items())
            say(f"No record has the column of --map {missing}.")
        if warning := self.warning():
            say(warning)

    def check_chunks(
        self, chunks: Iterator[C], files: Sequence[str], say: Callable[[str], object]
    ) -> Iterator[C]:
        """Yield the chunks once a line is usable and the columns of `--map` are found.

        At the end the warning is passed to `say`.

        Raises:
            UsageError: no record has a column of `--map`.
            NothingUsable: no record is usable.
        """
        held = []
        for chunk in chunks:
            held.append(chunk)
            if self._usable and not self._missing:
                yield from held
                held.clear()
        self.check(files)
        yield from held
        if warning := self.warning():
            say(warning)

    def check(self, files: Sequence[str]) -> None:
        """Check that a line is usable, if there were any, and the columns of `--map` are found.

        Raises:
            UsageError: no record has a column of `--map`.
            NothingUsable: no record is usable.
        """
        self._present.pop(OF_CELLS, None)
        for key, name in self._missing.items() if self._present else ():
            names = [*self._present][:_COLUMNS_SHOWN]
            raise UsageError(unknown_value(f"column of --map {key}=COLUMN:", name, names))
        if self._usable or self._first is None:
            return
        first = self._first
        sentences = (
            f"--input {', '.join(files)}: no record of the input can be used, of {self._lines:,}.",
            f"{first.key}: {first.message}{'' if first.message.endswith('?') else '.'}",
            f"It begins: {(first.input or '')[:_EXAMPLE]}",
            *self._columns_left_out(),
        )
        raise NothingUsable(" ".join(sentences))

    def warning(self) -> str | None:
        """Return one warning about guessed encodings, omitted columns and unknown keys, or None."""
        sentences = [
            f"{name} is not UTF-8, and was read as Windows-1252; convert it where that is wrong."
            for name in self._guessed
        ]
        sentences += self._columns_left_out()
        if self._unknown:
            sentences.append(self._unknown_keys())
        return " ".join(sentences) or None

    def _columns_left_out(self) -> list[str]:
        if not self._left_out:
            return []
        return [
            "Columns of bytes or of nested values are left out, unless --map names them: "
            f"{', '.join(self._left_out)}."
        ]

    def _unknown_keys(self) -> str:
        shown = []
        for name, count in self._unknown.most_common(_KEYS_SHOWN):
            advice = self._advice[name]
            meant = (
                f"; did you mean {advice.partition('=')[0]}? --map {shlex.quote(advice)}"
                if advice
                else ""
            )
            shown.append(f"{name} ({quantity(count, 'record')}{meant})")
        more = len(self._unknown) - len(shown)
        return f"Unknown keys of records are kept in their metadata: {', '.join(shown)}" + (
            f" and {more:,} more" if more else ""
        )


_PROBLEMS = {
    OUT_OF_RANGE: "name a sentence that their response does not have, and are under none",
    REPEATED: "repeat an earlier claim of their response",
    LABELS_LEFT_OUT: "have a label and no sentence that is evaluated, so that it is left out",
}


def input_warnings(counters: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield the warnings about an input: exact duplicates and unusable claims."""
    if same := counters.get("read", {}).get("same"):
        yield f"{quantity(same, 'exact duplicate')} of an earlier record: each was evaluated once."
    counts = counters.get("extract", {})
    problems = [f"{counts[name]:,} {what}" for name, what in _PROBLEMS.items() if counts.get(name)]
    if problems:
        yield f"Of the claims given in the input, {'; '.join(problems)}."
