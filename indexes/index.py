"""An index folder, opened once a process and asked for passages in batches.

A retriever ranks rows and knows nothing of texts; the passage store gives the texts; `Index` puts
both together with the names of pages. Another retriever is another file with a `Retriever` in it
and one line in `_RETRIEVERS`.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import pyarrow as pa

from indexes import bm25, bm25_large
from indexes.downloaded import local_index
from indexes.embedders import embedder_of
from indexes.hybrid import Fusion, Hybrid
from indexes.manifest import read_manifest
from indexes.names import NameTable, normal_name
from indexes.rerank import Reranker
from indexes.retriever import Lexicon, Retriever
from indexes.store import PassageStore, StoredPassage
from schemas.errors import IndexUnusable, UsageError, unknown_value


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage found for a query; `row` tells equal passages of several queries to be one."""

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
        """Return for each query at most `k` passages, best first.

        `named` holds for each query the names in it (`names_in` finds them): then the passages of
        the pages that have these names, and of those that the best passages name, are considered
        wherever they stand among all, and those are chosen that answer the query together: where
        `k` is over 1 and a page named shares a word with the query, at least one of its. Without
        it the retriever's own order is returned. A score is the retriever's in either case.
        """
        if k < 1:
            raise UsageError(f"{k} passages asked for; at least 1 is needed")
        with _damage_reported(self.path, _OF_READING):
            if named is None:
                hits = self.retriever.search(queries, k)
            else:
                hits = self.reranker.search(queries, k, named)
            return [
                [
                    ScoredPassage(hit.row, hit.score, passage)
                    for hit, passage in zip(
                        found, self.store.get([hit.row for hit in found]), strict=True
                    )
                ]
                for found in hits
            ]

    def pages_named(self, names: Sequence[str]) -> list[tuple[int, ...]]:
        """Return for each name the pages that have it as title or alias: none, one or several.

        Names are compared as MediaWiki does: spaces and underscores alike, the first letter in
        either case. The words in brackets that end a title need not be given.
        """
        return [self.names.pages(normal_name(name)) for name in names]

    def rows_named(self, names: Sequence[str]) -> list[int]:
        """Return the rows of all passages of the pages that have one of these names, ascending."""
        pages = {page for found in self.pages_named(names) for page in found}
        return self.store.rows_of_pages(sorted(pages))

    def names_in(self, text: str) -> tuple[str, ...]:
        """Return the names of pages, titles or aliases, that `text` mentions."""
        return self.names.names_in(text)


# What the libraries raise where a file is not what it was. tantivy's panics are caught by name, as
# they are no Exception and their class cannot be imported.
_OF_READING = (pa.ArrowException, ValueError)
_OF_OPENING = (*_OF_READING, OSError, KeyError, RuntimeError)
_PANIC = "PanicException"
_MOST_SHOWN = 300  # characters


@contextmanager
def _damage_reported(folder: Path, kinds: tuple[type[Exception], ...]) -> Iterator[None]:
    """Within this context an error of these kinds, or a panic, is an IndexUnusable."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, kinds) and type(error).__name__ != _PANIC:
            raise
        message = shorten(
            str(error), _MOST_SHOWN, placeholder=" …"
        )  # some quote all that they read
        raise IndexUnusable(
            f"{folder} is damaged: {message}; build it again with `ufo index build`"
        ) from error


@dataclass(frozen=True, slots=True)
class Options:
    """How an index is searched. `embedder` is the one wanted, or None for the index's own."""

    retriever: str = "bm25"
    embedder: str | None = None
    fusion_k: float = 10.0
    bm25_weight: float = 0.5


def _bm25(lexicon: Lexicon, folder: Path, manifest: dict[str, Any], options: Options) -> Retriever:
    return lexicon


def _dense(lexicon: Lexicon, folder: Path, manifest: dict[str, Any], options: Options) -> Retriever:
    from indexes.dense import Dense  # FAISS is heavy, and BM25 does not need it

    return Dense(folder, embedder_of(folder, manifest, options.embedder).embed)


def _hybrid(
    lexicon: Lexicon, folder: Path, manifest: dict[str, Any], options: Options
) -> Retriever:
    fusion = Fusion(options.fusion_k, options.bm25_weight)
    return Hybrid(lexicon, _dense(lexicon, folder, manifest, options), fusion)


_ENGINES = {"bm25": bm25, "tantivy": bm25_large}
_RETRIEVERS = {"bm25": _bm25, "dense": _dense, "hybrid": _hybrid}
RETRIEVERS = tuple(_RETRIEVERS)

# Strong references: an index stays open for the life of the process. One entry a path and options,
# so that one built anew takes the place of the old.
_opened: dict[tuple[Path, Options], Index] = {}
_opening = threading.Lock()


def open_index(
    path: str | Path,
    retriever: str = "bm25",
    *,
    embedder: str | None = None,
    fusion_k: float = 10.0,
    bm25_weight: float = 0.5,
    verify: bool = False,
) -> Index:
    """Open an index folder; the same object again while the folder's manifest does not change.

    `path` may be the prefix of another file system (`gs://…`): see `indexes.downloaded`. `embedder`
    is refused where it is not the one that made the vectors; `fusion_k` and `bm25_weight` are for
    the hybrid retriever. `verify` compares the checksums of large files too, not just their sizes.
    Raises IndexUnusable for a folder that is not a whole index of a known version or has no such
    vectors, UsageError for an unknown retriever.
    """
    if retriever not in _RETRIEVERS:
        raise UsageError(unknown_value("retriever", retriever, RETRIEVERS))
    options = Options(retriever, embedder, fusion_k, bm25_weight)
    folder = local_index(path)
    with _opening:
        manifest, fingerprint = read_manifest(folder, verify=verify)
        known = _opened.get((folder, options))
        if known is not None and known.fingerprint == fingerprint:
            return known
        with _damage_reported(folder, _OF_OPENING):
            index = _open(folder, manifest, fingerprint, options)
        _opened[folder, options] = index
        return index


def _open(folder: Path, manifest: dict[str, Any], fingerprint: str, options: Options) -> Index:
    store, names = PassageStore(folder), NameTable(folder)
    lexicon: Lexicon = _ENGINES[manifest["settings"]["engine"]["name"]].opened(folder)
    retriever = _RETRIEVERS[options.retriever](lexicon, folder, manifest, options)
    reranker = Reranker(store, names, lexicon, retriever)
    return Index(folder, manifest, fingerprint, store, names, retriever, reranker)
