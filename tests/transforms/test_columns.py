"""TODO."""

from typing import Any

import pytest

from ufo.schemas.errors import UsageError
from ufo.transforms.read import FIELDS, OF_CELLS, named_columns, nearest, sorted_out


def test_columns_by_the_keys_of_a_record() -> None:
    named = named_columns("response=output, question=the prompt=x,")
    assert named == {"response": "output", "question": "the prompt=x"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("response", "KEY=COLUMN"),
        ("response=", "KEY=COLUMN"),
        ("respone=output", "Did you mean 'response'?"),
        ("id=a,id=b", "'id' twice"),
    ],
)
def test_what_names_no_column(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        named_columns(text)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("references", "reference_answers"),
        ("prompt", "question"),
        ("Output", "response"),
        ("respnse", "response"),
        ("lables", "label"),
        ("refrences", "reference_answers"),
        ("xyzzy", None),
    ],
)
def test_the_nearest_key(name: str, meant: str | None) -> None:
    assert nearest(name) == meant


def test_every_usual_name_is_of_a_field() -> None:
    assert all(nearest(name) == name for name in FIELDS)


@pytest.mark.parametrize(
    ("cell", "value"),
    [("3", 3), ("-0.5", -0.5), ("true", True), ("007", "007"), ("1e999", "1e999"), ("no", "no")],
)
def test_numbers_in_cells_of_other_columns_are_numbers(cell: str, value: Any) -> None:
    raw = {"response": "42", "n": cell, OF_CELLS: True}
    assert sorted_out(raw, {}) == ({"response": "42"}, {"n": value})
    assert sorted_out({"n": cell}, {}) == ({}, {"n": cell})
