"""Words as the offline judge compares them, and whether a text is English at all."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.transforms.english.words import TOKEN, agree, differ, is_english, quantities, read

HERE = Path(__file__).parent
ROWS = cases(HERE / "quantities.txt")
QUANTITIES = {cells: [row for row in ROWS if len(row) == cells] for cells in (2, 3, 4)}


@pytest.mark.parametrize(("text", "language"), [*cases(HERE / "language.txt"), ("", "English")])
def test_a_text_is_english_unless_it_shows_another_language(text: str, language: str) -> None:
    assert is_english(text) == is_english(text, "") == (language == "English")


def test_a_given_code_decides_else_the_beginning() -> None:
    for code in ("en", "en-GB", "en_US", "eng", "EN", " en "):
        assert is_english("Der Hund schläft nicht.", code)
    for code in ("de", "fr-CA", "zh", "und"):
        assert not is_english("The dog is not asleep.", code)
    assert is_english("“Oslo” – that’s a town… “Bergen” – that’s one, too… " * 10)
    assert is_english("The river is long. " * 100 + "Der Fluss ist lang. " * 10_000)


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
    assert [name for name, word in words.items() if word.finite] == ["moved"]
    assert [name for name, word in words.items() if word.closes] == ["Oslo"]
    rare, frequent, function = (read(word)[0].weight for word in ("glacier", "city", "the"))
    assert rare > frequent > function == 0


@pytest.mark.parametrize(("text", "found"), QUANTITIES[2])
def test_quantities_are_read(text: str, found: str) -> None:
    told = (f"{q.kind} {q.low:g}–{q.high:g} {q.unit}".strip() for q in quantities(read(text)))
    assert " | ".join(told) == found


@pytest.mark.parametrize(("claim", "passage", "found"), QUANTITIES[3])
def test_what_agrees_and_what_differs(claim: str, passage: str, found: str) -> None:
    ((one,), (other,)) = (quantities(read(text)) for text in (claim, passage))
    assert agree(one, other) == (found == "agrees")
    assert differ(one, other) == (found == "differs")


@given(st.text(max_size=200) | st.text("aB1. ,-'’%$\u00a0\x1f", max_size=60))
def test_any_text_is_read_as_a_whole_and_in_order(text: str) -> None:
    words = read(text)
    assert [word.surface for word in words] == [token[:64] for token in TOKEN.findall(text)]
    found = quantities(words)
    assert all(0 <= one.start < one.end <= len(words) for one in found)
    assert [one.start for one in found] == sorted(one.start for one in found)
    assert all(agree(one, one) or one.high - one.low == float("inf") for one in found)
