"""Choose the best passages of a page for a query.

A passage is one of the best sentences of the page, with the sentences around it. Sentences are
ranked by vectors, or by BM25 over the sentences of the page (Robertson & Zaragoza 2009, with the
IDF that is never negative). BM25 is adapted to a page in three ways:

- The neighbours of a sentence count, since they say what it is about.
- Common words have a fixed weight, since a page is too small to show which words are common.
- Sentences taken together should cover different parts of the query (maximal marginal relevance,
  Carbonell & Goldstein 1998, by terms).

The constants were chosen by random search on one half of the labelled sentences of
`benchmarks/accuracy/evidence.py` and checked on the other.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from ufo.indexes.embedders import Embedder, vectors_of
from ufo.indexes.tokens import query_terms, terms_of
from ufo.transforms.english.words import VERY_COMMON
from ufo.transforms.sources.web.documents import Document

K1 = 0.9
B = 0.4
COMMON = 0.7  # factor on the weight of a word that is common in all prose
NUMBER = 1.3  # factor on the weight of a number: facts differ by numbers
TITLED = 0.5  # factor for a word of the title: the whole page is about it, mostly by pronouns
BEFORE = 0.2  # share of the score of the sentence before that is added, and of the one after
AFTER = 0.1
SHORT = 1.0  # terms; a heading announces facts but does not state them
AGAIN = 0.6  # factor on the weight of a term once a sentence with it was taken
_COMMON_TERMS = frozenset(terms_of(" ".join(VERY_COMMON)))


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

        Rows with score 0 are left out.
        """
        matches = self._matches(query)
        scores = self._scores(matches)
        left = dict.fromkeys(self._frequency, 1.0)
        open_rows = {row for row, score in enumerate(scores) if score > 0 and matches[row]}
        ranked: list[tuple[int, float]] = []
        while open_rows and len(ranked) < k:
            gains = {
                row: scores[row]
                * sum(weight * left[term] for term, weight in matches[row].items())
                / sum(matches[row].values())
                for row in open_rows
            }
            row = min(open_rows, key=lambda row: (-gains[row], row))
            ranked.append((row, gains[row]))
            open_rows.discard(row)
            for term in matches[row]:
                left[term] *= AGAIN
        return ranked

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
        return rarity * (COMMON if term in _COMMON_TERMS else NUMBER if term[0].isdigit() else 1)

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
        self._vectors = vectors_of(embedder, list(sentences))

    def best(self, query: str, k: int) -> list[tuple[int, float]]:
        """Return up to `k` (row, cosine) by falling cosine; equal cosines in the page's order.

        Rows with a cosine of 0 or below are left out.
        """
        if not len(self._vectors):
            return []
        scores = self._vectors @ vectors_of(self._embedder, [query], self._vectors.shape[1])[0]
        rows = heapq.nsmallest(k, range(len(scores)), key=lambda row: (-scores[row], row))
        return [(row, float(scores[row])) for row in rows if scores[row] > 1e-6]


class PageText:
    """The sentences of one page, ranked for any number of queries.

    They are ranked by vectors if there is an embedder. The ranking is built at the first query.
    """

    def __init__(self, document: Document, embedder: Embedder | None = None) -> None:
        self._document = document
        self._embedder = embedder

    @cached_property
    def _ranking(self) -> SentenceRanking | DenseRanking:
        text = self._document.text
        sentences = [text[start:end] for start, end in self._document.spans]
        if self._embedder is not None:
            return DenseRanking(sentences, self._embedder)
        return SentenceRanking(sentences, self._document.title or "")

    def sentences(self, query: str, n: int) -> list[tuple[int, float]]:
        """Return the (number, score) of up to `n` best sentences, best first.

        If no sentence shares a term with the query, they are the first of the page, with score 0. A
        search engine found the page for this query, and a page begins with its topic.
        """
        ranked = self._ranking.best(query, n)
        return ranked or [(row, 0.0) for row in range(min(n, len(self._document.spans)))]

    def windows(self, query: str, n: int, context: int) -> list[tuple[str, float]]:
        """Return the best `n` sentences with `context` sentences before and after each.

        Overlapping windows are joined, with the best score of their sentences. The best come first,
        equal ones in the page's order.
        """
        text, spans = self._document.text, self._document.spans
        around = [
            (max(0, row - context), min(len(spans) - 1, row + context), score)
            for row, score in self.sentences(query, n)
        ]
        windows = [
            (text[spans[first].start : spans[last].end], score)
            for first, last, score in _merged(around)
        ]
        return sorted(windows, key=lambda window: -window[1])


def _merged(around: Iterable[tuple[int, int, float]]) -> Sequence[tuple[int, int, float]]:
    """Return ranges of sentences in order; overlapping ones are joined, with the best score."""
    merged: list[tuple[int, int, float]] = []
    for first, last, score in sorted(around):
        if merged and first <= merged[-1][1]:
            before = merged.pop()
            merged.append((before[0], max(last, before[1]), max(score, before[2])))
        else:
            merged.append((first, last, score))
    return merged
