"""Search an index folder, which is opened once in each process.

A retriever ranks row numbers, the passage store reads the passages of rows, and `Index` combines
them with the names of pages. To add a retriever, write a file with a `Retriever`, and a branch in
`_open`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import pyarrow as pa

from ufo.indexes.bm25 import Bm25
from ufo.indexes.embedders import Vectors, check_same, embedder_of, vectors_of
from ufo.indexes.manifest import read_manifest
from ufo.indexes.names import NameTable
from ufo.indexes.remote_index import local_index
from ufo.indexes.rerank import Reranker
from ufo.indexes.retriever import Hybrid, Retriever
from ufo.indexes.store import PassageStore, StoredPassage
from ufo.schemas.dependencies import need
from ufo.schemas.errors import IndexUnusable, UsageError, unknown_value
from ufo.schemas.forks import Opened
from ufo.schemas.text import quantity


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage found for a query, with its row in the passage store and its score."""

    row: int
    score: float
    passage: StoredPassage


@dataclass(frozen=True, slots=True)
class Index:
    """An opened index folder: `manifest` is the parsed manifest.json, `fingerprint` its SHA-256."""

    path: Path
    manifest: dict[str, Any]
    fingerprint: str
    store: PassageStore
    names: NameTable
    retriever: Retriever
    reranker: Reranker

    def search(
        self, queries: Sequence[str], k: int, named: Sequence[Sequence[str]] | None = None
    ) -> list[list[ScoredPassage]]:
        """Return at most `k` passages for each query, best first; scores are the retriever's.

        `named` has the names in each query (by `names_in`). With it the passages are re-ranked
        (`ufo.indexes.rerank`): passages of pages with these names, and of pages named in the best
        passages, become candidates. From all candidates `k` are chosen that answer the query
        together. Without `named` the order is the retriever's.

        Raises:
            UsageError: `k` is below 1.
            IndexUnusable: a file is damaged.
        """
        if k < 1:
            raise UsageError(f"{quantity(k, 'passage')} asked for; at least 1 is needed")
        with _report_damage(self.path, _OF_READING):
            if named is None:
                hits = self.retriever.search(queries, k)
            else:
                hits = self.reranker.search(queries, k, named)
            return [
                [
                    ScoredPassage(hit.row, hit.score, passage)
                    for hit, passage in zip(
                        query_hits, self.store.get([hit.row for hit in query_hits]), strict=True
                    )
                ]
                for query_hits in hits
            ]

    def names_in(self, text: str) -> tuple[str, ...]:
        """Return the titles and aliases of pages that `text` mentions."""
        return self.names.names_in(text)


# The libraries' errors for damaged files. tantivy's panics are recognised by the name of their
# class, which is not an Exception and cannot be imported.
_OF_READING = (pa.ArrowException, ValueError)
_OF_OPENING = (*_OF_READING, OSError, KeyError, RuntimeError)
_PANIC = "PanicException"
_MOST_SHOWN = 300  # characters


@contextmanager
def _report_damage(folder: Path, kinds: tuple[type[Exception], ...]) -> Iterator[None]:
    """Convert errors of these types, and panics of tantivy, to IndexUnusable."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, kinds) and type(error).__name__ != _PANIC:
            raise
        # Some messages quote everything that was read.
        message = shorten(str(error), _MOST_SHOWN, placeholder=" …")
        raise IndexUnusable(
            f"{folder} is damaged: {message}; build it again with `ufo index build`"
        ) from error


RETRIEVERS = ("bm25", "dense", "hybrid")

# An index stays open for the life of the process; a rebuilt one replaces it.
_opened: Opened[tuple[Path, str, str | None], Index] = Opened()


def open_index(path: str | Path, retriever: str = "bm25", *, embedder: str | None = None) -> Index:
    """Open an index folder; return the same object as before while its manifest does not change.

    `path` may be a prefix of another file system (`gs://…`), see `ufo.indexes.manifest`.
    `embedder` must be the one of the index's vectors.

    Raises:
        IndexUnusable: the folder is not a complete index of a known version, or lacks the vectors.
        UsageError: the retriever is unknown.
    """
    if retriever not in RETRIEVERS:
        raise UsageError(unknown_value("retriever", retriever, RETRIEVERS))
    folder = local_index(path)
    with _opened.lock:
        manifest, fingerprint = read_manifest(folder)
        known = _opened.get((folder, retriever, embedder))
        if known is not None and known.fingerprint == fingerprint:
            return known
        with _report_damage(folder, _OF_OPENING):
            index = _open(folder, manifest, fingerprint, retriever, embedder)
        _opened[folder, retriever, embedder] = index
        return index


def _open(
    folder: Path, manifest: dict[str, Any], fingerprint: str, retriever: str, embedder: str | None
) -> Index:
    store, names, bm25 = PassageStore(folder), NameTable(folder), Bm25(folder)
    chosen: Retriever = bm25
    if retriever != "bm25":
        need("dense", "search by vectors")
        from ufo.indexes.dense import Dense  # FAISS is heavy, and BM25 does not need it

        model, described = embedder_of(folder, manifest, embedder), manifest["embedder"]

        def embed(queries: Sequence[str]) -> Vectors:
            vectors = vectors_of(model, queries)
            check_same(folder, described, model)  # an endpoint's replies name its model
            return vectors

        chosen = Dense(folder, embed)
    if retriever == "hybrid":
        chosen = Hybrid(bm25, chosen)
    return Index(
        folder, manifest, fingerprint, store, names, chosen, Reranker(store, names, bm25, chosen)
    )
