"""Whether a claim has a word of its sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.judges.llm.related import related


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("Ada wrote notes.", "She wrote notes.", True),
        ("The Moon is a cheese.", "She wrote notes.", False),
        ("The discovery of radium.", "She discovered it.", True),
        ("She did it.", "The Moon is a cheese.", True),  # no content word of its own
        ("Ada was born in 1815.", "Yes.", True),
        ("In 1815.", "In 18150.", False),
        ("エイダは作家だ。", "彼女は作家である。", True),
        ("エイダ", "彼女", False),
        ("Sie schrieb Noten.", "ADA SCHRIEB SIE.", True),
    ],
)
def test_forms_of_a_word_count_and_function_words_do_not(
    text: str, other: str, expected: bool
) -> None:
    assert related(text, other) is expected
    assert related(other, text) is expected


@given(st.text(), st.text())
def test_a_text_is_related_to_whatever_holds_it(text: str, more: str) -> None:
    assert related(text, f"{text} {more}")
    assert related(text, more, text)
