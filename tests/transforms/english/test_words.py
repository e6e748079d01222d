"""Words as the offline judge compares them, and whether a text is English at all."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.transforms.english.words import (
    COUNTRIES,
    as_written,
    fold,
    is_english,
    read,
)

HERE = Path(__file__).parent


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
        form, other = pair.split("=")
        assert keys(form) == keys(other) != [], pair
    for pair in OTHER.split():
        form, other = pair.split("=")
        assert keys(form) != keys(other), pair


@pytest.mark.parametrize(("token", "kind", "value", "_"), cases(HERE / "tokens.txt"))
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


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("Twelve", "number"),
        ("one", ""),
        ("12abc", ""),
        ("１２", "number"),
        ("1" * 30, "number"),
        ("1" * 31, ""),
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


@given(st.text(max_size=60) | st.text("aB1. ,-'’%$\u00a0\x1f½km/°", max_size=60))
def test_any_text_is_read_as_a_whole_and_in_order(text: str) -> None:
    letters = [c for word in read(text) for c in word.surface if c.isalpha()]
    assert letters == [c for c in text if c.isalpha()]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("in Winston-Salem, and/or", "in Winston-Salem and/or"),
        ("mid-1990s art", "mid-1990s art"),
        ("at 200km/h – fast", "at 200km/h fast"),
        ("", ""),
    ],
)
def test_words_are_joined_as_they_were_written(text: str, written: str) -> None:
    assert as_written(read(text)) == written
