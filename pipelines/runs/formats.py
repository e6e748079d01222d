"""Read gzip, Parquet and CSV files as JSON Lines: one line a record or row, in their order."""

import csv
import gzip
import io
import json
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO, cast

import pyarrow.parquet as pq

from schemas import storage
from transforms.read import BEYOND

_BLOCK = 1 << 20
_PARQUET_ROWS = 1_000
_CSV_CELL = 16 * 1024 * 1024  # characters; a record's own limit is --max_line_bytes


def rows_in(path: str) -> int:
    """Return how many rows a Parquet or CSV file has."""
    with storage.open_read(path) as stream:
        if path.endswith(".csv"):
            return sum(1 for _ in _csv_lines(stream))
        return int(pq.ParquetFile(stream).metadata.num_rows)


def plain_blocks(path: str, stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of the JSON Lines that a file holds, or is."""
    if path.endswith(".parquet"):
        yield from _parquet_lines(stream)
        return
    if path.endswith(".csv"):
        yield from _csv_lines(stream)
        return
    plain = cast(BinaryIO, gzip.GzipFile(fileobj=stream)) if path.endswith(".gz") else stream
    while block := plain.read(_BLOCK):
        yield block


def delimiter_of(head: str) -> str:
    """Return what is between the cells of a CSV file as spreadsheets write it, by its first line:
    comma, semicolon or tab."""
    return max(",;\t", key=head.count)


def _csv_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a JSON object for each row, of its cells as text."""
    csv.field_size_limit(_CSV_CELL)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    head = text.readline()
    lines = chain([head], text)
    rows = csv.DictReader(lines, restkey=BEYOND, delimiter=delimiter_of(head), strict=True)
    names = [name for name in rows.fieldnames or () if name]  # an index column may have no name
    if len(set(names)) < len(names):
        raise ValueError(f"a column is named twice: {', '.join(names)}")
    try:
        for row in rows:
            record = {name: value for name, value in row.items() if value is not None}
            yield json.dumps(record, ensure_ascii=False).encode() + b"\n"
    except csv.Error as error:
        raise ValueError(f"line {rows.line_num}: {error}") from error
    finally:
        text.detach()


def _parquet_lines(stream: BinaryIO) -> Iterator[bytes]:
    for batch in pq.ParquetFile(stream).iter_batches(_PARQUET_ROWS):
        for row in batch.to_pylist():
            line = json.dumps(_without_nulls(row), ensure_ascii=False, default=_as_text)
            yield line.encode(errors="surrogateescape") + b"\n"


def _as_text(value: object) -> str:
    """Return what JSON cannot say as text. Bytes are the text that they encode, which some writers
    of Parquet do not declare; those that encode none stay themselves, and the line is none."""
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else str(value)


def _without_nulls(value: Any) -> Any:
    """Return a row, or what is nested in it, without what it leaves empty: the columns, and the
    fields of a structure, are of all rows, and NULL is the same as a key that is not there."""
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
