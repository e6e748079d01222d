"""What a run learns of an endpoint while it asks: forms, caps, thoughts, and errors in replies."""

from dataclasses import replace
from typing import Any

import pytest

from tests.llm_server import Chat, LlmServer, Reply, Switches, faults
from tests.llm_server.chat import LONG, LONG_APART, THOUGHTS
from tests.llm_server.errors import ApiError
from tests.llm_server.profiles import of_example, refusals
from tests.transforms.llm.asked import ALL, Asked, call
from ufo.schemas.records import TRANSPORT, TRUNCATED
from ufo.transforms.llm.capabilities import FORMS, JSON_OBJECT, WORDS, Capabilities
from ufo.transforms.llm.request import Function, LlmError, Message

WORD = {"type": "string", "enum": ["x", "y"]}
SCHEMA = {
    "type": "object",
    "properties": {"words": {"type": "array", "items": {"$ref": "#/$defs/word"}, "maxItems": 2}},
    "required": ["words"],
    "additionalProperties": False,
    "$defs": {"word": WORD},
}
ASKED = call(function=Function("choose", "Chooses words.", SCHEMA), max_tokens=600, expects=100)
SAID = '{"words": ["x"]}'
GRAMMARS = [one for row in refusals() if row["kind"] == "schema" for one in row["examples"]]
CAPS = [one for row in refusals() if row["kind"] == "cap" for one in row["examples"]]


def said(asked: Asked) -> list[str]:
    return [one.choices[0].arguments or one.choices[0].text for one in asked.results]


@pytest.mark.parametrize("example", GRAMMARS, ids=lambda one: one["says"][:30])
def test_a_schema_is_written_out_before_a_form_is_given_up(
    llm_server: LlmServer, example: Any
) -> None:
    llm_server.switches = of_example("schema", example)
    assert said(Asked(llm_server, [ASKED, ASKED])) == [SAID] * 2
    assert [entry.status for entry in llm_server.chats][1:] == [200, 200]
    (tool,) = llm_server.chats[-1].body["tools"]
    assert "strict" not in tool["function"]
    words = {"type": "array", "items": WORD}
    written_out = {"type": "object", "properties": {"words": words}, "required": ["words"]}
    assert tool["function"]["parameters"] == written_out


def test_a_refusal_of_one_text_ruins_the_form_for_nobody(llm_server: LlmServer) -> None:
    refused = ApiError(400, "the tools of the trade in this text are not allowed")
    llm_server.faults.extend([None, *[faults.Fault("error", refused)] * 5])
    asked = Asked(llm_server, [ASKED, ASKED])
    error = asked.results[1]
    llm_server.faults.clear()
    assert isinstance(error, LlmError)
    assert (error.unexplained, error.reason, error.final) == (True, TRANSPORT, False)
    assert "answered 400: the tools of the trade" in error.message
    assert said(Asked(llm_server, [ASKED])) == [SAID]
    assert llm_server.chats[-1].body["tool_choice"] == llm_server.chats[0].body["tool_choice"]


@pytest.mark.parametrize("example", CAPS, ids=lambda one: one["of"])
def test_a_reply_is_limited_to_what_the_model_allows(llm_server: LlmServer, example: Any) -> None:
    llm_server.switches = replace(of_example("cap", example), cap=300)
    assert said(Asked(llm_server, [ASKED, ASKED])) == [SAID] * 2
    limits = [entry.body["max_tokens"] for entry in llm_server.chats]
    assert limits[0] == 600
    assert 150 <= limits[-1] <= 300
    assert [entry.status for entry in llm_server.chats].count(400) <= 2


def test_a_cap_below_what_is_expected_asks_for_less(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(cap=60)
    error = Asked(llm_server, [ASKED]).error
    assert error.reason == TRUNCATED
    assert "at most 60 completion tokens" in error.message


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


TOO_MUCH = "Could not finish the message because max_tokens or model output limit was reached."
ROOM = 600 + 8192


@pytest.mark.parametrize(
    ("error", "limits", "pauses"),
    [
        (ApiError(400, TOO_MUCH), [600, ROOM], 0),  # thoughts without an end
        (ApiError(200, "Provider returned error", code="502"), [600, 600], 1),
        (ApiError(200, "Overloaded, try again later"), [600, 600], 1),
    ],
)
def test_an_error_that_passes_or_asks_for_more_room_is_mended(
    llm_server: LlmServer, error: ApiError, limits: list[int], pauses: int
) -> None:
    llm_server.faults.append(faults.Fault("error", error))
    asked = Asked(llm_server, [ASKED])
    assert said(asked) == [SAID]
    assert [entry.body["max_tokens"] for entry in llm_server.chats] == limits
    assert len(asked.pauses) == pauses


NOT_LOADED = "No models loaded. Please load a model"
UNKNOWN = "The model `offline-judge` does not exist."


@pytest.mark.parametrize("known", [None, ALL])
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ApiError(200, "the flux"), ["answered 200 with the error 400: the flux"]),
        (ApiError(404, NOT_LOADED), ["has no model loaded (404: No", "load 'offline-judge' there"]),
        (ApiError(404, UNKNOWN), ["it has offline-judge, offline-judge-small"]),
    ],
)
def test_an_error_has_the_endpoints_words_and_a_remedy(
    llm_server: LlmServer, error: ApiError, words: list[str], known: Capabilities | None
) -> None:
    llm_server.switches = Switches(fails=error)
    message = Asked(llm_server, [ASKED], known).error.message
    assert [word for word in words if word not in message] == []
    assert "Did you mean" not in message  # a model that is listed is not guessed


class Musing:
    """Thinks aloud, in so many words, without a tag where its thoughts begin."""

    def __init__(self, begins: str, ends: str) -> None:
        self.said = f"{begins} {'Hm. ' * 500}{ends}True"

    def matches(self, chat: Chat) -> bool:
        return chat.user == "Is it?"

    def answer(self, chat: Chat) -> Reply:
        return Reply(self.said, step="verify")


@pytest.mark.parametrize(
    ("begins", "ends", "text", "limits"),
    [
        ("Let me see.", "</think>", "True", [64, 64 + 8192, 64 + 8192]),
        ("Let me see.", "", "Let ", [64, 64 + 8192, 64]),
        ("The claim is that.", "", "The ", [64, 64]),
    ],
    ids=["it thought", "it only talks much", "does not read like thoughts"],
)
def test_a_reply_that_is_cut_off_in_thoughts_without_a_tag_gets_more_room(
    begins: str, ends: str, text: str, limits: list[int]
) -> None:
    request = call(messages=[Message("user", "Is it?")], function=None, max_tokens=64, expects=8)
    with LlmServer(answerers=[Musing(begins, ends)], keys=None) as server:
        choices = [one.choices[0] for one in Asked(server, [request, request]).results]
    assert [entry.body["max_tokens"] for entry in server.chats] == limits
    assert choices[0].text[:4] == text
    assert choices[1].finish_reason == ("stop" if text == "True" else "length")
