"""What raised and lowered text says: a mark of a note, a power, a fraction, or nothing certain."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.transforms.sources.web.superscripts import (
    UNREADABLE,
    Superscripts,
    drop_unreadable,
    read_lowered,
)

RAISED = re.compile(r"\^\{(.*?)\}")


def read(text: str, language: str = "") -> str:
    """The text with each `^{…}` in it read, @ where it cannot be told."""
    reader = Superscripts(language)
    *pieces, last = RAISED.split(text)
    written = ""
    for at in range(0, len(pieces), 2):
        after = RAISED.sub(r"\1", pieces[at + 2] if at + 2 < len(pieces) else last)
        written += pieces[at]
        written += reader.read(written, pieces[at + 1], after)
    return " ".join((written + last).replace(UNREADABLE, "@").split())


@pytest.mark.parametrize(("text", "reading"), cases(Path(__file__).with_name("superscripts.txt")))
def test_raised_text_is_read_by_what_is_around_it(text: str, reading: str) -> None:
    assert read(text) == reading


def test_a_language_has_its_own_ordinals() -> None:
    assert read("la 1^{a} edición", "es-ES") == "la 1a edición"
    assert read("of 12^{a}", "en") == "of 12"


def test_a_number_that_goes_on_the_series_of_marks_is_one() -> None:
    assert (
        read("It cost 5 marks^{3}, of which 12^{4} came.") == "It cost 5 marks, of which 12 came."
    )
    assert (
        read("It cost 5 marks^{3}, of which 12^{6} came.") == "It cost 5 marks, of which 12@ came."
    )
    assert read("The first word^{5} of 10^{6} cars") == "The first word of 10@ cars"
    assert read("The first word^{4} of 10^{6} cars") == "The first word of 10^6 cars"


def test_markup_tells_a_mark_where_the_text_cannot() -> None:
    reader = Superscripts()
    assert reader.read("It had 10", "6", " lanes.", is_note=True) == ""
    assert reader.read("It had 10", "6", " lanes.") == "^6"


def test_a_long_remark_stands_apart() -> None:
    remark = "which is more than a superscript of any kind is ever long" * 2
    assert Superscripts().read("word", remark, "and") == f" {remark} "


@pytest.mark.parametrize(
    ("before", "text", "after", "reading"),
    [
        ("H", "2", "O", "2"),
        ("log", "10", "100", "10 "),
        ("The number 10", "2", " is two", "_2"),
        ("x", "n", "", "n"),
    ],
)
def test_lowered_digits_are_never_joined_to_digits(
    before: str, text: str, after: str, reading: str
) -> None:
    assert read_lowered(before, text, after) == reading


@pytest.mark.parametrize(
    ("text", "kept", "count"),
    [
        ("It is red.\nIt is old.", "It is red.\nIt is old.", 0),
        ("It is red. It has 45@ lanes. It is old.", "It is red. It is old.", 1),
        ("It is red.\nIt has 45@ lanes.\nIt is old.", "It is red.\nIt is old.", 1),
        ("It has 45@ lanes.", "", 1),
        ("| Lanes | 45@ |\n| Width | 12 |", "| Width | 12 |", 1),
    ],
)
def test_a_sentence_that_cannot_be_told_is_left_out(text: str, kept: str, count: int) -> None:
    assert drop_unreadable(text.replace("@", UNREADABLE)) == (kept, count)


CHARACTERS = "0123459.,  -–−×=%$£€()[]abexkmMV²\u00a0/⁄'’\n†*+:;"


@given(*[st.text(CHARACTERS, max_size=9) for _ in range(3)])
def test_digits_of_two_heights_are_never_one_number(before: str, raised: str, after: str) -> None:
    reading = Superscripts().read(before, raised, after)
    assert not (before[-1:].isdigit() and reading[:1].isdigit())
    assert not (reading[-1:].isdigit() and after[:1].isdigit())
    assert set(re.findall("[0-9]+", reading)) <= set(re.findall("[0-9]+", raised))
