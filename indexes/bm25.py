"""Rank passages by BM25, with a tantivy index that is read from disk.

Title, aliases, headings and text are one field, with title and aliases twice. So each term of a
query has one posting list instead of four. Every posting is scored: tantivy's Python interface does
not use block-max WAND, so k = 1 takes as long as counting all hits.
"""

import os
from collections.abc import Sequence
from math import log
from pathlib import Path

import tantivy

from ufo.indexes.retriever import TITLE_WEIGHT, Hit, ranked_passages
from ufo.indexes.tokens import analyzer, prepare_text, query_terms
from ufo.schemas.temporary import temporary_folder

FOLDER = "tantivy"
SETTINGS = {
    "name": "tantivy",
    "k1": 1.2,  # the values of tantivy for k1 and b
    "b": 0.75,
    "title_weight": TITLE_WEIGHT,
}

_HEAP_BYTES = 1_000_000_000
_LOCK = ".tantivy-meta.lock"
_TOKENIZER = "ufo"  # its name in the index
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_EXTRA_TIES = 8  # hits requested beyond `k`, to sort equal scores by row


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_unsigned_field("row", indexed=True, fast=True)
    return builder.build()


class Bm25:
    """A Retriever over a tantivy index; safe for searches in several threads."""

    def __init__(self, folder: Path) -> None:
        self._schema = _schema()
        self._searcher = _searcher(folder / FOLDER)
        self._size = int(self._searcher.num_docs)

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        """See `ufo.indexes.retriever.Retriever`."""
        rows = within or [None] * len(queries)
        return [self._search(query, k, only) for query, only in zip(queries, rows, strict=True)]

    def rarity(self, terms: Sequence[str]) -> list[float]:
        """Return for each stemmed term its inverse document frequency (Lucene's), 0 or more."""
        counts = [self._searcher.doc_freq("body", term) for term in terms]
        return [log(1 + (self._size - count + 0.5) / (count + 0.5)) for count in counts]

    def _search(self, query: str, k: int, only: Sequence[int] | None) -> list[Hit]:
        terms = query_terms(query)
        if not terms or (only is not None and not len(only)):
            return []
        wanted = [(_SHOULD, self._term("body", term)) for term in terms]
        if only is not None:
            # One term query for each row is faster than a set query, which scans all rows; and the
            # words are optional (_SHOULD), since required ones would be matched in every row.
            rows = tantivy.Query.boolean_query([(_SHOULD, self._term("row", row)) for row in only])
            wanted.append((_MUST, tantivy.Query.const_score_query(rows, 0.0)))
        top = self._searcher.search(
            tantivy.Query.boolean_query(wanted), k + _EXTRA_TIES, count=False
        ).hits
        numbers = self._searcher.fast_field_values("row", [address for _, address in top])
        hits = [
            Hit(int(row or 0), float(score))
            for row, (score, _) in zip(numbers, top, strict=True)
            if score > 0  # 0 for one of the rows in `only` without any of the terms
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.row))[:k]

    def _term(self, field: str, value: str | int) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, "freq")


def _searcher(path: Path) -> tantivy.Searcher:
    """Open a tantivy folder.

    Opening creates a lock file, so a read-only folder is opened through a temporary folder of
    symbolic links. A thread of tantivy may still write the lock while that folder is removed. The
    folder then stays, which is rare and harmless.
    """
    lock = path / _LOCK
    if os.access(lock if lock.exists() else path, os.W_OK):
        return tantivy.Index.open(str(path)).searcher()
    with temporary_folder() as links:
        for file in path.iterdir():
            if file.name != _LOCK:
                Path(links, file.name).symlink_to(file)
        return tantivy.Index.open(links).searcher()


def build(folder: Path) -> list[str]:
    """Index the passages of an index folder; return the names of the files written."""
    path = folder / FOLDER
    path.mkdir(parents=True)
    index = tantivy.Index(_schema(), str(path))
    index.register_tokenizer(_TOKENIZER, analyzer())
    # One thread, so that the same passages give the same segments.
    writer = index.writer(_HEAP_BYTES, 1)
    for row, passage in enumerate(ranked_passages(folder)):
        if passage is None:
            continue
        named = [passage.title, passage.aliases] * TITLE_WEIGHT
        document = tantivy.Document()
        document.add_text("body", prepare_text("\n".join([*named, passage.section, passage.text])))
        document.add_unsigned("row", row)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    files = (file for file in path.iterdir() if file.suffix != ".lock")
    return sorted(f"{FOLDER}/{file.name}" for file in files)
