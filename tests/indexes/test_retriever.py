from collections.abc import Sequence

import pytest

from ufo.indexes.retriever import Hit, Hybrid

A = [Hit(1, 9.0), Hit(2, 8.0)]
B = [Hit(2, 0.9), Hit(3, 0.8)]


class _Fixed:
    def __init__(self, hits: list[Hit]) -> None:
        self._hits = hits

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        assert k >= 100  # what is fused goes deeper than what is asked for
        return [self._hits for _ in queries]


def test_reciprocal_ranks_are_added_and_the_best_returned() -> None:
    hybrid = Hybrid(_Fixed(A), _Fixed(B))
    [hits] = hybrid.search(["x"], 5)
    assert [hit.row for hit in hits] == [2, 1, 3]
    assert [hit.score for hit in hits] == pytest.approx(
        [0.5 / 12 + 0.5 / 11, 0.5 / 11, 0.5 / 12], abs=1e-12
    )
    assert [[hit.row for hit in found] for found in hybrid.search(["x", "y"], 1)] == [[2], [2]]


def test_ties_go_to_the_lower_row() -> None:
    [hits] = Hybrid(_Fixed([Hit(7, 1.0)]), _Fixed([Hit(4, 1.0)])).search(["x"], 5)
    assert [hit.row for hit in hits] == [4, 7]
