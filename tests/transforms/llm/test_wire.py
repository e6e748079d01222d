"""A request as it is sent, and replies of every shape as they are read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.llm import wire
from ufo.transforms.llm.capabilities import (
    FORMS,
    JSON_OBJECT,
    JSON_OBJECT_SCHEMA,
    JSON_SCHEMA,
    PROBE,
    REQUIRED,
    WORDS,
    Capabilities,
)
from ufo.transforms.llm.request import Choice, Function, Message, Request

SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}
FUNCTION = Function("report", "Reports a word.", SCHEMA)
ALL = Capabilities()


def request(**changes: Any) -> Request:
    values: dict[str, Any] = {
        "role": "verifier",
        "model": "m",
        "messages": [Message("system", "S"), Message("user", "U")],
        "step": "verify",
        "source": "reference",
        "response_id": "r1",
    }
    return Request(**(values | changes))


def reply(message: Any, **changes: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": "stop"} | changes
    return {"id": "c1", "choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


def only(payload: Any, function: str | None = None) -> Choice:
    return wire.answer(payload, function).choices[0]


def test_all_that_an_endpoint_can_do_is_used() -> None:
    asked = request(function=FUNCTION, n=5, temperature=1.0, max_tokens=9, logprobs=True)
    assert wire.body(asked, "m", ALL, 5) == {
        "model": "m",
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "report",
                    "description": "Reports a word.",
                    "parameters": SCHEMA,
                    "strict": True,
                },
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "report"}},
        "temperature": 1.0,
        "n": 5,
        "max_tokens": 9,
        "logprobs": True,
    }


def test_what_an_endpoint_cannot_do_is_left_out() -> None:
    least = Capabilities(
        (WORDS,), n=False, logprobs=False, temperature_zero=False, temperature_one=False,
        limit_fields=(),
    )  # fmt: skip
    asked = request(function=FUNCTION, n=5, temperature=1.0, max_tokens=9, logprobs=True)
    body = wire.body(asked, "m", least, 5)
    assert set(body) == {"model", "messages"}
    assert wire.body(request(), "m", least, 1).keys() == {"model", "messages"}


def test_without_tools_the_schema_is_said_in_the_last_message() -> None:
    body = wire.body(request(function=FUNCTION), "m", Capabilities((JSON_OBJECT,)), 1)
    assert body["response_format"] == {"type": "json_object"}
    assert body["messages"][0]["content"] == "S"  # the prefix that a provider caches stays
    said = body["messages"][1]["content"]
    assert said.startswith("U\n\n")
    assert json.loads(said[said.index("{") :]) == SCHEMA


def test_without_tools_an_example_is_shown_in_place_of_the_schema() -> None:
    described = {**SCHEMA, "properties": {"word": {"type": "string", "description": "One word."}}}
    shown = wire.in_words(Function("report", "Reports a word.", described, {"word": "tree"}))
    assert shown.endswith('as in this example of other data:\n{"word": "tree"}\nword: One word.')
    assert "Schema" not in shown


def test_a_function_is_asked_for_in_the_form_that_the_endpoint_takes() -> None:
    def asked(form: str, step: str = "verify") -> Any:
        return wire.body(request(function=FUNCTION, step=step), "m", Capabilities((form,)), 1)

    assert asked(REQUIRED)["tool_choice"] == "required"
    assert asked(REQUIRED)["tools"] == asked(FORMS[0])["tools"]
    assert asked(JSON_SCHEMA)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "report", "schema": SCHEMA, "strict": True},
    }
    assert asked(JSON_OBJECT_SCHEMA)["response_format"] == {"type": "json_object", "schema": SCHEMA}
    assert "response_format" not in asked(WORDS)
    for form in FORMS[2:]:
        assert "JSON Schema" in asked(form)["messages"][1]["content"]
    # A probe sees that a schema is enforced only where the model is not told of it.
    told = {form for form in FORMS if "Schema" in asked(form, PROBE)["messages"][1]["content"]}
    assert told == {JSON_OBJECT, WORDS}


def test_nothing_of_the_accounting_is_sent() -> None:
    text = json.dumps(wire.body(request(), "m", ALL, 1))
    assert all(word not in text for word in ("verify", "reference", "r1"))


@pytest.mark.parametrize(
    ("temperature", "known", "sent"),
    [
        (0.0, ALL, 0.0),
        (0.0, Capabilities(temperature_zero=False), None),
        (0.7, Capabilities(temperature_zero=False), None),
        (1.0, Capabilities(temperature_zero=False), 1.0),
        (1.0, Capabilities(temperature_one=False), None),
    ],
)
def test_a_temperature_that_cannot_be_chosen_is_not_sent(
    temperature: float, known: Capabilities, sent: float | None
) -> None:
    assert wire.body(request(temperature=temperature), "m", known, 1).get("temperature") == sent


def test_lone_surrogates_can_be_sent() -> None:
    body = wire.body(request(messages=[Message("user", "a\ud800b \U0001f600")]), "m", ALL, 1)
    assert body["messages"][0]["content"].encode() == "a�b \U0001f600".encode()


def test_a_call_and_its_tokens_are_read() -> None:
    call = {"type": "function", "function": {"name": "report", "arguments": '{"word":"ok"}'}}
    answer = wire.answer(reply({"content": None, "tool_calls": [call]}), "report")
    assert answer.choices == [Choice("", '{"word":"ok"}')]
    assert (answer.tokens, answer.id) == ((7, 2), "c1")


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ({"content": "prose"}, None),
        ({"content": None, "tool_calls": []}, None),
        ({"content": None, "tool_calls": None}, None),
        ({"tool_calls": [{"function": {"name": "other", "arguments": "{}"}}]}, "{}"),
        ({"tool_calls": [{"function": {"name": "report", "arguments": {"word": "é"}}}]},
         '{"word": "é"}'),
        ({"function_call": {"name": "report", "arguments": "{"}}, "{"),
        ({"tool_calls": ["report"]}, None),
    ],
)  # fmt: skip
def test_calls_of_all_shapes_are_read(message: dict[str, Any], arguments: str | None) -> None:
    assert only(reply(message), "report").arguments == arguments


def test_the_named_function_goes_before_others() -> None:
    calls = [{"function": {"name": name, "arguments": name}} for name in ("other", "report")]
    assert only(reply({"tool_calls": calls}), "report").arguments == "report"


def test_refusal_filter_and_length_are_surfaced() -> None:
    assert only(reply({"content": None, "refusal": "No."})).refusal == "No."
    assert only(reply({"content": ""}, finish_reason="content_filter")).finish_reason == (
        "content_filter"
    )
    assert only(reply({"content": "hal"}, finish_reason="length")).finish_reason == "length"
    assert only(reply({"content": "x"}, finish_reason=None)).finish_reason == "stop"


def test_text_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    assert only(reply({"content": parts})).text == "ab"


def test_the_mean_of_log_probabilities() -> None:
    tokens = [{"logprob": -1.0}, {"logprob": -2.0}, {"logprob": float("-inf")}, {}]
    assert only(reply({"content": "x"}, logprobs={"content": tokens})).logprob_mean == -1.5
    without: tuple[Any, ...] = (None, {"content": None}, {"content": []}, "x")
    for nothing in without:
        assert only(reply({"content": "x"}, logprobs=nothing)).logprob_mean is None


@pytest.mark.parametrize(
    "payload",
    [None, [], "x", {}, {"choices": []}, {"choices": None}, {"choices": [None]},
     {"choices": [{"message": None}]}, {"error": {"message": "oops"}}],
)  # fmt: skip
def test_what_is_no_reply_is_garbled(payload: Any) -> None:
    with pytest.raises(wire.Garbled):
        wire.answer(payload, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(JSON, JSON, JSON, JSON, JSON)
def test_no_reply_breaks_the_reader(
    content: Any, calls: Any, finish: Any, logprobs: Any, usage: Any
) -> None:
    payload = {
        "id": calls,
        "usage": usage,
        "choices": [
            {
                "message": {"content": content, "tool_calls": calls, "refusal": content},
                "finish_reason": finish,
                "logprobs": logprobs,
            }
        ],
    }
    answer = wire.answer(payload, "report")
    choice = answer.choices[0]
    assert isinstance(choice.text, str)
    assert isinstance(choice.finish_reason, str)
    assert all(tokens is None or tokens >= 0 for tokens in answer.tokens)


OPEN = ("<think>", "<thinking>", "<Reasoning>", "[THINK]")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Yes.", "Yes."),
        (" x <b> ", " x <b> "),
        ("<think>No.</think>\n\nYes.", "Yes."),
        ("\n<thinking>No.\n</thinking> Yes.", "Yes."),
        ("No, I think not.</think>Yes.", "Yes."),
        ('So "F".</think>{"a": "T"}', '{"a": "T"}'),
        ('{"a": "F"} or not</think>{"a": "T"}', '{"a": "T"}'),
        ("<think>No. I write <think> first.</think>Yes.", "Yes."),
        ("<think>a<think>b</think>c</think>Yes.", "Yes."),
        ("<think></think><think>No.</think>Yes.", "Yes."),
        ("Sure! <think>No.</think> Yes.", "Sure! Yes."),
        ("<think>No, that is", ""),
        ("<think>a</think><reasoning>b", ""),
        ("No.</think>", ""),
        ('{"a": "uses <think> and </think>"}', '{"a": "uses <think> and </think>"}'),
        ('Here: {"a": "ends with </think> always"}', 'Here: {"a": "ends with </think> always"}'),
        ("It ends with `</think>` and", "It ends with `</think>` and"),
        ('The tag "</think>" ends it.', 'The tag "</think>" ends it.'),
        ("```\n<think>\n</think>\n```", "```\n<think>\n</think>\n```"),
        ("Models write <think> first.", "Models write <think> first."),
    ],
)
def test_thoughts_are_left_out_and_their_names_are_not(text: str, left: str) -> None:
    assert wire.without_thoughts(text) == left


PROSE = st.text(st.characters(exclude_characters="<>[]{}`\"'"), max_size=40)
ANSWERS = st.dictionaries(st.text(), st.text() | st.sampled_from(["<think>", "</think> so"]))


@given(PROSE, ANSWERS, st.sampled_from(OPEN), st.booleans())
def test_no_thought_is_in_what_is_left_and_nothing_else_is_lost(
    thoughts: str, said: dict[str, str], opening: str, opened: bool
) -> None:
    answer = json.dumps(said, ensure_ascii=False)
    closing = f"{opening[0]}/{opening[1:]}"
    whole = f"{opening if opened else ''}{thoughts}{closing}\n{answer}"
    assert wire.without_thoughts(whole) == answer
    assert wire.without_thoughts(answer) == answer


@given(PROSE, ANSWERS, st.sampled_from(OPEN))
def test_a_draft_in_thoughts_is_not_read(thoughts: str, said: dict[str, str], opening: str) -> None:
    draft = json.dumps(said, ensure_ascii=False)
    closing = f"{opening[0]}/{opening[1:]}"
    assert wire.without_thoughts(f"{opening}{thoughts} {draft} x {closing}Yes.").endswith("Yes.")
    assert wire.without_thoughts(f"{opening}{thoughts} {PLAIN} x {closing}Yes.") == "Yes."
    assert wire.without_thoughts(f"{opening}{thoughts} {PLAIN}") == ""
    assert wire.without_thoughts(f"{thoughts} {PLAIN} x {closing}Yes.") == "Yes."


PLAIN = '{"f1": {"verdict": "F"}}'


@pytest.mark.parametrize(
    ("message", "finish", "expected", "unfinished"),
    [
        ({"content": "<think>No"}, "length", Choice("", None, "length"), True),
        ({"content": "<think>No"}, "stop", Choice("", None, "length"), True),
        ({"content": "", "reasoning_content": "No"}, "stop", Choice("", None, "length"), True),
        ({"content": None, "reasoning": "No"}, "length", Choice("", None, "length"), True),
        ({"content": "Yes", "reasoning": "No"}, "length", Choice("Yes", None, "length"), False),
        ({"content": ""}, "length", Choice("", None, "length"), False),
        ({"content": "", "reasoning": "No"}, "content_filter",
         Choice("", None, "content_filter"), False),
        ({"content": [{"type": "thinking", "text": "No"}, {"type": "text", "text": "Yes"}]},
         "stop", Choice("Yes"), False),
    ],
)  # fmt: skip
def test_a_reply_of_nothing_but_thoughts_is_unfinished(
    message: dict[str, Any], finish: str, expected: Choice, unfinished: bool
) -> None:
    found = wire.answer(reply(message, finish_reason=finish), None)
    assert (found.choices[0], found.unfinished) == (expected, unfinished)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}, (7, 2)),
        ({"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 99}, (7, 92)),
        ({"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 3}, (7, 2)),
        ({"prompt_tokens": 7, "total_tokens": 3}, (7, None)),
        ({}, (None, None)),
    ],
)
def test_tokens_of_thoughts_that_are_in_the_total_alone_are_counted(
    usage: dict[str, int], expected: Any
) -> None:
    assert wire.tokens({"usage": usage}) == expected
