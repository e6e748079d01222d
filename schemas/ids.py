"""Identifiers: functions of the content alone, so that every runner gives the same ones.

`unit_id` is 16 hex digits of SHA-256 over (response id, sentence index, NFC claim), with
`-k` appended for the k-th repeat; `passage_id` is the source's name, a colon, and the same over
(url, text, ordinal).
"""

import unicodedata
from collections.abc import Sequence
from hashlib import sha256

_DIGITS = 16
# Parts are joined by a character that cannot be typed by accident; it keeps ("a", "bc") and
# ("ab", "c") apart.
_SEPARATOR = "\x1f"


def _digest(*parts: str) -> str:
    joined = _SEPARATOR.join(parts)
    # Lone surrogates are legal in JSON ("\ud800"), and must have an identifier like any other text.
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def content_id(text: str, *more: str) -> str:
    """Return the id of a response without one: 16 hex digits over its content."""
    return _digest(text, *more)


def unit_ids(response_id: str, claims: Sequence[tuple[int | None, str]]) -> list[str]:
    """Return one id for each (sentence index, claim) of a response, in order.

    A claim that is not placed has the sentence index None. Equal pairs get the suffixes `-1`,
    `-2`, … from the second on.
    """
    seen: dict[str, int] = {}
    ids: list[str] = []
    for index, claim in claims:
        text = claim if claim.isascii() else unicodedata.normalize("NFC", claim)
        base = _digest(response_id, "" if index is None else str(index), text)
        repeat = seen.get(base, 0)
        seen[base] = repeat + 1
        ids.append(f"{base}-{repeat}" if repeat else base)
    return ids


def passage_id(source: str, url: str | None, text: str, ordinal: int = 0) -> str:
    """Return the id of a passage; `ordinal` distinguishes equal texts of one page or sample."""
    return f"{source}:{_digest(url or '', text, str(ordinal))}"
