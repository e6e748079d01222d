"""The seam of every index: open a folder once a process, ask it for passages in batches.

A retriever ranks rows and knows nothing of texts; the passage store gives the texts; `Index` puts
both together with the names of pages. Another engine is another file with a `Retriever` in it and
one line in `_RETRIEVERS`.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import log
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from indexes.manifest import read_manifest
from indexes.names import NameTable, normal_name
from indexes.store import PassageStore, StoredPassage
from schemas.errors import IndexUnusable, UsageError, unknown_value


class Hit(NamedTuple):
    """A row of the passage store and how well it answers; higher is better, within one query."""

    row: int
    score: float


class Retriever(Protocol):
    """Ranks the passages of one index; safe for searches in several threads at once."""

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        """Return for each query its best hits: at most `k`, best first, the lower row on ties.

        `within` holds for each query the only rows to rank, or None for all. A passage that shares
        nothing with the query is no hit, so a list may be shorter than `k`, or empty.
        """
        ...


class Lexicon(Retriever, Protocol):
    """A Retriever that knows how rare words are."""

    def rarity(self, terms: Sequence[str]) -> list[float]:
        """Return for each stemmed term its inverse document frequency, 0 or more."""
        ...


def inverse_frequency(count: int, size: int) -> float:
    """Return how rare a term is that `count` of `size` passages hold, never below 0 (Lucene's)."""
    return log(1 + (size - count + 0.5) / (count + 0.5))


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

    def search(
        self, queries: Sequence[str], k: int, named: Sequence[Sequence[str]] | None = None
    ) -> list[list[ScoredPassage]]:
        """Return for each query at most `k` passages, best first.

        `named` holds for each query the names whose pages have to be considered (`names_in` finds
        them in a claim): up to half of the `k` places, and at least one, go to the best passages of
        these pages, wherever they stand among all passages.
        """
        if k < 1:
            raise UsageError(f"{k} passages asked for; at least 1 is needed")
        hits = self.retriever.search(queries, k)
        if named is not None:
            rows = [self.rows_named(names) for names in named]
            asked = [at for at, found in enumerate(rows) if found]
            on_pages = self.retriever.search(
                [queries[at] for at in asked], (k + 1) // 2, [rows[at] for at in asked]
            )
            for at, reserved in zip(asked, on_pages, strict=True):
                hits[at] = _with_reserved(hits[at], reserved, k)
        return [
            [
                ScoredPassage(hit.row, hit.score, passage)
                for hit, passage in zip(found, self.store.get([h.row for h in found]), strict=True)
            ]
            for found in hits
        ]

    def pages_named(self, names: Sequence[str]) -> list[tuple[int, ...]]:
        """Return for each name the pages that have it as title or alias: none, one or several.

        Names are compared as MediaWiki does: spaces and underscores alike, the first letter in
        either case.
        """
        return [self.names.pages(normal_name(name)) for name in names]

    def rows_named(self, names: Sequence[str]) -> list[int]:
        """Return the rows of all passages of the pages that have one of these names, ascending."""
        pages = {page for found in self.pages_named(names) for page in found}
        return self.store.rows_of_pages(sorted(pages))

    def names_in(self, text: str) -> list[str]:
        """Return the names of pages, titles or aliases, that `text` mentions."""
        return self.names.names_in(text)


def _with_reserved(hits: list[Hit], reserved: list[Hit], k: int) -> list[Hit]:
    """Return `k` hits, best first, all `reserved` ones among them."""
    kept = {hit.row for hit in reserved}
    others = [hit for hit in hits if hit.row not in kept]
    return sorted(reserved + others[: k - len(reserved)], key=lambda hit: (-hit.score, hit.row))


def _open_bm25(folder: Path) -> Retriever:
    # Imported when first opened: it brings numpy and rank-bm25 with it.
    retriever: Retriever = import_module("indexes.bm25").Bm25.open(folder)
    return retriever


_RETRIEVERS: dict[str, Callable[[Path], Retriever]] = {"bm25": _open_bm25}
RETRIEVERS = tuple(_RETRIEVERS)

# Strong references: an index stays open for the life of the process. One entry a path, so that
# one built anew takes the place of the old.
_opened: dict[tuple[Path, str], Index] = {}
_opening = threading.Lock()


def open_index(path: str | Path, retriever: str = "bm25", *, verify: bool = False) -> Index:
    """Open an index folder; the same object again while the folder's manifest does not change.

    `verify` compares the checksum of every file, not just its size. Raises IndexUnusable for a
    folder that is not a whole index of a known version, UsageError for an unknown retriever.
    """
    if retriever not in _RETRIEVERS:
        raise UsageError(unknown_value("retriever", retriever, RETRIEVERS))
    folder = Path(path).expanduser().resolve()
    with _opening:
        manifest, fingerprint = read_manifest(folder, verify=verify)
        known = _opened.get((folder, retriever))
        if known is not None and known.fingerprint == fingerprint:
            return known
        try:
            store, names = PassageStore(folder), NameTable(folder)
            ranker = _RETRIEVERS[retriever](folder)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise IndexUnusable(
                f"{folder} is damaged: {error}; build it again with `ufo index build`"
            ) from error
        index = Index(folder, manifest, fingerprint, store, names, ranker)
        _opened[folder, retriever] = index
        return index
