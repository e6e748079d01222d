"""What of a response is shown: parts of a long text, and the sentences around others."""

from typing import Any

import pytest

from tests.transforms.judges.llm.scripted import open_units
from ufo.transforms.judges.llm.excerpts import (
    Text,
    cut,
    pack_parts,
    paragraph,
    ranges,
    repeats,
)
from ufo.transforms.sentences import Span, segment


def text_of(text: str) -> Text:
    return Text(text, segment(text))


PARAGRAPHS = text_of("One.\n\nTwo. Three.\r\n\r\nFour.\nFive.")


@pytest.mark.parametrize(("tokens", "left"), [(5, "abcd" * 10), (4, "abcd" * 8 + "[…]")])
def test_a_text_that_is_too_long_is_cut(tokens: int, left: str) -> None:
    assert cut("abcd" * 10, tokens) == left


@pytest.mark.parametrize(
    ("query", "claim", "same"),
    [
        ("Ada was born?", "Ada was born.", True),
        (" ADA. ", "ada", True),
        ("Ada was born?", "Ada was not born.", False),
    ],
)
def test_a_query_repeats_its_claim(query: str, claim: str, same: bool) -> None:
    assert repeats(query, claim) is same


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([4], "4"), ([2, 1], "1-2"), ([5, 3, 1, 2, 3], "1-3 5")],
    ids=["none", "one", "two", "with a gap"],
)
def test_numbers_are_told_as_ranges(numbers: list[int], text: str) -> None:
    assert ranges(numbers) == text


@pytest.mark.parametrize(
    ("text", "tokens", "pieces"),
    [
        pytest.param("aaaa bbb", 8, ["aaaa bbb"], id="one that fits"),
        pytest.param("aaaa bbbb cccc dddd", 6, ["aaaa bbbb", "cccc dddd"], id="words"),
        pytest.param("ab cdefghijklmnop", 6, ["ab", "cdefghijklm", "nop"], id="a long word"),
        pytest.param("abcdefgh", 0, [*"abcdefgh"], id="no room"),
    ],
)
def test_a_long_sentence_is_cut_at_white_space(text: str, tokens: int, pieces: list[str]) -> None:
    # A sentence has six tokens of tags.
    sliced, owners = Text(text, [Span(0, len(text))]).slice_sentences(tokens)
    assert [sliced.sentence(at) for at in range(len(owners))] == pieces
    assert set(owners) == {0}


def test_a_slice_is_of_its_sentence() -> None:
    text = text_of("One. Two and three and four and five and six.")
    assert text.slice_sentences(11)[1] == [0, 1, 1]


@pytest.mark.parametrize(("index", "sentence"), [(0, "One."), (4, "Five."), (5, ""), (None, "")])
def test_a_sentence_that_is_not_there_is_empty(index: int | None, sentence: str) -> None:
    assert PARAGRAPHS.sentence(index) == sentence


def test_a_blank_line_ends_a_paragraph() -> None:
    assert PARAGRAPHS.breaks() == [1, 3]
    assert PARAGRAPHS.paragraphs() == [range(1), range(1, 3), range(3, 5)]


def test_an_excerpt_has_a_mark_where_sentences_are_left_out() -> None:
    assert PARAGRAPHS.excerpt([2, 0, -1, 5]) == "One.\n[…]\nThree."


@pytest.mark.parametrize(
    ("indexes", "more", "shown"),
    [
        pytest.param([0], {}, "One.\n\nTwo.", id="the first"),
        pytest.param([4, None], {}, "Four.\nFive.", id="the last"),
        pytest.param([4], {"before": 2}, "Three.\r\n\r\nFour.\nFive.", id="two before it"),
        pytest.param([0], {"tokens": 5}, "One.\n\nTwo.", id="as long as allowed"),
        pytest.param([0], {"tokens": 4}, "One.", id="itself where more is too long"),
        pytest.param([0], {"tokens": 1}, "On[…]", id="cut where it is too long"),
    ],
)
def test_neighbours_are_shown(indexes: list[int | None], more: dict[str, Any], shown: str) -> None:
    assert PARAGRAPHS.surroundings(indexes, **more) == shown


# Each of these sentences is ten tokens with its tags.
SIX = "Ada was one. Bob was two. Cyd was six. Dan was ten. Eve was old. Fay was shy."
TWO_AND_TWO = "Ada was one. Bob was two.\n\nCyd was six. Dan was ten."


@pytest.mark.parametrize(
    ("text", "tokens", "parts"),
    [
        pytest.param(SIX, 19, [[0], [1], [2], [3], [4], [5]], id="no room for two"),
        pytest.param(SIX, 20, [[0, 1], [2, 3], [4, 5]], id="room for two"),
        pytest.param(TWO_AND_TWO, 39, [[0, 1], [2, 3]], id="a paragraph begins a part"),
        pytest.param(TWO_AND_TWO, 40, [[0, 1, 2, 3]], id="a paragraph that fits"),
    ],
)
def test_a_part_has_the_sentences_that_fit(text: str, tokens: int, parts: list[list[int]]) -> None:
    cut_up = text_of(text)
    assert cut_up.parts(range(len(cut_up.spans)), tokens) == parts


def test_of_some_sentences_others_are_in_no_part() -> None:
    assert text_of(SIX).parts([5, 1, 2], 20) == [[1, 2], [5]]


@pytest.mark.parametrize(
    ("first", "tokens", "shown"),
    [
        pytest.param(0, 24, "", id="nothing"),
        pytest.param(1, 24, "Ada was one.", id="the first"),
        pytest.param(
            4, 24, "Ada was one.\n[…]\nBob was two. Cyd was six. Dan was ten.", id="three before"
        ),
        pytest.param(5, 10, "Ada wa[…]\n[…]\nn. Eve was old.", id="a part of them"),
    ],
)
def test_what_stands_before_a_part_is_shown(first: int, tokens: int, shown: str) -> None:
    assert text_of(SIX).before(first, tokens) == shown


def test_of_long_sentences_100_tokens_of_the_first_and_300_before_a_part_are_shown() -> None:
    sentences = [f"{letter * 3199}." for letter in "ABCD"]
    # A sentence is 401 tokens, and the two before the last are 802.
    shown = text_of(" ".join(sentences)).before(3, 600)
    assert shown == f"{'A' * 798}[…]\n[…]\n{'C' * 2393}."


@pytest.mark.parametrize(
    ("letters", "shown"), [(11976, "{}. Two."), (11977, "{}.")], ids=["1500 tokens", "1501 tokens"]
)
def test_a_claim_is_shown_with_its_paragraph_or_its_neighbours(letters: int, shown: str) -> None:
    long = "x" * letters
    whole = paragraph(Text.of(open_units(["c"], f"{long}. Two.\n\nThree.")), 0)
    assert whole == shown.format(long)


def test_items_without_any_token_are_a_part() -> None:
    assert pack_parts([[0, 1]], lambda item: 0, tokens=10) == [[0, 1]]
