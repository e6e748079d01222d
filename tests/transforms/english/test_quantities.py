"""Numbers, units and dates: what is read, and what agrees with what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.english.quantities import Quantity, agree, comparable, opened, quantities
from ufo.transforms.english.words import read


def said(text: str) -> list[Quantity]:
    return quantities(read(text))


def only(text: str) -> Quantity:
    (quantity,) = said(text)
    return quantity


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("twelve countries", "", 12),
        ("twenty-one dogs", "", 21),
        ("1.4 billion people", "", 1.4e9),
        ("two hundred thousand people", "", 2e5),
        ("a dozen eggs", "", 12),
        ("5 km", "length", 5000),
        ("12 square miles", "area", 12 * 1609.344**2),
        ("$5.5 million", "dollar", 5.5e6),
        ("30%", "percent", 30),
        ("30 percent", "percent", 30),
        ("20 °C", "celsius", 20),
        ("20 degrees Celsius", "celsius", 20),
        ("in 1969", "year", 1969),
        ("the 16th president", "ordinal", 16),
        ("two hours", "time", 7200),
    ],
)
def test_a_quantity_is_read_in_base_units(text: str, dimension: str, value: float) -> None:
    quantity = only(text)
    assert quantity.dimension == dimension
    assert quantity.low == quantity.high == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "low", "high"), [("the 19th century", 1800, 1900), ("the 1990s", 1990, 1999)]
)
def test_a_span_of_years(text: str, low: float, high: float) -> None:
    assert (only(text).dimension, only(text).low, only(text).high) == ("year", low, high)


@pytest.mark.parametrize(
    "date",
    ["5 May 1821", "May 5, 1821", "5th of May 1821", "May 5th 1821", "1821-05-05", "5 May, 1821"],
)
def test_every_way_to_write_a_date(date: str) -> None:
    parts = {q.dimension: q.low for q in said(f"He died on {date} in exile.")}
    assert parts == {"year": 1821, "month": 5, "day": 505}


def test_may_is_not_always_a_month() -> None:
    assert said("It may rain.") == []
    assert {q.dimension for q in said("in May 1821")} == {"year", "month"}


@pytest.mark.parametrize(
    ("claimed", "passage"),
    [
        ("5 miles", "8 km"),
        ("8,849 m", "29,032 feet"),
        ("100 kg", "220 pounds"),
        ("100 °C", "212 °F"),
        ("1.4 billion people", "1,400 million people"),
        ("3.7 million people", "3,677,472 people"),
        ("about 300 people", "312 people"),
        ("the 19th century", "1850"),
        ("the 1850s", "1853"),
        ("1 hour", "60 minutes"),
    ],
)
def test_agreement(claimed: str, passage: str) -> None:
    assert agree(only(claimed), only(passage))


@pytest.mark.parametrize(
    ("claimed", "passage"),
    [
        ("8 countries", "10 countries"),
        ("300 people", "312 people"),
        ("5 miles", "5 km"),
        ("90 °C", "212 °F"),
        ("1850", "the 19th century"),
        ("the 18th century", "1850"),
        ("8.8 m", "8.9 m"),
        ("5 kg", "5 km"),
        ("$5", "5%"),
    ],
)
def test_disagreement(claimed: str, passage: str) -> None:
    assert not agree(only(claimed), only(passage))


def test_only_what_fills_the_same_slot_is_comparable() -> None:
    assert comparable(only("eight countries"), only("ten countries"))
    assert comparable(only("5 miles"), only("9 km"))
    assert comparable(only("90 °C"), only("212 °F"))
    assert not comparable(only("eight countries"), only("ten rivers"))
    assert not comparable(only("eight countries"), only("in 1969"))


@given(st.text(alphabet="0123456789.,-$%°CFthsk mayMay \n", max_size=60))
def test_any_digits_are_read_without_error(text: str) -> None:
    words = read(text)
    for quantity in quantities(words):
        assert 0 <= quantity.start < quantity.end <= len(words)
        assert quantity.low <= quantity.high
        assert agree(quantity, quantity) or quantity.high > quantity.low


@given(st.integers(min_value=0, max_value=10**9))
def test_thousands_separators_change_nothing(number: int) -> None:
    plain, grouped = said(f"{number} trees"), said(f"{number:,} trees")
    assert [q.low for q in plain] == [q.low for q in grouped] == [number]


@given(st.integers(2, 999), st.integers(2, 999))
def test_a_claim_that_is_open_to_one_side_agrees_with_what_lies_there(
    bound: int, value: int
) -> None:
    def claimed(text: str) -> Quantity:
        words = read(text)
        return opened(words, quantities(words)[0])

    (said,) = quantities(read(f"a wall of {value} metres"))
    assert agree(claimed(f"over {bound} metres"), said) == (value >= bound)
    assert agree(claimed(f"less than {bound} metres"), said) == (value <= bound)
    assert agree(claimed(f"no more than {bound} metres"), said) == (value == bound)
    # It is open to numbers of the same things only.
    (other,) = quantities(read(f"{value} houses"))
    assert agree(claimed(f"over {bound} metres"), other) == (value == bound)
