"""The clauses of a sentence, and what it denies by the way."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.transforms.english.clauses import clauses, remove_contrast

HERE = Path(__file__).parent
CONTRASTS = cases(HERE / "contrasts.txt")
SAMPLE = "Ann Bob was not but and , who which (in Oslo) ; | – rather than instead of until n't"
WORDS = SAMPLE.split()


@pytest.mark.parametrize(("sentence", "kept"), CONTRASTS)
def test_an_alternative_that_is_denied_is_left_out(sentence: str, kept: str) -> None:
    assert remove_contrast(sentence) == kept


@pytest.mark.parametrize(("sentence", "expected"), cases(HERE / "clauses.txt"))
def test_a_sentence_is_cut_into_its_clauses(sentence: str, expected: str) -> None:
    assert " | ".join(f"{number} {piece}" for piece, number in clauses(sentence)) == expected


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join))
def test_no_word_is_lost_between_clauses(sentence: str) -> None:
    pieces = clauses(sentence)
    assert " ".join(piece for piece, _ in pieces) == " ".join(sentence.split())
    numbers = [number for _, number in pieces]
    assert {*numbers} == {*range(max(numbers) + 1)}


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_only_words_are_left_out(sentence: str) -> None:
    assert len(remove_contrast(sentence)) <= len(sentence)


@pytest.mark.parametrize("text", ["not a ", "not but ", ", not ", "rather than ", "n't ", "( "])
def test_a_long_sentence_is_cut_in_linear_time(text: str) -> None:
    sentence = (text * 5_000).strip()
    assert len(remove_contrast(sentence)) <= len(sentence)
    assert clauses(sentence)
