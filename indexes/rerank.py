"""Re-rank the passages of a retriever, so that the chosen ones answer a query together.

A question often needs two pages and names only one of them. So passages of the pages named in the
query and in the best passages are retrieved, too. Then passages are chosen greedily by a sum of
three terms:

- the retriever's score
- the weight of query words that earlier choices lack (maximal coverage: Lin & Bilmes, A Class of
  Submodular Functions for Document Summarization, 2011)
- links with the first choices (Asai et al., Learning to Retrieve Reasoning Paths over Wikipedia
  Graph, 2020, but without training)

The weights were selected from a few round values on 250 HotpotQA questions; each half of these
gives about the same weights.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ufo.indexes.bm25 import Bm25
from ufo.indexes.names import NameTable, base_name
from ufo.indexes.retriever import Hit, Retriever
from ufo.indexes.store import PassageStore
from ufo.indexes.tokens import query_terms, terms_of

NAMED = 0.3  # for a passage of a page that the query names
LINKED = 0.3  # for a passage of a page that one of the best passages names
LINKING = 0.2  # for a passage that names the page of one of the best passages
COVERAGE = 0.8  # for all words of the query; a word counts by its rarity

_DEPTH = 20  # passages of the first retrieval; 50 gave no better results on HotpotQA
_SEEDS = 3  # the best passages, whose names are looked up and whose links count
_LEADS = 3  # first passages of a page named in a passage
_CHOICE = 30  # passages of the second retrieval
_MOST_ROWS = 300  # rows of named pages
_KEPT_PASSAGES = 8_192

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Seen:
    """The fields of a passage that are compared with other passages."""

    page: int
    name: str
    text: str
    terms: frozenset[str]


class Reranker:
    """A re-ranker that retrieves once more with the named pages; safe for several threads."""

    def __init__(
        self, store: PassageStore, names: NameTable, bm25: Bm25, retriever: Retriever
    ) -> None:
        self._store = store
        self._names = names
        self._bm25 = bm25
        self._retriever = retriever
        self._seen = lru_cache(_KEPT_PASSAGES)(self._read)
        self._linked_pages = lru_cache(_KEPT_PASSAGES)(self._read_links)

    def search(
        self, queries: Sequence[str], k: int, named: Sequence[Sequence[str]]
    ) -> list[list[Hit]]:
        """Return the `k` passages for each query in the order of choice; see the module.

        `named` are the names in each query. Scores are the retriever's.
        """
        first = self._retriever.search(queries, max(_DEPTH, k))
        pages = [self._pages(names) for names in named]
        added = [self._rows_to_add(found, own) for found, own in zip(first, pages, strict=True)]
        again = [at for at, rows in enumerate(added) if rows]
        within = [[*added[at], *(hit.row for hit in first[at])] for at in again]
        hits = self._retriever.search([queries[at] for at in again], max(_CHOICE, k), within)
        for at, candidates in zip(again, hits, strict=True):
            first[at] = candidates
        return [
            self._choose_hits(query, candidates, own, k)
            for query, candidates, own in zip(queries, first, pages, strict=True)
        ]

    def _pages(self, names: Sequence[str]) -> set[int]:
        return {page for name in names for page in self._names.pages(name)}

    def _rows_to_add(self, hits: Sequence[Hit], named: set[int]) -> list[int]:
        """Return the rows of named or linked pages that are not among the hits."""
        rows = dict.fromkeys(self._store.rows_of_pages(sorted(named)))
        for hit in hits[:_SEEDS]:
            linked = sorted(self._linked_pages(hit.row))
            rows.update(dict.fromkeys(self._store.rows_of_pages(linked, _LEADS)))
        known = {hit.row for hit in hits}
        return [row for row in rows if row not in known][:_MOST_ROWS]

    def _choose_hits(self, query: str, hits: Sequence[Hit], named: set[int], k: int) -> list[Hit]:
        terms = query_terms(query)
        if not hits or not terms:
            return list(hits[:k])
        seen = [self._seen(hit.row) for hit in hits]
        best = max(abs(hit.score) for hit in hits) or 1.0
        scores = np.array([hit.score / best for hit in hits])
        scores += NAMED * np.array([one.page in named for one in seen])
        present = np.array([[term in one.terms for term in terms] for one in seen])
        rarity = np.array(self._bm25.rarity(terms))
        weights = COVERAGE * rarity / (rarity.sum() or 1.0)

        def links(at: int) -> _Floats:
            pages, name = self._linked_pages(hits[at].row), seen[at].name
            return np.array(
                [
                    LINKED if passage.page in pages else LINKING if name in passage.text else 0.0
                    for passage in seen
                ]
            )

        chosen = choose(scores, present, weights, links, k)
        own = np.flatnonzero([one.page in named for one in seen])
        # If no passage of a named page was chosen, the best of these replaces the last choice.
        if len(own) and 1 < k == len(chosen) and not set(own.tolist()) & set(chosen):
            chosen[-1] = int(own[np.argmax(scores[own])])
        return [hits[at] for at in chosen]

    def _read(self, row: int) -> _Seen:
        [passage] = self._store.get([row])
        terms = frozenset(terms_of(f"{passage.title}\n{passage.text}"))
        return _Seen(self._store.page_of_row(row), base_name(passage.title), passage.text, terms)

    def _read_links(self, row: int) -> frozenset[int]:
        [passage] = self._store.get([row])
        return frozenset(self._pages(self._names.names_in(passage.text)))


def choose(
    scores: _Floats,
    present: npt.NDArray[np.bool_],
    weights: _Floats,
    links: Callable[[int], _Floats],
    k: int,
) -> list[int]:
    """Return the positions of `k` passages in the order of choice; the lower position on ties.

    Args:
        scores: the score of each passage, shape (n,).
        present: whether each passage contains each query term, shape (n, terms).
        weights: the gain for a term that no earlier choice contains, shape (terms,).
        links: from the position of an early choice to the gains of all passages, shape (n,).
        k: the number of passages.
    """
    open_weights = weights.copy()
    gained = np.zeros(len(scores))
    free = np.array(scores)
    chosen: list[int] = []
    for _ in range(min(k, len(scores))):
        at = int(np.argmax(free + present @ open_weights + gained))
        chosen.append(at)
        free[at] = -np.inf
        open_weights[present[at]] = 0.0
        if len(chosen) <= _SEEDS:
            gained = np.maximum(gained, links(at))
    return chosen
