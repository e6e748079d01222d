"""A page's best sentences and the windows around them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ufo.indexes.embedders import unit_rows
from ufo.transforms.sources.web.documents import Document, sentences_of
from ufo.transforms.sources.web.pages import DenseRanking, PageText, SentenceRanking

SENTENCES = [
    "Lake Veyra lies in the north.",
    "It is 214 metres deep.",
    "Marta Olsen surveyed the lake in 1887.",
    "She used a line of hemp.",
    "Her map hangs in the town hall.",
    "Boats with engines are forbidden.",
    "The reserve admits 400 visitors a day.",
]
TEXT = " ".join(SENTENCES)


class Letters:
    """Vectors of how often each letter is there."""

    name, version, dimension = "letters", "1", 26

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        counts = [[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]
        return unit_rows(np.array(counts, float).reshape(-1, 26))


def page_of(text: str, title: str | None = None, embedder: Letters | None = None) -> PageText:
    return PageText(Document(title, text, spans=sentences_of(text)), embedder)


def rows(query: str, k: int = 3, sentences: list[str] = SENTENCES) -> list[int]:
    return [row for row, _ in SentenceRanking(sentences).best(query, k)]


def test_the_sentence_that_says_it_comes_first() -> None:
    assert rows("Who surveyed the lake in 1887?")[0] == 2
    assert rows("How many visitors does the reserve admit?")[0] == 6
    assert rows("maps")[0] == 4


def test_the_titles_words_weigh_little_where_the_page_speaks_by_pronouns() -> None:
    text = "Oda Lund was a painter. She was born in 1902. Oda Lund had a studio."
    query = "When was Oda Lund born?"
    plain = page_of(text).windows(query, context=0)
    titled = page_of(text, "Oda Lund").windows(query, context=0)
    assert plain[0][0] == "Oda Lund had a studio."
    assert titled[0][0] == "She was born in 1902."


def test_a_number_weighs_more_than_a_word_and_a_common_word_less() -> None:
    sentences = ["The depth was measured.", "There were 214 of them.", "The first people came."]
    assert rows("214 measured first", sentences=sentences) == [1, 0, 2]


def test_sentences_taken_together_say_different_parts_of_the_query() -> None:
    sentences = [
        "The bridge is of granite.",
        "A granite bridge stands there.",
        "Snow fell.",
        "Rain fell.",
        "An architect came.",
    ]
    assert set(rows("bridge of granite, its architect", 2, sentences)) == {1, 4}


def test_a_sentence_beside_what_the_query_names_is_better_than_one_that_is_not() -> None:
    sentences = [
        "A tower stands there.",
        "Nothing here.",
        "Olsen built much.",
        "A tower stands there.",
    ]
    assert rows("Olsen tower", 2, sentences) == [2, 3]


def test_what_shares_nothing_with_the_query_is_not_found() -> None:
    assert rows("quantum chromodynamics") == []
    assert SentenceRanking([]).best("lake", 3) == []
    assert SentenceRanking(["...", "?"]).best("lake", 3) == []


@given(st.lists(st.text("ab 12.", max_size=12), max_size=8), st.text("ab 12", max_size=8))
def test_scores_fall_and_no_row_comes_twice(sentences: list[str], query: str) -> None:
    for ranking in (SentenceRanking(sentences), DenseRanking(sentences, Letters())):
        best = ranking.best(query, 5)
        scores = [score for _, score in best]
        assert scores == sorted(scores, reverse=True)
        assert all(score > 0 for score in scores)
        assert len({row for row, _ in best}) == len(best) <= 5
        assert best == ranking.best(query, 5)


def test_a_window_has_its_context() -> None:
    ((text, score),) = page_of(TEXT).windows("Who surveyed the lake in 1887?", n=1, context=1)
    assert text == " ".join(SENTENCES[1:4])
    bare = page_of(TEXT).windows("Who surveyed the lake in 1887?", n=1, context=0)
    assert bare == [(SENTENCES[2], score)]
    assert score > 0


def test_context_ends_with_the_page() -> None:
    ((text, _),) = page_of(TEXT).windows("visitors admitted to the reserve", context=2)
    assert text == " ".join(SENTENCES[4:])
    ((whole, _),) = page_of(TEXT).windows("visitors", context=99)
    assert whole == TEXT


def test_windows_that_overlap_are_one_and_the_best_comes_first() -> None:
    page = page_of(TEXT)
    query = "Olsen's survey of 1887, her map, visitors of the reserve"
    found = page.windows(query, n=3, context=1)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    spans = sorted((TEXT.index(text), TEXT.index(text) + len(text)) for text, _ in found)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert len(page.windows(query, n=3, context=0)) == 3


def test_a_query_that_no_sentence_answers_gets_the_beginning() -> None:
    found = page_of(TEXT).windows("quantum chromodynamics", context=0)
    assert found == [(SENTENCES[0], 0.0)]
    assert page_of("").windows("lake") == []
    assert page_of(" \n ").windows("lake") == []


def test_an_endless_sentence_is_cut_at_white_space() -> None:
    found = page_of("depth " * 5000).windows("depth", n=2, context=0)
    assert all(0 < len(text) <= 1500 for text, _ in found)
    assert all(set(text.split()) == {"depth"} for text, _ in found)
    joined = "x" * 5000
    assert "".join(joined[a:b] for a, b in sentences_of(joined)) == joined


@given(st.text(max_size=200), st.text(max_size=20), st.integers(1, 3), st.integers(0, 2))
def test_windows_are_pieces_of_the_text(text: str, query: str, n: int, context: int) -> None:
    for found, _ in page_of(text).windows(query, n=n, context=context):
        assert found in text
        assert found == found.strip() != ""


def test_dense_takes_the_embedder_given_and_embeds_a_page_once() -> None:
    letters = Letters()
    page = page_of(TEXT, embedder=letters)
    assert page.sentences("deep metres it is 214", 1)[0][0] == 1
    page.windows("boats", 2)
    assert letters.calls == [SENTENCES, ["deep metres it is 214"], ["boats"]]
