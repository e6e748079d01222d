"""The scripted model that ships for users' own tests."""

import asyncio
from typing import Any

import pytest

from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Choice, Completion, LlmError, Message, Request

REQUEST = Request("verifier", "m", [Message("user", "ready?")], step="verify", response_id="r1")
TWO = Request("knowledge", "m", REQUEST.messages, n=2)


def ask(client: FakeClient, request: Request = REQUEST) -> Completion:
    return asyncio.run(client.complete(request))


def test_replies_are_those_of_the_script_in_turn() -> None:
    filtered = Choice(finish_reason="content_filter")
    whole = Completion([Choice("x")], "id")
    script: list[Any] = [{"word": "ready"}, "some text", filtered, "same", ["one", "two"], whole]
    client = FakeClient([*script, LlmError("broken", "filtered")])
    completion = ask(client)
    assert completion.choices[0].arguments == '{"word": "ready"}'
    (row,) = completion.usage
    assert (row.request_id, row.step) == (completion.request_id, "verify")
    assert [ask(client).choices for _ in range(2)] == [[Choice("some text")], [filtered]]
    texts = [[choice.text for choice in ask(client, TWO).choices] for _ in range(2)]
    assert texts == [["same", "same"], ["one", "two"]]
    assert ask(client) is whole
    with pytest.raises(LlmError, match="broken"):
        ask(client)
    assert client.requests == [REQUEST] * 3 + [TWO] * 2 + [REQUEST] * 2


def test_an_exhausted_script_says_what_it_was_asked() -> None:
    assert ask(FakeClient(lambda request: "READY!")).choices[0].text == "READY!"
    with pytest.raises(LlmError, match=r"has 0 replies and this is request 1: verify, 'ready\?'"):
        ask(FakeClient([]))
