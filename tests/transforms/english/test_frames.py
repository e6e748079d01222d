"""How a sentence puts its statement."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.transforms.english.frames import ASSERTED, DENIED, DOUBTED, REPORTED, read_frame

SENTENCES = cases(Path(__file__).parent / "frames.txt")
STATEMENT = "bats are blind."


@pytest.mark.parametrize(("sentence", "stance", "statement"), SENTENCES)
def test_a_frame_is_no_part_of_the_statement(sentence: str, stance: str, statement: str) -> None:
    assert read_frame(sentence) == (stance, statement)


@given(st.lists(st.sampled_from([row[0] for row in SENTENCES]), min_size=1, max_size=3))
def test_any_frames_within_frames_have_one_stance(sentences: list[str]) -> None:
    frame = read_frame(" that ".join(sentences))
    assert frame.stance in (ASSERTED, DENIED, DOUBTED, REPORTED)
    assert frame.statement


@pytest.mark.parametrize(
    ("outer", "stance"),
    [
        pytest.param("", DENIED, id="a denial"),
        pytest.param("It is not true that it is ", ASSERTED, id="a denied denial"),
        pytest.param("Some say that it is ", REPORTED, id="a reported denial"),
        pytest.param("It is unclear whether it is ", DOUBTED, id="a doubted denial"),
    ],
)
def test_what_stands_outside_decides(outer: str, stance: str) -> None:
    inner = "it is a myth that" if not outer else "a myth that"
    assert read_frame(f"{outer}{inner} {STATEMENT}") == (stance, STATEMENT)


@pytest.mark.parametrize(
    "text",
    ["that ", "no ", "the old ", "many people ", "if ", "would have ", "not "],
)
def test_a_long_text_is_not_searched(text: str) -> None:
    long = (text * 10_000).strip()
    assert read_frame(long) == (ASSERTED, long)
