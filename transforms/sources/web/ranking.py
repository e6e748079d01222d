"""Which sentences of one page say the most of a query: by words, or by vectors.

BM25 (Robertson & Zaragoza 2009, with the IDF that is never negative) over the sentences of the
page, with what a page is and a collection is not: a sentence's neighbours say what it is about; a
page is too small to tell by itself which words are common; and the sentences that are taken
together should say different parts of the query (maximal marginal relevance, Carbonell &
Goldstein 1998, by terms). The constants were chosen by random search on one half of the labelled
sentences of `benchmarks/measure_evidence.py` and looked at on the other.
"""

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from ufo.indexes.embedders import ALLOWED, Embedder
from ufo.indexes.tokens import query_terms, terms_of
from ufo.transforms.english.words import VERY_COMMON as _VERY_COMMON

K1 = 0.9
B = 0.4
COMMON = 0.7  # of the weight of a word that is common in all prose
NUMBER = 1.3  # and of a number, by which facts differ
TITLED = 0.5  # of a word of the title: the whole page is about that, by pronouns mostly
BEFORE = 0.2  # of the score of the sentence before, and of the one after
AFTER = 0.1
SHORT = 1.0  # terms: a heading says what comes, not what is
AGAIN = 0.6  # what a term still weighs once a sentence with it is taken

BM25: Final = "bm25"
DENSE: Final = "dense"
RETRIEVERS: Final = (BM25, DENSE)
NO_EMBEDDER: Final = f"--web_retriever dense needs --embedder: {ALLOWED}"
VERY_COMMON = frozenset(terms_of(" ".join(_VERY_COMMON)))


class SentenceRanking:
    """The sentences of one page, ready for queries."""

    def __init__(self, sentences: Sequence[str], title: str = "") -> None:
        self._title = frozenset(terms_of(title))
        self._counts = [Counter(terms_of(sentence)) for sentence in sentences]
        self._lengths = [counts.total() for counts in self._counts]
        self._mean = sum(self._lengths) / max(1, len(sentences)) or 1.0
        self._frequency = Counter(term for counts in self._counts for term in counts)

    def best(self, query: str, k: int) -> list[tuple[int, float]]:
        """Return up to `k` (row, score) by falling score; equal scores in the page's order.

        A row whose score is 0 is not among them.
        """
        matches = self._matches(query)
        scores = self._scores(matches)
        left = dict.fromkeys(self._frequency, 1.0)
        open_rows = {row for row, score in enumerate(scores) if score > 0 and matches[row]}
        found: list[tuple[int, float]] = []
        while open_rows and len(found) < k:
            gains = {
                row: scores[row]
                * sum(weight * left[term] for term, weight in matches[row].items())
                / sum(matches[row].values())
                for row in open_rows
            }
            row = min(open_rows, key=lambda row: (-gains[row], row))
            found.append((row, gains[row]))
            open_rows.discard(row)
            for term in matches[row]:
                left[term] *= AGAIN
        return found

    def _matches(self, query: str) -> list[dict[str, float]]:
        """Return for each sentence the BM25 weight of each term that it shares with the query."""
        terms = [term for term in dict.fromkeys(query_terms(query)) if term in self._frequency]
        weights = {term: self._weight(term) for term in terms}
        rows: list[dict[str, float]] = []
        for counts, length in zip(self._counts, self._lengths, strict=True):
            norm = K1 * (1 - B + B * length / self._mean)
            rows.append(
                {
                    term: weights[term] * counts[term] * (K1 + 1) / (counts[term] + norm)
                    for term in terms
                    if term in counts
                }
            )
        return rows

    def _weight(self, term: str) -> float:
        total, having = len(self._counts), self._frequency[term]
        rarity = math.log(1 + (total - having + 0.5) / (having + 0.5))
        if term in self._title:
            rarity *= TITLED
        return rarity * (COMMON if term in VERY_COMMON else NUMBER if term[0].isdigit() else 1)

    def _scores(self, matches: Sequence[dict[str, float]]) -> list[float]:
        own = [sum(match.values()) for match in matches]
        before = [0.0, *own][: len(own)]
        after = [*own, 0.0][1:]
        return [
            (score + BEFORE * first + AFTER * second) * length / (length + SHORT)
            for score, first, second, length in zip(own, before, after, self._lengths, strict=True)
        ]


class DenseRanking:
    """The sentences of one page with their vectors."""

    def __init__(self, sentences: Sequence[str], embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = embedder.embed(list(sentences))

    def best(self, query: str, k: int) -> list[tuple[int, float]]:
        """Return up to `k` (row, cosine) by falling cosine; equal ones in the page's order.

        A row whose cosine is not above 0 is not among them.
        """
        if not len(self._vectors):
            return []
        scores = self._vectors @ self._embedder.embed([query])[0]
        rows = heapq.nsmallest(k, range(len(scores)), key=lambda row: (-scores[row], row))
        return [(row, float(scores[row])) for row in rows if scores[row] > 1e-6]
