"""The scripted model that ships for users' own tests."""

import asyncio
from typing import Any

import pytest

from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Completion, LlmError, Message, Request

REQUEST = Request("verifier", "m", [Message("user", "ready?")], step="verify")


def ask(script: Any) -> Completion:
    return asyncio.run(FakeClient(script).complete(REQUEST))


def test_an_exhausted_script_says_what_it_was_asked() -> None:
    assert ask(lambda request: "READY!").choices[0].text == "READY!"
    with pytest.raises(LlmError, match=r"has 0 replies and this is request 1: verify, 'ready\?'"):
        ask([])
