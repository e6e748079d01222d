"""One written number, with the marks that are attached to it."""

import pytest

from ufo.transforms.english.numerals import LISTS, READINGS, ROMAN, UNITS, numeral, tokens_of
from ufo.transforms.english.words import TOKEN


@pytest.mark.parametrize(
    ("text", "kind", "low", "high", "unit"),
    [
        ("5kg", "number", 5, 5, "kg"),
        ("$890M", "number", 890e6, 890e6, "$"),
        ("-$5", "number", -5, -5, "$"),
        ("$-5", "number", -5, -5, "$"),
        ("10-20kg", "number", 10, 20, "kg"),
        ("$5-10", "number", 5, 10, "$"),
        ("10±2", "number", 8, 12, ""),
        ("3-1", "score", 3, 1, ""),
        ("10x", "number", 10, 10, "time"),
        ("17:30", "time", 1050, 1050, ""),
        ("12am", "time", 0, 0, ""),
        ("1990s", "decade", 1990, 1990, ""),
        ("21ST", "ordinal", 21, 21, ""),
        ("1914-18", "season", 1914, 1918, ""),
        ("1990-05-07", "date", 1990, 507, ""),
        ("44BC", "year", -44, -44, ""),
        ("CO₂", "series", 2, 2, "co"),
        ("H1N1", "code", 0, 0, "h1n1"),
        ("25:00", "score", 25, 0, ""),
        ("13pm", "code", 0, 0, "13pm"),
        ("1.5st", "code", 0, 0, "1.5st"),
    ],
)
def test_numbers(text: str, kind: str, low: float, high: float, unit: str) -> None:
    number = numeral(text)
    assert number
    assert number[:3] == (kind, low, high)
    assert number.unit == unit


@pytest.mark.parametrize("text", ["km²", "Oslo", "²", "", "-", "mix"])
def test_other_words_are_no_numbers(text: str) -> None:
    assert numeral(text) is None


@pytest.mark.parametrize(
    ("chunk", "tokens"),
    [
        ("(5:30", ["5:30"]),
        ("6'2\"", ["6'2\""]),
        ("12-year-old", ["12-", "year-", "old"]),
        ("1861–1930)", ["1861–", "1930"]),
        ("and/or", ["and/", "or"]),
        ("km/h,", ["km/h"]),
        ("[12]foo", ["12", "foo"]),
        ("$5/day", ["$5/", "day"]),
        ("p.m.", ["p.m."]),
        ("2.0.1-beta", ["2.0.1-", "beta"]),
    ],
)
def test_what_stands_between_spaces_is_split_around_numbers(chunk: str, tokens: list[str]) -> None:
    assert tokens_of(chunk, TOKEN) == tokens


def test_roman_numerals() -> None:
    assert {number: ROMAN[number] for number in ("I", "IV", "XIV", "XL", "XCIX")} == {
        "I": 1, "IV": 4, "XIV": 14, "XL": 40, "XCIX": 99
    }  # fmt: skip
    assert len(ROMAN) == 98


def test_every_unit_has_a_reading() -> None:
    assert set(UNITS.values()) == set(READINGS)
    assert all(reading.size > 0 for some in READINGS.values() for reading in some)
    assert READINGS[UNITS["pounds"]][0].dimension != READINGS[UNITS["pounds"]][1].dimension


def test_no_word_has_two_values() -> None:
    words = [word for table in LISTS["spelled"].values() for word in table]
    assert len(words) == len(set(words))
