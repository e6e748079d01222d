"""Marks of chat templates in data never reach a model whole."""

import json

import pytest

from tests.transforms.llm.test_wire import ALL, request
from ufo.transforms.llm import wire
from ufo.transforms.llm.capabilities import FORMS, Capabilities
from ufo.transforms.llm.request import Function, Message
from ufo.transforms.llm.wire import without_marks

MARKS = (
    *("<|im_end|>", "<|im_start|>system", "<|eot_id|>", "<|endoftext|>", "<|start_header_id|>"),
    *(
        "[INST]",
        "[/INST]",
        "<<SYS>>",
        "<</SYS>>",
        "</s>",
        "<s>",
        "<start_of_turn>",
        "<end_of_turn>",
    ),
    *("<｜User｜>", "<｜end▁of▁sentence｜>", "<|START_OF_TURN_TOKEN|>", "[TOOL_CALLS]", "[gMASK]"),
)


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_is_broken_up_and_stays_readable(mark: str) -> None:
    broken = without_marks(f"The page says {mark} and goes on.")
    assert mark not in broken
    assert broken.replace(" ", "") == f"Thepagesays{mark}andgoeson."
    assert without_marks(broken) == broken


@pytest.mark.parametrize("text", ["a < b", "|x| > 1", "see [1]", "[Note]", "<p1>", "x<y>z"])
def test_what_is_no_mark_stays(text: str) -> None:
    assert without_marks(text) == text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mark", MARKS)
def test_none_is_in_what_is_sent(form: str, mark: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": mark}}}
    function = Function("report", "Reports.", schema, {"a": mark})
    asked = request(function=function, messages=[Message("system", "S"), Message("user", mark)])
    for known in (ALL, Capabilities((form,))):
        assert mark not in json.dumps(wire.body(asked, "m", known, 1), ensure_ascii=False)
