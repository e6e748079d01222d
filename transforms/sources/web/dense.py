"""Sentences of one page by the likeness of their vectors to a query's."""

import heapq
from collections.abc import Sequence
from typing import Final

from indexes.embedders import ALLOWED, Embedder
from schemas.errors import UsageError

NO_EMBEDDER: Final = f"--web_retriever dense needs --embedder: {ALLOWED}"


class DenseRanking:
    """The sentences of one page with their vectors."""

    def __init__(self, sentences: Sequence[str], embedder: Embedder | None) -> None:
        if embedder is None:
            raise UsageError(NO_EMBEDDER)
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
