"""Texts of models and pages neither run in a spreadsheet nor steer a terminal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.text import escaped_json, visible, with_formula, without_formula


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("x")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1"]
)
def test_a_formula_has_an_apostrophe_in_front(text: str) -> None:
    assert without_formula(text) == f"'{text}"
    assert with_formula(f"'{text}") == text


@pytest.mark.parametrize("text", ["", "a=b", "-3.5", "+1e9", "-5%", "'quoted", "2+2", "– a dash"])
def test_what_is_none_stays(text: str) -> None:
    assert without_formula(text) == with_formula(text) == text


@given(st.text(st.one_of(st.sampled_from("'=-5\r"), st.characters(codec="utf-8"))))
def test_every_text_comes_back(text: str) -> None:
    assert with_formula(without_formula(text)) == text


def test_what_steers_a_terminal_is_written_out() -> None:
    assert visible("a\x1b[2J\x9b1m\u202eb\x07\n\tc\u2066") == (
        "a\\x1b[2J\\x9b1m\\u202eb\\x07\n\tc\\u2066"
    )
    assert visible("Zürich – 東京 👩\u200d🚀") == "Zürich – 東京 👩\u200d🚀"


@given(st.text(st.characters(codec="utf-8")))
def test_json_escapes_it_and_means_the_same(text: str) -> None:
    written = escaped_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert visible(written) == written
