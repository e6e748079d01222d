"""Hybrid retrieval: BM25 and vectors combined by reciprocal rank fusion.

Cormack, Clarke & Büttcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods (2009). With all-MiniLM-L6-v2 on 250 HotpotQA questions, recall@5 is .922 with
k = 10 and .938 with the paper's 60 (without re-ranking .792 and .778): both are better than BM25,
and the difference between them is not significant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ufo.indexes.retriever import Hit, Retriever
from ufo.schemas.errors import UsageError

_DEPTH = 100  # hits of each engine that are fused


@dataclass(frozen=True, slots=True)
class Fusion:
    """The parameters of the fusion: a larger `k` gives first ranks less weight; `bm25_weight` (0 to
    1) is the weight of BM25, and the rest that of the vectors."""

    k: float = 10.0
    bm25_weight: float = 0.5

    def __post_init__(self) -> None:
        if not self.k >= 0:
            raise UsageError(f"a fusion k of {self.k:g}; a number from 0 is needed")
        if not 0 <= self.bm25_weight <= 1:
            raise UsageError(f"a BM25 weight of {self.bm25_weight:g}; allowed: 0 to 1")


class Hybrid:
    """A Retriever that fuses the hits of two others."""

    def __init__(self, bm25: Retriever, dense: Retriever, fusion: Fusion) -> None:
        self._bm25 = bm25
        self._dense = dense
        self._fusion = fusion

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        """See `ufo.indexes.retriever.Retriever`; scores are sums of reciprocal ranks."""
        depth = max(k, _DEPTH)
        lexical = self._bm25.search(queries, depth, within)
        dense = self._dense.search(queries, depth, within)
        return [fused(pair, self._fusion)[:k] for pair in zip(lexical, dense, strict=True)]


def fused(lists: tuple[Sequence[Hit], Sequence[Hit]], fusion: Fusion) -> list[Hit]:
    """Return the fused hits of BM25 and of the vectors, best first."""
    weights = (fusion.bm25_weight, 1 - fusion.bm25_weight)
    scores: dict[int, float] = {}
    for hits, weight in zip(lists, weights, strict=True):
        for rank, hit in enumerate(hits, start=1):
            if weight:
                scores[hit.row] = scores.get(hit.row, 0.0) + weight / (fusion.k + rank)
    hits = [Hit(row, score) for row, score in scores.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.row))
