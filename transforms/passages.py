"""Split long texts into passages, and rank these for a query.

Used for references and web pages. The passages of a Wikipedia dump are made by
`ufo.indexes.blocks`.
"""

import heapq
from collections.abc import Sequence

from rank_bm25 import BM25Okapi

from ufo.indexes.tokens import query_terms, terms_of
from ufo.transforms.sentences import segment

WHOLE_WORDS = 120
WINDOW_WORDS = 100


def windows(text: str, whole: int = WHOLE_WORDS, words: int = WINDOW_WORDS) -> list[str]:
    """Cut a text of over `whole` words at sentence ends into windows of up to `words` words.

    A sentence longer than a window is not cut, since its parts could have another meaning.
    """
    if len(text.split()) <= whole:
        return [text]
    cut: list[str] = []
    start = end = count = 0
    for span in segment(text):
        length = len(text[span.start : span.end].split())
        if count and count + length > words:
            cut.append(text[start:end])
            count = 0
        if not count:
            start = span.start
        end = span.end
        count += length
    if count:
        cut.append(text[start:end])
    return cut


class Ranking:
    """BM25 over the few passages of one text (rank-bm25's BM25Okapi, k1 1.5, b .75)."""

    def __init__(self, passages: Sequence[str]) -> None:
        tokens = [terms_of(passage) for passage in passages]
        # BM25Okapi divides by the mean length, which is 0 where no passage has a term.
        self._bm25 = BM25Okapi(tokens) if any(tokens) else None
        self._count = len(tokens)

    def best(self, query: str, k: int) -> list[tuple[int, float]]:
        """Return up to `k` (row, score) by falling score, equal scores in the passages' order."""
        if self._bm25 is None:
            return [(row, 0.0) for row in range(min(k, self._count))]
        scores = self._bm25.get_scores(query_terms(query))
        rows = heapq.nsmallest(k, range(self._count), key=lambda row: (-scores[row], row))
        return [(row, float(scores[row])) for row in rows]
