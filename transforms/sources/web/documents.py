"""A fetched page and the document made of it, with the reasons why there may be none.

`reading` makes a document of a page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ufo.transforms.sentences import Span, segment

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


def type_of(declared: str, body: bytes) -> str:
    """Return the media type of a body, by its first bytes if these say more than `declared`.

    It is empty where neither says.
    """
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(b"%pdf-"):
        return PDF
    if declared not in UNTOLD:
        return declared
    marked = start.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml"))
    return HTML_TYPES[0] if marked else ""
