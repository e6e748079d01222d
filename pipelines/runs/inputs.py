"""Find the input files, measure them, and convert each format to JSON Lines: one line a record."""

import csv
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Final, TextIO, cast
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from ufo.schemas import storage
from ufo.schemas.errors import NothingToEvaluate, UsageError
from ufo.schemas.text import without_nul
from ufo.transforms.read import NAMES, OF_CELLS, PROBLEM

ARRAY: Final = "a JSON array"
OBJECT: Final = "a JSON object"
CSV: Final = "CSV"
PARQUET: Final = "Parquet"

_BLOCK: Final = 1 << 20
_PARQUET_ROWS: Final = 1_000
_MAX_CELL: Final = 16 * 1024 * 1024  # characters; a record's own limit is --max_line_bytes
_SHOWN: Final = 4096
_DECODER: Final = json.JSONDecoder()
_BETWEEN: Final = re.compile(r"[\s,]*")
_LINE_ENDS: Final = re.compile(r"[\r\n]+")

Used = Callable[[str], bool]


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
    rows, header = _csv_reader(text)
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


def _csv_reader(text: TextIO) -> tuple[Any, list[str]]:
    """Return the reader of a CSV file after its header, and the header. Blank lines may precede it.

    Raises:
        ValueError: the header is not CSV, or names a column twice.
    """
    csv.field_size_limit(_MAX_CELL)
    heads = [text.readline()]
    while heads[-1].isspace():
        heads.append(text.readline())
    lines = map(without_nul, chain(heads, text))
    rows = csv.reader(lines, delimiter=delimiter_of(heads[-1]), strict=True)
    try:
        header = next((row for row in rows if any(map(str.strip, row))), [])
    except csv.Error as error:
        raise ValueError(f"its header is not CSV: {error}") from error
    names = [name for name in header if name]  # an index column may have no name
    if len(set(names)) < len(names):
        raise ValueError(f"a column is named twice: {', '.join(names)}")
    return rows, header


def _record(header: list[str], cells: list[str]) -> dict[str, Any]:
    record: dict[str, Any] = {name: cell for name, cell in zip(header, cells, strict=False) if name}
    if len(cells) > len(header):
        record = {PROBLEM: "the row has more cells than the header has columns", **record}
    return {**record, OF_CELLS: True}


def _items(text: io.TextIOWrapper, in_array: bool) -> Iterator[str]:
    """Yield the JSON of each item of an array, or of each value of a text, on one line.

    The whole text is in memory. An invalid item is yielded up to where the next item seems to
    start, and becomes a failure.
    """
    content = without_nul(text.read())
    at = content.index("[") + 1 if in_array else 0
    while between := _BETWEEN.match(content, at):
        start = between.end()
        if start == len(content) or (in_array and content[start] == "]"):
            return
        try:
            _, at = _DECODER.raw_decode(content, start)
        except (ValueError, RecursionError):
            found = _following(between[0]).search(content, start + 1)
            at = found.end() if found else len(content)
            yield _LINE_ENDS.sub(" ", content[start:at]).rstrip(", ")[:_SHOWN]
        else:
            yield _LINE_ENDS.sub(" ", content[start:at])


def _following(before: str) -> re.Pattern[str]:
    """Return a pattern that ends before the next item, given the text before this one."""
    _, newline, indent = before.rpartition("\n")
    return re.compile(rf"\n{indent}(?=\{{)" if newline else r",\s*(?=\{)")


def left_out_columns(stream: BinaryIO, used: Used) -> list[str]:
    """Return the columns of a Parquet file that are not read: columns of bytes (images, for
    example) and of nested values, unless they are `used`."""
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
    """Convert a value for which JSON has no type to text.

    Some writers of Parquet declare text as bytes, so bytes are decoded; what is not UTF-8 is kept
    as lone surrogates, so that the line becomes a failure.
    """
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else str(value)


def _present(value: Any) -> Any:
    """Return a row without its NULLs, nested ones included: they mean the same as a missing key."""
    if isinstance(value, dict):
        return {name: _present(item) for name, item in value.items() if item is not None}
    return [_present(item) for item in value] if isinstance(value, list) else value


LINES: Final = "JSON Lines"
GZIP: Final = "gzip"
HEAD_BYTES: Final = 64 * 1024
"""How many bytes of a file `format_of` needs."""

_BOM: Final = b"\xef\xbb\xbf"
_BEGINS_ARRAY: Final = re.compile(rb"\[\s*($|[{\]])")


@dataclass(frozen=True, slots=True)
class InputFile:
    """One input file: its path, the name used in keys such as `file:line`, bytes, SHA-256, lines.

    `format` is detected from the content (see `format_of`). `lines` is the number of JSON lines,
    records or rows.
    """

    path: str
    name: str
    size: int
    sha256: str
    lines: int
    format: str = LINES

    def is_plain(self, local: bool = True) -> bool:
        """Return whether workers can read ranges of the file directly.

        That needs JSON Lines, and for `local` workers a local file: they would download a remote
        one once for each range.
        """
        return self.format == LINES and not (local and storage.is_remote(self.path))


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A JSON Lines file that workers can read: the name used in keys, its path and its bytes.

    `left_out` are the columns of the input that the file lacks.
    """

    name: str
    path: str
    size: int
    left_out: tuple[str, ...] = ()


def find_inputs(patterns: Sequence[str]) -> list[str]:
    """Return the files that match the patterns, in order and without duplicates.

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
            is_glob = any(char in pattern for char in "*?[")
            what = "pattern matches no file" if is_glob else "file does not exist"
            raise UsageError(f"--input {pattern!r}: the {what}; check the path")
        for path in paths:
            if os.path.isdir(path):
                files = f"{path.rstrip('/')}/*.jsonl"
                raise UsageError(f"--input {path!r} is a folder; name its files, as in {files!r}")
            found[path] = None
    return list(found)


def input_files(paths: Sequence[str], action: str) -> tuple[InputFile, ...]:
    """Measure the input files; `action` is the verb for the error message if all are empty.

    Raises:
        UsageError: a file cannot be read.
        NothingToEvaluate: all files are empty.
    """
    files = [measure(path, name) for path, name in zip(paths, display_names(paths), strict=True)]
    if not any(file.size for file in files):
        raise empty_input(files, action)
    return tuple(files)


def empty_input(files: Sequence[InputFile], action: str) -> NothingToEvaluate:
    """Return the error for files that have no record."""
    paths = ", ".join(file.path for file in files)
    return NothingToEvaluate(f"--input {paths}: empty; there is nothing to {action}")


def display_names(paths: Sequence[str]) -> list[str]:
    """Return the names of files for keys such as `file:line`: without folders if that is unique."""
    short = [re.split(r"[/\\]", path)[-1] for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


def measure(path: str, name: str) -> InputFile:
    """Return the file's size, hash, format and number of lines.

    Raises:
        UsageError: the file cannot be read.
    """
    digest, size, lines, last, form = sha256(), 0, 0, b"\n", LINES
    try:
        with storage.open_read(path) as stream:
            while block := stream.read(_BLOCK):
                form = form if size else format_of(block[:HEAD_BYTES])
                digest.update(block)
                size += len(block)
                lines += block.count(b"\n")
                last = block[-1:]
        if form != LINES:
            with storage.open_read(path) as stream:
                lines, last = _count_records(form, stream)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise UsageError(f"--input {path!r} cannot be read: {error}") from error
    return InputFile(path, name, size, digest.hexdigest(), lines + (last != b"\n"), form)


def _count_records(form: str, stream: BinaryIO) -> tuple[int, bytes]:
    """Return the number of line ends of a file as JSON Lines, and its last byte."""
    if form == PARQUET:
        return int(pq.ParquetFile(stream).metadata.num_rows), b"\n"
    lines, last = 0, b"\n"
    for block in as_json_lines(form, stream):
        lines += block.count(b"\n")
        last = block[-1:]
    return lines, last


def format_of(head: bytes) -> str:
    """Return the format of a file from its first bytes, whatever its name.

    Parquet and gzip have a signature. Text that begins with `[` is a JSON array. Text that begins
    with an object of several lines is JSON objects. Text whose first line is a header of several
    columns is CSV (comma, semicolon or tab). All else is JSON Lines.
    """
    if head.startswith(b"PAR1"):
        return PARQUET
    if head.startswith(b"\x1f\x8b"):
        return GZIP
    first, *rest = head.removeprefix(_BOM).lstrip().splitlines() or [b""]
    has_objects = any(_is_json(line) for line in rest if line.startswith(b"{"))
    if first.startswith(b"["):
        alone = any(rest) and (_is_json(first) or (has_objects and not _BEGINS_ARRAY.match(first)))
        return LINES if alone else ARRAY
    if first.startswith(b"{") and not has_objects and any(rest) and _goes_on(first):
        return OBJECT
    names = re.split("[,;\t]", first.decode("utf-8", "replace"))
    if any(name.strip(' "').casefold() in NAMES for name in names):
        return CSV
    return LINES if has_objects or first.startswith(b"{") or len(names) == 1 else CSV


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _goes_on(line: bytes) -> bool:
    """Return whether more lines could complete the JSON of this one: it ends between two tokens."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        between = error.pos >= len(error.doc.rstrip())
        return between and not error.msg.startswith("Unterminated")
    except (ValueError, RecursionError):
        pass
    return False


def as_json_lines(form: str, stream: BinaryIO, used: Used | None = None) -> Iterator[bytes]:
    """Yield the bytes of a file of any format as JSON Lines; `used` as in `left_out_columns`.

    Raises:
        ValueError: the file is damaged, or compressed twice.
    """
    if form == GZIP:
        plain = cast(BinaryIO, gzip.GzipFile(fileobj=stream))
        form = format_of(plain.read(HEAD_BYTES))
        plain.seek(0)
        if form == GZIP:
            raise ValueError("it is compressed twice")
        yield from as_json_lines(form, plain, used)
    elif form != LINES:
        for line in json_rows(form, stream, used):
            yield line.encode(errors="surrogateescape") + b"\n"
    else:
        while block := stream.read(_BLOCK):
            yield block


def columns_of(head: bytes) -> list[str]:
    """Return the columns, or the keys of the first record, from the first bytes of a file; [] where
    these do not have them (in Parquet they are at the end)."""
    try:
        if format_of(head) == GZIP:
            head = zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
        form = format_of(head)
        if form == CSV:
            text = io.StringIO(head.decode("utf-8-sig", "replace"), newline="")
            return [name for name in _csv_reader(text)[1] if name]
        if form in (PARQUET, GZIP):
            return []
        if form == LINES:
            first = head.removeprefix(_BOM).lstrip().partition(b"\n")[0].decode("utf-8", "replace")
        else:
            first = next(json_rows(form, io.BytesIO(head)))
        return list(json.loads(first))
    except (ValueError, TypeError, RecursionError, StopIteration, zlib.error):
        return []


def spool(file: InputFile, folder: str, used: Used | None = None) -> str:
    """Copy a file that is not plain into `folder` as JSON Lines and return the copy's path.

    The copy has one line for each record or row, in order, so `file:line` names the same record;
    `used` as in `left_out_columns`.

    Raises:
        UsageError: the file is damaged.
    """
    name = f"{file.sha256[:16]}.jsonl"
    target = storage.join(folder, name)
    if storage.exists(target):
        return target
    if storage.is_remote(folder):
        with TemporaryDirectory(prefix="ufo-") as here:
            storage.send(spool(file, here, used), target)
        return target
    temporary = f"{target}.{uuid4().hex[:8]}.tmp"
    try:
        with open(temporary, "wb") as sink, storage.open_read(file.path) as stream:
            for block in as_json_lines(file.format, stream, used):
                sink.write(block)
    except (OSError, EOFError, ValueError) as error:
        storage.delete(temporary)
        raise UsageError(f"--input {file.path!r} cannot be read: {error}") from error
    storage.move(temporary, target)
    return target


def plain_file(
    file: InputFile, folder: str, used: Used | None = None, local: bool = True
) -> PlainFile:
    """Return a JSON Lines file that workers can read; `local` workers run on this machine.

    A file that is not plain is copied into `folder`; `used` as in `left_out_columns`.

    Raises:
        UsageError: the file is damaged.
    """
    path = file.path if file.is_plain(local) else spool(file, folder, used)
    left_out: list[str] = []
    if used and file.format == PARQUET:
        with storage.open_read(file.path) as stream:
            left_out = left_out_columns(stream, used)
    return PlainFile(file.name, path, storage.size(path), tuple(left_out))
