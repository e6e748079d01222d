"""What a reasoning model thinks, apart from its answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.tables import tables
from ufo.transforms.thoughts import thought_ranges, without_thoughts

TABLES = tables("replies")


@pytest.mark.parametrize("name", ["think", "thinking", "thought", "thoughts", "reasoning", "THINK"])
def test_each_tag_of_thoughts_is_read(name: str) -> None:
    begin, end = ("[THINK]", "[/THINK]") if name == "THINK" else (f"<{name}>", f"</{name}>")
    assert without_thoughts(f"{begin}No.{end}Yes.") == "Yes."


@pytest.mark.parametrize(("text", "left"), TABLES["thoughts"])
def test_thoughts_are_left_out_and_their_names_are_not(text: str, left: str) -> None:
    assert without_thoughts(text) == left


PROSE = st.text(st.characters(exclude_characters="<>[]{}`\"'"), max_size=40)
ANSWERS = st.dictionaries(st.text(), st.text() | st.sampled_from(["<think>", "</think> so"]))
PLAIN = '{"f1": {"verdict": "F"}}'


@given(PROSE, ANSWERS, st.sampled_from(("<think>", "<thinking>", "<Reasoning>", "[THINK]")))
def test_no_thought_is_in_what_is_left_and_nothing_else_is_lost(
    thoughts: str, fields: dict[str, str], opening: str
) -> None:
    answer = json.dumps(fields, ensure_ascii=False)
    closing = f"{opening[0]}/{opening[1:]}"
    assert without_thoughts(answer) == answer
    for begin in (opening, ""):
        assert without_thoughts(f"{begin}{thoughts}{closing}\n{answer}") == answer
        assert without_thoughts(f"{begin}{thoughts} {PLAIN} x {closing}Yes.") == "Yes."
    # A draft in thoughts is not read.
    assert without_thoughts(f"{opening}{thoughts} {answer} x {closing}Yes.").endswith("Yes.")
    assert without_thoughts(f"{opening}{thoughts} {PLAIN}") == ""


CHANNELS = "<|channel|>analysis<|message|>No.<|end|><|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param(f"{CHANNELS}Yes.<|return|>", "Yes.", id="channels"),
        pytest.param("<longcat_think>No.</longcat_think>Yes.", "Yes.", id="a prefix"),
        pytest.param(
            "Steps:\nNo.\n[BEGIN FINAL RESPONSE]\nYes.[END FINAL RESPONSE]", "Yes.", id="Apriel"
        ),
        pytest.param("<|channel|>analysis<|message|>No, that", "", id="a channel without an end"),
        pytest.param("analysisNo.assistantfinalYes.", "Yes.", id="channels without their marks"),
        pytest.param("<|channel>thought\nNo.<channel|>Yes.", "Yes.", id="another channel"),
        pytest.param("◁think▷No.◁/think▷Yes.", "Yes.", id="triangles"),
        pytest.param("<|START_THINKING|>No.<|END_THINKING|>Yes.", "Yes.", id="words"),
        pytest.param("<reasoning>No.</reasoning><answer>Yes.</answer>", "Yes.", id="an answer"),
        pytest.param("<think>No. <answer>Yes.</answer>", "Yes.", id="an answer ends thoughts"),
        pytest.param("<think>No. <answer>Ye", "Ye", id="an answer that is cut off"),
        pytest.param("Yes. <reflection>No.</reflection> So.", "Yes. So.", id="later thoughts"),
        pytest.param("Yes.\n<Scratchpad>\nNo", "Yes.\n", id="later thoughts without an end"),
        pytest.param(
            "The <think> and </think> tags.", "The <think> and </think> tags.", id="names"
        ),
    ],
)
def test_each_form_of_thoughts_is_left_out(text: str, left: str) -> None:
    assert without_thoughts(text) == left


MARKS = [
    "<think>",
    "</think>",
    "<answer>",
    "`",
    '"',
    "{",
    "\n",
    "a",
    " ",
    "<|channel|>final",
    "[THINK]",
]


@given(st.lists(st.sampled_from(MARKS), max_size=30).map("".join))
def test_what_is_hidden_is_in_order(text: str) -> None:
    at = 0
    for start, end in thought_ranges(text):
        assert at <= start < end <= len(text)
        at = end


@pytest.mark.parametrize("mark", ["<think>", "</think>", "<answer>", "<think><answer>", "`<think>"])
def test_a_hundred_thousand_characters_of_marks_are_read(mark: str) -> None:
    assert len(without_thoughts(mark * (100_000 // len(mark)))) <= 100_000


def test_a_backslash_hides_no_mark() -> None:
    assert without_thoughts("<think>No\\</think>Yes.") == "Yes."
