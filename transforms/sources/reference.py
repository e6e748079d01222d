"""Use the references of a response in the input as a fact source."""

import heapq
from collections.abc import Sequence
from dataclasses import replace

from ufo.indexes.tokens import query_terms, terms_of, word_count
from ufo.schemas.records import NO_REFERENCES, NOANS, OpenUnits, Passage
from ufo.transforms.sentences import segment
from ufo.transforms.sources.defaults import PASSAGES
from ufo.transforms.sources.fact_source import FactSource, Found, Retrieved

WHOLE_WORDS = 120
WINDOW_WORDS = 100


class ReferenceSource(FactSource):
    """Checks against the reference texts that you give with a response.

    A reference over 120 words is cut at sentence ends into windows of up to 100 words. Where there
    are more than `passages` windows, the best by BM25 on claim and query are used.
    """

    def __init__(self, passages: int = PASSAGES) -> None:
        self.passages = passages

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        """Return the windows of the references for each unit, in the references' order."""
        texts = [text for text in open_units.references if text.strip()]
        if not texts:
            return [Found((), NOANS, NO_REFERENCES)] * len(open_units.units)
        cut = [(window, str(row)) for row, text in enumerate(texts) for window in windows(text)]
        hits = [
            Retrieved(self.named(Passage(window), row), document=document)
            for row, (window, document) in enumerate(cut)
        ]
        if len(hits) <= self.passages:
            return [Found(hits)] * len(open_units.units)
        ranking = Ranking([window for window, _ in cut])
        answers = []
        for unit in open_units.units:
            best = ranking.best(f"{unit.claim} {unit.query}", self.passages)
            answers.append(Found([replace(hits[row], score=score) for row, score in best]))
        return answers


# --- passages of a reference ---------------------------------------------------------------------


def windows(text: str, whole: int = WHOLE_WORDS, words: int = WINDOW_WORDS) -> list[str]:
    """Cut a text of over `whole` words at sentence ends into windows of up to `words` words.

    A sentence longer than a window is not cut, since its parts could have another meaning.
    """
    if word_count(text) <= whole:
        return [text]
    cut: list[str] = []
    start = end = count = 0
    for span in segment(text):
        length = word_count(text[span.start : span.end])
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
        from rank_bm25 import BM25Okapi  # slow to import, and mostly not needed

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
