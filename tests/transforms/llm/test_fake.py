"""The scripted model that ships for users' own tests."""

import asyncio

import pytest

from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Choice, Completion, Function, LlmError, Message, Request

REQUEST = Request("verifier", "m", [Message("user", "ready?")], step="verify", response_id="r1")
FUNCTION = Function("report", "Reports a word.", {"type": "object"})


def test_the_example_of_its_documentation() -> None:
    client = FakeClient([{"word": "ready"}, "some text", Choice(finish_reason="content_filter")])

    async def ask() -> list[Choice]:
        return [(await client.complete(REQUEST)).choices[0] for _ in range(3)]

    call, text, filtered = asyncio.run(ask())
    assert call.arguments == '{"word": "ready"}'
    assert text.text == "some text"
    assert text.arguments is None
    assert filtered.finish_reason == "content_filter"
    assert client.requests == [REQUEST] * 3


def test_a_function_answers_whatever_comes() -> None:
    client = FakeClient(lambda request: request.messages[-1].content.upper())
    assert asyncio.run(client.complete(REQUEST)).choices[0].text == "READY?"


def test_several_choices() -> None:
    client = FakeClient(["same", ["one", "two"]])
    two = Request("knowledge", "m", REQUEST.messages, n=2)
    assert [c.text for c in asyncio.run(client.complete(two)).choices] == ["same", "same"]
    assert [c.text for c in asyncio.run(client.complete(two)).choices] == ["one", "two"]


def test_errors_and_whole_completions_pass_as_they_are() -> None:
    completion = Completion([Choice("x")], "id")
    client = FakeClient([LlmError("broken", "filtered"), completion])
    with pytest.raises(LlmError, match="broken"):
        asyncio.run(client.complete(REQUEST))
    assert asyncio.run(client.complete(REQUEST)) is completion


def test_an_exhausted_script_says_what_it_was_asked() -> None:
    with pytest.raises(LlmError, match=r"has 0 replies and this is request 1: verify, 'ready\?'"):
        asyncio.run(FakeClient([]).complete(REQUEST))


def test_each_request_leaves_a_usage_row() -> None:
    client = FakeClient(["a"])
    completion = asyncio.run(client.complete(REQUEST))
    assert [(row.request_id, row.step, row.response_id) for row in completion.usage] == [
        (completion.request_id, "verify", "r1")
    ]
