"""Read input files as blocks of raw pages or documents, the units of work and of resumption."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ufo.indexes.dump import RawPage, Wiki, read_pages
from ufo.indexes.slices import InputDamaged, Slice, slice_chunks

BLOCK_PAGES = 200
BLOCK_BYTES = 8 << 20
MAX_LINE_BYTES = 64 << 20

_DUMP_DATE = re.compile(r"(?<!\d)(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_PARQUET = b"PAR1"
_SLICE_BITS = 24  # the low bits of a block's number count within its slice, the others the slices


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A line of JSON Lines, or a row of Parquet as such; `problem` says why there is none, else
    ""."""

    json: bytes = b""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive pages or documents of one file.

    `file` is the position of the file among the inputs, `number` orders the blocks of a file, and
    `first` is the position of the first item in the slice. `name` is the file's name, with the byte
    offset of the slice unless that is 0. `date` is the dump's date (ISO 8601) in the file's name.
    """

    file: int
    number: int
    first: int
    name: str
    site: Wiki = field(default_factory=Wiki)
    date: str | None = None
    items: tuple[RawPage | RawDocument, ...] = ()


def read_blocks(
    part: Slice, block_pages: int = BLOCK_PAGES, block_bytes: int = BLOCK_BYTES
) -> Iterator[Block]:
    """Yield the blocks of a slice of a dump, JSON Lines or Parquet file (detected by content).

    An item that cannot be read has a `problem`; no error is raised for it.
    """
    file, path = part.file, Path(part.path)
    match = _DUMP_DATE.search(path.name)
    date = "-".join(match.groups()) if match else None
    site = Wiki()
    items: list[RawPage | RawDocument] = []
    name = f"{path.name}@{part.start}" if part.start else path.name
    number = part.number << _SLICE_BITS
    first = size = 0
    for item in _read(path, part):
        if isinstance(item, Wiki):
            site = item
            continue
        items.append(item)
        size += len(item.xml if isinstance(item, RawPage) else item.json)
        if len(items) >= block_pages or size >= block_bytes:
            if number % part.shares == part.share:
                yield Block(file, number, first, name, site, date, tuple(items))
            first += len(items)
            number += 1
            size = 0
            items = []
    if items and number % part.shares == part.share:
        yield Block(file, number, first, name, site, date, tuple(items))


def _read(path: Path, part: Slice) -> Iterator[Wiki | RawPage | RawDocument]:
    with path.open("rb") as stream:
        if stream.read(4) == _PARQUET:
            return _read_parquet(path)
    chunks = slice_chunks(part)
    head = b""
    try:
        while not head.lstrip() and (chunk := next(chunks, b"")):
            head += chunk
    except InputDamaged as error:
        return iter((RawDocument(problem=f"{error}; nothing could be read"),))
    chunks = chain([head], chunks)
    is_json = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"
    return _read_lines(chunks) if is_json else read_pages(chunks)


def _read_lines(chunks: Iterable[bytes]) -> Iterator[RawDocument]:
    """Yield one document for each line, also for blank ones, so that positions are line numbers."""
    rest = b""
    try:
        for chunk in chunks:
            first, *more = chunk.split(b"\n")
            rest += first
            if more:
                yield RawDocument(rest)
                yield from map(RawDocument, more[:-1])
                rest = more[-1]
            if len(rest) > MAX_LINE_BYTES:
                yield RawDocument(
                    problem=f"a line is over {MAX_LINE_BYTES:,} bytes; reading stopped"
                )
                return
    except InputDamaged as error:
        yield RawDocument(problem=f"{error}; reading stopped at this line")
        return
    if rest:
        yield RawDocument(rest)


def _read_parquet(path: Path) -> Iterator[RawDocument]:
    try:
        with pq.ParquetFile(path) as file:
            names = [name for name in ("title", "text", "url") if name in file.schema_arrow.names]
            for batch in file.iter_batches(columns=names, batch_size=1024):
                for row in batch.to_pylist():
                    yield RawDocument(json.dumps(row, default=str).encode())
    except (pa.ArrowException, OSError) as error:
        yield RawDocument(problem=f"not readable as Parquet: {error}")
