"""What a retriever is: it ranks the rows of an index and knows nothing of their texts."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple, Protocol


class Hit(NamedTuple):
    """A row of the passage store and its score for a query; higher is better, within one query."""

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
