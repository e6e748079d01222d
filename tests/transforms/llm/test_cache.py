"""No request twice: what is kept, what is shared while it is under way, and what never is."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from ufo.transforms.llm.answer_store import SqliteStore, StoreError
from ufo.transforms.llm.cache import CachingClient, request_keys
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.memory import Memory, packed
from ufo.transforms.llm.request import Choice, Completion, LlmError, Message, Request
from ufo.transforms.llm.usage import usage_row

SETTINGS = ClientSettings({"verifier": Endpoint("m", "http://localhost:1/v1")})
THERE = ClientSettings({"verifier": Endpoint("m", "http://localhost:2/v1")})
ASKED = Request("verifier", "m", [Message("user", "One?")], step="verify", response_id="r1")
Run = Callable[..., Any]


class Model(FakeClient):
    """Answers with the number of the choice; `replies` go before. Waits for `gate`, if set."""

    def __init__(self, *replies: Choice | Exception) -> None:
        super().__init__(self._reply)
        self.replies = list(replies)
        self.gate: asyncio.Event | None = None
        self.numbers = count(1)

    def _reply(self, request: Request) -> Any:
        if self.replies:
            return self.replies.pop(0)
        return [Choice(f"answer {next(self.numbers)}", logprob_mean=-0.5) for _ in range(request.n)]

    async def complete(self, request: Request) -> Completion:
        made = await super().complete(request)
        if self.gate is not None:
            await self.gate.wait()
        row = replace(
            made.usage[0], prompt_tokens=10 * request.n, completion_tokens=3, cost_usd=0.01
        )
        return replace(made, usage=[row])


def texts(completion: Completion) -> list[str]:
    return [choice.text for choice in completion.choices]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Asks a model at once, with a cache before it, each time as a process of its own would."""
    stores: list[SqliteStore] = []

    def one(model: Model, *requests: Request, settings: ClientSettings = SETTINGS) -> Any:
        async def ask() -> list[Any]:
            client = CachingClient(model, settings, Memory(stores[-1]))
            asked = (client.complete(request) for request in requests)
            return await asyncio.gather(*asked, return_exceptions=True)

        stores.append(SqliteStore(str(tmp_path / "cache.sqlite"), pytest.fail))
        return asyncio.run(ask())

    yield one
    for store in stores:
        store.close()


@pytest.mark.parametrize(
    ("change", "settings", "asked"),
    [
        ({"model": "m2"}, SETTINGS, 2),
        ({"messages": [Message("user", "Two?")]}, SETTINGS, 2),
        ({"messages": [Message("system", "One?")]}, SETTINGS, 2),
        ({"temperature": 0.5}, SETTINGS, 2),
        ({"logprobs": True}, SETTINGS, 2),
        ({}, THERE, 2),
        ({"response_id": "r2"}, replace(SETTINGS, share=False), 2),
        ({"max_tokens": 5, "expects": 3}, SETTINGS, 1),
        ({"role": "knowledge"}, SETTINGS, 1),
    ],
)
def test_another_request_is_another_answer(
    run: Run, change: Mapping[str, Any], settings: ClientSettings, asked: int
) -> None:
    model = Model()
    first = replace(SETTINGS, share=settings.share)
    for request, told in 2 * [(ASKED, first), (replace(ASKED, **change), settings)]:
        run(model, request, settings=told)
    assert len(model.requests) == asked


def test_each_sample_is_kept_by_its_number(run: Run) -> None:
    model = Model()
    three, five, two = (run(model, replace(ASKED, n=n))[0] for n in (3, 5, 2))
    assert [request.n for request in model.requests] == [3, 2]
    assert texts(five) == [*texts(three), "answer 4", "answer 5"]
    assert texts(two) == ["answer 1", "answer 2"] == texts(three)[:2]
    cached, sent = five.usage
    assert (cached.cached, cached.prompt_tokens, cached.completion_tokens) == (True, 30, 3)
    assert (sent.cached, sent.prompt_tokens) == (False, 20)


def test_equal_requests_under_way_are_sent_once(run: Run) -> None:
    model = Model()
    completions = run(model, *(replace(ASKED, response_id=f"r{n}") for n in range(4)))
    assert len(model.requests) == 1
    assert [texts(completion) for completion in completions] == [["answer 1"]] * 4
    rows = [row for completion in completions for row in completion.usage]
    told = [(row.response_id, row.coalesced, row.request_id) for row in rows]
    assert told == [(f"r{n}", n > 0, "fake-1") for n in range(4)]
    assert sum(row.prompt_tokens for row in rows) == 10
    assert sum(row.cost_usd for row in rows) == 0.01


@pytest.mark.parametrize("gone", [0, 1])
def test_who_waits_or_is_asked_for_may_be_cancelled_without_the_others(gone: int) -> None:
    async def ask() -> list[Any]:
        model = Model()
        model.gate = asyncio.Event()
        client = CachingClient(model, SETTINGS, Memory(None))
        tasks = [asyncio.ensure_future(client.complete(ASKED)) for _ in range(2 + gone)]
        while not model.requests:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks.pop(gone).cancel()
        await asyncio.sleep(0)
        model.gate.set()
        found = await asyncio.gather(*tasks)
        assert len(model.requests) == 2 - gone
        # Nothing is kept without a store: what is asked for later is asked again.
        await client.complete(ASKED)
        assert len(model.requests) == 3 - gone
        return found

    assert {texts(one)[0] for one in asyncio.run(ask())} == {f"answer {2 - gone}"}


def test_an_error_is_neither_kept_nor_shared(run: Run) -> None:
    failed = usage_row("verify", None, "m", "r1")
    model = Model(LlmError("down", usage=[failed]))
    error, completion = run(model, ASKED, ASKED)
    assert isinstance(error, LlmError)
    assert error.usage == (failed,)
    assert [texts(one) for one in (completion, *run(model, ASKED))] == [["answer 1"]] * 2
    assert len(model.requests) == 2


REFUSED, FILTERED = Choice("", refusal="No."), Choice("Some", finish_reason="content_filter")
CUT_OFF = Choice("Some", finish_reason="length")


@pytest.mark.parametrize("reply", [REFUSED, FILTERED, CUT_OFF, Choice(" \n")])
def test_what_is_no_answer_is_asked_for_again(run: Run, reply: Choice) -> None:
    model = Model(reply)
    found = [texts(run(model, ASKED)[0]) for _ in range(3)]
    assert found == [[reply.text], ["answer 1"], ["answer 1"]]
    # Whoever asks may tell what an answer is.
    model = Model(Choice("no"), CUT_OFF)
    picky = replace(ASKED, step="picky", temperature=0.3, keep=lambda one: one.text == "Some")
    assert [texts(run(model, picky)[0]) for _ in range(3)] == [["no"], ["Some"], ["Some"]]


def test_an_entry_of_another_shape_is_asked_for_anew(run: Run, tmp_path: Path) -> None:
    model = Model()
    run(model, ASKED)
    store = SqliteStore(str(tmp_path / "cache.sqlite"))
    store.put_many({request_keys(ASKED, SETTINGS)[0]: packed({"choice": {"nonsense": 1}})})
    store.close()
    assert texts(run(model, ASKED)[0]) == ["answer 2"]


@pytest.mark.parametrize(("reads", "word"), [(True, "written"), (False, "read")])
def test_a_store_that_fails_is_reported_of_once_and_done_without(reads: bool, word: str) -> None:
    said: list[str] = []
    found: Any = {} if reads else StoreError("the disk is gone")
    store = Mock(threads=1, get_many=Mock(side_effect=[found] * 9))
    store.put_many.side_effect = StoreError("the disk is full")
    memory = Memory(store, report=said.append)
    asked = [replace(ASKED, messages=[Message("user", str(n))]) for n in range(5)]

    async def ask() -> list[Completion]:
        client = CachingClient(Model(), SETTINGS, memory)
        return [await client.complete(request) for request in asked]

    assert len(asyncio.run(ask())) == 5
    (message,) = said
    assert f"cannot be {word}" in message
    assert "the disk is" in message
    assert not memory.writes
