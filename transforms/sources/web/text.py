"""A fetched page to the text that it says, or why it says none."""

from dataclasses import dataclass
from typing import Final

from ufo.schemas.text import without_nul
from ufo.transforms.sources.web.charset import text_of
from ufo.transforms.sources.web.html import MIN_WORDS, TooManyElements, article_of
from ufo.transforms.sources.web.page import (
    EMPTY,
    NO_TEXT,
    TOO_MANY_ELEMENTS,
    UNSUPPORTED_TYPE,
    FetchedPage,
)
from ufo.transforms.sources.web.pdf import pdf_of

PAYWALL: Final = "paywall"
JAVASCRIPT_ONLY: Final = "javascript_only"
UNREADABLE_PDF: Final = "unreadable_pdf"

HTML_TYPES = ("text/html", "application/xhtml+xml")
TEXT_TYPES = ("text/plain", "text/markdown", "text/x-markdown")
PDF_TYPES = ("application/pdf", "application/x-pdf")
_UNTOLD = ("", "application/octet-stream", "binary/octet-stream", "application/unknown")
_MAX_TITLE = 200
_MAX_CHARACTERS = 500_000  # of a text that is searched for sentences: a long book


@dataclass(frozen=True, slots=True)
class Document:
    """What a page says.

    `published_at` is an ISO 8601 date or None. `reason` says why `text` is empty: that of the
    fetch, or EMPTY (no content), NO_TEXT (nothing but navigation, images, a scanned PDF), PAYWALL,
    JAVASCRIPT_ONLY, UNSUPPORTED_TYPE, UNREADABLE_PDF, or a budget that it passes (`reading`);
    `detail` then says more, for people.
    """

    title: str | None
    text: str
    published_at: str | None = None
    reason: str | None = None
    detail: str = ""


def document_of(page: FetchedPage) -> Document:
    """Return the title, main text and date of a page.

    A page behind a paywall, or one that a script would fill, has a few lines that are not what it
    is about: they are not given as its text.
    """
    if page.reason:
        return Document(None, "", reason=page.reason)
    if not page.body.strip():
        return Document(None, "", reason=EMPTY)
    kind = _kind(page)
    if kind == "html":
        return _of_html(page)
    if kind == "pdf":
        return _of_pdf(page)
    if kind == "text":
        text = text_of(page.body, page.charset, html=False)[:_MAX_CHARACTERS]
        text = without_nul(text.replace("\r\n", "\n")).strip()
        return Document(None, text) if text else Document(None, "", reason=EMPTY)
    return Document(None, "", reason=UNSUPPORTED_TYPE)


def _kind(page: FetchedPage) -> str:
    """Return html, text, pdf or "": by the type, and by the first bytes where it says nothing."""
    start = page.body[:1024].lstrip()
    if page.content_type in PDF_TYPES or start.startswith(b"%PDF-"):
        return "pdf"
    if page.content_type in HTML_TYPES:
        return "html"
    if page.content_type in TEXT_TYPES:
        return "text"
    looks_html = start[:15].lower().startswith((b"<!doctype html", b"<html", b"<head", b"<body"))
    return "html" if page.content_type in _UNTOLD and looks_html else ""


def _of_html(page: FetchedPage) -> Document:
    html = without_nul(text_of(page.body, page.charset))
    try:
        found = article_of(html, page.final_url, page.retrieved_at)
    except TooManyElements as error:
        return Document(None, "", reason=TOO_MANY_ELEMENTS, detail=str(error))
    title, text, published = found.title, found.text, found.published_at
    if len(text.split()) < MIN_WORDS:
        reason = PAYWALL if found.paywall else JAVASCRIPT_ONLY if found.script else None
        if reason or not text:
            return Document(title, "", published, reason or NO_TEXT)
    return Document(title, text[:_MAX_CHARACTERS], published)


def _of_pdf(page: FetchedPage) -> Document:
    found = pdf_of(page.body, page.retrieved_at)
    if found is None:
        return Document(None, "", reason=UNREADABLE_PDF)
    title = (found.title or "")[:_MAX_TITLE] or None
    if not found.text.strip():
        return Document(title, "", found.published_at, NO_TEXT)
    return Document(title, found.text[:_MAX_CHARACTERS], found.published_at)
