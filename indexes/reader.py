"""Read the input of an index in blocks of pages or documents, the units of work.

A multistream dump is a sequence of bzip2 streams of a hundred pages each, which are found by their
first bytes. For any other file, each of several readers reads all of it and processes a share of
its blocks: reading takes a fraction of the time of processing. The numbers of blocks do not depend
on the number of readers. Decompression is incremental, so that everything before the damage in a
file is read.

A MediaWiki `pages-articles` export is split at `<page>` and `</page>`, which occur in it only as
tags, and each page is parsed separately: memory holds one page, and an invalid page does not affect
others. Format: https://www.mediawiki.org/xml/export-0.11.xsd
"""

import mmap
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO
from urllib.parse import quote

from ufo.indexes.wikis import names_without_text, redirect_target
from ufo.schemas.compression import InputDamaged, compression_of, decompress
from ufo.schemas.documents import Columns, RawDocument, documents_in, is_text_file, read_rows
from ufo.schemas.text import quantity, replace_nul

# --- slices of files -----------------------------------------------------------------------------

_CHUNK = 1 << 20


def read_chunks(path: Path, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file in order, at most a few MB at a time.

    `start` and `end` are offsets in the compressed file; `start` must be the beginning of a stream.
    Concatenated streams (multistream dumps, concatenated gzip) are read as one.

    Raises:
        InputDamaged: after the last readable byte.
    """
    with path.open("rb") as stream:
        stream.seek(start)
        compression = compression_of(stream.read(4))
        stream.seek(start)
        pieces = _pieces(stream, None if end is None else end - start)
        yield from decompress(compression, pieces) if compression else pieces


def _pieces(stream: BinaryIO, left: int | None) -> Iterator[bytes]:
    while piece := stream.read(_CHUNK if left is None else min(left, _CHUNK)):
        left = None if left is None else left - len(piece)
        yield piece


SLICE_BYTES = 4 << 20  # of the compressed file
SHARED_BYTES = 4 << 20  # a smaller file has one reader

_STREAM = re.compile(rb"BZh[1-9]1AY&SY")
_STREAMS_TRIED = 3  # to see whether each has whole pages, since one may be damaged
_INDEX_NAME = re.compile(r"-multistream-index\d*\.txt")


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of an input file, at position `file` among the inputs.

    It has the bytes `start` to `end` (None: the end of the file); `header` is where the first
    stream of the file ends, which describes the wiki. Of the blocks in it, it has those whose
    number modulo `shares` is `share`.
    """

    file: int
    path: str
    number: int = 0
    start: int = 0
    end: int | None = None
    header: int = 0
    share: int = 0
    shares: int = 1


def is_stream_index(path: Path) -> bool:
    """Return whether a file is the index of a multistream dump, by its name."""
    return bool(_INDEX_NAME.search(path.name))


def slices_of(path: Path, file: int, workers: int, slice_bytes: int = SLICE_BYTES) -> list[Slice]:
    """Return the slices of a file; each block is in exactly one of them."""
    starts = [0]
    offsets = _page_streams(path)
    for offset in offsets:
        if offset - starts[-1] >= slice_bytes:
            starts.append(offset)
    if len(starts) > 1:
        ends = [*starts[1:], None]
        return [
            Slice(file, str(path), number, start, end, offsets[0])
            for number, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]
    shares = workers if path.is_dir() or path.stat().st_size > SHARED_BYTES else 1
    return [Slice(file, str(path), share=share, shares=shares) for share in range(shares)]


def slice_chunks(part: Slice) -> Iterator[bytes]:
    """Yield the decompressed bytes of a slice, completed to a whole XML document.

    Raises:
        InputDamaged: after the last readable byte.
    """
    path = Path(part.path)
    if part.start:
        try:
            yield from read_chunks(path, 0, part.header)
        except InputDamaged:  # a problem of the first slice
            yield b"<mediawiki>"
    yield from read_chunks(path, part.start, part.end)
    if part.end is not None:
        yield b"</mediawiki>"


def _page_streams(path: Path) -> list[int]:
    """Return the offsets of the streams of a multistream dump, ascending; none for other files.

    Other files include those whose streams end within pages, as some programs compress them."""
    if path.is_dir():
        return []
    with path.open("rb") as stream:
        if not _STREAM.match(stream.read(10)):
            return []
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            # The probability of these bytes elsewhere in compressed data is 10^-15 for each GB.
            offsets = [match.start() for match in _STREAM.finditer(data)][1:]
    for start, end in islice(pairwise(offsets), _STREAMS_TRIED):
        with suppress(InputDamaged):
            if next(read_chunks(path, start, end), b"").lstrip().startswith(_OPEN):
                return offsets
    return []


# --- pages of a dump -----------------------------------------------------------------------------

MAX_PAGE_BYTES = 64 << 20
DEFAULT_BASE = "https://en.wikipedia.org/wiki/"

_OPEN = b"<page>"
_CLOSE = b"</page>"
# Characters that XML 1.0 forbids and that occur in damaged dumps.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_TITLE = re.compile(rb"<title>([^<]{1,1000})</title>")
_LANGUAGE = re.compile(rb"<mediawiki[^>]*?\sxml:lang=[\"']([A-Za-z-]{2,12})[\"']")
_FILE, _CATEGORY, _MEDIA = "6", "14", "-2"


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the dump; `redirect` is the title of its target, `text` is wikitext.

    The title of the target is that of the redirect element, else that of the text.
    """

    title: str
    namespace: int
    page_id: int | None
    revision_id: int | None
    timestamp: str | None
    redirect: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Wiki:
    """The wiki of a dump: its base URL, its language, and the link namespaces without text."""

    base_url: str = DEFAULT_BASE
    dropped_links: frozenset[str] = frozenset(("category", "file", "image", "media"))
    language: str = "en"

    def url_of(self, title: str) -> str:
        """Return the address of a page, its title encoded as MediaWiki does in a path."""
        return self.base_url + quote(title.replace(" ", "_"), safe=";@$!*(),/~:")


@dataclass(frozen=True, slots=True)
class RawPage:
    """The bytes of one `<page>` element; `problem` says why it is incomplete, else ""."""

    xml: bytes
    problem: str = ""


class PageBroken(Exception):
    """A page cannot be parsed; the message says why."""


def read_pages(
    chunks: Iterable[bytes], max_bytes: int = MAX_PAGE_BYTES
) -> Iterator[Wiki | RawPage]:
    """Yield the site, then each page in order; `chunks` is the decompressed dump.

    A page without its end or larger than `max_bytes`, a truncated dump, and an InputDamaged that
    `chunks` raises are yielded as a RawPage with a `problem`.
    """
    buffer = bytearray()
    seen = 0  # no </page> begins before this position in the buffer
    n_pages = 0
    lost = False  # the beginning of the page in the buffer was discarded
    damage = ""
    try:
        for chunk in chunks:
            buffer += chunk
            while (end := buffer.find(_CLOSE, seen)) >= 0:
                before, *pages = bytes(buffer[:end]).split(_OPEN)
                del buffer[: end + len(_CLOSE)]
                seen = 0
                if n_pages == 0:
                    yield _site(before)
                for unfinished in pages[:-1]:
                    yield RawPage(_OPEN + unfinished, "the page has no </page>")
                if pages:
                    yield RawPage(_OPEN + pages[-1] + _CLOSE)
                elif not lost:
                    yield RawPage(before, "</page> without <page>")
                n_pages += 1
                lost = False
            if len(buffer) > max_bytes:
                if not lost:
                    yield RawPage(bytes(buffer[:4096]), f"the page is over {max_bytes:,} bytes")
                del buffer[: -len(_CLOSE)]
                lost = True
            seen = max(0, len(buffer) - len(_CLOSE))
    except InputDamaged as error:
        damage = str(error)
    yield from _ending(bytes(buffer), n_pages, damage)


def _ending(rest: bytes, n_pages: int, damage: str) -> Iterator[RawPage]:
    """Yield a RawPage with the problem at the end of a dump, if there is one."""
    cut = rest.find(_OPEN)
    after = f"after {quantity(n_pages, 'whole page')}" + (
        ", in the middle of a page" if cut >= 0 else ""
    )
    partial = rest[cut:] if cut >= 0 else b""
    if damage:
        yield RawPage(partial, f"{damage}; reading stopped {after}")
    elif n_pages == 0 and b"<mediawiki" not in rest:
        yield RawPage(
            rest[:4096], "this is not a MediaWiki XML export: it has no <mediawiki> element"
        )
    elif cut >= 0 or b"</mediawiki>" not in rest:
        yield RawPage(partial, f"the dump is truncated: it stops {after}, without </mediawiki>")


def _site(header: bytes) -> Wiki:
    """Parse `<siteinfo>`; if it is missing or invalid, return that of the English Wikipedia."""
    start, end = header.find(b"<siteinfo>"), header.find(b"</siteinfo>")
    match = _LANGUAGE.search(header)
    language = _text_of(match[1]) if match else Wiki().language
    if not 0 <= start < end:
        return Wiki(language=language)
    try:
        info = _parse(header[start : end + len(b"</siteinfo>")])
    except ET.ParseError:
        return Wiki(language=language)
    base = (info.findtext("base") or "").rpartition("/")[0]
    dropped = set(Wiki().dropped_links | names_without_text(language))
    for namespace in info.iter("namespace"):
        if namespace.get("key") in (_FILE, _CATEGORY, _MEDIA) and namespace.text:
            dropped.add(namespace.text.strip().lower())
    return Wiki(f"{base}/" if base else DEFAULT_BASE, frozenset(dropped), language)


def title_in(xml: bytes) -> str:
    """Return the title in a page's bytes, "" where there is none."""
    match = _TITLE.search(xml, 0, 8192)
    return _text_of(match[1]).strip() if match else ""


def parse_page(raw: RawPage) -> Page:
    """Parse a `<page>` element.

    Raises:
        PageBroken: it is incomplete or not valid XML.
    """
    if raw.problem:
        raise PageBroken(raw.problem)
    try:
        page = _parse(raw.xml)
        title = " ".join((page.findtext("title") or "").replace("_", " ").split())
        revisions = page.findall("revision")
        revision = revisions[-1] if revisions else ET.Element("revision")
        element = page.find("redirect")
        text = revision.findtext("text") or ""
        redirect = redirect_target(text) if element is None else element.get("title", "")
        namespace = int(page.findtext("ns") or 0)
        page_id, revision_id = _number(page.findtext("id")), _number(revision.findtext("id"))
    except (ET.ParseError, ValueError) as error:
        raise PageBroken(f"not readable as XML: {error}") from None
    if not title:
        raise PageBroken("the page has no title")
    return Page(
        title=title,
        namespace=namespace,
        page_id=page_id,
        revision_id=revision_id,
        timestamp=revision.findtext("timestamp"),
        redirect=redirect,
        text=text,
    )


def _number(text: str | None) -> int | None:
    if not text or not text.strip():
        return None
    number = int(text)
    if not 0 <= number < 1 << 63:
        raise ValueError(f"the id {text.strip()[:40]} is out of range")
    return number


def _parse(element: bytes) -> ET.Element:
    # The text begins with an element, so it cannot declare entities.
    try:
        return ET.fromstring(element)  # noqa: S314
    except ET.ParseError:  # broken UTF-8, or a character that XML forbids
        return ET.fromstring(_text_of(element))  # noqa: S314


def _text_of(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return _FORBIDDEN.sub("", replace_nul(text))


# --- blocks --------------------------------------------------------------------------------------

BLOCK_PAGES = 200
BLOCK_BYTES = 8 << 20

_DUMP_DATE = re.compile(r"(?<!\d)(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_SLICE_BITS = 24  # low bits of a block's number: its place in the slice; the others: the slice


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
    part: Slice,
    block_pages: int = BLOCK_PAGES,
    block_bytes: int = BLOCK_BYTES,
    columns: Columns = MappingProxyType({}),
) -> Iterator[Block]:
    """Yield the blocks of a slice of a dump, a file of rows, a text file or a folder of these.

    The content shows which it is. `columns` are those of rows. An item that cannot be read has a
    `problem`; no error is raised for it.
    """
    file, path = part.file, Path(part.path)
    match = _DUMP_DATE.search(path.name)
    date = "-".join(match.groups()) if match else None
    site = Wiki()
    items: list[RawPage | RawDocument] = []
    name = f"{path.name}@{part.start}" if part.start else path.name
    number = part.number << _SLICE_BITS
    first = size = 0
    for item in _read(path, part, columns):
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


def _read(path: Path, part: Slice, columns: Columns) -> Iterator[Wiki | RawPage | RawDocument]:
    if path.is_dir() or is_text_file(path):
        return documents_in(path)
    if part.header:  # only dumps are sliced at streams
        return read_pages(slice_chunks(part))
    chunks = slice_chunks(part)
    try:
        head = next(filter(bytes.strip, chunks), b"")
    except InputDamaged as error:
        return iter((RawDocument(problem=f"{error}; nothing could be read"),))
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    # A dump may lack its beginning.
    if text.startswith(b"<") or (not text.startswith((b"{", b"[")) and _OPEN in text):
        return read_pages(chain([head], chunks))
    return read_rows(path, columns)
