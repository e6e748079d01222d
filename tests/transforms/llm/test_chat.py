"""A request as it is sent, and replies of every shape as they are read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.tables import tables
from tests.transforms.llm.asked import ALL, FUNCTION, call
from ufo.transforms.llm import chat
from ufo.transforms.llm.forms import FORMS, PROBE, Capabilities
from ufo.transforms.llm.request import Choice, Function, Message

TABLES = tables("replies")
_, REQUIRED, JSON_SCHEMA, JSON_OBJECT_SCHEMA, JSON_OBJECT, WORDS = FORMS
SCHEMA = FUNCTION.parameters


def reply(message: Any, **changes: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": "stop"} | changes
    return {"id": "c1", "choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


def test_a_function_is_asked_for_in_the_form_that_the_endpoint_takes() -> None:
    def asked(form: str, step: str = "verify") -> Any:
        return chat.body(call(step=step), "m", Capabilities((form,)), 1)

    named = {"name": "choose", "schema": SCHEMA, "strict": True}
    assert asked(REQUIRED)["tool_choice"] == "required"
    assert asked(REQUIRED)["tools"] == asked(FORMS[0])["tools"]
    formats = {form: asked(form).get("response_format") for form in FORMS[2:]}
    assert formats == {
        JSON_SCHEMA: {"type": "json_schema", "json_schema": named},
        JSON_OBJECT_SCHEMA: {"type": "json_object", "schema": SCHEMA},
        JSON_OBJECT: {"type": "json_object"},
        WORDS: None,
    }
    for form in FORMS[2:]:
        system, user = (message["content"] for message in asked(form)["messages"])
        assert system == "Choose."  # the prefix that is cached stays
        assert user[:6] == "One.\n\n"
        assert json.loads(user[user.index("{") :]) == SCHEMA
    # A probe sees that a schema is enforced only where the model is not told of it.
    forms = {form for form in FORMS if "Schema" in asked(form, PROBE)["messages"][1]["content"]}
    assert forms == {JSON_OBJECT, WORDS}


def test_a_temperature_that_cannot_be_chosen_is_not_sent() -> None:
    fixed, never_one = Capabilities(temperature_zero=False), Capabilities(temperature_one=False)
    asked = [(0.0, ALL), (0.0, fixed), (0.7, fixed), (1.0, fixed), (1.0, never_one)]
    bodies = [chat.body(call(temperature=chosen), "m", known, 1) for chosen, known in asked]
    assert [body.get("temperature") for body in bodies] == [0.0, None, None, 1.0, None]


@pytest.mark.parametrize("mark", TABLES["marks"])
def test_no_mark_of_a_chat_template_is_in_what_is_sent(mark: str) -> None:
    broken = chat.neutralise_tokens(f"The page says {mark} and goes on.")
    assert broken.replace(" ", "") == f"Thepagesays{mark}andgoeson."
    plain = f"{broken} a < b |x| > 1 see [1] [Note] <p1> x<y>z"  # what is no mark stays
    assert chat.neutralise_tokens(plain) == plain
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": mark}}}
    function = Function("report", "Reports.", schema, {"a": mark})
    asked = call(function=function, messages=[Message("system", "S"), Message("user", mark)])
    for known in (ALL, *(Capabilities((form,)) for form in FORMS)):
        assert mark not in json.dumps(chat.body(asked, "m", known, 1), ensure_ascii=False)


TAGS = """s bos eos pad unk mask cls sep bos_token eos_token sys start_of_turn end_of_turn turn
    im_start im_end tool_call tool_response tools image_soft_token think thinking thought thoughts
    reasoning start_of_image end_of_image end_of_utterance fim_prefix fim_suffix fim_middle"""
BRACKETS = """INST SYS SYSTEM_PROMPT AVAILABLE_TOOLS TOOL_CALLS TOOL_RESULTS TOOL_CONTENT ARGS THINK
    IMG IMG_BREAK IMG_END AUDIO BEGIN_AUDIO MASK gMASK sMASK CLS SEP PAD UNK BOS EOS"""


@pytest.mark.parametrize(
    "mark",
    [
        *(f"<{slash}{name}>" for name in TAGS.split() for slash in ("", "/")),
        *(f"[{slash}{name}]" for name in BRACKETS.split() for slash in ("", "/")),
        "<S>",
        "<s >",
        "</s\n>",
        "[inst]",
        "<|any",
        "<\uff5cany",
    ],
)
def test_each_special_token_is_taken_apart(mark: str) -> None:
    assert chat.neutralise_tokens(f"a{mark}b") == f"a{mark[0]} {mark[1:]}b"


LIMITS = ("max_tokens", "max_completion_tokens")
NINE = {"max_tokens": 9}


@pytest.mark.parametrize(
    ("change", "known", "n", "sent"),
    [
        pytest.param({}, {}, 1, {}, id="nothing that was not asked for"),
        pytest.param({}, {}, 2, {"n": 2}, id="several choices"),
        pytest.param({}, {"n": False}, 2, {}, id="choices one by one"),
        pytest.param(NINE, {}, 1, {"max_tokens": 9}, id="a limit"),
        pytest.param(NINE, {"limit_fields": LIMITS[1:]}, 1, {LIMITS[1]: 9}, id="its newer name"),
        pytest.param(NINE, {"limit_fields": ()}, 1, {}, id="no limit"),
        pytest.param(NINE, {"most_tokens": 10}, 1, {"max_tokens": 9}, id="a limit that is allowed"),
        pytest.param(NINE, {"most_tokens": 8}, 1, {"max_tokens": 8}, id="the highest limit"),
        pytest.param(NINE, {"thinks": True}, 1, {"max_tokens": 8201}, id="room for thoughts"),
        pytest.param(
            {**NINE, "step": PROBE}, {"thinks": True}, 1, {"max_tokens": 9}, id="none in a probe"
        ),
        pytest.param({"logprobs": True}, {}, 1, {"logprobs": True}, id="log-probabilities"),
        pytest.param({"logprobs": True}, {"logprobs": False}, 1, {}, id="none of them"),
        pytest.param(
            {},
            {"streams": True},
            1,
            {"stream": True, "stream_options": {"include_usage": True}},
            id="a stream",
        ),
    ],
)
def test_a_parameter_is_sent_where_it_was_asked_for_and_is_supported(
    change: dict[str, Any], known: dict[str, Any], n: int, sent: dict[str, Any]
) -> None:
    body = chat.body(call(function=None, **change), "m", Capabilities(**known), n)
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Choose."}, {"role": "user", "content": "One."}],
        "temperature": 0.0,
        **sent,
    }


def test_a_longer_think_has_more_room() -> None:
    body = chat.body(call(max_tokens=9), "m", Capabilities(thinks=True), 1, thoughts=4)
    assert body["max_tokens"] == 9 + 4 * 8192


@pytest.mark.parametrize(
    ("known", "strict"),
    [
        pytest.param({}, True, id="strict"),
        pytest.param({"strict": False}, None, id="not strict"),
        pytest.param({"references": False}, None, id="written out"),
    ],
)
def test_a_schema_is_strict_where_supported(known: dict[str, Any], strict: bool | None) -> None:
    (tool,) = chat.body(call(), "m", Capabilities(**known), 1)["tools"]
    assert tool["function"].get("strict") is strict
    assert tool["function"]["name"] == "choose"
    assert tool["function"]["description"] == "Chooses a word."


def test_a_schema_that_is_written_out_has_nothing_that_an_endpoint_may_not_take() -> None:
    line = {"type": "integer", "enum": [1]}
    schema = {
        "properties": {
            "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "maxItems": 1}
        },
        "additionalProperties": False,
        "required": ["lines"],
        "$defs": {"line": line},
    }
    assert chat.inline_references(schema, {"line": line}) == {
        "properties": {"lines": {"type": "array", "items": line}},
        "required": ["lines"],
    }


@pytest.mark.parametrize("row", TABLES["messages"].values(), ids=TABLES["messages"])
def test_replies_of_all_shapes_are_read(row: dict[str, Any]) -> None:
    answer = chat.answer(reply(row["message"], finish_reason=row.get("finish", "stop")), "report")
    assert answer.choices == [Choice(**{"text": "", **row["choice"]})]
    assert answer.only_thoughts == row.get("unfinished", False)
    assert answer.tokens == (7, 2)
    assert answer.id == "c1"


def test_the_mean_of_log_probabilities() -> None:
    def mean(logprobs: Any) -> float | None:
        return chat.answer(reply({"content": "x"}, logprobs=logprobs), None).choices[0].logprob_mean

    tokens = [{"logprob": -1.0}, {"logprob": -2.0}, {"logprob": float("-inf")}, {}]
    assert mean({"content": tokens}) == -1.5
    nothing: tuple[Any, ...] = (None, {"content": None}, {"content": []}, "x")
    assert {mean(one) for one in nothing} == {None}


@pytest.mark.parametrize("payload", TABLES["garbled"].values(), ids=TABLES["garbled"])
def test_what_is_no_reply_is_garbled(payload: Any) -> None:
    with pytest.raises(chat.Garbled):
        chat.answer(payload, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(JSON, JSON, JSON, JSON, JSON)
def test_no_reply_breaks_the_reader(
    content: Any, calls: Any, finish: Any, logprobs: Any, usage: Any
) -> None:
    message = {"content": content, "tool_calls": calls, "refusal": content}
    choice = {"message": message, "finish_reason": finish, "logprobs": logprobs}
    answer = chat.answer({"id": calls, "usage": usage, "choices": [choice]}, "report")
    assert isinstance(answer.choices[0].text, str)
    assert isinstance(answer.choices[0].finish_reason, str)
    assert min(tokens or 0 for tokens in answer.tokens) >= 0


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning_content": "Hm. So."},
        {"thinking": "Hm. So."},
        {"reasoning_details": [{"text": "Hm. "}, {"type": "reasoning.text", "text": "So."}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "Hm. So."}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm. So."}]}]},
    ],
    ids=["a field", "another", "details", "blocks", "a part"],
)
def test_a_reply_that_is_only_in_a_field_for_reasoning_is_a_thought(message: Any) -> None:
    choice = {"message": {"content": None, **message}, "finish_reason": "stop"}
    answer = chat.answer({"choices": [choice]}, None)
    assert answer.only_thoughts
    assert answer.choices[0].thought == "Hm. So."


CALLED = {"name": "report", "arguments": '{"a": 1}'}


@pytest.mark.parametrize(
    "message",
    [
        {"tool_calls": {"type": "function", "function": CALLED}},
        {"tool_calls": [CALLED]},
        {"tool_calls": [{"function": {"name": "report", "parameters": {"a": 1}}}]},
        {"content": [{"type": "tool_use", "name": "report", "input": {"a": 1}}]},
        {"function_call": {"arguments": {"a": 1}}},
    ],
    ids=["a call alone", "no function", "parameters", "a part", "a function call"],
)
def test_a_call_may_have_the_shape_of_another_api(message: Any) -> None:
    (choice,) = chat.answer({"choices": [{"message": message}]}, "report").choices
    assert choice.arguments == '{"a": 1}'


@pytest.mark.parametrize(
    ("content", "text"),
    [({"type": "text", "text": "So."}, "So."), ({"a": [1]}, '{"a": [1]}')],
    ids=["a part", "JSON"],
)
def test_an_object_in_place_of_a_text_is_what_it_says(content: Any, text: str) -> None:
    (choice,) = chat.answer({"choices": [{"message": {"content": content}}]}, None).choices
    assert choice.text == text


@pytest.mark.parametrize(("usage", "expected"), TABLES["tokens"].values(), ids=TABLES["tokens"])
def test_thoughts_in_the_total_are_counted(usage: dict[str, int], expected: list[int]) -> None:
    assert [*chat.tokens({"usage": usage})] == expected


@pytest.mark.parametrize(
    ("message", "details", "thinks"), TABLES["thinks"].values(), ids=TABLES["thinks"]
)
def test_a_thinking_model_is_known(message: dict[str, Any], details: Any, thinks: bool) -> None:
    usage = {"completion_tokens_details": details}
    assert chat.answer({"choices": [{"message": message}], "usage": usage}, None).thinks is thinks


NESTED = {
    "properties": {
        "words": {
            "description": "The words.",
            "items": {"properties": {"word": {"description": "A word."}, "bare": {}}},
        }
    },
    "$defs": {"line": {"description": "A line.", "properties": {"n": {"description": "Its n."}}}},
}


def test_a_function_in_words_has_its_example_and_all_descriptions() -> None:
    words = chat.reply_instructions(Function("report", "Reports.", NESTED, {"words": ["é"]}))
    assert words.startswith("\n\nReply with one JSON object and nothing else. ")
    assert words.endswith(
        "of the function `report` (Reports.), as in this example of other data:\n"
        '{"words": ["é"]}\nwords: The words.\nword: A word.\nline: A line.\nn: Its n.'
    )


def test_a_function_in_words_without_an_example_has_its_schema() -> None:
    words = chat.reply_instructions(Function("report", "Reports.", {"description": "é"}))
    assert words.endswith('(Reports.), by this JSON Schema:\n{"description": "é"}')


@pytest.mark.parametrize(("sent", "read"), [("c1", "c1"), ("", None), (5, None), (None, None)])
def test_the_id_of_a_reply_is_a_text(sent: Any, read: str | None) -> None:
    assert chat.answer({**reply({"content": "x"}), "id": sent}, None).id == read
