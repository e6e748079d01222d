"""What is recorded of a request that is sent: its row of usage, its tries and what it cost."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from ufo.schemas.records import Usage
from ufo.transforms.llm.budget import Budget, Price
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.limiter import Limiter, RateLimits
from ufo.transforms.llm.retry import Retry, Timing
from ufo.transforms.llm.sending import Received, Sender
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.llm.usage_log import COST, REQUESTS, UsageReader

BODY: dict[str, Any] = {"model": "m", "messages": [], "max_tokens": 10}
ROW = usage_row("verify", "wiki", "m", "r1")
REPLY = Received("Yes.", {}, "q1", (7, 4))
LATER = SendError("later", "503", transient=True, request_id="q0")


class Sent:
    """A request that is answered so, by one reply or error after another."""

    def __init__(self, *answers: Received[str] | BaseException, **of_budget: Any) -> None:
        self.rows: list[Usage] = []
        self.pauses: list[float] = []
        timing = Timing(self._sleep, lambda: 1.0, lambda: 0.0)
        self.limiter = Limiter(RateLimits(), timing=timing)
        budget = Budget({"m": Price(0.0, 1_000_000.0)}, **of_budget)
        self.sender = Sender(self.limiter, Retry(attempts=3), budget, timing)
        self.error: BaseException | None = None
        self.value: str | None = None
        try:
            self.value = asyncio.run(self._send(list(answers)))
        except (SendError, asyncio.CancelledError) as error:
            self.error = error

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def _send(self, answers: list[Received[str] | BaseException]) -> str:
        async def exchange() -> Received[str]:
            answer = answers.pop(0)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return await self.sender.send(BODY, exchange, ROW, self.rows)


def test_a_reply_is_a_row_with_its_tokens_cost_and_id() -> None:
    sent = Sent(REPLY)
    (row,) = sent.rows
    assert sent.value == "Yes."
    assert row.request_id == "q1"
    assert row.status == "ok"
    assert row.retries == 0
    assert row.prompt_tokens == 7
    assert row.completion_tokens == 4
    assert row.cost_usd == 4.0
    assert row.step == "verify"
    assert row.source == "wiki"
    assert row.model == "m"
    assert row.response_id == "r1"
    assert row.seconds is not None
    assert row.seconds >= 0
    assert sent.limiter.in_flight == 0


def test_each_try_is_a_row_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ufo.llm"):
        sent = Sent(LATER, LATER, REPLY)
    assert [(row.request_id, row.status, row.retries) for row in sent.rows] == [
        ("q0", "503", 0),
        ("q0", "503", 1),
        ("q1", "ok", 2),
    ]
    assert [row.prompt_tokens for row in sent.rows] == [None, None, 7]
    assert sent.pauses == [0.5, 1.0]
    told = [record for record in caplog.records if record.message == "a request failed: later"]
    assert [record.__dict__["ufo_fields"] for record in told] == [
        {"model": "m", "status": "503", "tries": tries} for tries in (1, 2)
    ]


def test_the_last_error_is_raised_after_as_many_tries_as_allowed() -> None:
    sent = Sent(LATER, LATER, LATER, REPLY)
    assert sent.error is LATER
    assert len(sent.rows) == 3


def test_a_request_without_an_id_has_one_of_its_own() -> None:
    ids = {row.request_id for _ in range(2) for row in Sent(Received("Yes.", {})).rows}
    assert len(ids) == 2
    assert {len(one) for one in ids} == {32}


@pytest.mark.parametrize(
    ("answer", "cost", "rows"),
    [
        pytest.param(REPLY, 4.0, 1, id="a reply"),
        pytest.param(Received("Yes.", {}), 10.0, 1, id="a reply without tokens"),
        pytest.param(SendError("no", "400"), 0.0, 1, id="a refusal"),
        pytest.param(SendError("lost", "connection"), 10.0, 1, id="a lost connection"),
        pytest.param(asyncio.CancelledError(), 10.0, 0, id="a cancelled request"),
    ],
)
def test_what_may_have_been_billed_counts(
    tmp_path: Any, answer: Received[str] | BaseException, cost: float, rows: int
) -> None:
    path = str(tmp_path / "usage.jsonl")
    sent = Sent(answer, cap=100, path=path)
    assert len(sent.rows) == rows
    totals = UsageReader(path).totals()
    assert totals.get(COST, 0.0) == cost
    assert totals[REQUESTS] == 1


@pytest.mark.parametrize(
    ("tokens", "counted"),
    [((7, 4), 11), ((7, None), 7), ((None, 4), 4), ((None, None), None), ((0, 0), None)],
    ids=["both", "of the prompt", "of the reply", "none", "zeros"],
)
def test_the_limiter_learns_the_tokens_of_a_reply(
    tokens: tuple[int | None, int | None], counted: int | None
) -> None:
    learned: list[Any] = []

    class Told(Limiter):
        def answered(self, sent: Any, headers: Any, tokens: int | None) -> None:
            learned.append((headers, tokens))
            super().answered(sent, headers, tokens)

    async def send() -> None:
        sender = Sender(Told(RateLimits()), Retry(), Budget({}))

        async def exchange() -> Received[str]:
            return Received("Yes.", {"x-a": "b"}, tokens=tokens)

        await sender.send(BODY, exchange, ROW, [])

    asyncio.run(send())
    assert learned == [({"x-a": "b"}, counted)]


def test_a_wait_that_is_longer_than_all_tries_may_take_is_final() -> None:
    asked = SendError("later", "429", transient=True, retry_after=901.0)
    sent = Sent(asked, REPLY)
    assert isinstance(sent.error, SendError)
    assert sent.error.final
    assert len(sent.rows) == 1


# --- pauses between tries

FIRST_HALF = Retry(first=0.5, longest=4.0)


@pytest.mark.parametrize(
    ("attempt", "asked", "chance", "seconds"),
    [
        (0, None, 0.0, 0.25),
        (0, None, 1.0, 0.5),
        (1, None, 0.5, 0.75),
        (3, None, 1.0, 4.0),
        (4, None, 1.0, 4.0),
        (5000, None, 1.0, 4.0),
        (0, 30.0, 0.0, 30.0),
        (0, 30.0, 1.0, 30.5),
        (4, 30.0, 0.5, 30.5),
        (4, 0.0, 1.0, 1.0),
    ],
)
def test_a_pause_doubles_and_is_never_shorter_than_was_asked_for(
    attempt: int, asked: float | None, chance: float, seconds: float
) -> None:
    assert FIRST_HALF.pause(attempt, asked, chance) == seconds


def test_the_usual_policy() -> None:
    usual = Retry()
    pauses: Sequence[float] = [usual.pause(attempt, None, 1.0) for attempt in range(8)]
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]
    assert usual.attempts == 8
    assert usual.seconds == 900.0
