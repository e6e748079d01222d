"""No request twice: what is kept, what is shared while it is under way, and what never is."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from ufo.schemas.records import Usage
from ufo.transforms.llm.cache import JsonCache
from ufo.transforms.llm.caching_client import CachingClient, request_keys
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Choice, Completion, Function, LlmError, Message, Request
from ufo.transforms.llm.store import SqliteStore, StoreError, pack
from ufo.transforms.llm.usage import usage_row

SETTINGS = ClientSettings({"verifier": Endpoint("m", "http://localhost:1/v1")})
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
        completion = await super().complete(request)
        if self.gate is not None:
            await self.gate.wait()
        row = replace(
            completion.usage[0], prompt_tokens=10 * request.n, completion_tokens=3, cost_usd=0.01
        )
        return replace(completion, usage=[row])


def texts(completion: Completion) -> list[str]:
    return [choice.text for choice in completion.choices]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Asks a model at once, with a cache before it, each time as a process of its own would."""
    stores: list[SqliteStore] = []

    def ask_model(
        model: FakeClient, *requests: Request, settings: ClientSettings = SETTINGS
    ) -> Any:
        async def ask() -> list[Any]:
            client = CachingClient(model, settings, JsonCache(stores[-1]))
            asked = (client.complete(request) for request in requests)
            return await asyncio.gather(*asked, return_exceptions=True)

        stores.append(SqliteStore(str(tmp_path / "cache.sqlite"), pytest.fail))
        return asyncio.run(ask())

    yield ask_model
    for store in stores:
        store.close()


FUNCTION = Function("judge", "Judges it.", {"type": "object"}, {"verdict": "T"})
CALLED = replace(ASKED, model="", function=FUNCTION)
OWN = replace(SETTINGS, share=False)


def at(url: str = "http://localhost:1/v1", model: str = "m", **more: Any) -> ClientSettings:
    """The settings of a process whose judge is at another endpoint."""
    return ClientSettings({"verifier": Endpoint(model, url, **more)})


def another(**changes: Any) -> dict[str, Any]:
    """The change to a function that differs in this."""
    return {"function": replace(FUNCTION, **changes)}


def times_asked(run: Run, before: ClientSettings, after: ClientSettings, **change: Any) -> int:
    """How often a model is asked for two requests, each of them made twice."""
    model = Model()
    for request, settings in 2 * [(CALLED, before), (replace(CALLED, **change), after)]:
        run(model, request, settings=settings)
    return len(model.requests)


@pytest.mark.parametrize(
    ("change", "settings"),
    [
        pytest.param({"model": "m2"}, SETTINGS, id="the request's model"),
        pytest.param({"messages": [Message("user", "Two?")]}, SETTINGS, id="a text"),
        pytest.param({"messages": [Message("system", "One?")]}, SETTINGS, id="a role"),
        pytest.param({"messages": [*ASKED.messages] * 2}, SETTINGS, id="a further message"),
        pytest.param({"temperature": 0.5}, SETTINGS, id="the temperature"),
        pytest.param({"logprobs": True}, SETTINGS, id="log-probabilities"),
        pytest.param({"function": None}, SETTINGS, id="no function"),
        pytest.param(another(name="check"), SETTINGS, id="the function's name"),
        pytest.param(another(description="Checks."), SETTINGS, id="the function's description"),
        pytest.param(another(parameters={}), SETTINGS, id="the function's parameters"),
        pytest.param(another(example={}), SETTINGS, id="the function's example"),
        pytest.param({}, at("http://localhost:2/v1"), id="the endpoint's address"),
        pytest.param({}, at(model="m2"), id="the endpoint's model"),
        pytest.param({}, at(body='{"top_k": 1}'), id="the endpoint's added fields"),
    ],
)
def test_another_question_has_an_answer_of_its_own(
    run: Run, change: Mapping[str, Any], settings: ClientSettings
) -> None:
    assert times_asked(run, SETTINGS, settings, **change) == 2


def test_other_added_fields_have_an_answer_of_their_own(run: Run) -> None:
    assert times_asked(run, at(body='{"top_k": 1}'), at(body='{"top_k": 2}')) == 2


def test_responses_that_do_not_share_have_answers_of_their_own(run: Run) -> None:
    assert times_asked(run, OWN, OWN, response_id="r2") == 2


@pytest.mark.parametrize(
    ("change", "settings"),
    [
        pytest.param({"max_tokens": 5}, SETTINGS, id="the limit of the reply"),
        pytest.param({"expects": 3}, SETTINGS, id="the expected length"),
        pytest.param({"role": "knowledge"}, SETTINGS, id="a role with the same endpoint"),
        pytest.param({"step": "extract"}, SETTINGS, id="the step"),
        pytest.param({"source": "web"}, SETTINGS, id="the source"),
        pytest.param({"response_id": "r2"}, SETTINGS, id="the response"),
        pytest.param({"key": "r-1"}, SETTINGS, id="the key of a batch"),
        pytest.param({}, at(timeout=1.0), id="the time-out"),
        pytest.param({}, at(api_key_env="OTHER_KEY"), id="the key's variable"),
        pytest.param({}, at(headers=(("X-Title", "TITLE"),)), id="a header"),
        pytest.param({}, replace(SETTINGS, concurrency=1), id="the concurrency"),
    ],
)
def test_what_does_not_change_the_question_does_not_change_the_answer(
    run: Run, change: Mapping[str, Any], settings: ClientSettings
) -> None:
    assert times_asked(run, SETTINGS, settings, **change) == 1


def test_each_sample_is_kept_by_its_number(run: Run) -> None:
    model = Model()
    three, five, two = (run(model, replace(ASKED, n=n))[0] for n in (3, 5, 2))
    assert [request.n for request in model.requests] == [3, 2]
    assert texts(five) == [*texts(three), "answer 4", "answer 5"]
    assert texts(two) == ["answer 1", "answer 2"]
    assert five.request_id == two.request_id == three.request_id


def test_samples_that_are_kept_and_samples_that_are_sent_have_a_row_each(run: Run) -> None:
    model = Model()
    sent, both, kept = (run(model, replace(ASKED, n=n))[0] for n in (3, 5, 2))
    costs = [
        (row.cached, row.coalesced, row.prompt_tokens, row.completion_tokens, row.cost_usd)
        for completion in (sent, both, kept)
        for row in completion.usage
    ]
    assert costs == [
        (False, False, 30, 3, 0.01),
        (True, False, 30, 3, 0.0),  # the tokens of three kept answers, which cost nothing again
        (False, False, 20, 3, 0.01),
        (True, False, 20, 2, 0.0),
    ]


def test_an_answer_s_tokens_are_those_of_the_request_that_was_answered(run: Run) -> None:
    def tokens(step: str, status: str, number: int) -> Usage:
        row = usage_row(step, None, "m", "r1", f"q{number}")
        return replace(row, status=status, prompt_tokens=number, completion_tokens=number)

    rows = [tokens("probe", "ok", 100), tokens("verify", "429", 1000), tokens("verify", "ok", 7)]
    model = FakeClient([Completion([Choice("yes")], "q7", rows)])
    assert run(model, ASKED)[0].usage == rows
    (row,) = run(model, ASKED)[0].usage
    assert row.prompt_tokens == 7
    assert row.completion_tokens == 7
    assert row.request_id == "q7"


def test_an_answer_that_took_several_requests_has_them_all(run: Run) -> None:
    rows = [replace(usage_row("verify", None, "m", "r1", name), prompt_tokens=5) for name in "ab"]
    model = FakeClient([Completion([Choice("yes")], "a", rows)])
    run(model, ASKED)
    kept = run(model, ASKED)[0].usage
    assert [(row.request_id, row.prompt_tokens) for row in kept] == [("a", 5), ("b", 5)]


def test_choices_that_did_not_come_are_asked_for_with_their_numbers(run: Run) -> None:
    model = FakeClient([Completion([Choice("one"), Choice("two")], "q1"), ["three"]])
    assert texts(run(model, replace(ASKED, n=3))[0]) == ["one", "two"]
    assert texts(run(model, replace(ASKED, n=3))[0]) == ["one", "two", "three"]
    assert [request.n for request in model.requests] == [3, 1]


def test_choices_that_came_before_an_error_are_kept_and_paid_for_once(run: Run) -> None:
    paid = usage_row("verify", None, "m", "r1", "q1")
    failed = replace(usage_row("verify", None, "m", "r1"), status="500")
    model = FakeClient([LlmError("down", usage=[paid, failed], choices=[Choice("one")]), ["two"]])
    (error,) = run(model, replace(ASKED, n=2))
    assert error.usage == (paid, failed)
    assert [choice.text for choice in error.choices] == ["one"]
    (completion,) = run(model, replace(ASKED, n=2))
    assert texts(completion) == ["one", "two"]
    assert [row.cached for row in completion.usage] == [True, False]


def test_an_error_after_kept_choices_tells_of_both(run: Run) -> None:
    failed = usage_row("verify", None, "m", "r1")
    model = FakeClient([["one"], LlmError("down", usage=[failed], final=True)])
    run(model, ASKED)
    (error,) = run(model, replace(ASKED, n=2))
    assert error.final
    assert [choice.text for choice in error.choices] == ["one"]
    assert [row.cached for row in error.usage] == [True, False]
    assert error.request_id == "fake-1"


def test_equal_requests_under_way_are_sent_once(run: Run) -> None:
    model = Model()
    completions = run(model, *(replace(ASKED, response_id=f"r{n}") for n in range(4)))
    assert len(model.requests) == 1
    assert [texts(completion) for completion in completions] == [["answer 1"]] * 4
    rows = [row for completion in completions for row in completion.usage]
    sent = [(row.response_id, row.coalesced, row.request_id) for row in rows]
    assert sent == [(f"r{n}", n > 0, "fake-1") for n in range(4)]
    assert sum(row.prompt_tokens for row in rows) == 10
    assert sum(row.cost_usd for row in rows) == 0.01


@pytest.mark.parametrize("gone", [0, 1])
def test_who_waits_or_is_asked_for_may_be_cancelled_without_the_others(gone: int) -> None:
    async def ask() -> list[Any]:
        model = Model()
        model.gate = asyncio.Event()
        client = CachingClient(model, SETTINGS, JsonCache(None))
        tasks = [asyncio.ensure_future(client.complete(ASKED)) for _ in range(2 + gone)]
        while not model.requests:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks.pop(gone).cancel()
        await asyncio.sleep(0)
        model.gate.set()
        completions = await asyncio.gather(*tasks)
        assert len(model.requests) == 2 - gone
        # Nothing is kept without a store: what is asked for later is asked again.
        await client.complete(ASKED)
        assert len(model.requests) == 3 - gone
        return completions

    assert {texts(one)[0] for one in asyncio.run(ask())} == {f"answer {2 - gone}"}


def test_an_error_is_neither_kept_nor_shared(run: Run) -> None:
    failed = usage_row("verify", None, "m", "r1")
    model = Model(LlmError("down", usage=[failed]))
    error, completion = run(model, ASKED, ASKED)
    assert isinstance(error, LlmError)
    assert error.usage == (failed,)
    assert [texts(one) for one in (completion, *run(model, ASKED))] == [["answer 1"]] * 2
    assert len(model.requests) == 2


def test_after_an_error_of_its_own_nothing_is_asked_for_in_place_of_others(run: Run) -> None:
    model = Model(LlmError("down"), LlmError("down"))
    first, two = run(model, ASKED, replace(ASKED, n=2))
    assert (first.message, two.message) == ("down", "down")
    assert [request.n for request in model.requests] == [1, 1]


CUT_OFF = Choice("Some", finish_reason="length")


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Choice("Some", refusal="No."), id="a refusal"),
        pytest.param(Choice("Some", finish_reason="content_filter"), id="a filtered text"),
        pytest.param(CUT_OFF, id="a text that was cut off"),
        pytest.param(Choice(" \n"), id="white space"),
        pytest.param(Choice(arguments=""), id="empty arguments"),
    ],
)
def test_what_is_no_answer_is_asked_for_again(run: Run, reply: Choice) -> None:
    model = Model(reply)
    answers = [texts(run(model, ASKED)[0]) for _ in range(3)]
    assert answers == [[reply.text], ["answer 1"], ["answer 1"]]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Choice("Some", finish_reason="stop"), id="a text"),
        pytest.param(Choice(arguments="{}", finish_reason="tool_calls"), id="a call"),
        pytest.param(Choice("Some", finish_reason="eos"), id="a reason of another server"),
    ],
)
def test_a_whole_answer_is_kept_as_it_came(run: Run, reply: Choice) -> None:
    model = Model(reply)
    assert [run(model, ASKED)[0].choices for _ in range(2)] == [[reply], [reply]]


def test_whoever_asks_may_say_what_an_answer_is(run: Run) -> None:
    model = Model(Choice("no"), Choice("Some"))
    picky = replace(ASKED, keep=lambda choice: choice.text == "Some")
    assert [texts(run(model, picky)[0]) for _ in range(3)] == [["no"], ["Some"], ["Some"]]


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "network_error", "", "?"])
def test_a_reply_that_broke_off_is_kept_only_as_complete_json(run: Run, finish: str) -> None:
    whole, half = '{"word": "x"}', '{"word": "x'
    kept = replace(ASKED, keep=lambda choice: True)
    for text, again in ((half, whole), (whole, "another")):
        model = Model(Choice(text, finish_reason=finish), Choice(again))
        asked = replace(kept, messages=[Message("user", text)])
        assert [texts(run(model, asked)[0]) for _ in range(3)][1:] == [[whole]] * 2


KEPT = {"choice": {"text": "kept"}, "request": "q1", "tokens": [1, 2]}


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        pytest.param(KEPT, "kept", id="whole"),
        pytest.param(KEPT | {"tokens": [None, None]}, "kept", id="unknown tokens"),
        pytest.param(KEPT | {"choice": {"nonsense": 1}}, "answer 1", id="another choice"),
        pytest.param(KEPT | {"tokens": ["x", 1]}, "answer 1", id="a word for a number"),
        pytest.param(KEPT | {"tokens": [1]}, "answer 1", id="one number"),
        pytest.param({"choice": {}, "tokens": [1, 2]}, "answer 1", id="no request"),
        pytest.param({"choice": {}, "request": "q1"}, "answer 1", id="no tokens"),
        pytest.param(KEPT | {"choice": {"text": "x", "finish_reason": "length"}}, "answer 1",
                     id="a text that was cut off"),
        pytest.param(KEPT | {"choice": {"finish_reason": 1}}, "answer 1", id="a number for a word"),
        pytest.param([1, 2], "answer 1", id="a list"),
    ],
)  # fmt: skip
def test_another_shape_is_asked_for_anew_and_once(
    run: Run, tmp_path: Path, value: Any, answer: str
) -> None:
    with closing(SqliteStore(str(tmp_path / "cache.sqlite"))) as store:
        store.put_many({request_keys(ASKED, SETTINGS)[0]: pack(value)})
    model = Model()
    assert [texts(run(model, ASKED)[0]) for _ in range(2)] == [[answer]] * 2


def test_a_cache_that_is_only_read_keeps_nothing_new(tmp_path: Path) -> None:
    async def ask(model: Model, writes: bool, *requests: Request) -> None:
        with closing(SqliteStore(str(tmp_path / "cache.sqlite"))) as store:
            client = CachingClient(model, SETTINGS, JsonCache(store, writes))
            for request in requests:
                await client.complete(request)

    other = replace(ASKED, messages=[Message("user", "Two?")])
    model = Model()
    asyncio.run(ask(model, True, ASKED))
    for _ in range(2):
        asyncio.run(ask(model, False, ASKED, other))
    assert [request.messages[0].content for request in model.requests] == ["One?", "Two?", "Two?"]


@pytest.mark.parametrize(("reads", "word"), [(True, "written"), (False, "read")])
def test_a_store_that_fails_is_reported_of_once_and_done_without(reads: bool, word: str) -> None:
    messages: list[str] = []
    lookup: Any = {} if reads else StoreError("the disk is gone")
    store = Mock(threads=1, get_many=Mock(side_effect=[lookup] * 9))
    store.put_many.side_effect = StoreError("the disk is full")
    cache = JsonCache(store, report=messages.append)
    asked = [replace(ASKED, messages=[Message("user", str(n))]) for n in range(5)]

    async def ask() -> list[Completion]:
        client = CachingClient(Model(), SETTINGS, cache)
        return [await client.complete(request) for request in asked]

    assert len(asyncio.run(ask())) == 5
    (message,) = messages
    assert f"cannot be {word}" in message
    assert "the disk is" in message
    assert not cache.writes
