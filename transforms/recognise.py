"""Recognise a file of responses by its first and last bytes, before it is evaluated.

The bytes are read by the readers that evaluate the file, so that the result holds there.
"""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa

from ufo.schemas.compression import BZIP2, GZIP, ZSTD, InputDamaged
from ufo.schemas.row import OF_CELLS, UnusableValue, object_of
from ufo.schemas.rows import (
    CSV,
    DELIMITERS,
    HEAD_BYTES,
    LINES,
    OBJECT,
    PARQUET,
    UTF_16,
    WINDOWS,
    as_json_lines,
    csv_header,
    delimiter_of,
    layers_of,
    lines_of,
    parquet_shape,
    unwrap,
)
from ufo.schemas.text import marked_encoding, quantity
from ufo.transforms.columns import NAMES, likely_columns, likely_paths, paths_of

PART_BYTES: Final = 1 << 18
"""The number of first bytes, and of last bytes, of a file that are needed."""

_COMPRESSED: Final = (GZIP, BZIP2, ZSTD)
_RECORDS: Final = 20  # of the beginning, whose keys are looked at
_ENOUGH: Final = 5  # unusable records without a usable one
_MOST_COLUMNS: Final = 200
_MOST_PLAIN: Final = 1 << 24  # bytes of a compressed file that are read to find out whether it ends
_SENTENCE: Final = re.compile(r"[.!:]\s*$|(\S+\s+){8}")
_TEXT: Final = "it is a text and no data; paste it into “Text to check”"
_ACCEPTED: Final = "give JSON Lines, a JSON array, CSV or Parquet"


@dataclass
class Recognised:
    """The format of a file in words, its columns, and the column of each key of a record.

    `columns` have the paths to the values in them, and are none where the bytes do not have them.
    `fields` are as far as names and values show them. `refused` says why the file cannot be
    evaluated and what to do, "" where it can. `is_text`: it is a text in place of data.
    """

    kind: str = ""
    columns: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    refused: str = ""
    is_text: bool = False


class _Unsent(ValueError):
    """An error for bytes that were not sent."""


def recognise(head: bytes, tail: bytes = b"", size: int = 0) -> Recognised:
    """Return the format and columns of a file of `size` bytes, from its first and last bytes.

    `tail`, which Parquet needs, follows `head` or is the end of the file.
    """
    if not head.strip(b"\0\t\n\v\f\r \xef\xbb\xbf\xff\xfe"):
        blank = "it has nothing but white space" if head else "it is empty"
        return Recognised(refused=f"{blank}; {_ACCEPTED}")
    try:
        forms, plain = layers_of(head, NAMES)
        is_whole = size <= len(head) and (len(forms) == 1 or len(plain) < HEAD_BYTES)
        if size <= len(head) and forms[0] in _COMPRESSED:
            unwrap(forms[0], io.BytesIO(head)).read(_MOST_PLAIN)
        return _read(forms, head, plain, is_whole, _Ends(head, tail, size))
    except InputDamaged as error:
        return Recognised(refused=f"{error}; copy or compress it again")
    except (ValueError, pa.ArrowException) as error:
        return Recognised(refused=str(error))


def _read(
    forms: Sequence[str], head: bytes, plain: bytes, is_whole: bool, ends: "_Ends"
) -> Recognised:
    form = forms[-1]
    if form == PARQUET:
        return _parquet(forms, ends)
    header = csv_header(plain) if form == CSV else []
    row: dict[str, Any] = {name: None for name in header if name}
    lines = list(islice(_lines(form, plain, is_whole), _RECORDS))
    n_lines, n_usable, why = len(lines), 0, ""
    for line in lines:
        try:
            record = object_of(line)
        except UnusableValue as error:
            why = why or str(error)
            continue
        n_usable += 1
        record.pop(OF_CELLS, None)
        row |= {name: value for name, value in record.items() if row.get(name) in (None, "")}
    named = OBJECT if form == LINES and is_whole and n_usable == n_lines == 1 else form
    recognised = _of_row(_in_words(forms, named, head, plain), row)
    begins = plain.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if begins == b"<":
        recognised.refused = f"it is HTML or XML; {_ACCEPTED}"
    elif (form == LINES and not row and begins not in b"{[") or _is_prose(
        header, recognised, n_lines
    ):
        recognised.refused, recognised.is_text = _TEXT, True
    elif n_lines == 0 and is_whole:
        recognised.refused = f"it has no record; {_ACCEPTED}"
    elif n_usable == 0 and (n_lines >= _ENOUGH or (n_lines and is_whole)):
        recognised.refused = f"no record of it can be used: {why}"
    elif n_usable and not row:
        recognised.refused = f"its records are empty; {_ACCEPTED}"
    elif named == OBJECT and (many := _several(row, recognised.fields.get("response", ""))):
        recognised.refused = (
            f"it has several responses in “{many}”; give each as an object of its own"
        )
    return recognised


def _several(row: dict[str, Any], path: str) -> str:
    """Return the name of a list in an object that has several responses, "" for none.

    The path is to the response in its first element, so that the others would be ignored.
    """
    name, first, _ = path.partition("[0]")
    values = row.get(name)
    return name if first and isinstance(values, list) and len(values) > 1 else ""


def _lines(form: str, plain: bytes, is_whole: bool) -> Iterator[bytes]:
    """Yield the records of the first bytes as JSON; not the last one where it may be cut."""
    last = None
    for line in filter(bytes.strip, lines_of(as_json_lines(form, io.BytesIO(plain)))):
        if last is not None:
            yield last
        last = line
    if last is not None and (is_whole or (form == LINES and plain.endswith(b"\n"))):
        yield last


def _is_prose(header: Sequence[str], recognised: Recognised, n_lines: int) -> bool:
    """Return whether a file that may be CSV is rather a text, by its first line."""
    is_open = not all(header[-1:]) or n_lines == 0
    return (
        bool(header) and not recognised.fields and (is_open or any(map(_SENTENCE.search, header)))
    )


def _of_row(kind: str, row: dict[str, Any]) -> Recognised:
    """Return the columns and fields of a row by names and values; None is an unknown value."""
    by_name = {key: name for key, name in likely_columns([*row]).items() if row[name] in (None, "")}
    fields = by_name | likely_paths(row)
    within = [path for name, value in row.items() for path in paths_of(name, value)[1:]]
    columns = [name for name in (*row, *within) if "," not in name and name == name.strip()]
    shown = dict.fromkeys((*columns[:_MOST_COLUMNS], *fields.values()))
    named = f"{kind}, {quantity(len(row), 'column')}" if row else kind
    return Recognised(named, [*shown], fields)


def _in_words(forms: Sequence[str], named: str, head: bytes, plain: bytes) -> str:
    words = [named]
    if UTF_16 in forms:
        words.append((marked_encoding(head) or UTF_16).upper())
    elif WINDOWS in forms:
        words.append(WINDOWS)
    elif plain.startswith(b"\xef\xbb\xbf"):
        words.append("UTF-8 with a byte order mark")
    elif forms[-1] == CSV:
        words.append("UTF-8")
    if forms[-1] == CSV:
        first = next(filter(bytes.strip, plain.splitlines()), b"")
        words.append(f"separated by {DELIMITERS[delimiter_of(first.decode('utf-8', 'replace'))]}")
    words += [f"compressed by {form}" for form in forms if form in _COMPRESSED]
    return ", ".join(words)


# --- Parquet --------------------------------------------------------------------------------------


class _Ends(io.RawIOBase):
    """The beginning and the end of a file as a file; the bytes between them raise _Unsent."""

    def __init__(self, head: bytes, tail: bytes, size: int) -> None:
        self._head, self._tail = head, tail
        self._size = max(size, len(head) + len(tail))
        self._at = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a position."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Return the bytes from the position.

        Raises:
            _Unsent: not all of them are there.
        """
        start = self._at
        end = min(self._size, start + size if size >= 0 else self._size)
        before = self._size - len(self._tail)
        if end <= len(self._head):
            content = self._head[start:end]
        elif start >= before:
            content = self._tail[start - before : end - before]
        elif before == len(self._head):
            content = (self._head + self._tail)[start:end]
        else:
            raise _Unsent(f"bytes {start:,} to {end:,}")
        self._at = max(start, end)
        return content


def _parquet(forms: Sequence[str], ends: _Ends) -> Recognised:
    kind = ", ".join([PARQUET, *(f"compressed by {form}" for form in forms[:-1])])
    if len(forms) > 1:
        return Recognised(kind)  # its end comes last
    try:
        schema, n_rows = parquet_shape(cast(BinaryIO, ends))
    except _Unsent:
        return Recognised(kind)
    except (ValueError, OSError, pa.ArrowException):
        return Recognised(
            kind, refused="it is damaged, or a part is missing; copy or write it again"
        )
    row = {column.name: _like(column.type) for column in schema}
    read = _of_row(kind, row)
    # A key that cannot have just any text is recognised by its name.
    named = likely_columns([name for name, value in row.items() if isinstance(value, str)])
    read.fields = named | read.fields
    if n_rows == 0 or not row:
        read.refused = f"it has no record; {_ACCEPTED}"
    return read


def _like(kind: pa.DataType) -> Any:
    """Return a sample of a type as JSON has it, with a text for any plain value."""
    if pa.types.is_struct(kind):
        return {field.name: _like(field.type) for field in kind}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [_like(kind.value_type)]
    return {} if pa.types.is_map(kind) else "text"
