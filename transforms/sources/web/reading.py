"""Read the text of a fetched page: HTML, plain text or PDF (by pypdf).

Run as a program, this module reads pages for another process (`readers`), which limits its time and
memory.
"""

import json
import logging
import os
import re
import resource
import signal
import sys
from dataclasses import asdict, replace
from io import BytesIO
from typing import Any, BinaryIO, Final

from pypdf import PdfReader

from ufo.schemas.text import storable
from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web.decoding import text_of
from ufo.transforms.sources.web.documents import (
    EMPTY,
    HTML_TYPES,
    MAX_CHARACTERS,
    NO_TEXT,
    PDF,
    UNREADABLE_PDF,
    Document,
    FetchedPage,
    sentences_of,
)
from ufo.transforms.sources.web.html import article_of
from ufo.transforms.sources.web.pdf import page_text
from ufo.transforms.sources.web.superscripts import Superscripts, drop_unreadable

_BY_THE_CLOCK: Final = 4  # limit of wall time, as a multiple of the seconds of computing
_MAX_PAGES = 200
_MAX_TITLE = 200  # characters

_HYPHEN = re.compile(r"(?<=[a-zà-ÿ])[-\u00ad\u2010]\n(?=[a-zà-ÿ])")
_SOFT_BREAK = re.compile(r"(?<![.!?:;…])\n(?=[a-zà-ÿ(])|(?<=[^\s.!?:;…]{2},)\n")
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")

# Broken files are reported by a document's `reason`.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def document_of(page: FetchedPage) -> Document:
    """Return the title, main text and date of a page."""
    if page.content_type in HTML_TYPES:
        return article_of(page, storable(text_of(page.body, page.charset)))
    if page.content_type == PDF:
        return _of_pdf(page)
    text = text_of(page.body, page.charset)[:MAX_CHARACTERS]
    text = storable(text.replace("\r\n", "\n")).strip()
    return Document(None, text, reason=None if text else EMPTY)


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
        text, left_out = drop_unreadable(storable(_pages(reader)))
        information = reader.metadata
        stated = information.get("/Title") if information else None
        created = information.get("/CreationDate") if information else None
    except MemoryError:
        raise
    except Exception:
        return Document(None, "", reason=UNREADABLE_PDF)  # pypdf raises errors of a dozen types
    match = _DATE.match(str(created or ""))
    day = "-".join(match.groups()) if match else None
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


def main(seconds: float, most_bytes: int) -> None:
    """Answer requests until the input ends.

    A document may take `seconds` of computing, and the process `most_bytes` of memory, libraries
    included.
    """
    # The parent process ends this one, by closing its input.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # Keep output that a library prints apart from the answers.
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    _say(answers, {})
    for line in iter(asked.readline, b""):
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds * _BY_THE_CLOCK)
        answer = _answer(json.loads(line), asked)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _say(answers, answer)
        if not answer["whole"]:
            return


def _answer(header: dict[str, Any], asked: BinaryIO) -> dict[str, Any]:
    """Return the content of a page; "whole" says whether this process can read another one."""
    size = header.pop("size")
    try:
        document = document_of(FetchedPage(**header, body=asked.read(size)))
        return {**asdict(replace(document, spans=sentences_of(document.text))), "whole": True}
    except MemoryError:
        detail = "reading it takes too much memory"
        lost, whole = Document(None, "", reason=reasons.TOO_MUCH_MEMORY, detail=detail), False
    except Exception as error:
        lost, whole = Document(None, "", reason=reasons.UNREADABLE, detail=repr(error)[:500]), True
    return {**asdict(lost), "whole": whole}


def _say(answers: BinaryIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
