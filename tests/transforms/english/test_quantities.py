"""What a text says in numbers, and whether two quantities say the same."""

from itertools import pairwise
from math import inf
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.transforms.english.quantities import Quantity, agree, differ, quantities
from ufo.transforms.english.words import Word, read
from ufo.transforms.verifiers.grounds import apply_rules, lacks_number
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair, Probabilities

SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
HERE = Path(__file__).parent
PAIRS = cases(HERE / "pairs.txt")


def of(text: str) -> list[Quantity]:
    return quantities(read(text))


def quantities_in_line(text: str) -> str:
    """Return the quantities of a text in one line, as in the table."""
    return " | ".join(
        f"{q.kind} {q.low:g}–{q.high:g}{f'±{q.slack:g}' if q.slack else ''} {q.unit}".strip()
        for q in of(text)
    )


def verdict(claim: str, passage: str) -> str:
    """Return whether the passage meets every quantity of the claim, or has another instead."""
    claimed, others = of(claim), of(passage)
    if claimed and all(any(agree(one, other) for other in others) for one in claimed):
        return "agrees"
    if any(differ(one, other) for one in claimed for other in others):
        return "differs"
    return "neither"


@pytest.mark.parametrize(("text", "reading"), cases(HERE / "quantities.txt"))
def test_quantities_are_read(text: str, reading: str) -> None:
    assert quantities_in_line(text) == reading


@pytest.mark.parametrize(("claim", "passage", "relation"), PAIRS)
def test_what_agrees_and_what_differs(claim: str, passage: str, relation: str) -> None:
    assert verdict(claim, passage) == relation


@pytest.mark.parametrize(
    ("claim", "passage"),
    [(claim, passage) for claim, passage, relation in PAIRS if relation != "agrees"],
)
def test_a_claim_whose_quantity_is_not_met_is_not_supported(claim: str, passage: str) -> None:
    sure = Probabilities(0.99, 0.0, 0.01)
    matched = match(Pair(claim, passage))
    if of(claim):
        assert lacks_number(matched)
        assert apply_rules(matched, sure).outcome != "supported"


SPELLINGS = [
    ["5kg", "5 kg", "5 kilograms", "five kilograms", "5,000 g"],
    ["$1.5bn", "$1.5 billion", "1.5 billion dollars", "US$1,500 million", "USD 1.5 billion"],
    ["9 am", "9am", "9 a.m.", "9:00 a.m.", "09:00"],
    ["60%", "60 %", "60 percent", "sixty per cent"],
    ["90 minutes", "1 h 30 min", "1h30", "an hour and a half", "one and a half hours"],
    ["5'3\"", "5 ft 3 in", "5 feet 3 inches", "63 inches"],
    ["753 BC", "753 BCE", "753 B.C."],
    ["14 AD", "AD 14", "A.D. 14", "14 CE"],
    ["World War II", "World War 2", "WWII", "the Second World War", "World War Two"],
    ["12 men", "twelve men", "a dozen men"],
    ["44th president", "forty-fourth president"],
    ["-5 °C", "−5 °C", "minus 5 °C", "5 °C below zero"],
    ["1,200,000", "1 200 000", "1\u202f200\u202f000", "1.200.000", "1'200'000", "1.2 million"],
    ["10^6", "10⁶", "1e6", "1×10^6"],
    ["5½ miles", "5 1/2 miles", "5.5 miles", "five and a half miles"],
]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda some: str(some[0]))
def test_a_quantity_agrees_with_itself_in_any_spelling(spellings: list[str]) -> None:
    for spelling in spellings:
        for other in spellings:
            assert verdict(spelling, other) == "agrees", (spelling, other)


RANGES = {
    "285–315": ["about", "around", "approximately", "roughly", "nearly", "almost", "some"],
    "300–inf": [
        "over", "above", "exceeding", "after", "more than", "greater than", "at least",
        "no fewer than", "not less than", "upwards of", "not under",
    ],
    "-inf–300": [
        "under", "below", "before", "less than", "fewer than", "at most", "up to", "no more than",
        "not more than", "not over", "a maximum of", "does not exceed",
    ],
    "300–300": ["than", "more or", "of"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "span"), [(words, span) for span, rows in RANGES.items() for words in rows]
)
def test_a_number_is_rounded_or_open_by_the_words_before_it(words: str, span: str) -> None:
    (quantity,) = of(f"{words} 300 km")
    assert f"{quantity.low - quantity.slack:g}–{quantity.high + quantity.slack:g}" == span
    assert quantity.unit == "km"


@pytest.mark.parametrize("words", ["over", "under", "more than", "fewer than"])
def test_a_strict_bound_leaves_its_number_out(words: str) -> None:
    assert verdict(f"{words} 300 km", "300 km") == "differs"
    assert verdict(f"{words} 300 km", f"{words} 300 km") == "agrees"


MONTHS = "January February March April May June July August September October November December"


@pytest.mark.parametrize(("number", "month"), [*enumerate(MONTHS.split(), 1)])
def test_a_month_is_known_by_its_name_and_its_first_letters(number: int, month: str) -> None:
    for name in (month, month[:3]):
        assert [one.low for one in of(f"31 {name} 1990")] == [100 * number + 31, 1990]


@pytest.mark.parametrize(("scale", "zeros"), [*SCALES.items()])
def test_scales(scale: str, zeros: int) -> None:
    (quantity,) = of(f"two {scale}")
    assert quantity.low == quantity.high == 2 * 10.0**zeros
    assert quantity.slack == (0.5 * 10.0**zeros if zeros > 2 else 0)


@pytest.mark.parametrize(
    ("text", "kind", "low"),
    [
        ("$30", "number $", 30),
        ("€30", "number €", 30),
        ("£30", "number £", 30),
        ("¥30", "number ¥", 30),
        ("1000", "year", 1000),
        ("2100", "year", 2100),
        ("999", "number", 999),
        ("2101", "number", 2101),
        ("1 Sept", "day", 901),
        ("31 May", "day", 531),
        ("32 May", "number", 32),
        ("0 May", "number", 0),
        ("twenty one", "number", 21),
        ("1,5 km", "number km", 1.5),
        ("30 of the old cats", "number cat", 30),
        ("before 1990", "year", -inf),
    ],
)
def test_the_first_quantity_of_a_text(text: str, kind: str, low: float) -> None:
    quantity, *_ = of(text)
    assert f"{quantity.kind} {quantity.unit}".strip() == kind
    assert quantity.low == low


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("on 1990-05-07 she", "1990-05-07"),
        ("the 19th century town", "19th century"),
        ("on 7 May, 1990, she", "7 May 1990"),
        ("on the 7th of May she", "7th of May"),
        ("some twenty-one cats", "some twenty-one"),
        ("1.5 million cats", "1.5 million"),
        ("it was -5 °C then", "-5 °C"),
        ("it cost $890M then", "$890M"),
        ("fewer than 100 men", "fewer than 100"),
        ("no more than 5 km away", "no more than 5 km"),
        ("50 or more guests", "50 or more"),
        ("in World War II they", "World War II"),
        ("the B-52 flew", "B-52"),
        ("at 5:30 p.m. on", "5:30 p.m."),
        ("at 200 km/h on", "200 km/h"),
    ],
)
def test_a_quantity_is_known_as_it_is_written(text: str, written: str) -> None:
    assert {one.written for one in of(text)} == {written}


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("it weighs 5 kg now", ["5", "kg"]),
        ("over 5 ships sank", ["5"]),
        ("in World War II they", ["II"]),
        ("from minus 5 degrees up", ["minus", "5", "degrees"]),
        ("at 5 p.m. on", ["5", "p.m."]),
    ],
)
def test_which_words_a_quantity_takes(text: str, taken: list[str]) -> None:
    words = read(text)
    (quantity,) = quantities(words)
    assert [word.surface for word in words[quantity.start : quantity.end]] == taken


SIZES = {"mm": 1e-3, "cm": 1e-2, "m": 1, "km": 1e3, "inches": 0.0254, "feet": 0.3048}


@given(st.integers(1, 999), st.sampled_from(sorted(SIZES)), st.sampled_from(sorted(SIZES)))
def test_a_converted_length_agrees_there_and_back(value: int, unit: str, other: str) -> None:
    converted = value * SIZES[unit] / SIZES[other]
    written = f"{converted:.6f}" if converted < 1e6 else f"{converted:.0f}"
    if float(written) > 0.01:
        assert verdict(f"{value} {unit}", f"{written} {other}") == "agrees"
        assert verdict(f"{written} {other}", f"{value} {unit}") == "agrees"
        assert verdict(f"{3 * value} {unit}", f"{written} {other}") == "differs"


BOUNDS = {"over": 1, "at least": 1, "under": -1, "at most": -1}


@given(st.sampled_from(sorted(BOUNDS)), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_bound_means_what_it_says(bound: str, limit: int, value: int) -> None:
    relation = verdict(f"{bound} {limit} km", f"{value} km")
    inside = (value - limit) * BOUNDS[bound] > 0 or (value == limit and bound.startswith("at"))
    assert relation == ("agrees" if inside else "differs")
    assert verdict(f"{value} km", f"{bound} {limit} km") != "agrees"


WORDS = (HERE / "around_numbers.txt").read_text(encoding="utf-8").split()
NUMERIC = st.text("0123456789.,-–/:'½²⁶^×eE+ %$€°kmMBIVXapst", max_size=24)
TEXTS = st.lists(
    NUMERIC | st.sampled_from(WORDS),
    max_size=12,
).map(" ".join)


@given(TEXTS | st.text(max_size=200))
def test_any_text_is_read_in_order(text: str) -> None:
    words = read(text)
    in_order = quantities(words)
    assert all(0 <= quantity.start < quantity.end <= len(words) for quantity in in_order)
    assert [quantity.start for quantity in in_order] == sorted(
        quantity.start for quantity in in_order
    )
    assert all(quantity.low <= quantity.high or quantity.kind == "score" for quantity in in_order)
    for quantity, following in pairwise(in_order):
        assert quantity.end <= following.start or (quantity.start, quantity.end) == (
            following.start,
            following.end,
        )


@given(TEXTS, TEXTS)
def test_agreeing_and_differing_exclude_each_other(text: str, other: str) -> None:
    in_text = of(text)
    assert all(agree(quantity, quantity) and not differ(quantity, quantity) for quantity in in_text)
    for quantity in in_text:
        for another in of(other):
            assert not (agree(quantity, another) and differ(quantity, another))
            assert differ(quantity, another) == differ(another, quantity)


@pytest.mark.parametrize(
    "text",
    ["10^999999", "1e400", "9" * 1000, "½" * 500, "1e-400", "0^-5", "5e", "-", "1/0", "$", "5'99",
     "1.2.3.4.5.6", "²", "①", "٣", "1-" * 500, "1:" * 500, "±5", "#", "#5#", "II" * 40, "an½"],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_hostile_numbers_are_read_without_error(text: str) -> None:
    texts = (text, f"{text} km", f"over {text} million", f"Louis {text}", f"{text}{text}")
    for written in (*texts, f"{text} old"):
        assert all(agree(one, one) for one in of(written))


@pytest.mark.parametrize(
    "part", ["5 ", "two hundred ", "between 1 and ", "1 h ", "Louis X ", "½ ", "James I "]
)
def test_reading_takes_linear_time(part: str) -> None:
    few, many = (fastest(read(part * times)) for times in (2000, 16000))
    assert many < 30 * few


def fastest(words: list[Word]) -> float:
    """Return the seconds that reading takes at best, without those of other processes."""
    seconds = []
    for _ in range(3):
        start = process_time()
        quantities(words)
        seconds.append(process_time() - start)
    return min(seconds)
