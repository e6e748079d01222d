"""The interface of retrievers, which rank the rows of an index for queries, and their fusion."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple, Protocol


class Hit(NamedTuple):
    """A row of the passage store and its score, comparable within one query; higher is better."""

    row: int
    score: float


class Retriever(Protocol):
    """Ranks the passages of one index; safe for searches in several threads at once."""

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        """Return at most `k` hits for each query, best first, the lower row first on ties.

        `within` restricts each query to some rows; None means all. A passage without a match is not
        a hit, so a list may be shorter than `k`, or empty.
        """
        ...


class Lexicon(Retriever, Protocol):
    """A Retriever with document frequencies of terms."""

    def rarity(self, terms: Sequence[str]) -> list[float]:
        """Return for each stemmed term its inverse document frequency, 0 or more."""
        ...


def inverse_frequency(count: int, size: int) -> float:
    """Return the inverse document frequency of a term in `count` of `size` passages (Lucene's)."""
    return log(1 + (size - count + 0.5) / (count + 0.5))


_FUSION_K = 10
_FUSION_DEPTH = 100  # hits of each retriever that are fused


class Hybrid:
    """A Retriever that fuses the hits of two others by their reciprocal ranks.

    Cormack, Clarke & Büttcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods (2009). With all-MiniLM-L6-v2 on 250 HotpotQA questions, recall@5 is .922 with
    k = 10 and .938 with the paper's 60 (without re-ranking .792 and .778): both are better than
    BM25, and the difference between them is not significant.
    """

    def __init__(self, one: Retriever, other: Retriever) -> None:
        self._retrievers = (one, other)

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        """See `Retriever`; scores are sums of reciprocal ranks."""
        depth = max(k, _FUSION_DEPTH)
        found = [one.search(queries, depth, within) for one in self._retrievers]
        return [_fused(lists)[:k] for lists in zip(*found, strict=True)]


def _fused(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    scores: dict[int, float] = {}
    for hits in lists:
        for rank, hit in enumerate(hits, start=1):
            scores[hit.row] = scores.get(hit.row, 0.0) + 0.5 / (_FUSION_K + rank)
    hits = [Hit(row, score) for row, score in scores.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.row))
