"""Rank passages by vectors: a flat FAISS index up to `FLAT` vectors, then IVF with re-ranking.

Beyond `FLAT` vectors, the inverted lists of a coarse quantiser hold 1-bit codes (Gao & Long,
RaBitQ, 2024) that are scanned for candidates. These are re-ranked by scalar-quantised vectors of
one byte a dimension. The file is memory-mapped without FAISS's default prefetch, which would make
searches 5 to 17 times slower.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from ufo.indexes.embedders import Embedder, Vectors, vectors_of
from ufo.indexes.retriever import Hit, ranked_passages
from ufo.schemas.text import quantity

INDEX = "dense.faiss"
ROWS = "dense-rows.npy"  # the row in the passage store for each vector

FLAT = 100_000  # vectors

_SHARD = 4_096  # vectors a file: the most that a resumed build computes again
_PROBES = 32  # lists scanned a query
_CANDIDATES = 100  # re-ranked, or 4 times as many as asked for
_TRAINED = 64  # vectors a list that the quantiser is trained with
_SEED = 7


class Dense:
    """A Retriever over the vectors of an index folder; safe for searches in several threads."""

    def __init__(
        self, folder: Path, embed: Callable[[Sequence[str]], Vectors], probes: int = _PROBES
    ) -> None:
        self._embed = embed
        # One thread: a query takes less time than starting threads, and each core has a worker
        # process.
        faiss.omp_set_num_threads(1)
        self._index: Any = faiss.read_index(str(folder / INDEX), faiss.IO_FLAG_MMAP_IFC)
        self._rows: npt.NDArray[np.int64] = np.load(folder / ROWS, mmap_mode="r")
        self._candidates: Any = self._index
        if isinstance(self._index, faiss.IndexRefine):
            self._candidates = faiss.downcast_index(self._index.base_index)
            self._candidates.nprobe = min(probes, int(self._candidates.nlist))

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        """See `ufo.indexes.retriever.Retriever`; scores are cosines, and hits have one above 0."""
        if not queries:
            return []
        return self.search_vectors(self._embed(queries), k, within)

    def search_vectors(
        self, vectors: Vectors, k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        """Return the hits for query vectors (n, d) of length 1."""
        everywhere = [at for at in range(len(vectors)) if within is None or within[at] is None]
        positions: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)] * len(vectors)
        if everywhere and len(self._rows):
            wide = k if self._candidates is self._index else max(_CANDIDATES, 4 * k)
            wide = min(wide, len(self._rows))
            _, neighbours = self._candidates.search(np.ascontiguousarray(vectors[everywhere]), wide)
            for at, row in zip(everywhere, neighbours, strict=True):
                positions[at] = row[row >= 0]
        for at, rows in enumerate(within or ()):
            if rows is not None:
                positions[at] = self._positions(rows)
        return [
            self._ranked(vector, candidates, k)
            for vector, candidates in zip(vectors, positions, strict=True)
        ]

    def _positions(self, rows: Sequence[int]) -> npt.NDArray[np.int64]:
        wanted = np.unique(np.asarray(rows, np.int64))
        at = np.searchsorted(self._rows, wanted)
        inside = at < len(self._rows)
        at, wanted = at[inside], wanted[inside]
        positions: npt.NDArray[np.int64] = at[self._rows[at] == wanted]
        return positions

    def _ranked(self, vector: Vectors, positions: npt.NDArray[np.int64], k: int) -> list[Hit]:
        if not len(positions):
            return []
        scores = self._index.reconstruct_batch(positions) @ vector
        rows = self._rows[positions]
        order = np.lexsort((rows, -scores))[:k]
        return [Hit(int(rows[at]), float(scores[at])) for at in order if scores[at] > 0]


def build(
    folder: Path, embedder: Embedder, kept: Path, say: Callable[[str], None] | None = None
) -> list[str]:
    """Embed the passages of a folder and index the vectors; return the names of the files.

    The vectors are written to the folder `kept` in shards; existing shards are reused. `say`
    receives progress messages.

    Raises:
        RunError: the embedder makes vectors that cannot be used.
    """
    rows = np.array([row for row, one in enumerate(ranked_passages(folder)) if one], np.int64)
    np.save(folder / ROWS, rows)
    texts = (f"{one.title}\n{one.text}" for one in ranked_passages(folder) if one)
    shards = []
    dimension = 0  # of the first shard, which an earlier build may have made
    for number in range(-(-len(rows) // _SHARD)):
        path = kept / f"{number:06d}.npy"
        shard = list(islice(texts, _SHARD))
        if not path.exists():
            unfinished = path.with_suffix(".unfinished")
            with unfinished.open("wb") as stream:
                np.save(stream, vectors_of(embedder, shard, dimension))
            unfinished.rename(path)
            if say is not None:
                done = min((number + 1) * _SHARD, len(rows))
                say(f"{done:,} of {quantity(len(rows), 'passage')} embedded")
        shards.append(path)
        dimension = dimension or int(np.load(path, mmap_mode="r").shape[1])
    write_vectors(folder, shards, len(rows))
    return [ROWS, INDEX]


def write_vectors(folder: Path, shards: Sequence[Path], count: int) -> None:
    """Write a FAISS index of the vectors in the shards."""
    # Without a passage the dimension is unknown.
    dimension = int(np.load(shards[0], mmap_mode="r").shape[1]) if shards else 1
    index: Any = faiss.IndexFlatIP(dimension)
    if count > FLAT:
        kind = f"IVF{n_lists(count)},RaBitQfs,Refine(SQ8)"
        index = faiss.index_factory(dimension, kind, faiss.METRIC_INNER_PRODUCT)
        random = np.random.default_rng(_SEED)
        share = min(1.0, _TRAINED * n_lists(count) / count)
        parts = [part[random.random(len(part)) < share] for part in map(np.load, shards)]
        index.train(np.concatenate(parts))
    for vectors in map(np.load, shards):
        index.add(vectors)
    faiss.write_index(index, str(folder / INDEX))


def n_lists(count: int) -> int:
    """Return the number of inverted lists for `count` vectors: a power of two near 2·√count."""
    return 1 << max(1, round(float(np.log2(2 * count**0.5))))
