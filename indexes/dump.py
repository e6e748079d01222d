"""Read a MediaWiki `pages-articles` XML export as a stream of pages, tolerating damage.

The stream is split at `<page>` and `</page>`, which occur in an export only as tags, and each page
is parsed separately: memory holds one page, an invalid page does not affect others, and blocks of
pages can be processed in parallel. Format: https://www.mediawiki.org/xml/export-0.11.xsd
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from ufo.indexes.slices import InputDamaged
from ufo.schemas.text import without_nul

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
    """A page of the dump; `redirect` is the title of its target, `text` is wikitext."""

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
    dropped_links: tuple[str, ...] = ("category", "file", "image", "media")
    language: str = "en"

    def url_of(self, title: str) -> str:
        """Return the address of a page, its title encoded as MediaWiki does in a path."""
        return self.base_url + quote(title.replace(" ", "_"), safe=";@$!*(),/~:")


@dataclass(frozen=True, slots=True)
class RawPage:
    """The bytes of one `<page>` element; `problem` says why it is incomplete, "" if it is not."""

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
    after = f"after {n_pages:,} whole pages" + (", in the middle of a page" if cut >= 0 else "")
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
    """Parse `<siteinfo>`; the English Wikipedia's where it is missing or invalid."""
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
    dropped = set(Wiki().dropped_links)
    for namespace in info.iter("namespace"):
        if namespace.get("key") in (_FILE, _CATEGORY, _MEDIA) and namespace.text:
            dropped.add(namespace.text.strip().lower())
    return Wiki(f"{base}/" if base else DEFAULT_BASE, tuple(sorted(dropped)), language)


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
        redirect = page.find("redirect")
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
        redirect=None if redirect is None else redirect.get("title", ""),
        text=revision.findtext("text") or "",
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
    return _FORBIDDEN.sub("", without_nul(text))
