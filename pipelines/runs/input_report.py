"""Report the lines of the input that cannot be used, with the columns that may be meant."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ufo.pipelines.runs.inputs import PlainFile
from ufo.schemas.errors import NothingUsable, UsageError, unknown_value
from ufo.schemas.records import Failure
from ufo.schemas.row import OF_CELLS, has_value
from ufo.schemas.text import quantity
from ufo.transforms.columns import FIELDS, map_advice, paths_of
from ufo.transforms.extract import LABELS_LEFT_OUT, OUT_OF_RANGE, REPEATED
from ufo.transforms.read import Columns

_KEYS_SHOWN = 8
_KEYS_KEPT = 1_000
_EXAMPLE = 200
_COLUMNS_SHOWN = 40
R = TypeVar("R")
C = TypeVar("C")
_PROBLEMS = {
    OUT_OF_RANGE: "name a sentence that their response does not have, and are under none",
    REPEATED: "repeat an earlier claim of their response",
    LABELS_LEFT_OUT: "have a label and no sentence that is evaluated, so that it is left out",
}


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


def input_warnings(counters: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield the warnings about an input: exact duplicates and unusable claims."""
    if same := counters.get("read", {}).get("same"):
        yield f"{quantity(same, 'exact duplicate')} of an earlier record: each was evaluated once."
    counts = counters.get("extract", {})
    problems = [f"{counts[name]:,} {what}" for name, what in _PROBLEMS.items() if counts.get(name)]
    if problems:
        yield f"Of the claims given in the input, {'; '.join(problems)}."
