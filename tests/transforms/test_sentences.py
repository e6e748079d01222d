"""Texts cut into sentences, into passages of about a hundred words, and these ranked."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.transforms.sentences import blocks, segment
from ufo.transforms.sentences import pieces as running
from ufo.transforms.sources.reference import Ranking, windows

SENTENCES = cases(Path(__file__).with_name("sentences.txt"))


def pieces(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in segment(text, language)]


def check_invariants(text: str, language: str = "en") -> None:
    previous = 0
    for start, end in segment(text, language):
        assert previous <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert not text[previous:start].strip()
        previous = end
    assert not text[previous:].strip()


FRAGMENTS = """Dr. Smith left. @1. @2) @- @* @# @
@

@| a |@|---|
@```
@😀@👨\u200d👩\u200d👧@日本語。@é@\x00@[1]@**@"@“@(@)@...@?@ @\t@\u2028@U.S. Navy@a@B@“Stop.” @---
@：@\u200b@: 1. @. 2. “@Quick! @ is@approx. @ 3. It@ et al. [1]@(1) a; (2) b@a,b
c,d
e,f
@a | b
@$$
@\\[
@<think>@</think>@<b>a.</b>@¹@Hi A,
"""
MARKED = st.lists(st.sampled_from([*FRAGMENTS.split("@"), "\r\n"]), max_size=25).map("".join)


@given(MARKED, st.sampled_from(["en", "de"]))
def test_running_text_is_cut_without_gaps(text: str, language: str) -> None:
    assert "".join(running(text, language)) == text


LANGUAGES = ["en", "de", "zh", "pt-BR", "xx", "", "-", "日本語", "e" * 500, "\n", "../en"]


@settings(max_examples=200)
@given(st.text(max_size=80) | MARKED, st.sampled_from(LANGUAGES))
def test_offsets_hold_for_any_text(text: str, language: str) -> None:
    check_invariants(text, language)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *SENTENCES,
        ("", ""),
        (" \r\n\t", ""),
        ("  One.\n", "One."),
        ("-", "-"),
        ("A.\r\n\r\nB.", "A. ¦ B."),
        (" 3. “1)", "3. “1)"),
        ("? **\r : ", "? ** ¦ :"),
        ('" .” 2. "', '" .” 2. "'),
    ],
)
def test_a_list_item_is_a_sentence_and_a_bare_numbering_is_none(text: str, expected: str) -> None:
    assert " ¦ ".join(pieces(text)) == expected


@pytest.mark.parametrize(
    ("letters", "sentences"),
    [pytest.param(49, 2, id="a short line"), pytest.param(50, 1, id="a line of 50 letters")],
)
def test_a_line_that_may_be_wrapped_goes_on_in_the_next(letters: int, sentences: int) -> None:
    assert len(pieces(f"{'w' * letters}\nAnna came")) == sentences


@pytest.mark.parametrize("end", list(".!?:…。！？।"))
def test_a_line_that_ends_a_sentence_does_not_go_on(end: str) -> None:
    assert pieces(f"Anna came{end}\nthen she left") == [f"Anna came{end}", "then she left"]
    assert len(blocks(f"Anna came{end}\nthen she left")) == 2


def test_blank_lines_are_in_no_block() -> None:
    assert blocks("\nOne.\n\n\nTwo.\n\n") == [(1, 6, "prose"), (8, 13, "prose")]


def test_full_stops_and_abbreviations_are_those_of_the_language() -> None:
    for language in ("zh", "ja", "en", "zh-CN", "nonsense", ""):
        parts = pieces("他是德国人。他生于一八七九年！", language)
        assert parts == ["他是德国人。", "他生于一八七九年！"]
    assert len(pieces("Er wurde am 14. März geboren. Dr. Müller kam.", "de-AT")) == 2


def test_long_input_is_cut_into_windows() -> None:
    for unit in (
        "“",
        '"a. ',
        "(",
        "a. ",
        "1.\n",
        "-\n",
        "```\n",
        "\n",
        "|\n",
        "a",
        "A! is ",
        "\\[\n",
        "a,b\n",
        "max. a ",
    ):
        check_invariants(unit * (60_000 // len(unit)))


@pytest.mark.parametrize(
    ("sentences", "sizes"), [(12, [120]), (13, [100, 30])], ids=["as it is", "too long"]
)
def test_a_text_of_120_words_stays_whole(sentences: int, sizes: list[int]) -> None:
    text = " ".join(["Ten words are in each of these sentences as stated."] * sentences)
    assert [len(window.split()) for window in windows(text)] == sizes


def test_the_best_passages_come_first_and_equal_ones_in_their_order() -> None:
    ranking = Ranking(["a cat sat", "a dog ran", "volcano in Sicily", "a cow ate"])
    (first, score), *rest = ranking.best("Where is the volcano of Sicily?", 3)
    assert [first, *(row for row, _ in rest)] == [2, 0, 1]
    assert score > rest[0][1]
    assert len(ranking.best("volcano", 10)) == 4
    assert Ranking(["…", "!!"]).best("volcano", 5) == [(0, 0.0), (1, 0.0)]
    assert [row for row, _ in Ranking(["…", "volcano"]).best("!", 5)] == [0, 1]
