"""A page's best sentences and the windows around them."""

from itertools import pairwise
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.indexes.conftest import Letters
from tests.transforms.sources.web.pages import TABLES
from ufo.transforms.sources.web.documents import Document, sentences_of
from ufo.transforms.sources.web.ranking import DenseRanking, PageText, SentenceRanking

TEXT: str = TABLES["lake"]
SENTENCES = [TEXT[start:end] for start, end in sentences_of(TEXT)]
LUND = "Oda Lund was a painter. She was born in 1902. Oda Lund had a studio."


def page_of(text: str, title: str | None = None, embedder: Letters | None = None) -> PageText:
    return PageText(Document(title, text, spans=sentences_of(text)), embedder)


@pytest.mark.parametrize(
    ("query", "sentences", "rows"), TABLES["ranking"].values(), ids=TABLES["ranking"]
)
def test_sentences_that_say_it_come_first(query: str, sentences: Any, rows: list[int]) -> None:
    ranked = SentenceRanking(sentences or SENTENCES).best(query, 3 if len(rows) == 3 else 2)
    assert [row for row, _ in ranked][: len(rows) or 1] == rows


@given(st.lists(st.text("ab 12.", max_size=12), max_size=8), st.text("ab 12", max_size=8))
def test_scores_fall_and_no_row_comes_twice(sentences: list[str], query: str) -> None:
    for ranking in (SentenceRanking(sentences), DenseRanking(sentences, Letters())):
        best = ranking.best(query, 5)
        scores = [score for _, score in best]
        assert scores == sorted(scores, reverse=True)
        assert all(score > 0 for score in scores)
        assert len({row for row, _ in best}) == len(best) <= 5
        assert best == ranking.best(query, 5)


@pytest.mark.parametrize(
    ("query", "context", "start", "end"), TABLES["windows"].values(), ids=TABLES["windows"]
)
def test_a_window_has_its_context(query: str, context: int, start: int, end: int) -> None:
    ((text, score),) = page_of(TEXT).windows(query, n=1, context=context)
    assert text == " ".join(SENTENCES[start:end])
    assert (score > 0) == (query != "quantum chromodynamics")


def test_overlapping_windows_are_one_and_a_title_speaks_for_pronouns() -> None:
    query = "Olsen's survey of 1887, her map, visitors of the reserve"
    windows = page_of(TEXT).windows(query, n=3, context=1)
    scores = [score for _, score in windows]
    assert scores == sorted(scores, reverse=True)
    spans = sorted((TEXT.index(text), TEXT.index(text) + len(text)) for text, _ in windows)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert len(page_of(TEXT).windows(query, n=3, context=0)) == 3
    for title, first in ((None, "Oda Lund had a studio."), ("Oda Lund", "She was born in 1902.")):
        assert (
            page_of(LUND, title).windows("When was Oda Lund born?", n=1, context=0)[0][0] == first
        )
    letters = Letters()  # a page is embedded once
    page = page_of(TEXT, embedder=letters)
    assert page.sentences("deep metres it is 214", 1)[0][0] == 1
    page.windows("boats", n=2, context=1)
    assert letters.calls == [SENTENCES, ["deep metres it is 214"], ["boats"]]


@given(st.text(max_size=200), st.text(max_size=20), st.integers(1, 3), st.integers(0, 2))
def test_windows_are_pieces_of_the_text(text: str, query: str, n: int, context: int) -> None:
    windows = page_of(text).windows(query, n=n, context=context)
    assert all(one in text and one == one.strip() != "" for one, _ in windows)
    assert bool(windows) == bool(text.strip())
    endless = page_of("depth " * 1000).windows("depth", n=2, context=0)
    assert all(len(one) <= 1500 and set(one.split()) == {"depth"} for one, _ in endless)
    joined = "x" * 5000
    assert "".join(joined[a:b] for a, b in sentences_of(joined)) == joined


@pytest.mark.parametrize(
    ("sentences", "title", "query", "expected"),
    [
        pytest.param(["alma river", "oslo city"], "", "alma", [(0, 1.0)], id="a word"),
        pytest.param(["oslo city", "alma river"], "Alma", "alma", [(1, 0.5)], id="of the title"),
        pytest.param(["1902 river", "oslo city"], "", "1902", [(0, 1.3)], id="a number"),
        pytest.param(
            ["alma river", "alma river", "oslo city", "oslo city"],
            "",
            "alma",
            [(1, 1.2), (0, 1.1 * 0.6)],
            id="the sentence before, the one after, and a word once more",
        ),
    ],
)
def test_what_a_sentence_s_score_is_made_of(
    sentences: list[str], title: str, query: str, expected: list[tuple[int, float]]
) -> None:
    # A word in half of the sentences weighs log(2), and of two words two thirds count.
    best = SentenceRanking(sentences, title).best(query, 5)
    assert [row for row, _ in best] == [row for row, _ in expected]
    assert [score for _, score in best] == pytest.approx(
        [share * log(2) * 2 / 3 for _, share in expected]
    )
