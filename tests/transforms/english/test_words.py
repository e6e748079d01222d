"""Words as the offline judge compares them, and whether a text is English at all."""

from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.transforms.english.words import (
    COUNTRIES,
    TOKEN,
    agree,
    differ,
    fold,
    is_english,
    quantities,
    read,
)

SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
HERE = Path(__file__).parent
ROWS = cases(HERE / "quantities.txt")
QUANTITIES = {cells: [row for row in ROWS if len(row) == cells] for cells in (2, 3, 4)}


@pytest.mark.parametrize(("text", "language"), [*cases(HERE / "language.txt"), ("", "English")])
def test_a_text_is_english_unless_it_shows_another_language(text: str, language: str) -> None:
    english = language == "English"
    assert is_english(text) is english
    assert is_english(text, "") is english
    assert is_english(text, " ") is english


def test_a_given_code_decides_else_the_beginning() -> None:
    for code in ("en", "en-GB", "en_US", "eng", "English", "EN", " en "):
        assert is_english("Der Hund schläft nicht.", code)
    for code in ("de", "fr-CA", "zh", "und"):
        assert not is_english("The dog is not asleep.", code)
    assert is_english("“Oslo” – that’s a town… “Bergen” – that’s one, too… " * 10)
    assert is_english("The river is long. " * 100 + "Der Fluss ist lang. " * 10_000)


@pytest.mark.parametrize(
    ("text", "english"),
    [
        pytest.param("q " * 499 + " de", True, id="a word that is cut after 1,000 letters"),
        pytest.param("q " * 499 + "de", False, id="a word within 1,000 letters"),
        pytest.param("the aaΩ", True, id="a fifth of another script"),
        pytest.param("the aΩ", False, id="more than a fifth of another script"),
        pytest.param("Der q", False, id="a first word with a capital"),
        pytest.param("La q", False, id="a first word of two letters"),
        pytest.param("de q the", True, id="a first word that counts once"),
        pytest.param("the der café q", True, id="an accent beside an English word"),
        pytest.param("q q–q", True, id="a dash within a word"),
        pytest.param("q “Q”", True, id="quotation marks"),
        pytest.param("Aa de Bb de Cc q", True, id="two particles of names"),
        pytest.param("Aa de Bb de Cc de Dd q", False, id="three particles of names"),
        pytest.param("Aa und Bb q", False, id="no particle between names"),
        pytest.param("Aa de bb q", False, id="a particle before no name"),
        pytest.param("aa de Bb q", False, id="a particle after no name"),
    ],
)
def test_a_few_words_decide(text: str, english: bool) -> None:
    assert is_english(text) is english


def keys(text: str) -> list[str]:
    return [word.key for word in read(text) if word.weight]


SAME = """glaciers=glacier German=Germany Wood's=Wood O’Connor=O'Connor Škoda=Skoda twelve=12
    1,400=1400 second=2nd Paris,=Paris Dutch=Netherlands"""
OTHER = "first=one 1990=1990s us=US"


def test_forms_of_one_word_have_one_key() -> None:
    for pair in SAME.split():
        one, other = pair.split("=")
        assert keys(one) == keys(other) != [], pair
    for pair in OTHER.split():
        one, other = pair.split("=")
        assert keys(one) != keys(other), pair


@pytest.mark.parametrize(("token", "kind", "value", "_"), QUANTITIES[4])
def test_kinds_and_values(token: str, kind: str, value: str, _: str) -> None:
    (word,) = read(token)
    assert word.kind == kind
    assert word.value == (float(value) if value else None)


def test_what_words_can_be() -> None:
    words = {word.surface: word for word in read("Ada moved to Oslo, in May 1901")}
    assert [name for name, word in words.items() if word.named] == ["Ada", "Oslo"]
    assert [name for name, word in words.items() if word.numeric] == ["May", "1901"]
    assert [name for name, word in words.items() if word.plain] == ["moved"]
    assert [name for name, word in words.items() if word.finite] == ["moved"]
    assert [name for name, word in words.items() if word.closes] == ["Oslo"]
    rare, frequent, function = (read(word)[0].weight for word in ("glacier", "city", "the"))
    assert rare > frequent > function == 0


@pytest.mark.parametrize(("text", "found"), QUANTITIES[2])
def test_quantities_are_read(text: str, found: str) -> None:
    told = (f"{q.kind} {q.low:g}–{q.high:g} {q.unit}".strip() for q in quantities(read(text)))
    assert " | ".join(told) == found


RANGES = {
    "285–315": ["about", "around", "approximately", "roughly", "nearly", "almost"],
    "300–inf": [
        *("over", "above", "exceeding", "after", "more than", "greater than", "at least"),
    ],
    "-inf–300": ["under", "below", "before", "less than", "fewer than", "at most"],
    "300–300": ["than", "more or", "of"],
}


@pytest.mark.parametrize(
    ("words", "span"), [(words, span) for span, rows in RANGES.items() for words in rows]
)
def test_a_number_is_rounded_or_open_by_the_words_before_it(words: str, span: str) -> None:
    (found,) = quantities(read(f"{words} 300 km"))
    assert f"{found.low:g}–{found.high:g} {found.unit}" == f"{span} km"


MONTHS = "January February March April May June July August September October November December"


@pytest.mark.parametrize(("number", "month"), [*enumerate(MONTHS.split(), 1)])
def test_a_month_is_known_by_its_name_and_its_first_letters(number: int, month: str) -> None:
    for name in (month, month[:3]):
        assert [one.low for one in quantities(read(f"31 {name} 1990"))] == [100 * number + 31, 1990]


@pytest.mark.parametrize(
    ("text", "kind", "low"),
    [
        *((f"{sign}30", f"number {sign}", 30) for sign in "$€£¥"),
        *((f"two {scale}", "number", 2 * 10.0**zeros) for scale, zeros in SCALES.items()),
        *(("1000", "year", 1000), ("2100", "year", 2100), ("999", "number", 999)),
        *(("2101", "number", 2101), ("1 Sept", "day", 901), ("31 May", "day", 531)),
        *(("32 May", "number", 32), ("0 May", "number", 0), ("twenty one", "number", 21)),
        *(("1,5 km", "number km", 1.5), ("30 of the old cats", "number old", 30)),
        ("before 1990", "year", -inf),
    ],
)
def test_the_first_quantity_of_a_text(text: str, kind: str, low: float) -> None:
    found, *_ = quantities(read(text))
    assert f"{found.kind} {found.unit}".strip() == kind
    assert (found.low + found.high) / 2 == low if "two" in text else found.low == low


@pytest.mark.parametrize(("claim", "passage", "found"), QUANTITIES[3])
def test_what_agrees_and_what_differs(claim: str, passage: str, found: str) -> None:
    ((one,), (other,)) = (quantities(read(text)) for text in (claim, passage))
    assert agree(one, other) == (found == "agrees")
    assert differ(one, other) == (found == "differs")


@pytest.mark.parametrize(
    ("claim", "passage", "found"),
    [
        ("5 cats", "5 cats", "agrees"),
        ("6 cats", "5 cats", "differs"),
        ("5 cats", "5th cat", "neither"),
        ("5 cats", "6th cat", "neither"),
        ("5", "6", "neither"),
        ("7 May", "8 May", "differs"),
        ("7 May", "May 1990", "neither"),
        ("over 20 cats", "30 dogs", "neither"),
        ("under 20 cats", "10 dogs", "neither"),
    ],
)
def test_only_quantities_of_one_kind_and_unit_differ(claim: str, passage: str, found: str) -> None:
    one, other = (quantities(read(text))[0] for text in (claim, passage))
    assert agree(one, other) is (found == "agrees")
    assert differ(one, other) is (found == "differs")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("on 1990-05-07 she", "1990-05-07"),
        ("the 19th century town", "19th century"),
        ("on 7 May, 1990, she", "7 May 1990"),
        ("on the 7th of May she", "7th of May"),
        ("some twenty one cats", "twenty one"),
        ("1.5 million cats", "1.5 million"),
    ],
)
def test_a_quantity_is_known_as_it_is_written(text: str, written: str) -> None:
    assert {one.said for one in quantities(read(text))} == {written}


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        *(("Twelve", "number"), ("one", ""), ("12abc", ""), ("１２", "")),
        *(("1" * 30, "number"), ("1" * 31, "")),
    ],
    ids=lambda cell: cell[:12] + f" of {len(cell)}",
)
def test_what_is_a_number(token: str, kind: str) -> None:
    assert read(token)[0].kind == kind


@pytest.mark.parametrize(("text", "closes"), [("Oslo.", True), ("U.S.", False), ('Oslo"', False)])
def test_a_full_stop_closes_but_not_that_of_an_abbreviation(text: str, closes: bool) -> None:
    assert read(text)[0].closes is closes


def test_a_word_has_64_letters_at_most() -> None:
    assert len(read("a" * 65)[0].surface) == 64


def test_a_country_has_its_first_name() -> None:
    assert COUNTRIES["dutch"] == COUNTRIES["netherlands"] == "netherlands"


def test_an_accent_by_itself_stays() -> None:
    assert fold("\u0301") == "\u0301"


@given(st.text(max_size=200) | st.text("aB1. ,-'’%$\u00a0\x1f", max_size=60))
def test_any_text_is_read_as_a_whole_and_in_order(text: str) -> None:
    words = read(text)
    assert [word.surface for word in words] == [token[:64] for token in TOKEN.findall(text)]
    found = quantities(words)
    assert all(0 <= one.start < one.end <= len(words) for one in found)
    assert [one.start for one in found] == sorted(one.start for one in found)
    assert all(agree(one, one) or one.high - one.low == float("inf") for one in found)
