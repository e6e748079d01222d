"""BM25 for indexes beyond a few thousand passages: one tantivy field, read from disk.

Title, aliases, headings and text are one field, the title and the aliases twice: a term of a query
is then one list of postings and not four. Each posting is scored: by the best score that a block of
them can have tantivy would skip some (block-max WAND), but not behind its Python interface, where
k = 1 takes as long as counting all.
"""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import tantivy

from indexes.ranked import NOT_RANKED, TITLE_WEIGHT, Ranked, ranked_passages
from indexes.retriever import Hit, inverse_frequency
from indexes.tokens import STOP_WORDS

FOLDER = "tantivy"
SETTINGS = {
    "name": "tantivy",
    "k1": 1.2,  # tantivy's own, as is b
    "b": 0.75,
    "title_weight": TITLE_WEIGHT,
    "not_ranked": list(NOT_RANKED),
}

_HEAP_BYTES = 500_000_000  # of each shard's writer
_SHARDS = 2  # not one a core: the index is the same wherever it is built, and few are quicker asked
_DEALT = 1024  # rows that a shard gets before the next has its turn
_META, _MANAGED, _LOCK = "meta.json", ".managed.json", ".tantivy-meta.lock"
_TOKENIZER = "ufo"  # under which the index names it
_LONGEST_TERM = 60  # bytes
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_EXTRA_TIES = 8  # hits beyond `k` that are looked at, so that equal scores come in order of rows


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_unsigned_field("row", indexed=True, fast=True)
    return builder.build()


def _analyzer(stemmed: bool) -> tantivy.TextAnalyzer:
    steps = [
        tantivy.Filter.remove_long(_LONGEST_TERM),
        tantivy.Filter.ascii_fold(),
        tantivy.Filter.lowercase(),
    ]
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in [*steps, tantivy.Filter.stemmer("english")] if stemmed else steps:
        builder = builder.filter(step)
    return builder.build()


class LargeBm25:
    """A Retriever and Lexicon over a folder of tantivy's; safe for searches in several threads."""

    def __init__(self, folder: Path) -> None:
        self._stemmed, self._plain = _analyzer(True), _analyzer(False)
        self._schema = _schema()
        self._searcher = _searcher(folder / FOLDER)
        self._size = int(self._searcher.num_docs)

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        """See `indexes.retriever.Retriever`."""
        rows = within or [None] * len(queries)
        return [self._search(query, k, only) for query, only in zip(queries, rows, strict=True)]

    def rarity(self, terms: Sequence[str]) -> list[float]:
        """See `indexes.retriever.Lexicon`."""
        return [
            inverse_frequency(self._searcher.doc_freq("body", term), self._size) for term in terms
        ]

    def terms_in(self, query: str) -> list[str]:
        """Return the terms of a query, each once: no function words, if it has others."""
        words = self._plain.analyze(query)
        content = [word for word in words if word not in STOP_WORDS and len(word) > 1]
        return list(dict.fromkeys(self._stemmed.analyze(" ".join(content or words))))

    def _search(self, query: str, k: int, only: Sequence[int] | None) -> list[Hit]:
        terms = self.terms_in(query)
        if not terms or (only is not None and not len(only)):
            return []
        wanted = [(_SHOULD, self._term("body", term)) for term in terms]
        if only is not None:
            # Each row is a term of its own: a set of rows would be looked for among all of them.
            # The words may be there, they need not: what must be there is looked for everywhere.
            rows = tantivy.Query.boolean_query([(_SHOULD, self._term("row", row)) for row in only])
            wanted.append((_MUST, tantivy.Query.const_score_query(rows, 0.0)))
        asked = tantivy.Query.boolean_query(wanted)
        found = self._searcher.search(asked, k + _EXTRA_TIES, count=False).hits
        numbers = self._searcher.fast_field_values("row", [address for _, address in found])
        hits = [
            Hit(int(row or 0), float(score))
            for row, (score, _) in zip(numbers, found, strict=True)
            if score > 0  # a row asked for that has none of the terms
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.row))[:k]

    def _term(self, field: str, value: str | int) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, "freq")


def _searcher(path: Path) -> tantivy.Searcher:
    """Return the searcher of tantivy's folder, in which it locks a file while it opens it.

    One that may only be read is opened by links to its files; they are needed no longer than that.
    A thread of tantivy may still write its lock among the links while they are removed: such a
    folder stays behind, which is rare and no error.
    """
    lock = path / _LOCK
    if os.access(lock if lock.exists() else path, os.W_OK):
        return tantivy.Index.open(str(path)).searcher()
    with TemporaryDirectory(prefix="ufo-", ignore_cleanup_errors=True) as links:
        for file in path.iterdir():
            if file.name != _LOCK:
                Path(links, file.name).symlink_to(file)
        return tantivy.Index.open(links).searcher()


def opened(folder: Path) -> LargeBm25:
    """Return the engine of an index folder."""
    return LargeBm25(folder)


def build(folder: Path) -> list[str]:
    """Index the passages of an index folder; return the names of the files written."""
    path = folder / FOLDER
    shutil.rmtree(path, ignore_errors=True)  # of a build that was stopped here
    shards = [path / f"shard-{number}" for number in range(_SHARDS)]
    # One thread each: documents keep the order of rows, so that ties do, whoever built it.
    writers = [_index_in(shard).writer(_HEAP_BYTES, 1) for shard in shards]
    for row, body in _bodies(folder):
        document = tantivy.Document()
        document.add_text("body", body)
        document.add_unsigned("row", row)
        writers[row // _DEALT % _SHARDS].add_document(document)
    with ThreadPoolExecutor(_SHARDS) as pool:
        list(pool.map(_finish, writers))
    _merge(shards, path)
    return sorted(f"{FOLDER}/{file.name}" for file in path.iterdir())


def _index_in(path: Path) -> tantivy.Index:
    path.mkdir(parents=True)
    index = tantivy.Index(_schema(), str(path))
    index.register_tokenizer(_TOKENIZER, _analyzer(True))
    return index


def _finish(writer: tantivy.IndexWriter) -> None:
    writer.commit()
    writer.wait_merging_threads()


def _merge(shards: Sequence[Path], path: Path) -> None:
    """Make one index of several, at `path`: its segments are all of theirs.

    A segment is a handful of files named by its own random number, and an index lists its segments
    in meta.json and their files in .managed.json. Statistics are taken over all segments listed.
    """
    metas = [json.loads((shard / _META).read_text()) for shard in shards]
    managed = [json.loads((shard / _MANAGED).read_text()) for shard in shards]
    merged = metas[0] | {
        "segments": [segment for meta in metas for segment in meta["segments"]],
        "opstamp": max(meta["opstamp"] for meta in metas),
    }
    for shard in shards:
        for file in shard.iterdir():
            if file.name not in (_META, _MANAGED) and file.suffix != ".lock":
                file.rename(path / file.name)
        shutil.rmtree(shard)
    (path / _MANAGED).write_text(json.dumps(sorted({name for names in managed for name in names})))
    (path / _META).write_text(json.dumps(merged))


def _bodies(folder: Path) -> Iterator[tuple[int, str]]:
    for row, passage in enumerate(ranked_passages(folder)):
        if passage is not None:
            yield row, _body(passage)


def _body(passage: Ranked) -> str:
    named = [passage.title, passage.aliases] * TITLE_WEIGHT
    return "\n".join([*named, passage.section, passage.text])
