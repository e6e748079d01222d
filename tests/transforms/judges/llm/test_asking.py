"""Calls that do not fit: halved before they are sent, or where the endpoint refused them."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ufo.schemas.records import TRUNCATED
from ufo.transforms.judges.llm.asking import (
    AskedValue,
    Asker,
    Form,
    Parsed,
    Question,
    ask_for_items,
)
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import VERIFIER, Choice, LlmError, Request
from ufo.transforms.prompts import load_prompts


def form(words: int) -> Form[int, int]:
    """Asks for the squares of numbers, with 10 tokens of a reply for each."""

    def question(items: Sequence[int], wrong: str) -> Question:
        return Question("square " * words, json.dumps(list(items)), None, 10 * len(items))

    def parse(choice: Choice, items: Sequence[int], call: bool) -> Parsed[int, int]:
        told = json.loads(choice.text) if choice.text.startswith("{") else {}
        return Parsed({int(number): square for number, square in told.items()}, "it was none")

    return Form(question, parse)


class Limited(FakeClient):
    """A model with a limit of the tokens of a reply, or of request and reply together."""

    def __init__(self, script: Any, room: int | None = None, cap: int | None = None) -> None:
        super().__init__(script)
        self._limits = room, cap

    def room(self, request: Request) -> int | None:
        return self._limits[0]

    def cap(self, request: Request) -> int | None:
        return self._limits[1]


def squares(request: Request) -> Any:
    return json.dumps({number: number**2 for number in asked(request)})


def asked(request: Request) -> list[int]:
    return list(json.loads(request.messages[-1].content.partition("\n")[0]))


def ask(client: FakeClient, count: int, words: int = 1) -> tuple[dict[int, AskedValue[int]], Asker]:
    asker = Asker(client, load_prompts(), Request(VERIFIER, "m", (), step="verify"))
    return asyncio.run(ask_for_items(range(count), form(words), asker)), asker


@pytest.mark.parametrize(
    ("limits", "calls"), [({"cap": 50}, [4, 4]), ({"room": 40}, [4, 4]), ({"cap": 100}, [8])]
)
def test_a_call_is_packed_below_what_the_reply_may_hold(
    limits: dict[str, int], calls: list[int]
) -> None:
    client = Limited(squares, **limits)
    answers, asker = ask(client, 8)
    assert [answers[number].value for number in range(8)] == [n**2 for n in range(8)]
    assert [len(asked(request)) for request in client.requests] == calls
    assert not asker.failures


def refusing(most: int, **error: Any) -> Callable[[Request], Any]:
    def reply(request: Request) -> Any:
        if len(asked(request)) <= most:
            return squares(request)
        return LlmError("400: the sky is too blue", **error)

    return reply


def test_what_is_too_long_is_halved_until_it_fits() -> None:
    client = FakeClient(refusing(1, reason=TRUNCATED))
    answers, asker = ask(client, 4)
    assert [answers[number].value for number in range(4)] == [0, 1, 4, 9]
    assert [len(asked(request)) for request in client.requests] == [4, 2, 2, 1, 1, 1, 1]
    assert not asker.failures


def test_a_large_call_refused_in_unknown_words_is_halved_once() -> None:
    client = FakeClient(refusing(2, unexplained=True))
    answers, _ = ask(client, 4, words=1000)
    assert [answers[number].value for number in range(4)] == [0, 1, 4, 9]
    assert [len(asked(request)) for request in client.requests] == [4, 2, 2]


@pytest.mark.parametrize(("words", "calls"), [(1000, [4, 2, 2]), (10, [4])])
def test_an_unknown_refusal_of_a_half_or_of_a_small_call_is_an_error_in_its_words(
    words: int, calls: list[int]
) -> None:
    client = FakeClient(refusing(1, unexplained=True))
    answers, asker = ask(client, 4, words)
    assert [len(asked(request)) for request in client.requests] == calls
    assert {answer.value for answer in answers.values()} == {None}
    assert {answer.reply.raw for answer in answers.values()} == {"400: the sky is too blue"}
    assert {failure.message for failure in asker.failures} == {"400: the sky is too blue"}
