"""Choose the quote to show beside a claim, from its evidence and the passage."""

from collections.abc import Iterable
from typing import Final

from ufo.indexes.tokens import words_of
from ufo.schemas.records import Evidence
from ufo.transforms.sentences import segment

_SHORT = 300
"""The longest quote in characters; a shorter passage is quoted as a whole."""

STRONGEST_FIRST: Final = (
    "e.citation IS NULL, e.passage_id IS NULL, e.rank, e.source, e.passage_id, e.sample_index"
)
"""The order in SQL of the rows `e` of a claim's evidence that agree with its verdict; the first of
them is quoted. `strongest` has the same order."""


def strongest(evidence: Iterable[Evidence], label: int | None) -> Evidence:
    """Return the evidence to quote for a claim: a row that agrees with its verdict `label`.

    A row with a citation, a passage and a high rank comes first. `evidence` are the claim's rows
    from the sources of the verdict, at least one.
    """

    def order(row: Evidence) -> tuple[object, ...]:
        return (
            row.label != label,
            row.citation is None,
            row.passage_id is None,
            (row.rank is None, row.rank),
            row.source,
            row.passage_id,
            (row.sample_index is None, row.sample_index),
        )

    return min(evidence, key=order)


def quote_of(claim: str, citation: str | None, text: str | None) -> str:
    """Return the quote from a passage: the judge's citation, or its sentence nearest to the claim.

    This is the first that shares most words with the claim, up to 300 characters of it. A short
    passage is quoted as a whole.

    Example:
        >>> quote_of("Oslo is in Norway.", None, "Oslo lies in the south of Norway.")
        'Oslo lies in the south of Norway.'
    """
    if citation or not text:
        return citation or ""
    if len(text) <= _SHORT:
        return text
    of_claim = set(words_of(claim))
    sentences = [text[one.start : one.end] for one in segment(text)]
    best = max(sentences, key=lambda one: len(of_claim & set(words_of(one))), default=text)
    return best if len(best) <= _SHORT else f"{best[: _SHORT - 1]}…"
