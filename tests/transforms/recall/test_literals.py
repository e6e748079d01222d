"""Python dictionaries in cells are read as data, whatever they hold."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.recall.literals import LiteralError, read_dictionary, read_list

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
VALUES = st.none() | st.booleans() | TEXTS


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_what_python_and_json_write_is_read_back(value: dict[str, Any]) -> None:
    assert read_dictionary(repr(value)) == value
    assert read_dictionary(json.dumps(value, ensure_ascii=False)) == value
    assert read_dictionary(json.dumps(value)) == value


@given(st.lists(TEXTS, max_size=5))
def test_lists_are_read_back(value: list[str]) -> None:
    assert read_list(repr(value)) == value


@given(st.text(max_size=60) | st.text("{}[]'\":, \\xuTrueNon01", max_size=60))
def test_anything_else_is_refused_and_nothing_else_is_raised(text: str) -> None:
    for read in (read_dictionary, read_list):
        try:
            found: object = read(text)
        except LiteralError:
            continue
        assert isinstance(found, dict | list)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{'a'}",
        "{'a': True",
        "{'a': True,, 'b': False}",
        "{'a': True} {'b': False}",
        "{True: 'a'}",
        "{'a': True, 'a': False}",
        "{'a': {'b': True}}",
        "{'a': ['b']}",
        "{'a': __import__('os').system('true')}",
        "{'a': 9**9**9}",
        "{'a': 'b' * 1000000000}",
        "{'a': (lambda: 1)()}",
        "{**{'a': True}}",
        "{'a': True for _ in range(9)}",
        "{'a': b'x'}",
        "{'a': 'unclosed}",
        "{" * 200_000,
        "{'a': " * 100_000,
        "-" * 200_000 + "1",
        "'" * 200_001,
    ],
    ids=lambda text: text[:30],
)
def test_hostile_texts_are_refused(text: str) -> None:
    with pytest.raises(LiteralError) as caught:
        read_dictionary(text)
    assert len(str(caught.value)) < 200


def test_what_people_write_by_hand_is_read() -> None:
    text = "{ \"It's so\" : true,\n 'two\nlines' : None , 'x\\u00e9\\U0001F600\\q' : 0, }"
    assert read_dictionary(text) == {"It's so": True, "two\nlines": None, "xé😀\\q": 0}
    assert read_list("[\"a\", 'b',]") == ["a", "b"]
    with pytest.raises(LiteralError, match="an item is text"):
        read_list("['a', 1]")
