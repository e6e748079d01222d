"""The text of a PDF, by pypdf."""

import logging
import re
from io import BytesIO
from typing import Any, NamedTuple

from pypdf import PdfReader

from ufo.schemas.text import storable

MAX_PAGES = 200
MAX_CHARACTERS = 500_000

_HYPHEN = re.compile(r"(?<=[a-zà-ÿ])[-\u00ad\u2010]\n(?=[a-zà-ÿ])")
_SOFT_BREAK = re.compile(r"(?<![.!?:;…])\n(?=[a-zà-ÿ(])|(?<=[^\s.!?:;…]{2},)\n")
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")

# Broken files are reported by a document's `reason`.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


class PdfText(NamedTuple):
    """What a PDF says."""

    title: str | None
    text: str
    published_at: str | None


def pdf_of(body: bytes, retrieved_at: str) -> PdfText | None:
    """Return the text of a PDF, lines joined to sentences; None where it cannot be read.

    Up to MAX_PAGES pages are read. A PDF of scanned pages has an empty text. `published_at` is the
    day on which it was made, as it says, unless that is after `retrieved_at`.

    Raises:
        MemoryError: it takes more than there is.
    """
    try:
        reader = PdfReader(BytesIO(body))
        if reader.is_encrypted and not reader.decrypt(""):
            return None
        text = _pages(reader)
        information = reader.metadata
        title = information.get("/Title") if information else None
        created = information.get("/CreationDate") if information else None
    except MemoryError:
        raise
    except Exception:
        return None  # pypdf meets a broken file with any of a dozen
    found = _DATE.match(str(created or ""))
    day = "-".join(found.groups()) if found else None
    if day and not "1970" <= day <= retrieved_at[:10]:
        day = None
    named = storable(str(title)).strip() if title else ""
    return PdfText(named or None, storable(text), day)


def _pages(reader: Any) -> str:
    texts: list[str] = []
    size = 0
    for page in reader.pages[:MAX_PAGES]:
        texts.append(_running(page.extract_text()))
        size += len(texts[-1])
        if size > MAX_CHARACTERS:
            break
    return "\n\n".join(text for text in texts if text)[:MAX_CHARACTERS]


def _running(text: str) -> str:
    """Return the text of a page with lines joined where a sentence continues."""
    lines = "\n".join(line.strip() for line in text.splitlines())
    return _SOFT_BREAK.sub(" ", _HYPHEN.sub("", lines)).strip()
