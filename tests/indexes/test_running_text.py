"""Tests of the cutting of running text: no gaps, and work that grows with the text's length."""

import pytest
import sentencex
from hypothesis import given
from hypothesis import strategies as st

from ufo.indexes.running_text import pieces

MARKS = "\"'“”„‘’«»‹›「」『』()[].。!！?？…،;:-*_`#|<>$\\ \t\n\u3000"
LENGTH = 30_000


@given(st.text(alphabet=MARKS + "aA1", max_size=80), st.sampled_from(["en", "de", "ja"]))
def test_the_pieces_are_the_text(unit: str, language: str) -> None:
    text = unit * 40
    assert "".join(pieces(text, language)) == text


@pytest.mark.parametrize("unit", [*MARKS, ' "', '."', "”。", "？」", "1.", "1. ", '"a" ', ".) "])
def test_the_work_for_marks_is_linear(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """sentencex takes quadratic time in the length of what it is given."""
    text = (unit * LENGTH)[:LENGTH]
    costs: list[int] = []
    segment = sentencex.segment

    def counted(language: str, window: str) -> list[str]:
        costs.append(len(window) ** 2)
        return list(segment(language, window))

    monkeypatch.setattr(sentencex, "segment", counted)
    assert "".join(pieces(text, "en")) == text
    assert sum(costs) <= 2 * 1_000 * LENGTH


def test_prose_is_cut_as_a_whole() -> None:
    text = "So it is, and “that is all” there is. " * 1_000
    assert list(pieces(text, "en")) == list(sentencex.segment("en", text))
