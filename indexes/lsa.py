"""Latent semantic analysis: TF-IDF and a truncated SVD, fitted to the passages of an index.

Deerwester et al., Indexing by Latent Semantic Analysis (1990); the SVD is the randomised one of
Halko, Martinsson & Tropp, Finding Structure with Randomness (2011), algorithm 4.4 with a fixed
seed, so that the same passages give the same vectors.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from threadpoolctl import threadpool_limits

from indexes.embedders import LSA, Vectors, unit_rows
from indexes.ranked import embedded_text, ranked_passages
from indexes.tokens import STOP_WORDS, terms_of

FILE = "lsa.npz"
DIMENSION = 512  # recall@5 of the vectors alone on HotpotQA: .64, with 256 .56, with 768 .67

_FITTED = 40_000  # passages, spread evenly: more change the vectors little and the time a lot
_TERMS = 60_000  # the most frequent of those in two passages or more
_SHARPNESS = 1.5  # power of the inverse document frequency: names matter most in questions
_ROUNDS = 2
_SPARE = 32  # dimensions that are worked with and dropped
_SEED = 7
_STOP_TERMS = frozenset(terms_of(" ".join(STOP_WORDS)))


class Lsa:
    """The fitted embedder of an index folder."""

    def __init__(self, folder: Path) -> None:
        data = (folder / FILE).read_bytes()
        with np.load(folder / FILE) as stored:
            terms = bytes(stored["terms"]).decode().split("\n")
            self._weights: npt.NDArray[np.float32] = stored["weights"]
            self._projection: Vectors = stored["projection"].astype(np.float32)
        self._ids = {term: number for number, term in enumerate(terms)}
        self.name = LSA
        self.version = sha256(data).hexdigest()[:16]
        self.dimension = int(self._projection.shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `indexes.embedders.Embedder`."""
        counts = _counts(map(terms_of, texts), self._ids)
        return unit_rows(_weighted(counts, self._weights) @ self._projection)


def fit_lsa(folder: Path) -> None:
    """Fit the embedder to the passages of a folder and write it there."""
    passages = [passage for passage in ranked_passages(folder) if passage is not None]
    step = max(1, len(passages) // _FITTED)
    documents = [terms_of(embedded_text(one)) for one in passages[::step][:_FITTED]]
    frequency = Counter(term for document in documents for term in set(document))
    common = sorted(
        (term for term, count in frequency.items() if count > 1 and term not in _STOP_TERMS),
        key=lambda term: (-frequency[term], term),
    )
    terms = common[:_TERMS] or [""]  # one that no text holds, so that shapes stay whole
    counts = _counts(documents, {term: number for number, term in enumerate(terms)})
    present = np.array([frequency[term] for term in terms], np.float32)
    weights = (np.log((1 + len(documents)) / (1 + present)) + 1) ** np.float32(_SHARPNESS)
    # In one thread: sums in another order would make other vectors of the same passages.
    with threadpool_limits(1):
        projection = _right_singular(_weighted(counts, weights), DIMENSION)
    unfinished = folder / f".{FILE}"
    with unfinished.open("wb") as stream:
        np.savez(
            stream,
            terms=np.frombuffer("\n".join(terms).encode(), np.uint8),
            weights=weights,
            projection=projection.astype(np.float16),
        )
    unfinished.rename(folder / FILE)


def _counts(documents: Iterable[Sequence[str]], ids: dict[str, int]) -> Any:
    """Return the sparse matrix (documents, terms) of how often each term stands in each."""
    columns: list[int] = []
    values: list[int] = []
    ends = [0]
    for document in documents:
        found = Counter(ids[term] for term in document if term in ids)
        columns.extend(found)
        values.extend(found.values())
        ends.append(len(columns))
    shape = (len(ends) - 1, len(ids))
    return sparse.csr_matrix((np.array(values, np.float32), columns, ends), shape=shape)


def _weighted(counts: Any, weights: npt.NDArray[np.float32]) -> Any:
    """Return logarithmic term frequencies times the terms' weights; rows of length 1."""
    weighted = counts.copy()
    weighted.data = 1 + np.log(weighted.data)
    weighted = weighted @ sparse.diags(weights)
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return sparse.diags(1 / np.where(lengths > 0, lengths, 1)) @ weighted


def _right_singular(matrix: Any, dimension: int) -> npt.NDArray[np.float32]:
    """Return the first right singular vectors of a sparse matrix as columns (terms, dimension)."""
    size = min(dimension + _SPARE, *matrix.shape)
    random = np.random.default_rng(_SEED)
    basis = np.linalg.qr(matrix.T @ random.standard_normal((matrix.shape[0], size), np.float32))[0]
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(matrix @ basis)[0]
        basis = np.linalg.qr(matrix.T @ basis)[0]
    projected = np.asarray(matrix @ basis, np.float64)
    # The eigenvectors of its small square are the right singular vectors, in far less time.
    _, small = np.linalg.eigh(projected.T @ projected)
    vectors: npt.NDArray[np.float32] = basis @ small[:, ::-1][:, :dimension].astype(np.float32)
    # The sign of a singular vector is arbitrary: its largest entry is made positive.
    strongest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return np.asarray(vectors * np.where(strongest < 0, -1, 1), np.float32)
