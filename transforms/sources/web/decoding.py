"""Decode the bytes of a page to text, whatever encoding it has or states."""

import codecs
import re
from functools import cache

from charset_normalizer import from_bytes

from ufo.schemas.text import REPLACEMENT, marked_encoding
from ufo.transforms.sources.web.tables import table

# A page in UTF-16 could not be searched for it, so a UTF-16 that it states is wrong (WHATWG).
_STATED = re.compile(
    rb"<(?:meta[^>]{0,300}?charset|\?xml[^>]{0,100}?encoding)\s*=\s*[\"']?\s*"
    rb"(?!utf-?16)([\w.:-]{2,40})",
    re.IGNORECASE,
)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_SEARCHED = 4096  # the standard looks at 1024 bytes; pages put scripts first
_SAMPLE = 50_000  # bytes; with more, detection would cost more than the rest of the extraction
_FEW = 5  # bad bytes that do not show yet that a declaration is wrong
_CERTAIN = 10  # characters of UTF-8 for each bad byte from which a text is UTF-8


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


# Encodings in which two letters may be the bytes of one in UTF-8.
_PAIRS = ("gb18030", "big5hkscs", "euc_jp", "cp932", "cp949")


def _encoding(label: str | None, body: bytes) -> str | None:
    """Return the codec for a label; none for UTF-16 where no byte of the text is zero."""
    name = _charsets().get((label or "").strip(" \t\r\n\f\"'").lower())
    return None if name and name.startswith("utf-16") and b"\0" not in body else name


def _decoded(body: bytes, encoding: str) -> tuple[str, int, int]:
    """Return a text with U+FFFD for bad bytes, and the numbers of valid non-ASCII and bad ones."""
    text = body.decode(encoding, "replace")
    bad = text.count(REPLACEMENT) - body.count(REPLACEMENT.encode())
    return text, len(text) - len(text.encode("ascii", "ignore")) - bad, bad


@cache
def _charsets() -> dict[str, str]:
    """Return the codec of each label in `charsets.yaml`."""
    rows = table("charsets.yaml").items()
    return {label: name for name, labels in rows for label in str(labels).split()}
