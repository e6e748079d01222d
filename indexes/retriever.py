"""The interface of retrievers, which rank the rows of an index for queries."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple, Protocol


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


class Lexicon(Retriever, Protocol):
    """A Retriever with document frequencies of terms."""

    def rarity(self, terms: Sequence[str]) -> list[float]:
        """Return for each stemmed term its inverse document frequency, 0 or more."""
        ...


def inverse_frequency(count: int, size: int) -> float:
    """Return the inverse document frequency of a term in `count` of `size` passages (Lucene's)."""
    return log(1 + (size - count + 0.5) / (count + 0.5))
