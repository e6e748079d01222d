from collections.abc import Sequence

import pytest

from ufo.indexes.hybrid import Fusion, Hybrid, fused
from ufo.indexes.retriever import Hit
from ufo.schemas.errors import UsageError

A = [Hit(1, 9.0), Hit(2, 8.0)]
B = [Hit(2, 0.9), Hit(3, 0.8)]


def test_reciprocal_ranks_are_added() -> None:
    hits = fused((A, B), Fusion())
    assert [hit.row for hit in hits] == [2, 1, 3]
    assert [hit.score for hit in hits] == pytest.approx(
        [0.5 / 12 + 0.5 / 11, 0.5 / 11, 0.5 / 12], abs=1e-12
    )


@pytest.mark.parametrize(("weight", "rows"), [(1.0, [1, 2]), (0.0, [2, 3]), (0.95, [1, 2, 3])])
def test_the_weight_is_bm25_s(weight: float, rows: list[int]) -> None:
    assert [hit.row for hit in fused((A, B), Fusion(bm25_weight=weight))] == rows


def test_ties_go_to_the_lower_row() -> None:
    assert [hit.row for hit in fused(([Hit(7, 1.0)], [Hit(4, 1.0)]), Fusion())] == [4, 7]


@pytest.mark.parametrize("wrong", [{"k": -1.0}, {"bm25_weight": 1.1}, {"bm25_weight": -0.1}])
def test_wrong_settings_are_wrong_usage(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=r"fusion k|allowed: 0 to 1"):
        Fusion(**wrong)


class _Fixed:
    def __init__(self, hits: list[Hit]) -> None:
        self._hits = hits

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        assert k >= 100  # what is fused goes deeper than what is asked for
        return [self._hits for _ in queries]


def test_both_are_asked_and_the_best_returned() -> None:
    found = Hybrid(_Fixed(A), _Fixed(B), Fusion()).search(["x", "y"], 1)
    assert [[hit.row for hit in hits] for hits in found] == [[2], [2]]
