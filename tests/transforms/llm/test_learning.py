"""What a run learns of an endpoint while it asks: forms, caps, thoughts, and errors in replies."""

import re
from dataclasses import replace
from typing import Any

import pytest

from tests.llm_server import PROFILES, REJECTED, Chat, LlmServer, Reply, Switches, faults
from tests.llm_server.chat import APART, FULL, LONG, LONG_APART, THOUGHTS, UNOPENED
from tests.llm_server.errors import ApiError
from tests.llm_server.profiles import of_example, refusals
from tests.transforms.llm.asked import ALL, Asked, call, sample
from ufo.schemas.records import TRANSPORT, TRUNCATED
from ufo.transforms.llm.capabilities import FORMS, JSON_OBJECT, WORDS, Capabilities
from ufo.transforms.llm.request import Function, LlmError, Message

SCHEMA = {
    "type": "object",
    "properties": {"words": {"type": "array", "items": {"$ref": "#/$defs/word"}, "maxItems": 2}},
    "required": ["words"],
    "additionalProperties": False,
    "$defs": {"word": {"type": "string", "enum": ["x", "y"]}},
}
ASKED = call(function=Function("choose", "Chooses words.", SCHEMA), max_tokens=600, expects=100)
SAID = '{"words": ["x"]}'
GRAMMARS = [one for row in refusals() if row["kind"] == "schema" for one in row["examples"]]


def said(asked: Asked) -> list[str]:
    return [one.choices[0].arguments or one.choices[0].text for one in asked.results]


@pytest.mark.parametrize("example", GRAMMARS, ids=lambda one: one["says"][:30])
def test_a_schema_is_written_out_before_a_form_is_given_up(
    llm_server: LlmServer, example: Any
) -> None:
    llm_server.switches = of_example("schema", example)
    asked = Asked(llm_server, [ASKED, ASKED])
    assert said(asked) == [SAID] * 2
    assert [entry.status for entry in llm_server.chats][1:] == [200, 200]
    (tool,) = llm_server.chats[-1].body["tools"]
    assert "strict" not in tool["function"]
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {"words": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}}},
        "required": ["words"],
    }


@pytest.mark.parametrize("example", GRAMMARS, ids=lambda one: one["says"][:30])
def test_the_next_form_is_taken_once_for_all_requests_in_flight(
    llm_server: LlmServer, example: Any
) -> None:
    llm_server.switches = replace(of_example("schema", example), grammar='"enum"')
    llm_server.latency = faults.fixed(0.01)
    asked = Asked(llm_server, [ASKED] * 12, at_once=True)
    assert said(asked) == [SAID] * 12
    last = llm_server.chats[-1].body
    assert last["response_format"] == {"type": "json_object"}
    # Each of the simpler schema and the forms was refused by no more than were under way.
    forms = {str(entry.body.get("tool_choice")) for entry in llm_server.chats}
    assert forms == {"{'type': 'function', 'function': {'name': 'choose'}}", "required", "None"}


def test_a_refusal_of_one_text_ruins_the_form_for_nobody(llm_server: LlmServer) -> None:
    class OfOne:
        def next(self, body: bytes) -> faults.Fault | None:
            return faults.Fault("error", refused) if b"odious" in body else None

    refused = ApiError(400, "the tools of the trade in this text are not allowed")
    llm_server.mix = OfOne()  # type: ignore[assignment]
    odd = replace(ASKED, messages=[replace(ASKED.messages[1], content="odious")])
    asked = Asked(llm_server, [ASKED, odd, ASKED])
    first, error, last = asked.results
    assert isinstance(error, LlmError)
    assert error.unexplained
    assert "answered 400: the tools of the trade" in error.message
    assert first.choices == last.choices
    assert llm_server.chats[-1].body["tool_choice"] == llm_server.chats[0].body["tool_choice"]


def test_words_that_are_not_known_end_that_request_alone(llm_server: LlmServer) -> None:
    llm_server.faults.append(faults.Fault("error", ApiError(400, "the flux is inverted")))
    asked = Asked(llm_server, [ASKED, ASKED])
    assert (asked.error.unexplained, asked.error.reason, asked.error.final) == (
        True,
        TRANSPORT,
        False,
    )
    assert [entry.status for entry in llm_server.chats] == [400, 200]


CAPS = [one for row in refusals() if row["kind"] == "cap" for one in row["examples"]]


@pytest.mark.parametrize("example", CAPS, ids=lambda one: one["of"])
def test_a_reply_is_limited_to_what_the_model_allows(llm_server: LlmServer, example: Any) -> None:
    llm_server.switches = replace(of_example("cap", example), cap=300)
    asked = Asked(llm_server, [ASKED, ASKED])
    assert said(asked) == [SAID] * 2
    limits = [entry.body["max_tokens"] for entry in llm_server.chats]
    assert limits[0] == 600
    assert 150 <= limits[-1] <= 300
    assert [entry.status for entry in llm_server.chats].count(400) <= 2


def test_a_limit_that_is_refused_however_low_is_left_out(llm_server: LlmServer) -> None:
    llm_server.switches = of_example("cap", {"says": "max_tokens exceeds what we allow"})
    llm_server.switches = replace(llm_server.switches, cap=0)
    asked = Asked(llm_server, [sample(1, max_tokens=4)])
    assert asked.completion.choices
    limits = [entry.body.get("max_tokens") for entry in llm_server.chats]
    assert limits == [4, 2, 1, None, None]  # and by its other name


def test_a_cap_below_what_is_expected_asks_for_less(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(cap=60)
    asked = Asked(llm_server, [ASKED])
    assert asked.error.reason == TRUNCATED
    assert "at most 60 completion tokens" in asked.error.message


@pytest.mark.parametrize("form", [FORMS[0], JSON_OBJECT, WORDS])
@pytest.mark.parametrize("thinks", THOUGHTS)
def test_thoughts_are_no_answer(llm_server: LlmServer, thinks: str, form: str) -> None:
    llm_server.switches = Switches(thinks=thinks)
    known = Capabilities((form,) if form == WORDS else (form, WORDS))
    asked = Asked(llm_server, [ASKED, ASKED], known)
    assert said(asked) == [SAID] * 2
    statuses = [(entry.status, entry.body["max_tokens"]) for entry in llm_server.chats]
    long = thinks in (LONG, LONG_APART)
    assert statuses == [(200, 600), *[(200, 600 + 8192)] * (2 if long else 1)]
    assert len(asked.results[0].usage) == (2 if long else 1)
    spent = sum(row.completion_tokens for one in asked.results for row in one.usage)
    assert spent == sum(entry.completion_tokens for entry in llm_server.chats)


@pytest.mark.parametrize("thinks", [LONG, LONG_APART])
def test_a_reply_that_ends_within_its_thoughts_is_cut_off(
    llm_server: LlmServer, thinks: str
) -> None:
    llm_server.switches = Switches(thinks=thinks, cap=1000)
    completion = Asked(llm_server, [ASKED]).completion
    (choice,) = completion.choices
    assert (choice.text, choice.arguments, choice.finish_reason) == ("", None, "length")
    # Asked for more, and then for what is allowed.
    assert [row.status for row in completion.usage] == ["ok", "400", "ok"]


def test_an_error_for_thoughts_without_an_end_is_asked_again_with_more_room(
    llm_server: LlmServer,
) -> None:
    text = "Could not finish the message because max_tokens or model output limit was reached."
    llm_server.faults.append(faults.Fault("error", ApiError(400, text)))
    assert said(Asked(llm_server, [ASKED])) == [SAID]
    assert [entry.body["max_tokens"] for entry in llm_server.chats] == [600, 600 + 8192]


@pytest.mark.parametrize("thinks", [FULL, UNOPENED, APART])
def test_thoughts_are_no_text(llm_server: LlmServer, thinks: str) -> None:
    llm_server.switches = Switches(thinks=thinks)
    choices = Asked(llm_server, [sample(3)]).completion.choices
    assert len(choices) == 3
    assert not any(re.search("think|Hmm", choice.text) for choice in choices)


@pytest.mark.parametrize(
    ("code", "text", "pauses"),
    [("502", "Provider returned error", 1), (None, "Overloaded, try again later", 1)],
)
def test_an_error_in_a_reply_that_passes_is_tried_again(
    llm_server: LlmServer, code: str | None, text: str, pauses: int
) -> None:
    llm_server.faults.append(faults.Fault("error", ApiError(200, text, code=code)))
    asked = Asked(llm_server, [ASKED])
    assert said(asked) == [SAID]
    assert len(asked.pauses) == pauses


def test_an_error_in_a_reply_has_its_words(llm_server: LlmServer) -> None:
    llm_server.faults.append(faults.Fault("error", ApiError(200, "the flux is inverted")))
    assert (
        "answered 200 with the error 400: the flux is inverted"
        in Asked(llm_server, [ASKED]).error.message
    )


def test_a_model_that_is_there_and_not_loaded_is_to_be_loaded(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(fails=ApiError(404, "No models loaded. Please load a model"))
    for known in (None, ALL):
        message = Asked(llm_server, [ASKED], known).error.message
        assert "has no model loaded (404: No models loaded" in message
        assert "load 'offline-judge' there" in message
        assert "Did you mean" not in message


def test_a_model_that_is_listed_is_not_guessed(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(fails=ApiError(404, "The model `offline-judge` does not exist."))
    message = Asked(llm_server, [ASKED]).error.message
    assert "it has offline-judge, offline-judge-small" in message
    assert "Did you mean" not in message


def test_tools_that_are_refused_in_a_run_are_given_up(llm_server: LlmServer) -> None:
    llm_server.switches = replace(PROFILES["ollama"], tools=REJECTED)
    assert said(Asked(llm_server, [ASKED, ASKED])) == [SAID] * 2
    assert [entry.status for entry in llm_server.chats] == [400, 200, 200]


class Musing:
    """Thinks aloud, in so many words, without a tag where its thoughts begin."""

    def __init__(self, words: int, ends: str, begins: str = "Let me see.") -> None:
        self.said = f"{begins} {'Hm. ' * words}{ends}True"

    def matches(self, chat: Chat) -> bool:
        return chat.user == "Is it?"

    def answer(self, chat: Chat) -> Reply:
        return Reply(self.said, step="verify")


@pytest.mark.parametrize(
    ("words", "ends", "text", "limits"),
    [
        (500, "</think>", "True", [64, 64 + 8192, 64 + 8192]),
        (500, "", None, [64, 64 + 8192, 64]),
    ],
    ids=["it thought", "it only talks much"],
)
def test_a_reply_that_is_cut_off_in_thoughts_without_a_tag_gets_more_room(
    words: int, ends: str, text: str | None, limits: list[int]
) -> None:
    request = call(messages=[Message("user", "Is it?")], function=None, max_tokens=64, expects=8)
    with LlmServer(answerers=[Musing(words, ends)], keys=None) as server:
        asked = Asked(server, [request, request])
    sent = [entry.body["max_tokens"] for entry in server.chats]
    assert sent == limits
    choices = [one.choices[0] for one in asked.results]
    if text is None:
        assert choices[0].text.startswith("Let me see.")
        assert choices[1].finish_reason == "length"
    else:
        assert [one.text for one in choices] == [text, text]


def test_a_reply_that_is_cut_off_and_does_not_read_like_thoughts_gets_no_more_room() -> None:
    request = call(messages=[Message("user", "Is it?")], function=None, max_tokens=64, expects=8)
    with LlmServer(answerers=[Musing(500, "", "The claim is that.")], keys=None) as server:
        asked = Asked(server, [request])
    assert asked.completion.choices[0].finish_reason == "length"
    assert [entry.body["max_tokens"] for entry in server.chats] == [64]
