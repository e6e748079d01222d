"""BM25 for small indexes: the scores of rank-bm25's BM25Okapi, computed from posting lists.

`BM25Okapi.get_scores` loops over all documents for each term of a query (19 queries a second at 12k
passages). Here its statistics are read once, when the index is opened; a query adds up the posting
lists of its terms in the same order, and gets the same scores.

Robertson & Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009); Trotman et al.,
Improvements to BM25 and Language Models Examined (2014), for the ATIRE variant rank-bm25 has.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rank_bm25 import BM25Okapi

from ufo.indexes.ranked import NOT_RANKED, TITLE_WEIGHT, Ranked, ranked_passages
from ufo.indexes.retriever import Hit, inverse_frequency
from ufo.indexes.store import read_mapped
from ufo.indexes.tokens import query_terms, terms_of

TERMS = "bm25-terms.arrow"
TOKENS = "bm25-tokens.arrow"
TERM_SCHEMA = pa.schema([pa.field("term", pa.string(), nullable=False)])
TOKEN_SCHEMA = pa.schema([pa.field("terms", pa.list_(pa.int32()), nullable=False)])

K1 = 1.5
B = 0.75
_BATCH = 1024
SETTINGS = {
    "name": "bm25",
    "k1": K1,
    "b": B,
    "title_weight": TITLE_WEIGHT,
    "not_ranked": list(NOT_RANKED),
}

_Rows = npt.NDArray[np.int32]
_Scores = npt.NDArray[np.float64]


def passage_terms(passage: Ranked | None) -> list[str]:
    """Return the terms of a passage for BM25; [] for a passage that is not ranked."""
    if passage is None:
        return []
    named = terms_of(passage.title) + terms_of(passage.aliases)
    return named * TITLE_WEIGHT + terms_of(passage.section) + terms_of(passage.text)


class Bm25:
    """A Retriever over tokenised passages; immutable, so any thread may search."""

    def __init__(self, terms: Sequence[str], corpus: Sequence[Sequence[int]]) -> None:
        """`corpus[row]` is the passage's terms, in order, as indices into `terms`."""
        self._size = len(corpus)
        self._id_of = {term: number for number, term in enumerate(terms)}
        okapi = BM25Okapi(corpus, k1=K1, b=B) if any(corpus) else None
        self._rows, self._impacts = _postings(okapi, len(terms))

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        """See `ufo.indexes.retriever.Retriever`."""
        rows = within or [None] * len(queries)
        return [self._search(query, k, only) for query, only in zip(queries, rows, strict=True)]

    def rarity(self, terms: Sequence[str]) -> list[float]:
        """See `ufo.indexes.retriever.Lexicon`."""
        return [inverse_frequency(len(rows), self._size) for rows in map(self._rows_with, terms)]

    def _rows_with(self, term: str) -> _Rows:
        number = self._id_of.get(term)
        return np.empty(0, np.int32) if number is None else self._rows[number]

    def scores(self, query: str) -> _Scores:
        """Return the score of every passage, equal to BM25Okapi.get_scores of the query's terms."""
        return self._scores(self._terms_in(query))[0]

    def _terms_in(self, query: str) -> list[int]:
        known = self._id_of
        return [known[term] for term in query_terms(query) if term in known]

    def _scores(self, terms: Iterable[int]) -> tuple[_Scores, npt.NDArray[np.bool_]]:
        scores = np.zeros(self._size)
        # A match can have a score of 0 or below: a term may be in half of the passages.
        matched = np.zeros(self._size, dtype=np.bool_)
        for term in terms:
            rows = self._rows[term]
            scores[rows] += self._impacts[term]
            matched[rows] = True
        return scores, matched

    def _search(self, query: str, k: int, only: Sequence[int] | None) -> list[Hit]:
        scores, matched = self._scores(self._terms_in(query))
        if only is None:
            rows = np.flatnonzero(matched)
        else:
            rows = np.unique(np.asarray(only, dtype=np.int64))
            rows = rows[matched[rows]]
        best = _best(scores[rows], k)
        return [Hit(int(rows[at]), float(scores[rows[at]])) for at in best]


def opened(folder: Path) -> Bm25:
    """Return the engine of an index folder; nothing is tokenised again."""
    terms = read_mapped(folder / TERMS).column("term").to_pylist()
    return Bm25(terms, read_mapped(folder / TOKENS).column("terms").to_pylist())


def _best(scores: _Scores, k: int) -> npt.NDArray[np.intp]:
    """Return the positions of the `k` highest scores, highest first, the lower position on ties."""
    if len(scores) > 4 * k > 0:
        # All scores from the k-th on, so that ties with it are broken by position.
        kth = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= kth)
    else:
        candidates = np.arange(len(scores))
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]


def _postings(okapi: BM25Okapi | None, n_terms: int) -> tuple[list[_Rows], list[_Scores]]:
    """Return for each term the rows that contain it, ascending, and its scores in them."""
    if okapi is None:
        return [np.empty(0, np.int32)] * n_terms, [np.empty(0)] * n_terms
    sizes = [len(frequencies) for frequencies in okapi.doc_freqs]
    total = sum(sizes)
    terms = np.fromiter((term for d in okapi.doc_freqs for term in d), np.int64, total)
    counts = np.fromiter((n for d in okapi.doc_freqs for n in d.values()), np.float64, total)
    rows = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    lengths = np.array(okapi.doc_len)[rows]
    idf = np.zeros(n_terms)
    idf[list(okapi.idf)] = list(okapi.idf.values())
    norm = okapi.k1 * (1 - okapi.b + okapi.b * lengths / okapi.avgdl)
    impacts = idf[terms] * (counts * (okapi.k1 + 1) / (counts + norm))
    order = np.argsort(terms, kind="stable")
    ends = np.cumsum(np.bincount(terms, minlength=n_terms))[:-1]
    return np.split(rows[order], ends), np.split(impacts[order], ends)


def build(folder: Path) -> list[str]:
    """Tokenise the passages of an index folder; return the names of the files written."""
    ids: dict[str, int] = {}
    passages = ranked_passages(folder)
    with pa.ipc.new_file(folder / TOKENS, TOKEN_SCHEMA) as writer:
        while batch := list(islice(passages, _BATCH)):
            corpus = [
                [ids.setdefault(term, len(ids)) for term in passage_terms(passage)]
                for passage in batch
            ]
            array = pa.array(corpus, pa.list_(pa.int32()))
            writer.write_batch(pa.record_batch([array], schema=TOKEN_SCHEMA))
    with pa.ipc.new_file(folder / TERMS, TERM_SCHEMA) as writer:
        writer.write_table(pa.table([pa.array(list(ids), pa.string())], schema=TERM_SCHEMA))
    return [TERMS, TOKENS]
