"""Requests that are too long, replies that run on, and prompts that are cut: over real HTTP."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from tests.llm_server import PROFILES, LlmServer, Switches
from tests.llm_server.chat import Chat, Reply
from tests.transforms.llm.asked import ALL, Asked, call, sample
from ufo.schemas.records import TRUNCATED
from ufo.transforms.llm.capabilities import PROBE
from ufo.transforms.llm.request import Message
from ufo.transforms.llm.wire import answer, body

LONG = "word " * 3000


def long(**changes: Any) -> Any:
    return sample(1, messages=[Message("user", LONG)], max_tokens=300, expects=40, **changes)


def test_a_reply_is_limited_to_what_the_context_has_left(llm_server: LlmServer) -> None:
    llm_server.switches = replace(PROFILES["vllm"], context=3200)
    asked = Asked(llm_server, [long(), long()])
    assert [entry.status for entry in llm_server.chats] == [400, 200, 200]
    assert llm_server.chats[0].body["max_tokens"] == 300
    assert 40 <= llm_server.chats[1].body["max_tokens"] < 200
    assert [row.status for row in asked.completion.usage] == ["400", "ok"]


def test_what_certainly_does_not_fit_is_sent_once(llm_server: LlmServer) -> None:
    llm_server.switches = replace(PROFILES["llamacpp"], context=1000)
    asked = Asked(llm_server, [long(), long(), sample(1)])
    assert [entry.status for entry in llm_server.chats] == [400, 200]
    first, second, _ = asked.results
    assert first.reason == second.reason == TRUNCATED
    assert not first.final
    assert "exceeds the available context size" in first.message
    assert "was not sent" in second.message
    assert all("-c for llama.cpp" in error.message for error in (first, second))
    assert second.usage == ()


def test_a_context_that_is_given_keeps_a_request_from_being_sent(llm_server: LlmServer) -> None:
    assert Asked(llm_server, [long()], context=1000).error.reason == TRUNCATED
    assert llm_server.chats == []


def test_a_cut_prompt_is_no_answer(llm_server: LlmServer, caplog: pytest.LogCaptureFixture) -> None:
    llm_server.switches = Switches(context=2048, cuts=True)
    with caplog.at_level(logging.WARNING, "ufo.llm"):
        asked = Asked(llm_server, [long(), long()])
    assert [error.reason for error in asked.results] == [TRUNCATED, TRUNCATED]
    assert "read 1,026 tokens of a prompt of about 3,004" in asked.error.message
    assert "--context" in asked.error.message
    (row,) = asked.error.usage  # it was paid for
    assert (row.status, row.prompt_tokens) == ("ok", 1026)
    assert len(caplog.records) == 1  # told once


class Rambling:
    """Never comes to an end."""

    def matches(self, chat: Chat) -> bool:
        return True

    def answer(self, chat: Chat) -> Reply:
        return Reply("and then " * 5000)


def test_a_reply_that_runs_away_ends() -> None:
    with LlmServer([Rambling()]) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", server.key)
        choice = Asked(server, [sample(1, max_tokens=256)]).completion.choices[0]
    assert choice.finish_reason == "length"
    assert len(choice.text.split()) == 256


def test_a_model_that_thinks_has_room_for_it() -> None:
    thinks = replace(ALL, thinks=True)
    asked = call(max_tokens=300)
    assert body(asked, "m", ALL, 1)["max_tokens"] == 300
    assert body(asked, "m", thinks, 1)["max_tokens"] == 300 + 8192
    assert body(replace(asked, step=PROBE), "m", thinks, 1)["max_tokens"] == 300
    assert body(asked, "m", replace(thinks, most_tokens=4096), 1)["max_tokens"] == 4096


@pytest.mark.parametrize(
    ("message", "usage", "thinks"),
    [
        ({"content": "Yes."}, {}, False),
        ({"content": "Yes."}, {"completion_tokens_details": {"reasoning_tokens": 0}}, False),
        ({"content": "Yes."}, {"completion_tokens_details": {"reasoning_tokens": 64}}, True),
        ({"content": "Yes.", "reasoning_content": "Well."}, {}, True),
        ({"content": "Yes.", "reasoning": "Well."}, {}, True),
        ({"content": "<think>Well.</think> Yes."}, {}, True),
        ({"content": None}, {"completion_tokens_details": "none"}, False),
    ],
)
def test_whether_a_model_thinks_is_seen_in_its_reply(
    message: dict[str, Any], usage: dict[str, Any], thinks: bool
) -> None:
    payload = {"choices": [{"message": message}], "usage": usage}
    assert answer(payload, None).thinks is thinks
