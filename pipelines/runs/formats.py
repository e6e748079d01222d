"""Read JSON, CSV and Parquet as JSON Lines: one line for each record or row, in order."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from ufo.schemas.text import without_nul
from ufo.transforms.values import OF_CELLS, PROBLEM

ARRAY: Final = "a JSON array"
OBJECT: Final = "a JSON object"
CSV: Final = "CSV"
PARQUET: Final = "Parquet"

_BLOCK: Final = 1 << 20
_PARQUET_ROWS: Final = 1_000
_MAX_CELL: Final = 16 * 1024 * 1024  # characters; a record's own limit is --max_line_bytes
_MAX_ITEM: Final = 64 * 1024 * 1024  # characters of one item of an array
_SHOWN: Final = 4096
_DECODER: Final = json.JSONDecoder()
_LONGEST_TOKEN: Final = 16  # characters that cannot be parsed in part: `false`, a surrogate pair
_BETWEEN: Final = re.compile(r"[\s,]*")
_LINE_ENDS: Final = re.compile(r"[\r\n]+")

Used = Callable[[str], bool]


def count_rows(form: str, stream: BinaryIO) -> int:
    """Return the number of records or rows in a file of one of these formats."""
    if form == PARQUET:
        return int(pq.ParquetFile(stream).metadata.num_rows)
    return sum(1 for _ in json_rows(form, stream))


def json_rows(form: str, stream: BinaryIO, used: Used | None = None) -> Iterator[str]:
    """Yield the JSON of each record or row; `used` as in `left_out_columns`.

    Bytes that are not UTF-8 are kept as lone surrogates, so that only their record fails.
    """
    if form == PARQUET:
        yield from _parquet_rows(stream, used)
        return
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    try:
        yield from _csv_rows(text) if form == CSV else _items(text, in_array=form == ARRAY)
    finally:
        text.detach()


def delimiter_of(head: str) -> str:
    """Return the delimiter of a CSV file from its first line: comma, semicolon or tab."""
    return max(",;\t", key=head.count)


def _csv_rows(text: io.TextIOWrapper) -> Iterator[str]:
    """Yield a JSON object for each row, with the cells as text."""
    csv.field_size_limit(_MAX_CELL)
    head = text.readline()
    lines = map(without_nul, chain([head], text))
    rows = csv.reader(lines, delimiter=delimiter_of(head), strict=True)
    header = _header(rows)
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield json.dumps({PROBLEM: f"not CSV: line {rows.line_num}: {error}"})
            continue
        if any(cells):
            yield json.dumps(_record(header, cells), ensure_ascii=False)


def _header(rows: Iterable[list[str]]) -> list[str]:
    try:
        header = next(iter(rows), [])
    except csv.Error as error:
        raise ValueError(f"its header is not CSV: {error}") from error
    names = [name for name in header if name]  # an index column may have no name
    if len(set(names)) < len(names):
        raise ValueError(f"a column is named twice: {', '.join(names)}")
    return header


def _record(header: list[str], cells: list[str]) -> dict[str, Any]:
    record: dict[str, Any] = {name: cell for name, cell in zip(header, cells, strict=False) if name}
    if len(cells) > len(header):
        record = {PROBLEM: "the row has more cells than the header has columns", **record}
    return {**record, OF_CELLS: True}


def _items(text: io.TextIOWrapper, in_array: bool) -> Iterator[str]:
    """Yield the JSON of each item of an array, or of each value of a text, on one line.

    Of an invalid item the beginning is yielded, up to where the next item seems to start.
    """
    buffer, at, ended = "", 0, False

    def more() -> None:
        nonlocal buffer, at, ended
        block = text.read(max(_BLOCK, len(buffer) - at))
        ended = not block
        buffer, at = buffer[at:] + without_nul(block), 0

    more()
    at = buffer.index("[") + 1 if in_array else 0
    while True:
        between = _BETWEEN.match(buffer, at)
        start = between.end() if between else at
        if start == len(buffer):
            if ended:
                return
            more()
            continue
        if in_array and buffer[start] == "]":
            return
        try:
            _, at = _DECODER.raw_decode(buffer, start)
        except (ValueError, RecursionError) as error:
            if not ended and _is_incomplete(error, len(buffer) - start):
                more()
                continue
            following, at = _following(buffer[at:start]), start
            while not (found := following.search(buffer, at + 1)) and not ended:
                more()
            end = found.end() if found else len(buffer)
            # Still not JSON, so it becomes a failure of its line.
            yield _LINE_ENDS.sub(" ", buffer[at:end]).rstrip(", ")[:_SHOWN]
            at = end
        else:
            yield _LINE_ENDS.sub(" ", buffer[start:at])


def _is_incomplete(error: Exception, length: int) -> bool:
    """Return whether an item may only be cut off: more text could complete it."""
    if not isinstance(error, json.JSONDecodeError) or length > _MAX_ITEM:
        return False
    return error.msg.startswith("Unterminated") or len(error.doc) - error.pos < _LONGEST_TOKEN


def _following(before: str) -> re.Pattern[str]:
    """Return a pattern that ends before the next item, given the text before this one."""
    _, newline, indent = before.rpartition("\n")
    return re.compile(rf"\n{indent}(?=\{{)" if newline else r",\s*(?=\{)")


def left_out_columns(stream: BinaryIO, used: Used) -> list[str]:
    """Return the columns of a Parquet file that are not read: those of bytes (images, for example)
    and of nested values, unless they are `used`."""
    schema = pq.ParquetFile(stream).schema_arrow
    return [field.name for field in schema if not used(field.name) and not _is_plain(field.type)]


def _is_plain(kind: pa.DataType) -> bool:
    kind = getattr(kind, "storage_type", kind)  # of an extension
    kind = getattr(kind, "value_type", kind) if pa.types.is_dictionary(kind) else kind
    of_bytes = (
        *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
        pa.types.is_fixed_size_binary,
    )
    return not (pa.types.is_nested(kind) or any(is_kind(kind) for is_kind in of_bytes))


def _parquet_rows(stream: BinaryIO, used: Used | None) -> Iterator[str]:
    file = pq.ParquetFile(stream)
    left_out = left_out_columns(stream, used) if used else ()
    names = [name for name in file.schema_arrow.names if name not in left_out]
    for batch in file.iter_batches(_PARQUET_ROWS, columns=names):
        for row in batch.to_pylist(maps_as_pydicts="lossy"):
            yield json.dumps(_present(row), ensure_ascii=False, default=_as_text)


def _as_text(value: object) -> str:
    """Return a value that JSON has no type for as text.

    Some writers of Parquet declare text as bytes, so bytes are decoded; what is not UTF-8 is kept
    as lone surrogates, so that the line becomes a failure.
    """
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else str(value)


def _present(value: Any) -> Any:
    """Return a row without its NULLs, nested ones included: they mean the same as a missing key."""
    if isinstance(value, dict):
        return {name: _present(item) for name, item in value.items() if item is not None}
    return [_present(item) for item in value] if isinstance(value, list) else value
