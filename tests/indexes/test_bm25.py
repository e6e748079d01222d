import random

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from ufo.indexes.bm25 import K1, B, Bm25, passage_terms
from ufo.indexes.ranked import Ranked
from ufo.indexes.tokens import query_terms


def _made(passages: list[list[str]]) -> Bm25:
    ids: dict[str, int] = {}
    corpus = [[ids.setdefault(term, len(ids)) for term in passage] for passage in passages]
    return Bm25(list(ids), corpus)


def _random_passages(seed: int, count: int) -> list[list[str]]:
    chance = random.Random(seed)
    words = [f"term{number}" for number in range(60)]
    weights = [1 / (rank + 1) for rank in range(60)]
    return [chance.choices(words, weights, k=chance.randint(0, 40)) for _ in range(count)]


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_of_rank_bm25(seed: int) -> None:
    passages = _random_passages(seed, 80)
    engine = _made(passages)
    reference = BM25Okapi(passages, k1=K1, b=B)
    chance = random.Random(seed)
    for _ in range(30):
        query = " ".join(f"term{chance.randint(0, 70)}" for _ in range(chance.randint(1, 8)))
        expected = reference.get_scores(query_terms(query))
        assert np.abs(engine.scores(query) - expected).max() <= 1e-9
        [hits] = engine.search([query], 10)
        terms = set(query_terms(query))
        matching = [row for row, passage in enumerate(passages) if terms & set(passage)]
        best = sorted(matching, key=lambda row: (-expected[row], row))[:10]
        assert [hit.row for hit in hits] == best


def test_equal_scores_come_in_the_order_of_rows() -> None:
    engine = _made([["x"], ["river", "a"], ["river", "b"], ["river", "c"], ["y"], ["z"], ["w"]])
    assert [[hit.row for hit in hits] for hits in engine.search(["rivers"], 2)] == [[1, 2]]


def test_many_ties_at_the_edge_are_cut_by_row() -> None:
    engine = _made([["other", str(n)] for n in range(50)] + [["river", "x"]] * 40)
    [hits] = engine.search(["river"], 3)
    assert [hit.row for hit in hits] == [50, 51, 52]


def test_no_shared_word_no_hit() -> None:
    assert _made([["danub"], ["rhine"]]).search(["glacier", ""], 5) == [[], []]


def test_within_ranks_only_the_rows_given() -> None:
    engine = _made([["river"], ["river", "x"], ["sea"], ["river", "river"], ["y"], ["z"], ["w"]])
    found = engine.search(["river", "river", "river"], 5, [[1, 2, 1], None, []])
    assert [[hit.row for hit in hits] for hits in found] == [[1], [3, 0, 1], []]


@pytest.mark.parametrize("passages", [[["river"]], [["river"], ["river", "sea"]]])
def test_a_tiny_index_still_finds_though_its_scores_are_not_positive(
    passages: list[list[str]],
) -> None:
    [hits] = _made(passages).search(["river"], 5)
    assert len(hits) == len(passages)


@pytest.mark.parametrize("passages", [[], [[]], [[], []]])
def test_an_index_without_a_word_finds_nothing(passages: list[list[str]]) -> None:
    assert _made(passages).search(["river"], 5) == [[]]


def test_titles_and_aliases_count_twice_and_what_is_not_ranked_not_at_all() -> None:
    terms = passage_terms(Ranked("Danube", "donau", "Course", "A river."))
    assert [terms.count(term) for term in ("danub", "donau", "cours", "river")] == [2, 2, 1, 1]
    assert passage_terms(None) == []
