from collections.abc import Callable
from pathlib import Path

import numpy as np

from ufo.indexes.index import Index, open_index
from ufo.indexes.rerank import choose

Build = Callable[..., Path]


def _none(at: int) -> np.ndarray:
    return np.zeros(3)


def _titles(index: Index, query: str, k: int) -> list[str]:
    [found] = index.search([query], k, [index.names_in(query)])
    return [hit.passage.title for hit in found]


def test_what_the_chosen_ones_lack_counts_for_the_next() -> None:
    present = np.array([[True, False], [True, False], [False, True]])
    scores = np.array([1.0, 0.9, 0.5])
    assert choose(scores, present, np.array([0.4, 0.6]), _none, 3) == [0, 2, 1]
    assert choose(scores, present, np.zeros(2), _none, 3) == [0, 1, 2]
    assert choose(scores, present, np.zeros(2), _none, 2) == [0, 1]


def test_links_with_the_first_chosen_count_and_ties_go_to_the_lower() -> None:
    present = np.zeros((3, 1), dtype=bool)
    links = {0: np.array([0.0, 0.0, 0.3])}
    scores = np.array([1.0, 0.5, 0.5])
    chosen = choose(scores, present, np.ones(1), lambda at: links.get(at, np.zeros(3)), 5)
    assert chosen == [0, 2, 1]
    assert choose(scores, present, np.ones(1), _none, 5) == [0, 1, 2]
    assert choose(np.zeros(0), np.zeros((0, 1), dtype=bool), np.ones(1), _none, 5) == []


FILMS = {
    "Big Stone Gap (film)": "Big Stone Gap is a drama film directed by Adriana Trigiani.",
    "Adriana Trigiani": "Adriana Trigiani is a writer based in Greenwich Village.",
    **{f"City {n}": "A director is based in what city of New York." for n in range(60)},
}
QUESTION = "In what city is the director of Big Stone Gap based?"


def test_a_page_that_the_best_passage_names_is_found(build_folder: Build) -> None:
    index = open_index(build_folder(FILMS))
    [plain] = index.search([QUESTION], 5)
    assert "Adriana Trigiani" not in [hit.passage.title for hit in plain]
    assert {"Big Stone Gap (film)", "Adriana Trigiani"} <= set(_titles(index, QUESTION, 5))


def test_a_page_is_named_without_what_tells_it_apart(build_folder: Build) -> None:
    index = open_index(build_folder(FILMS))
    assert _titles(index, QUESTION, 1) == ["Big Stone Gap (film)"]


def test_a_query_without_words_and_an_index_without_hits(build_folder: Build) -> None:
    index = open_index(build_folder(FILMS))
    found = index.search(["", "zyzzyva", QUESTION], 3, [(), (), ()])
    assert [len(hits) for hits in found] == [0, 0, 3]
    assert index.search([], 3, []) == []
