"""No request twice: what is kept, what is shared while it is under way, and what never is."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.transforms.llm.cached import ASKED, SETTINGS, Ask, Model, complete, texts
from ufo.schemas.records import Usage
from ufo.transforms.llm.answer_store import SqliteStore
from ufo.transforms.llm.cache import CachingClient, request_keys
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.memory import Memory, packed
from ufo.transforms.llm.request import KNOWLEDGE, VERIFIER, Choice, LlmError, Message


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Runs `ask` with a client before a model, each time as a process of its own would."""
    stores = []

    def one(model: Model, ask: Ask, settings: ClientSettings = SETTINGS) -> Any:
        def tell(message: str) -> None:
            raise AssertionError(message)

        stores.append(SqliteStore(str(tmp_path / "cache.sqlite"), tell))
        return asyncio.run(_asked(ask, CachingClient(model, settings, Memory(stores[-1]))))

    yield one
    for store in stores:
        store.close()


async def _asked(ask: Ask, client: CachingClient) -> Any:
    return await ask(client)


def test_what_was_answered_is_not_asked_again(run: Callable[..., Any]) -> None:
    first, second = Model(), Model()
    (cold,) = run(first, complete(ASKED))
    (warm,) = run(second, complete(replace(ASKED, step="other", response_id="r2")))
    assert len(first.requests) == 1
    assert second.requests == []
    assert warm.choices == cold.choices
    assert warm.request_id == cold.request_id == "q1"
    (row,) = warm.usage
    assert (row.cached, row.coalesced, row.status) == (True, False, "ok")
    assert (row.step, row.response_id, row.model) == ("other", "r2", "m")
    assert (row.prompt_tokens, row.completion_tokens, row.cost_usd) == (10, 3, 0.0)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "m2"},
        {"messages": [Message("user", "Two?")]},
        {"messages": [Message("system", "One?")]},
        {"temperature": 0.5},
        {"logprobs": True},
    ],
)
def test_another_request_is_another_answer(
    run: Callable[..., Any], change: Mapping[str, Any]
) -> None:
    model = Model()
    run(model, complete(ASKED))
    run(model, complete(replace(ASKED, **change)))
    assert len(model.requests) == 2


def test_what_a_reply_is_limited_to_is_no_other_request(run: Callable[..., Any]) -> None:
    model = Model()
    run(model, complete(ASKED))
    run(model, complete(replace(ASKED, max_tokens=5, expects=3)))
    assert len(model.requests) == 1


def test_another_endpoint_is_another_answer(run: Callable[..., Any]) -> None:
    model = Model()
    there = {VERIFIER: Endpoint("m", "http://localhost:2/v1")}
    for settings in (SETTINGS, replace(SETTINGS, endpoints=there)):
        for _ in range(2):
            run(model, complete(ASKED), settings)
    assert len(model.requests) == 2


def test_roles_at_one_endpoint_share_answers(run: Callable[..., Any]) -> None:
    model = Model()
    run(model, complete(ASKED))
    run(model, complete(replace(ASKED, role=KNOWLEDGE)))
    assert len(model.requests) == 1


def test_each_sample_is_kept_by_its_number(run: Callable[..., Any]) -> None:
    model = Model()
    (three,) = run(model, complete(replace(ASKED, n=3)))
    (five,) = run(model, complete(replace(ASKED, n=5)))
    (two,) = run(model, complete(replace(ASKED, n=2)))
    assert [request.n for request in model.requests] == [3, 2]
    assert texts(three) == ["answer 1", "answer 2", "answer 3"]
    assert texts(five) == [f"answer {n}" for n in range(1, 6)]
    assert texts(two) == ["answer 1", "answer 2"]
    cached, sent = five.usage
    assert (cached.cached, cached.prompt_tokens, cached.completion_tokens) == (True, 30, 3)
    assert (sent.cached, sent.prompt_tokens) == (False, 20)


def test_equal_requests_under_way_are_sent_once(run: Callable[..., Any]) -> None:
    model = Model()
    gate = model.gate = asyncio.Event()
    others = [replace(ASKED, response_id=f"r{n}") for n in range(2, 5)]

    async def ask(client: CachingClient) -> Any:
        waiting = asyncio.gather(*map(client.complete, [ASKED, *others]))
        while not model.requests:
            await asyncio.sleep(0)
        gate.set()
        return await waiting

    completions = run(model, ask)
    assert len(model.requests) == 1
    assert {tuple(texts(completion)) for completion in completions} == {("answer 1",)}
    rows = [row for completion in completions for row in completion.usage]
    assert [row.coalesced for row in rows] == [False, True, True, True]
    assert [row.response_id for row in rows] == ["r1", "r2", "r3", "r4"]
    assert {row.request_id for row in rows} == {"q1"}
    assert sum(row.prompt_tokens for row in rows) == 10
    assert sum(row.cost_usd for row in rows) == 0.01


def test_who_waits_may_be_cancelled_without_the_others(run: Callable[..., Any]) -> None:
    model = Model()
    gate = model.gate = asyncio.Event()

    async def ask(client: CachingClient) -> Any:
        tasks = [asyncio.ensure_future(client.complete(ASKED)) for _ in range(3)]
        while not model.requests:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.sleep(0)
        gate.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second, third = run(model, ask)
    assert isinstance(second, asyncio.CancelledError)
    assert texts(first) == texts(third) == ["answer 1"]
    assert len(model.requests) == 1


def test_who_is_asked_for_may_be_cancelled_and_the_others_ask(run: Callable[..., Any]) -> None:
    model = Model()
    gate = model.gate = asyncio.Event()

    async def ask(client: CachingClient) -> Any:
        tasks = [asyncio.ensure_future(client.complete(ASKED)) for _ in range(2)]
        while not model.requests:
            await asyncio.sleep(0)
        tasks[0].cancel()
        gate.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second = run(model, ask)
    assert isinstance(first, asyncio.CancelledError)
    assert texts(second) == ["answer 1"]


def test_an_error_is_neither_kept_nor_shared(run: Callable[..., Any]) -> None:
    failed = Usage("q0", "verify", None, "m", "r1", None, "500", False, False, 0, 1, 0, 0.1, None)
    model = Model(LlmError("down", usage=[failed]))

    async def ask(client: CachingClient) -> Any:
        return await asyncio.gather(
            *(client.complete(ASKED) for _ in range(2)), return_exceptions=True
        )

    error, completion = run(model, ask)
    assert isinstance(error, LlmError)
    assert error.usage == (failed,)
    assert texts(completion) == ["answer 1"]
    (again,) = run(model, complete(ASKED))
    assert texts(again) == ["answer 1"]
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    "reply",
    [
        Choice("", refusal="I cannot."),
        Choice("Some", finish_reason="content_filter"),
        Choice("Some", finish_reason="length"),
        Choice(" \n"),
    ],
)
def test_what_is_no_answer_is_asked_for_again(run: Callable[..., Any], reply: Choice) -> None:
    model = Model(reply)
    assert run(model, complete(ASKED))[0].choices == [reply]
    assert texts(run(model, complete(ASKED))[0]) == ["answer 1"]
    assert texts(run(model, complete(ASKED))[0]) == ["answer 1"]
    assert len(model.requests) == 2


def test_whoever_asks_may_tell_what_an_answer_is(run: Callable[..., Any]) -> None:
    model = Model(Choice("no"), Choice("yes", finish_reason="length"))
    picky = replace(ASKED, keep=lambda choice: choice.text == "yes")
    found = [texts(run(model, complete(picky))[0]) for _ in range(3)]
    assert found == [["no"], ["yes"], ["yes"]]


def test_without_sharing_only_the_response_itself_takes_its_answers(
    run: Callable[..., Any],
) -> None:
    model = Model()
    apart = replace(SETTINGS, share=False)
    for _ in range(2):
        run(model, complete(ASKED, replace(ASKED, response_id="r2")), apart)
    assert [request.response_id for request in model.requests] == ["r1", "r2"]


def test_an_entry_of_another_shape_is_asked_for_anew(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    model = Model()
    run(model, complete(ASKED))
    (key,) = request_keys(ASKED, SETTINGS)
    store = SqliteStore(str(tmp_path / "cache.sqlite"))
    store.put_many({key: packed({"choice": {"nonsense": 1}})})
    store.close()
    assert texts(run(model, complete(ASKED))[0]) == ["answer 2"]
