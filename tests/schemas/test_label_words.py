"""The labels of people."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.label_words import ALLOWED, EMPTY, UNDECIDED, label_of

TRUE = ("true", "TRUE", " Yes ", "1", "1.0", "supported", "Supported", True, 1, 1.0)
FALSE = ("false", "No", "0", "0.0", "contradicted", "Contradicted", "refuted", False, 0, 0.0)
NONE = ("", " ", "NA", "n/a", "NaN", "null", "None", float("nan"), None)
COULD_NOT_SAY = ("not found", "Not  Found", "NOT_FOUND", "unsure", "Unknown", "?")


@pytest.mark.parametrize(
    ("value", "label"),
    [
        *((value, 1.0) for value in TRUE),
        *((value, 0.0) for value in FALSE),
        *((value, None) for value in (*NONE, *COULD_NOT_SAY)),
        *((value, 0.25) for value in (0.25, "0.25", ".25", " 2.5e-1 ")),
    ],
)
def test_the_vocabulary(value: Any, label: float | None) -> None:
    assert label_of(value) == label


@pytest.mark.parametrize(
    "value",
    [
        "maybe",
        "1.1",
        "-1",
        "-0",
        "0,5",
        "1/2",
        "50 %",
        "nein",
        "tru",
        "inf",
        "0x1",
        "1_0",
        2,
        -1,
        1.001,
        float("inf"),
        10**400,
        [],
        [1],
        {},
        b"1",
        Decimal("0.5"),
    ],
    ids=repr,
)
def test_another_value_is_no_label(value: object) -> None:
    with pytest.raises(ValueError, match="is no label: true, yes or supported"):
        label_of(value)


@given(st.floats(0, 1))
def test_a_number_is_the_same_as_its_text(number: float) -> None:
    assert label_of(json.dumps(number)) == label_of(number) == number


def test_a_message_names_every_kind_of_word() -> None:
    for word in ("true", "yes", "false", "no", "supported", "contradicted", "not found", "NA"):
        assert word in ALLOWED
    assert EMPTY.isdisjoint(UNDECIDED)
