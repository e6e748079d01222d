"""Sentences of one page by the likeness of their vectors to a query's."""

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from indexes.tokens import query_terms, terms_of

if TYPE_CHECKING:
    from indexes.embedders import Embedder, Vectors

DIMENSIONS = 128
FITTED = 1000


class DenseRanking:
    """The sentences of one page with their vectors.

    `embedder` is one that was trained (an endpoint's, a sentence-transformers model). Without one
    the vectors are latent semantic analysis (Deerwester et al. 1990) of the page's own sentences:
    it needs nothing from outside, and finds less than BM25.
    """

    def __init__(self, sentences: Sequence[str], embedder: "Embedder | None" = None) -> None:
        self._embedder: Embedder | PageLsa = embedder or PageLsa(sentences)
        self._vectors = self._embedder.embed(list(sentences))

    def best(self, query: str, k: int) -> list[tuple[int, float]]:
        """Return up to `k` (row, cosine) by falling cosine; equal ones in the page's order.

        A row whose cosine is not above 0 is not among them.
        """
        if not len(self._vectors):
            return []
        scores = self._vectors @ self._embedder.embed([query])[0]
        rows = heapq.nsmallest(k, range(len(scores)), key=lambda row: (-scores[row], row))
        return [(row, float(scores[row])) for row in rows if scores[row] > 1e-6]


class PageLsa:
    """Vectors of sentences from the truncated SVD of the page's TF-IDF matrix.

    The decomposition is that of the first FITTED sentences; all are projected on it.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        lists = [query_terms(sentence) for sentence in sentences[:FITTED]]
        self._columns = {
            term: at for at, term in enumerate(dict.fromkeys(t for one in lists for t in one))
        }
        having = np.zeros(len(self._columns))
        for terms in lists:
            having[[self._columns[term] for term in set(terms)]] += 1
        self._idf = np.log1p((len(lists) - having + 0.5) / (having + 0.5))
        self._basis = self._decomposed(sentences[:FITTED])

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Return one row a text, of length 1; a zero row where it shares no word with the page."""
        from indexes.embedders import unit_rows

        return unit_rows(np.asarray(self._weighed(texts) @ self._basis))

    def _decomposed(self, sentences: Sequence[str]) -> Any:
        # The eigenvectors of a few hundred sentences' products are cheaper than the SVD itself.
        matrix = self._weighed(sentences)
        values, vectors = np.linalg.eigh((matrix @ matrix.T).toarray())
        kept = np.flatnonzero(values > 1e-9)[-DIMENSIONS:]
        return matrix.T @ (vectors[:, kept] / np.sqrt(values[kept]))

    def _weighed(self, texts: Sequence[str]) -> Any:
        from scipy.sparse import csr_array

        cells = [
            (row, self._columns[term])
            for row, text in enumerate(texts)
            for term in terms_of(text)
            if term in self._columns
        ]
        rows, columns = np.array(cells, int).reshape(-1, 2).T
        shape = (len(texts), len(self._columns))
        return csr_array((self._idf[columns], (rows, columns)), shape=shape)
