"""Data in prompts can neither open nor close a tag, and is read back as it was."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.tables import tables
from ufo.transforms.prompts.data import block, element, escape, read, wrapped

pieces = st.lists(
    st.text(max_size=5)
    | st.sampled_from(
        ["</p1>", "<f1 ", "&lt;", "&amp;", "&amp;lt;", "&quot;", '"', "<", "&", "\n"]
    ),
    max_size=8,
).map("".join)


def sendable(text: str) -> str:
    return re.sub("[\ud800-\udfff\x00]", "\ufffd", text)


@given(pieces)
def test_what_is_escaped_is_read_back_and_holds_no_tag(text: str) -> None:
    assert read(escape(text)) == sendable(text)
    assert not re.search(r"<[A-Za-z/!?]", escape(text))


@pytest.mark.parametrize("text", ["a < b", "AT&T", "x <= 3 & y", "5 > 4", "a&b;c", 'say "hi"'])
def test_what_is_no_tag_is_shown_as_it_is(text: str) -> None:
    assert escape(text) == text


def test_empty_attributes_are_left_out() -> None:
    assert element("q", "x", a=None, b="", c='1"2') == '<q c="1&quot;2">x</q>'
    assert wrapped("ps", "<p1></p1>") == "<ps><p1></p1></ps>"


def test_what_a_model_says_loses_the_prompts_escapes() -> None:
    assert read("&lt;b> &amp;lt;") == "<b> &lt;"


@pytest.mark.parametrize("text", tables("replies_of_judges")["pages"])
def test_what_a_page_says_stays_between_its_tags(text: str) -> None:
    """The text of a page, its title and its hostname are data wherever they stand."""
    passage = block("p1", text, title=text)
    head, _, rest = passage.partition("\n")
    assert head.startswith('<p1 title="')
    assert head.count('"') == 2 or "\n" in text
    assert passage.count("</p1>") == 1
    assert passage.endswith("\n</p1>")
    assert re.findall(r"</?[A-Za-z!?][^>]*", element("p1", text)) == ["<p1", "</p1"]
    assert read(rest)
