"""Define retrievers, their fusion, and the fields of passages that they rank.

Retrievers rank the rows of an index for queries. BM25 counts title and aliases twice, headings and
text once: counting the title twice gave recall@5 .748 on HotpotQA, against .736 once and .702
without it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from ufo.indexes.names import ALIAS, ALIASES
from ufo.indexes.store import PAGES, PASSAGES, column_view, read_mapped
from ufo.indexes.tokens import STOP_WORDS, words_of
from ufo.indexes.wikis import NOT_RANKED


class Hit(NamedTuple):
    """A row of the passage store and its score, comparable within one query; higher is better."""

    row: int
    score: float


class Retriever(Protocol):
    """Ranks the passages of one index; safe for searches in several threads at once."""

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        """Return at most `k` hits for each query, best first, the lower row first on ties.

        `within` restricts each query to some rows; None means all. A passage without a match is not
        a hit, so a list may be shorter than `k`, or empty.
        """
        ...


_FUSION_K = 10
_FUSION_DEPTH = 100  # hits of each retriever that are fused


class Hybrid:
    """A Retriever that fuses the hits of two others by their reciprocal ranks.

    Cormack, Clarke & Büttcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods (2009). With all-MiniLM-L6-v2 on 250 HotpotQA questions, recall@5 is .922 with
    k = 10 and .938 with the paper's 60 (without re-ranking .792 and .778): both are better than
    BM25, and the difference between them is not significant.
    """

    def __init__(self, first: Retriever, second: Retriever) -> None:
        self._retrievers = (first, second)

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        """See `Retriever`; scores are sums of reciprocal ranks."""
        depth = max(k, _FUSION_DEPTH)
        rankings = [one.search(queries, depth, within) for one in self._retrievers]
        return [_fuse(lists)[:k] for lists in zip(*rankings, strict=True)]


def _fuse(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    scores: dict[int, float] = {}
    for hits in lists:
        for rank, hit in enumerate(hits, start=1):
            scores[hit.row] = scores.get(hit.row, 0.0) + 0.5 / (_FUSION_K + rank)
    hits = [Hit(row, score) for row, score in scores.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.row))


TITLE_WEIGHT = 2
_MOST_ALIAS_WORDS = 20  # of a page: many redirects are misspellings, which lengthen the passage


class Ranked(NamedTuple):
    """The ranked fields of a passage; `aliases` are words of aliases that are not in the title."""

    title: str
    aliases: str
    section: str
    text: str


def ranked_passages(folder: Path) -> Iterator[Ranked | None]:
    """Yield the passages of an index folder in order of rows; None for one that is not ranked."""
    passages = read_mapped(folder / PASSAGES).select(["title", "section", "text"])
    first_rows = column_view(read_mapped(folder / PAGES), "first_row")
    aliases = _alias_words(folder)
    row = 0
    for batch in passages.to_batches():
        pages = np.searchsorted(first_rows, np.arange(row, row + batch.num_rows), "right") - 1
        columns = [batch.column(name).to_pylist() for name in batch.schema.names]
        for page, title, section, text in zip(pages.tolist(), *columns, strict=True):
            ranked = section.partition(" > ")[0].lower() not in NOT_RANKED
            yield Ranked(title, aliases.get(page, ""), section, text) if ranked else None
        row += batch.num_rows


def _alias_words(folder: Path) -> dict[int, str]:
    """Return for each page with aliases the words of these that its title lacks."""
    table = read_mapped(folder / ALIASES)
    chosen = np.flatnonzero(column_view(table, "kind") == ALIAS)
    pages = column_view(table, "page")[chosen]
    names: defaultdict[int, list[str]] = defaultdict(list)
    for page, name in zip(
        pages.tolist(), table.column("name").take(chosen).to_pylist(), strict=True
    ):
        names[page].append(name)
    titles = read_mapped(folder / PAGES).column("title")
    result = {}
    for page, aliases in names.items():
        in_title = {*words_of(titles[page].as_py()), *STOP_WORDS}
        words = dict.fromkeys(word for name in sorted(aliases) for word in words_of(name))
        result[page] = " ".join([w for w in words if w not in in_title][:_MOST_ALIAS_WORDS])
    return result
