"""Convert a fetched page to a document: its characters, and its text or why it has none.

`html` reads HTML; plain text and PDF (by pypdf) are read here. The text is cut into sentences.
"""

import codecs
import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, Final

from charset_normalizer import from_bytes
from pypdf import PdfReader

from ufo.schemas.text import REPLACEMENT, marked_encoding, storable
from ufo.transforms.sentences import Span, segment
from ufo.transforms.sources.web.pdf import page_text
from ufo.transforms.sources.web.superscripts import Superscripts, readable
from ufo.transforms.sources.web.tables import table

BLOCKED_BY_ROBOTS: Final = "blocked_by_robots"
REFUSED_ADDRESS: Final = "refused_address"
TOO_LARGE: Final = "too_large"
TOO_MANY_REDIRECTS: Final = "too_many_redirects"
TIMEOUT: Final = "timeout"
CONNECTION: Final = "connection"
GARBLED: Final = "garbled"
UNSUPPORTED_TYPE: Final = "unsupported_type"
EMPTY: Final = "empty"
NO_TEXT: Final = "no_text"
TOO_SLOW: Final = "too_slow"
TOO_MUCH_MEMORY: Final = "too_much_memory"
TOO_MANY_ELEMENTS: Final = "too_many_elements"
UNREADABLE: Final = "unreadable"
PAYWALL: Final = "paywall"
JAVASCRIPT_ONLY: Final = "javascript_only"
UNREADABLE_PDF: Final = "unreadable_pdf"
CONSENT_WALL: Final = "consent_wall"
BOT_WALL: Final = "bot_wall"
LOGIN_WALL: Final = "login_wall"
NOT_FOUND: Final = "not_found"
UNAVAILABLE: Final = "unavailable"
MOVED: Final = "moved"

HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
TEXT: Final = "text/plain"
PDF: Final = "application/pdf"
TYPES: Final = (*HTML_TYPES, TEXT, PDF)
UNTOLD: Final = ("", "application/octet-stream", "binary/octet-stream")
"""Media types that do not describe the content."""
_MAX_TITLE = 200
MAX_CHARACTERS: Final = 500_000
"""The longest text that is searched for sentences: a long book."""
_MAX_SENTENCE = 1500  # characters; a longer text is a table or has no sentence ends


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The result of a GET of `url`.

    - `final_url`: the URL after redirects. `status`: the status of the last reply, 0 without one.
    - `content_type`: the media type in lower case without parameters. `charset`: as declared.
    - `body`: the bytes after content decoding. `retrieved_at`: the time of the reply, ISO 8601.
    - `reason`: why there is no usable body, which is then empty. It is one of the words of this
      module, or `http_` and the status. `detail` explains it to people.
    - `private`: whether the host asks not to store it.
    """

    url: str
    final_url: str
    status: int
    content_type: str
    body: bytes
    charset: str | None
    retrieved_at: str
    reason: str | None = None
    detail: str = ""
    private: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a page.

    `published_at` is an ISO 8601 date or None. `spans` are its sentences. `canonical` is the
    address that the page states for itself; `moved_to` is the one that it sends its readers to.
    `left_out` counts the sentences that are not in `text`, since a raised number or a formula in
    them cannot be told.

    `reason` says why `text` is empty, and `detail` explains it to people. It is the reason of the
    fetch, an exceeded budget (`readers`), or one of these:

    - EMPTY (no content), NO_TEXT (only navigation, images, a scanned PDF), UNREADABLE_PDF
    - PAYWALL, JAVASCRIPT_ONLY
    - what a site shows in place of the page: CONSENT_WALL, BOT_WALL, LOGIN_WALL, NOT_FOUND,
      UNAVAILABLE (maintenance, another country, a question for the reader's age), MOVED
    """

    title: str | None
    text: str
    published_at: str | None = None
    reason: str | None = None
    detail: str = ""
    spans: Sequence[Span] = ()
    canonical: str | None = None
    moved_to: str | None = None
    left_out: int = 0


def sentences_of(text: str) -> list[Span]:
    """Return the sentences of a text; one of over 1,500 characters is cut at white space."""
    return [part for span in segment(text) for part in _parts(text, span)]


def _parts(text: str, span: Span) -> Iterable[Span]:
    start, end = span
    while end - start > _MAX_SENTENCE:
        cut = max(text.rfind(white, start, start + _MAX_SENTENCE) for white in " \n\t")
        cut = cut if cut > start else start + _MAX_SENTENCE
        yield Span(start, cut)
        start = cut + (len(text[cut:end]) - len(text[cut:end].lstrip()))
    if start < end:
        yield Span(start, end)


def document_of(page: FetchedPage) -> Document:
    """Return the title, main text and date of a page."""
    if page.content_type in HTML_TYPES:
        # The run's main process reads no page, and starts faster without it.
        from ufo.transforms.sources.web.html import article_of

        return article_of(page, storable(text_of(page.body, page.charset)))
    if page.content_type == PDF:
        return _of_pdf(page)
    text = text_of(page.body, page.charset)[:MAX_CHARACTERS]
    text = storable(text.replace("\r\n", "\n")).strip()
    return Document(None, text, reason=None if text else EMPTY)


def type_of(declared: str, body: bytes) -> str:
    """Return the media type of a body, from its first bytes if these say more than the declared
    type.

    It is empty where neither says.
    """
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(b"%pdf-"):
        return PDF
    if declared not in UNTOLD:
        return declared
    marked = start.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml"))
    return HTML_TYPES[0] if marked else ""


# --- PDF -----------------------------------------------------------------------------------------

_MAX_PAGES = 200

_HYPHEN = re.compile(r"(?<=[a-zà-ÿ])[-\u00ad\u2010]\n(?=[a-zà-ÿ])")
_SOFT_BREAK = re.compile(r"(?<![.!?:;…])\n(?=[a-zà-ÿ(])|(?<=[^\s.!?:;…]{2},)\n")
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")

# Broken files are reported by a document's `reason`.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def _of_pdf(page: FetchedPage) -> Document:
    """Return the text of a PDF, lines joined to sentences; UNREADABLE_PDF where pypdf fails.

    Up to _MAX_PAGES pages are read. A PDF of scanned pages has no text. The date is the PDF's
    creation date, unless it is later than the retrieval.

    Raises:
        MemoryError: it needs more memory than there is.
    """
    try:
        reader = PdfReader(BytesIO(page.body))
        if reader.is_encrypted and not reader.decrypt(""):
            return Document(None, "", reason=UNREADABLE_PDF)
        text, left_out = readable(storable(_pages(reader)))
        information = reader.metadata
        stated = information.get("/Title") if information else None
        created = information.get("/CreationDate") if information else None
    except MemoryError:
        raise
    except Exception:
        return Document(None, "", reason=UNREADABLE_PDF)  # pypdf raises errors of a dozen types
    found = _DATE.match(str(created or ""))
    day = "-".join(found.groups()) if found else None
    if day and not "1970" <= day <= page.retrieved_at[:10]:
        day = None
    title = storable(str(stated)).strip()[:_MAX_TITLE] if stated else None
    if not text.strip():
        return Document(title or None, "", day, NO_TEXT, left_out=left_out)
    return Document(title or None, text, day, left_out=left_out)


def _pages(reader: Any) -> str:
    texts: list[str] = []
    size = 0
    superscripts = Superscripts()
    for page in reader.pages[:_MAX_PAGES]:
        texts.append(_running(page_text(page, superscripts)))
        size += len(texts[-1])
        if size > MAX_CHARACTERS:
            break
    return "\n\n".join(text for text in texts if text)[:MAX_CHARACTERS]


def _running(text: str) -> str:
    """Return the text of a page with lines joined where a sentence continues."""
    lines = "\n".join(line.strip() for line in text.splitlines())
    return _SOFT_BREAK.sub(" ", _HYPHEN.sub("", lines)).strip()


# --- bytes to text ------------------------------------------------------------------------------

# A page in UTF-16 could not be searched for it, so a UTF-16 that it states is wrong (WHATWG).
_STATED = re.compile(
    rb"<(?:meta[^>]{0,300}?charset|\?xml[^>]{0,100}?encoding)\s*=\s*[\"']?\s*"
    rb"(?!utf-?16)([\w.:-]{2,40})",
    re.IGNORECASE,
)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_SEARCHED = 4096  # the standard looks at 1024 bytes; pages put scripts first
_SAMPLE = 50_000  # bytes; with more, detection would cost more than the rest of the extraction
_FEW = 5  # so many bad bytes do not show that a declaration is wrong
_CERTAIN = 10  # so many characters of UTF-8 for each bad byte do


def text_of(body: bytes, declared: str | None = None) -> str:
    """Return the text of a body; invalid bytes become U+FFFD.

    A byte order mark decides the encoding. Else it is UTF-8 if the bytes beyond ASCII are, since
    those of other encodings hardly ever look so. Else it is the one declared by the server
    (`declared`), the one the page states, or UTF-8: the first in which most of these bytes are
    valid. Else charset-normalizer detects it.
    """
    marked = "utf-8-sig" if body.startswith(codecs.BOM_UTF8) else marked_encoding(body)
    if marked:
        return body.decode(marked, "replace")
    stated = _STATED.search(_COMMENT.sub(b"", body[:_SEARCHED]))
    labels = declared, stated[1].decode("ascii", "replace") if stated else None
    named = [name for label in labels if (name := _encoding(label, body))]
    text, good, bad = _decoded(body, "utf-8")
    by_chance = good < _CERTAIN and any(name in _PAIRS for name in named)
    if good > bad * _CERTAIN and not by_chance:
        return text
    for name in [*named, "utf-8"]:
        text, good, bad = _decoded(body, name)
        if bad <= max(good, _FEW):
            return text
    best = from_bytes(body[:_SAMPLE]).best()
    return body.decode(best.encoding if best else "utf-8", "replace")


# Two letters of these may be one of UTF-8.
_PAIRS = ("gb18030", "big5hkscs", "euc_jp", "cp932", "cp949")


def _encoding(label: str | None, body: bytes) -> str | None:
    """Return the codec for a label; none for UTF-16 where no byte of the text is zero."""
    name = _charsets().get((label or "").strip(" \t\r\n\f\"'").lower())
    return None if name and name.startswith("utf-16") and b"\0" not in body else name


def _decoded(body: bytes, encoding: str) -> tuple[str, int, int]:
    """Return a text with U+FFFD for bad bytes, how many characters beyond ASCII it has, and how
    many bad bytes."""
    text = body.decode(encoding, "replace")
    bad = text.count(REPLACEMENT) - body.count(REPLACEMENT.encode())
    return text, len(text) - len(text.encode("ascii", "ignore")) - bad, bad


@cache
def _charsets() -> dict[str, str]:
    """Return the codec of each label in `charsets.yaml`."""
    rows = table("charsets.yaml").items()
    return {label: name for name, labels in rows for label in str(labels).split()}
