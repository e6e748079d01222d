"""The input of a run: which files, their fingerprints, and plain JSON Lines of each."""

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, cast
from uuid import uuid4

import pyarrow.parquet as pq

from schemas import storage
from schemas.errors import UsageError
from transforms.read import BEYOND

_BLOCK = 1 << 20
_PARQUET_ROWS = 1_000
_CSV_CELL = 16 * 1024 * 1024  # characters; a record's own limit is --max_line_bytes


@dataclass(frozen=True, slots=True)
class InputFile:
    """One input file: its path, the name its lines are known by, bytes, SHA-256, lines.

    `lines` are those of JSON, or rows, where they are `counted`; 0 in compressed files.
    """

    path: str
    name: str
    size: int
    sha256: str
    lines: int

    @property
    def counted(self) -> bool:
        """Whether the lines were counted."""
        return not self.path.endswith(".gz")

    def plain(self, here: bool = True) -> bool:
        """Tell whether workers read stretches of it as it is: JSON Lines, and on this machine
        where the workers are `here`, who would else fetch it time and again."""
        compressed = self.path.endswith((".gz", ".parquet", ".csv"))
        return not compressed and not (here and storage.is_remote(self.path))


def find_inputs(patterns: Sequence[str]) -> list[str]:
    """Return the files that the patterns name, in their order, each once.

    Raises:
        UsageError: a pattern that matches nothing, a missing file, or a folder.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        try:
            paths = storage.matches(pattern)
        except (OSError, ValueError) as error:
            raise UsageError(f"--input {pattern!r} cannot be read: {error}") from error
        if not paths:
            what = "pattern matches no file" if glob_like(pattern) else "file does not exist"
            raise UsageError(f"--input {pattern!r}: the {what}; check the path")
        for path in paths:
            if not storage.is_remote(path) and storage.is_folder(path):
                files = f"{path.rstrip('/')}/*.jsonl"
                raise UsageError(f"--input {path!r} is a folder; name its files, as in {files!r}")
            found[path] = None
    return list(found)


def shown_names(paths: Sequence[str]) -> list[str]:
    """Return what to call the files in keys such as `file:line`: without folders, if that tells
    them apart."""
    short = [re.split(r"[/\\]", path)[-1] for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


def lines_of(files: Sequence[InputFile]) -> int | None:
    """Return how many lines the files have; None where that is not known."""
    return sum(file.lines for file in files) if all(file.counted for file in files) else None


def glob_like(pattern: str) -> bool:
    """Tell whether a path has the characters of a pattern."""
    return any(char in pattern for char in "*?[")


def measure(path: str, name: str) -> InputFile:
    """Return the file's size, hash and number of lines; reads it once.

    Raises:
        UsageError: the file cannot be read.
    """
    digest, size, lines, last = sha256(), 0, 0, b"\n"
    try:
        with storage.open_read(path) as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
                size += len(block)
                lines += block.count(b"\n")
                last = block[-1:]
        lines = _rows(path) if path.endswith((".parquet", ".csv")) else lines + (last != b"\n")
    except (OSError, ValueError) as error:
        raise UsageError(f"--input {path!r} cannot be read: {error}") from error
    file = InputFile(path, name, size, digest.hexdigest(), lines)
    return file if file.counted else replace(file, lines=0)


def _rows(path: str) -> int:
    with storage.open_read(path) as stream:
        if path.endswith(".csv"):
            return sum(1 for _ in _csv_lines(stream))
        return int(pq.ParquetFile(stream).metadata.num_rows)


def spool(file: InputFile, folder: str) -> str:
    """Copy a file that is not plain into `folder` as JSON Lines; returns its path.

    One line a record or row, in their order, so that `file:line` means the same in both.

    Raises:
        UsageError: the file is not what its ending says.
    """
    name = f"{file.sha256[:16]}.jsonl"
    target = storage.join(folder, name)
    if storage.exists(target):
        return target
    if storage.is_remote(folder):
        with TemporaryDirectory(prefix="ufo-") as here:
            storage.send(spool(file, here), target)
        return target
    temporary = f"{target}.{uuid4().hex[:8]}.tmp"
    try:
        with open(temporary, "wb") as sink, storage.open_read(file.path) as stream:
            for block in _plain_blocks(file.path, stream):
                sink.write(block)
    except (OSError, EOFError, ValueError) as error:
        storage.delete(temporary)
        raise UsageError(f"--input {file.path!r} cannot be read: {error}") from error
    storage.move(temporary, target)
    return target


def _plain_blocks(path: str, stream: BinaryIO) -> Iterator[bytes]:
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
