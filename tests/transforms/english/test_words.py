"""Words as the offline judge compares them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.english.words import TOKEN, read


def keys(text: str) -> list[str]:
    return [word.key for word in read(text) if word.weight]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("glaciers", "glacier"),
        ("German", "Germany"),
        ("the Dutch", "the Netherlands"),
        ("Wood's", "Wood"),
        ("O’Connor", "O'Connor"),
        ("Škoda", "Skoda"),
        ("twelve", "12"),
        ("1,400", "1400"),
        ("second", "2nd"),
        ("Paris,", "Paris"),
    ],
)
def test_forms_of_one_word_have_one_key(one: str, other: str) -> None:
    assert keys(one) == keys(other) != []


@pytest.mark.parametrize(("one", "other"), [("first", "one"), ("1990", "1990s"), ("us", "US")])
def test_different_things_have_different_keys(one: str, other: str) -> None:
    assert keys(one) != keys(other)


@pytest.mark.parametrize(
    ("token", "kind", "value"),
    [
        ("12", "number", 12),
        ("twelve", "number", 12),
        ("1,234,567.5", "number", 1234567.5),
        ("19th", "ordinal", 19),
        ("third", "ordinal", 3),
        ("1990s", "decade", 1990),
        ("1867-11-07", "date", None),
        ("Danube", "", None),
        ("the", "", None),
        ("1.2.3", "", None),
    ],
)
def test_kinds_and_values(token: str, kind: str, value: float | None) -> None:
    (word,) = read(token)
    assert (word.kind, word.value) == (kind, value)


def test_words_that_are_frequent_in_all_prose_weigh_less() -> None:
    (rare,), (frequent,), (function,) = read("glacier"), read("city"), read("the")
    assert rare.weight > frequent.weight > function.weight == 0


def test_what_words_can_be() -> None:
    words = {word.surface: word for word in read("Ada moved to Oslo, in May 1901")}
    assert [name for name, word in words.items() if word.named] == ["Ada", "Oslo"]
    assert [name for name, word in words.items() if word.numeric] == ["May", "1901"]
    assert [name for name, word in words.items() if word.finite] == ["moved"]
    assert [name for name, word in words.items() if word.closes] == ["Oslo"]


@given(st.text() | st.text("aB1. ,-'’%$\u00a0\x1f", max_size=60))
def test_a_text_is_read_as_a_whole_is(text: str) -> None:
    assert [word.surface for word in read(text)] == [token[:64] for token in TOKEN.findall(text)]
