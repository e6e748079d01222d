"""Read rows from files: JSON Lines, JSON arrays and objects, CSV, TSV and Parquet, as JSON Lines.

The format is recognised by the first bytes of a file, whatever its name. Each but Parquet may be
compressed by gzip, bzip2 or zstd, and be UTF-16 with a byte order mark. CSV may be Windows-1252, as
spreadsheets write it, which is a guess: a table says nothing of its encoding.
"""

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Container, Generator, Iterable, Iterator
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files
from itertools import chain
from typing import Any, BinaryIO, Final, TextIO, cast

import pyarrow as pa
import pyarrow.parquet as pq

from ufo.schemas.compression import (
    BZIP2,
    GZIP,
    ZSTD,
    ByteStream,
    InputDamaged,
    compression_of,
    decompress,
)
from ufo.schemas.row import OF_CELLS, PROBLEM
from ufo.schemas.text import marked_encoding, replace_nul

LINES: Final = "JSON Lines"
ARRAY: Final = "a JSON array"
OBJECT: Final = "a JSON object"
CSV: Final = "CSV"
PARQUET: Final = "Parquet"
UTF_16: Final = "UTF-16"
WINDOWS: Final = "Windows-1252"
WRAPPED: Final = (GZIP, BZIP2, ZSTD, UTF_16, WINDOWS)
"""The formats that wrap a file of another format."""
HEAD_BYTES: Final = 64 * 1024
"""How many bytes of a file `format_of` needs."""

_BLOCK: Final = 1 << 20
_PARQUET_ROWS: Final = 1_000
MAX_LINE_BYTES: Final = 64 << 20
"""The most bytes of a document, or of an object to import."""
_MAX_CELL: Final = 16 * 1024 * 1024  # characters; a record's own limit is --max_line_bytes
_SHOWN: Final = 4096
_JSON: Final = json.JSONDecoder()
_WRITTEN: Final = json.JSONEncoder(ensure_ascii=False)
_BETWEEN: Final = re.compile(r"[\s,]*")
_LINE_ENDS: Final = re.compile(r"[\r\n]+")
_BOM: Final = codecs.BOM_UTF8
_BEGINS_ARRAY: Final = re.compile(rb"\[\s*($|[{\]])")
DELIMITERS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""The delimiters of CSV with their names."""
_CONTROLS: Final = bytes({*range(32)} - {*b"\0\t\n\v\f\r\x1b"})
_LONGEST_RUN: Final = re.compile(rb"[\x80-\xff]{4}")
"""So many bytes together are not letters of a Western language, of which few have an accent."""

Used = Callable[[str], bool]
"""Says whether to read a column of Parquet with bytes (as of images) or nested values; None: all.
"""


def json_rows(form: str, stream: BinaryIO, used: Used | None = None) -> Iterator[str]:
    """Yield the JSON of each record or row.

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
    """Return the delimiter of a CSV file from its first line."""
    return max(DELIMITERS, key=head.count)


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
            yield _WRITTEN.encode(_record(header, cells))


def _csv_reader(text: TextIO) -> tuple[Any, list[str]]:
    """Return the reader of a CSV file after its header, and the header. Blank lines may precede it.

    Raises:
        ValueError: the header is not CSV, or names a column twice.
    """
    csv.field_size_limit(_MAX_CELL)
    heads = [text.readline()]
    while heads[-1].isspace():
        heads.append(text.readline())
    lines = map(replace_nul, chain(heads, text))
    rows = csv.reader(lines, delimiter=delimiter_of(heads[-1]), strict=True)
    try:
        first = next((row for row in rows if any(map(str.strip, row))), [])
    except csv.Error as error:
        raise ValueError(f"its header is not CSV: {error}") from error
    header = [name.strip() for name in first]
    names = [name for name in header if name]  # an index column may have no name
    if len(set(names)) < len(names):
        raise ValueError(f"a column is named twice: {', '.join(names)}; name each once")
    return rows, header


def _record(header: list[str], cells: list[str]) -> dict[str, Any]:
    record: dict[str, Any] = {name: cell for name, cell in zip(header, cells, strict=False) if name}
    if len(cells) > len(header):
        record = {PROBLEM: "the row has more cells than the header has columns", **record}
    record[OF_CELLS] = True
    return record


def _items(text: io.TextIOWrapper, in_array: bool) -> Iterator[str]:
    """Yield the JSON of each item of an array, or of each value of a text, on one line.

    The whole text is in memory. An invalid item is yielded up to where the next item seems to
    start, and becomes a failure.
    """
    content, damage = _content(text)
    at = content.index("[") + 1 if in_array else 0
    while between := _BETWEEN.match(content, at):
        start = between.end()
        if start == len(content) or (in_array and content[start] == "]"):
            break
        try:
            _, at = _JSON.raw_decode(content, start)
        except (ValueError, RecursionError):
            match = _following(between[0]).search(content, start + 1)
            at = match.end() if match else len(content)
            yield _LINE_ENDS.sub(" ", content[start:at]).rstrip(", ")[:_SHOWN]
        else:
            yield _LINE_ENDS.sub(" ", content[start:at])
    if damage:
        raise damage


def _content(text: io.TextIOWrapper) -> tuple[str, InputDamaged | None]:
    """Return the text up to the first damage, and that damage."""
    blocks, damage = [], None
    try:
        while block := text.read(_BLOCK):
            blocks.append(block)
    except InputDamaged as error:
        damage = error
    return replace_nul("".join(blocks)), damage


def _following(before: str) -> re.Pattern[str]:
    """Return a pattern for the text between two items, given the text before the first one."""
    _, newline, indent = before.rpartition("\n")
    return re.compile(rf"\n{indent}(?=\{{)" if newline else r",\s*(?=\{)")


def _is_plain(kind: pa.DataType) -> bool:
    kind = getattr(kind, "storage_type", kind)  # of an extension
    kind = getattr(kind, "value_type", kind) if pa.types.is_dictionary(kind) else kind
    of_bytes = (
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_binary_view,
        pa.types.is_fixed_size_binary,
    )
    return not (pa.types.is_nested(kind) or any(is_kind(kind) for is_kind in of_bytes))


def _parquet_rows(stream: BinaryIO, used: Used | None) -> Iterator[str]:
    file = pq.ParquetFile(stream)
    names = [
        field.name
        for field in file.schema_arrow
        if used is None or _is_plain(field.type) or used(field.name)
    ]
    write = json.JSONEncoder(ensure_ascii=False, default=_as_text).encode
    for batch in file.iter_batches(_PARQUET_ROWS, columns=names):
        for row in batch.to_pylist(maps_as_pydicts="lossy"):
            yield write(_drop_nulls(row))


def _as_text(value: object) -> str:
    """Convert a value for which JSON has no type to text.

    Some writers of Parquet declare text as bytes, so bytes are decoded; what is not UTF-8 is kept
    as lone surrogates, so that the line becomes a failure.
    """
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else str(value)


def _drop_nulls(value: Any) -> Any:
    """Return a row without its NULLs, nested ones included: they mean the same as a missing key."""
    if isinstance(value, dict):
        return {
            name: item if isinstance(item, str) else _drop_nulls(item)
            for name, item in value.items()
            if item is not None
        }
    return [_drop_nulls(item) for item in value] if isinstance(value, list) else value


# --- the format of a file -------------------------------------------------------------------------


def format_of(head: bytes, names: Container[str] = ()) -> str:
    """Return the format of a file from its first bytes, whatever its name.

    Parquet and compressed files have a signature, UTF-16 a byte order mark. Text that begins with
    `[` is a JSON array. Text that begins with an object of several lines is JSON objects. Text
    whose first line is a header of several columns, or of one that is in `names`, is CSV. Where
    this is not UTF-8, it is Windows-1252 if all of it can be. All else is JSON Lines.

    Raises:
        ValueError: it is a format that is known and not read; the message says what to do.
    """
    if head.startswith(b"PAR1"):
        return PARQUET
    if compression := compression_of(head):
        return compression
    if marked_encoding(head):
        return UTF_16
    _refuse_others(head)
    first, *rest = head.removeprefix(_BOM).lstrip().splitlines() or [b""]
    has_objects = any(_is_json(line) for line in rest if line.startswith(b"{"))
    if first.startswith(b"["):
        alone = any(rest) and (_is_json(first) or (has_objects and not _BEGINS_ARRAY.match(first)))
        return LINES if alone else ARRAY
    if first.startswith(b"{") and not has_objects and any(rest) and _goes_on(first):
        return OBJECT
    columns = re.split(f"[{''.join(DELIMITERS)}]", first.decode("utf-8", "replace"))
    if not any(name.strip(' "').casefold() in names for name in columns) and (
        has_objects or first.startswith(b"{") or len(columns) == 1
    ):
        return LINES
    return WINDOWS if _is_windows(head) else CSV


def _is_windows(head: bytes) -> bool:
    """Return whether a text is not UTF-8, but printable and probable text in Windows-1252."""
    with suppress(UnicodeDecodeError):
        codecs.getincrementaldecoder("utf-8")().decode(head)
        return False
    try:
        written = head.decode("cp1252")
    except UnicodeDecodeError:
        return False
    others = (char for char in written if not char.isascii() and char != "\xa0")
    is_shown = all(map(str.isprintable, others)) and not _LONGEST_RUN.search(head)
    return is_shown and head.decode("utf-8", "ignore").isascii()


def _refuse_others(head: bytes) -> None:
    for offset, magic, within, what, remedy in _signatures():
        if head.startswith(magic, offset) and within in head:
            raise ValueError(f"it is {what}; {remedy}")
    if head.count(0) > len(head) // 4:
        raise ValueError(
            "it is binary, or UTF-16 without a byte order mark; save a text as UTF-8 (`iconv -f "
            "utf-16le -t utf-8`)"
        )
    # Over one byte in twenty of compressed data is a control character, and hardly one of a text.
    if (len(head) - len(head.translate(None, _CONTROLS))) * 20 > len(head):
        raise ValueError("it is binary and of no known kind; give JSON Lines, JSON, CSV or Parquet")


@cache
def _signatures() -> list[tuple[int, bytes, bytes, str, str]]:
    text = files("ufo.schemas").joinpath("signatures.txt").read_text(encoding="utf-8")
    signatures = []
    for line in text.splitlines():
        if line and not line.startswith("##"):
            where, what, remedy = line.split(" => ")
            offset, _, digits = where.rpartition(":")
            magic, _, within = digits.partition("+")
            begins = bytes.fromhex(magic)
            signatures.append((int(offset or 0), begins, bytes.fromhex(within), what, remedy))
    return signatures


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _goes_on(line: bytes) -> bool:
    """Return whether a line is incomplete JSON that further lines may complete."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        between = error.pos >= len(error.doc.rstrip())
        return between and not error.msg.startswith("Unterminated")
    except (ValueError, RecursionError):
        pass
    return False


def unwrap(form: str, stream: BinaryIO) -> io.BufferedReader:
    """Return a forward-only stream of the file inside a compressed file, or of a text as UTF-8.

    A read raises InputDamaged where the file cannot be read further.
    """
    blocks = iter(partial(stream.read, _BLOCK), b"")
    is_text = form in (UTF_16, WINDOWS)
    pieces = _as_utf8(blocks, form) if is_text else decompress(form, blocks)
    return io.BufferedReader(ByteStream(pieces), HEAD_BYTES)


def _as_utf8(blocks: Iterator[bytes], form: str) -> Iterator[bytes]:
    first = next(blocks)
    if form == WINDOWS:
        for block in chain([first], blocks):
            yield block.decode("cp1252", "replace").encode()
        return
    decoder = codecs.getincrementaldecoder(marked_encoding(first) or "utf-16")("surrogatepass")
    try:
        for block in chain([first], blocks):
            if text := decoder.decode(block):
                yield text.encode("utf-8", "surrogatepass")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise InputDamaged(f"damaged {UTF_16} text: {error.reason}") from None


def as_json_lines(
    form: str, stream: BinaryIO, used: Used | None = None, names: Container[str] = ()
) -> Generator[bytes]:
    """Yield the bytes of a file of any format as JSON Lines; `names` as in `format_of`.

    Raises:
        ValueError: the file is damaged, compressed twice, or of a format that is not read.
    """
    if form in WRAPPED:
        plain = unwrap(form, stream)
        inner = format_of(plain.peek(HEAD_BYTES), names)
        if form != UTF_16 and inner in (GZIP, BZIP2, ZSTD):
            raise ValueError("it is compressed twice")
        if inner == LINES:
            yield from iter(partial(plain.read1, _BLOCK), b"")
            return
        # Parquet is read from its end.
        content = io.BytesIO(plain.read()) if inner == PARQUET else cast(BinaryIO, plain)
        yield from as_json_lines(inner, content, used, names)
    elif form != LINES:
        for line in json_rows(form, stream, used):
            yield line.encode(errors="surrogateescape") + b"\n"
    else:
        while block := stream.read(_BLOCK):
            yield block


def lines_of(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of JSON Lines, without line ends but with blank lines.

    Raises:
        ValueError: a line is longer than any record.
    """
    rest = b""
    for block in blocks:
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
        if len(rest) > MAX_LINE_BYTES:
            raise ValueError(f"a line is over {MAX_LINE_BYTES:,} bytes; reading stopped")
    if rest:
        yield rest


def layers_of(head: bytes, names: Container[str] = ()) -> tuple[list[str], bytes]:
    """Return the formats of a file from the outermost to the innermost, and the first bytes inside.

    `names` is as in `format_of`.

    Raises:
        ValueError: the file is damaged, compressed twice, or of a format that is not read.
    """
    forms: list[str] = []
    while (form := format_of(head[:HEAD_BYTES], names)) in WRAPPED:
        if forms and forms[-1] != UTF_16 and form not in (UTF_16, WINDOWS):
            raise ValueError("it is compressed twice")
        forms.append(form)
        head = unwrap(form, io.BytesIO(head)).peek(HEAD_BYTES)
    return [*forms, form], head


def csv_header(head: bytes) -> list[str]:
    """Return the columns of CSV from its first bytes.

    Raises:
        ValueError: the header is not CSV, or names a column twice.
    """
    text = io.StringIO(head.decode("utf-8-sig", "replace"), newline="")
    return _csv_reader(text)[1]


def parquet_shape(stream: BinaryIO) -> tuple[pa.Schema, int]:
    """Return the columns of a Parquet file with their types, and its number of rows, from its end.

    Raises:
        ValueError: it is damaged.
    """
    metadata = pq.read_metadata(stream)
    return metadata.schema.to_arrow_schema(), metadata.num_rows
