"""Which passages are retrieved again, and which are chosen of them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.indexes.conftest import Build, page, written
from ufo.indexes.bm25 import Bm25
from ufo.indexes.names import NameTable
from ufo.indexes.rerank import COVERAGE, LINKED, LINKING, NAMED, Reranker, choose
from ufo.indexes.retriever import Hit
from ufo.indexes.store import PassageStore


class FixedRetriever:
    """A retriever that finds what it is told, the best first, and keeps what it is asked."""

    def __init__(self, rows: Sequence[int]) -> None:
        self.hits = [Hit(row, 1.0 - at / 100) for at, row in enumerate(rows)]
        self.depths: list[int] = []
        self.within: list[set[int]] = []

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        self.depths.append(k)
        self.within += [set(rows or ()) for rows in within or ()]
        return [self.hits for _ in queries]


def reranker(path: Path, retriever: FixedRetriever) -> Reranker:
    return Reranker(PassageStore(path), NameTable(path), Bm25(path), retriever)


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five pages of a passage, each of which names a page of four: rows 0 to 4, then 5 to 24."""
    leads = [page(f"Lead {n}", f"It is near Target {n} here.") for n in range(5)]
    parts = "A river.\n== B ==\nA river.\n== C ==\nA river.\n== D ==\nA river."
    targets = (page(f"Target {n}", parts) for n in range(5))
    return written(tmp_path_factory.mktemp("linked") / "index", wiki=[*leads, *targets])


def added(path: Path, rows: Sequence[int], k: int = 3, *named: str) -> set[int]:
    """The rows that the second retrieval has beside those of the first."""
    retriever = FixedRetriever(rows)
    reranker(path, retriever).search(["river"], k, [named])
    return set().union(*retriever.within) - set(rows)


def test_the_pages_that_the_three_best_passages_name_are_looked_up(linked: Path) -> None:
    expected = {first + n for first in (5, 9, 13) for n in range(3)}  # the first three of each
    assert added(linked, [0, 1, 2, 3, 4]) == expected


def test_all_passages_of_a_page_that_the_query_names_are_looked_up(linked: Path) -> None:
    assert added(linked, [24], 3, "Target 3", "Nobody") == {17, 18, 19, 20}


def test_what_was_found_is_not_added(linked: Path) -> None:
    assert added(linked, [0, 5, 6]) == {7}


@pytest.mark.parametrize(
    ("k", "depths"),
    [(1, [20, 30]), (20, [20, 30]), (21, [21, 30]), (31, [31, 31])],
    ids=["one", "as many as the first depth", "more than the first", "more than both"],
)
def test_more_is_retrieved_than_is_asked_for(linked: Path, k: int, depths: list[int]) -> None:
    retriever = FixedRetriever([0])
    reranker(linked, retriever).search(["river"], k, [[]])
    assert retriever.depths == depths


def test_three_hundred_rows_are_added_at_most(build_folder: Build) -> None:
    parts = "".join(f"\n== Part {n} ==\nA river." for n in range(301))
    path = build_folder(wiki=[page("Long", f"A river.{parts}"), page("Other", "A sea.")])
    assert len(added(path, [302], 3, "Long")) == 300


# --- the choice ---


def chosen(
    scores: Sequence[float],
    k: int,
    present: Sequence[Sequence[int]] | None = None,
    weights: Sequence[float] = (0.0,),
    links: dict[int, list[float]] | None = None,
) -> list[int]:
    none = np.zeros(len(scores))
    terms = np.array(present or [[0]] * len(scores), bool)
    gains = {at: np.array(gain, float) for at, gain in (links or {}).items()}
    return choose(np.array(scores), terms, np.array(weights), lambda at: gains.get(at, none), k)


@pytest.mark.parametrize(
    ("k", "expected"),
    [(0, []), (1, [1]), (2, [1, 0]), (3, [1, 0, 2]), (9, [1, 0, 2])],
    ids=["none", "the best", "the lower of equals", "all", "more than there are"],
)
def test_so_many_are_chosen_the_best_first_and_the_lower_of_equals(
    k: int, expected: list[int]
) -> None:
    assert chosen([0.5, 0.9, 0.5], k) == expected


def test_a_word_counts_until_a_chosen_passage_has_it() -> None:
    # The second has the word of the first again; the third has another.
    words = [[1, 0], [1, 0], [0, 1]]
    assert chosen([0.9, 0.8, 0.5], 3, words, (0.4, 0.4)) == [0, 2, 1]


@pytest.mark.parametrize(("early", "expected"), [(1, 5), (2, 5), (3, 5), (4, 4)])
def test_the_links_of_the_first_three_choices_count(early: int, expected: int) -> None:
    """The last passage is linked with one of the first four; 4 would be chosen before it."""
    gain = {early - 1: [0.0, 0.0, 0.0, 0.0, 0.0, 0.2]}
    assert chosen([0.9, 0.8, 0.7, 0.6, 0.3, 0.2], 5, links=gain)[:5].count(5) == (expected == 5)


def test_the_best_of_several_links_counts_once() -> None:
    gains = {0: [0.0, 0.0, 0.0, 0.2], 1: [0.0, 0.0, 0.0, 0.2]}
    assert chosen([0.9, 0.8, 0.5, 0.2], 3, links=gains) == [0, 1, 2]


def order(path: Path, rows: Sequence[int], k: int, *named: str) -> list[int]:
    [hits] = reranker(path, FixedRetriever(rows)).search(["river"], k, [named])
    return [hit.row for hit in hits]


def test_without_words_the_order_of_the_retriever_stays(linked: Path) -> None:
    [hits] = reranker(linked, FixedRetriever([7, 0, 3])).search(["?"], 2, [["Lead 3"]])
    assert [hit.row for hit in hits] == [7, 0]


def test_a_passage_of_a_page_that_the_query_names_comes_first(linked: Path) -> None:
    assert order(linked, [0, 1, 3], 3, "Lead 3") == [3, 0, 1]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([0, 9, 5], [0, 5, 9], id="of a page that the best names"),
        pytest.param([5, 9, 0], [5, 0, 9], id="that names the page of the best"),
        pytest.param([0, 9, 13], [0, 9, 13], id="without a link"),
    ],
)
def test_a_passage_with_a_link_comes_before_a_slightly_better_one(
    linked: Path, rows: list[int], expected: list[int]
) -> None:
    [hits] = reranker(linked, FixedRetriever(rows)).search(["glacier"], 3, [[]])
    assert [hit.row for hit in hits] == expected


def test_passages_without_a_score_keep_their_order(linked: Path) -> None:
    retriever = FixedRetriever([])
    retriever.hits = [Hit(9, 0.0), Hit(13, 0.0)]
    [hits] = reranker(linked, retriever).search(["glacier"], 2, [[]])
    assert [hit.row for hit in hits] == [9, 13]


def test_a_named_page_has_a_place_unless_one_alone_is_asked_for(build_folder: Build) -> None:
    path = build_folder({"A": "A river.", "B": "A river.", "C": "Nothing."})
    hits = [Hit(0, 1.0), Hit(1, 0.9), Hit(2, 0.01)]
    expected = {1: [0], 2: [0, 2], 3: [0, 1, 2]}
    for k, rows in expected.items():
        retriever = FixedRetriever([])
        retriever.hits = hits
        [ranked] = reranker(path, retriever).search(["river"], k, [["C"]])
        assert [hit.row for hit in ranked] == rows


def test_the_weights_are_these() -> None:
    assert [NAMED, LINKED, LINKING, COVERAGE] == [0.3, 0.3, 0.2, 0.8]
