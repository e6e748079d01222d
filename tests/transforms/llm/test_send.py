"""What is recorded of a request, and which refusals end a run; by a simulated clock."""

import asyncio
import logging
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from tests.transforms.llm.simulated import (
    ASKED,
    ROW,
    Simulated,
    refused,
    simulate,
)
from ufo.schemas.records import Usage
from ufo.transforms.llm.budget import Budget
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.errors import SendError, of_response
from ufo.transforms.llm.limiter import Limiter, RateLimits, Stop
from ufo.transforms.llm.prices import Price
from ufo.transforms.llm.retry import Retry, Timing
from ufo.transforms.llm.send import HttpReply, RequestSender
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.llm.usage_log import COST, UsageReader
from ufo.transforms.llm.usage_log import REQUESTS as SENT

REPLY = HttpReply("Yes.", {}, "q1", (7, 4))
LATER = SendError("later", "500", transient=True, request_id="q0")


class Outcome:
    """A request that is answered so, by one reply or error after another."""

    def __init__(self, *answers: HttpReply[str] | BaseException, **of_budget: Any) -> None:
        self.rows: list[Usage] = []
        self.pauses: list[float] = []
        timing = Timing(self._sleep, lambda: 1.0, lambda: 0.0)
        self.limiter = Limiter(RateLimits(), timing=timing, retry=Retry(attempts=3))
        budget = Budget({"m": Price(0.0, 1_000_000.0)}, **of_budget)
        self.sender = RequestSender(self.limiter, budget, timing)
        self.error: BaseException | None = None
        self.value: str | None = None
        try:
            self.value = asyncio.run(self._send(list(answers)))
        except (SendError, asyncio.CancelledError) as error:
            self.error = error

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def _send(self, answers: list[HttpReply[str] | BaseException]) -> str:
        async def exchange() -> HttpReply[str]:
            answer = answers.pop(0)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return await self.sender.send(ASKED, exchange, ROW, self.rows)


def test_a_reply_is_a_row_with_its_tokens_cost_and_id() -> None:
    sent = Outcome(REPLY)
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
        sent = Outcome(LATER, LATER, REPLY)
    assert [(row.request_id, row.status, row.retries) for row in sent.rows] == [
        ("q0", "500", 0),
        ("q0", "500", 1),
        ("q1", "ok", 2),
    ]
    assert [row.prompt_tokens for row in sent.rows] == [None, None, 7]
    assert sent.pauses == [0.5, 1.0]
    records = [record for record in caplog.records if record.message == "a request failed: later"]
    assert [record.__dict__["ufo_fields"] for record in records] == [
        {"model": "m", "status": "500", "tries": tries} for tries in (1, 2)
    ]


def test_the_last_error_is_raised_after_as_many_tries_as_allowed() -> None:
    sent = Outcome(LATER, LATER, LATER, REPLY)
    assert sent.error is LATER
    assert len(sent.rows) == 3


def test_a_request_without_an_id_has_one_of_its_own() -> None:
    ids = {row.request_id for _ in range(2) for row in Outcome(HttpReply("Yes.", {})).rows}
    assert len(ids) == 2
    assert {len(one) for one in ids} == {32}


@pytest.mark.parametrize(
    ("answer", "cost", "rows"),
    [
        pytest.param(REPLY, 4.0, 1, id="a reply"),
        pytest.param(HttpReply("Yes.", {}), 10.0, 1, id="a reply without tokens"),
        pytest.param(SendError("no", "400"), 0.0, 1, id="a refusal"),
        pytest.param(SendError("lost", "connection"), 10.0, 1, id="a lost connection"),
        pytest.param(asyncio.CancelledError(), 10.0, 0, id="a cancelled request"),
    ],
)
def test_what_may_have_been_billed_counts(
    tmp_path: Any, answer: HttpReply[str] | BaseException, cost: float, rows: int
) -> None:
    path = str(tmp_path / "usage.jsonl")
    sent = Outcome(answer, cap=100, path=path)
    assert len(sent.rows) == rows
    totals = UsageReader(path).totals()
    assert totals.get(COST, 0.0) == cost
    assert totals[SENT] == 1


@pytest.mark.parametrize(
    ("tokens", "counted"),
    [((7, 4), 11), ((7, None), 7), ((None, 4), 4), ((None, None), None), ((0, 0), None)],
    ids=["both", "of the prompt", "of the reply", "none", "zeros"],
)
def test_the_limiter_learns_the_tokens_of_a_reply(
    tokens: tuple[int | None, int | None], counted: int | None
) -> None:
    learned: list[Any] = []

    class ObservedLimiter(Limiter):
        def answered(self, sent: Any, headers: Any, tokens: int | None) -> None:
            learned.append((headers, tokens))
            super().answered(sent, headers, tokens)

    async def send() -> None:
        sender = RequestSender(ObservedLimiter(RateLimits()), Budget({}))

        async def exchange() -> HttpReply[str]:
            return HttpReply("Yes.", {"x-a": "b"}, tokens=tokens)

        await sender.send(ASKED, exchange, ROW, [])

    asyncio.run(send())
    assert learned == [({"x-a": "b"}, counted)]


def test_a_wait_that_is_longer_than_all_tries_may_take_is_final() -> None:
    asked = SendError("later", "429", transient=True, retry_after=901.0)
    sent = Outcome(asked, REPLY)
    assert isinstance(sent.error, SendError)
    assert sent.error.final
    assert len(sent.rows) == 1


# --- an endpoint that refuses every request ---

AT = Endpoint("m", "http://near/v1")


def refusal_of(words: str, status: int = 400) -> SendError:
    """The error for these words of an endpoint."""
    return of_response(AT, "none", status, {}, {"error": {"message": words}}, now=0.0)


class Run:
    """Requests, each answered by an error or (None) well, in flight at the same time or in turn."""

    def __init__(
        self,
        answers: Sequence[Exception | None],
        concurrency: int = 1,
        size: int = 10,
        step: str = "verify",
        own: bool = True,
    ) -> None:
        self.sent = 0
        self.results: list[Any] = []
        self._answers = list(answers)
        self._size = size
        self._step = step
        self._own = own
        simulate(lambda loop: self._all(loop, concurrency))

    async def _all(self, loop: Simulated, concurrency: int) -> None:
        timing = Timing(chance=lambda: 0.5, clock=loop.time)
        limiter = Limiter(RateLimits(concurrency), Stop(of_run=True), timing=timing)
        sender = RequestSender(limiter, Budget({}), timing)
        asked = (self._one(sender, number) for number in range(len(self._answers)))
        self.results = await asyncio.gather(*asked, return_exceptions=True)

    async def _one(self, sender: RequestSender, number: int) -> str:
        async def exchange() -> HttpReply[str]:
            self.sent += 1
            await asyncio.sleep(1.0)
            error = self._answers[number]
            if error is not None:
                raise error
            return HttpReply("Yes.", {})

        body = {"messages": [{"role": "user", "content": "x" * self._size}]}
        row = usage_row(self._step, None, "m", f"r{number}" if self._own else "r")
        return await sender.send(body, exchange, row, [])

    @property
    def final(self) -> list[str]:
        """The messages of the final errors."""
        return [str(one) for one in self.results if getattr(one, "final", False)]


ODD = "The flux of account 17 is inverted since 2026-01-02T03:04:05Z (request 'a1')."


@pytest.mark.parametrize("status", [400, 403, 406, 409 + 1, 422])
def test_the_same_refusal_of_five_requests_ends_the_run(status: int) -> None:
    run = Run([None, *(refusal_of(ODD, status) for _ in range(20))])
    assert run.sent == 6
    assert len(run.final) == 16
    assert ODD in run.final[0]
    assert "5 requests in a row were refused so" in run.final[0]
    assert "run the same command again" in run.final[0]


def test_words_that_only_some_texts_get_end_no_run_until_there_are_many() -> None:
    filtered = [refusal_of(ODD, 403) for _ in range(8)]
    assert not Run([None, *filtered[:2], None, *filtered, None, *filtered, None]).final
    stopped = Run([None, *filtered[:2], None, *(refusal_of(ODD, 403) for _ in range(40))])
    assert stopped.sent == 4 + 20


def test_a_status_whatever_its_words_ends_the_run_after_many() -> None:
    words = ["".join(letters) for letters in permutations("abcde")]
    run = Run([None, *(refusal_of(f"{one} is odd") for one in words)])
    assert run.sent == 1 + 20
    assert "20 requests in a row were refused so" in run.final[0]
    assert not Run([refusal_of(f"{one} is odd") for one in words[:19]] + [None]).final


def test_replies_to_requests_sent_before_a_refusal_say_nothing_about_its_words() -> None:
    answers = [None, refusal_of(ODD), *[None] * 3, *(refusal_of(ODD) for _ in range(40))]
    assert Run(answers, concurrency=5).sent < 5 + 15


def test_of_many_requests_in_flight_no_new_one_is_sent() -> None:
    run = Run([None] * 64 + [refusal_of(ODD) for _ in range(400)], concurrency=64)
    assert run.sent <= 64 + 2 * 64


@pytest.mark.parametrize(
    "words",
    [
        "The flux of account 18 is inverted since 2027-05-06T07:08:09Z (request 'b2').",
        "The flux of account 9999 is inverted since 2026-01-02 (request 'c').",
    ],
)
def test_numbers_ids_and_times_make_no_other_refusal(words: str) -> None:
    assert Run([refusal_of(ODD), refusal_of(words)] * 10).sent == 5


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([*[refusal_of(ODD)] * 4, None] * 4, id="good replies in between"),
        pytest.param(
            [None, *(refusal_of(f"odd {'abcdefgh'[n]}") for n in range(8))], id="other words"
        ),
        pytest.param([None, *[refusal_of("content_filter", 403)] * 9], id="a filter"),
        pytest.param([None, *[refusal_of("prompt is too long")] * 9], id="too long"),
        pytest.param([None, *[refusal_of("temperature is fixed")] * 9], id="a parameter"),
        pytest.param([None, *[refusal_of("max_tokens is too large")] * 9], id="a cap"),
        pytest.param([None, refusal_of(ODD), refusal_of(ODD)], id="the last ones of a run"),
        pytest.param([refusal_of(ODD)], id="the only one"),
    ],
)
def test_refusals_of_single_requests_end_nothing(answers: list[SendError | None]) -> None:
    run = Run(answers)
    assert run.final == []
    assert run.sent == len(answers)


def test_a_run_of_few_requests_ends_with_the_refusal_of_all() -> None:
    assert len(Run([refusal_of(ODD), refusal_of(ODD), refusal_of(ODD)], concurrency=3).final) == 1


def test_a_probe_s_tries_do_not_count() -> None:
    assert Run([refusal_of(ODD)] * 9, step="probe").final == []


@pytest.mark.parametrize(
    ("own", "sent"),
    [
        pytest.param(True, 20, id="of other responses"),
        pytest.param(False, 6, id="and the parts of one"),
    ],
)
def test_large_requests_are_halved_before_their_refusal_counts(own: bool, sent: int) -> None:
    assert Run([refusal_of(ODD)] * 40, size=3001, own=own).sent == sent


def test_a_large_request_counts_where_one_as_large_was_answered() -> None:
    assert Run([None, *[refusal_of(ODD)] * 40], size=3001).sent == 6


@pytest.mark.parametrize(
    "words", ["Your account is suspended.", "limit reached: 10 requests per day"]
)
def test_a_known_reason_ends_the_run_at_once(words: str) -> None:
    run = Run([None, *[refusal_of(words, 429)] * 9])
    assert run.sent == 2
    assert words in run.final[0]


# --- an endpoint that is busy ---


def rate_limited(text: str = "Rate limit reached. Please try again in 31.5s") -> SendError:
    return refusal_of(text, 429)


class Served:
    """An endpoint that takes so many requests in each minute by its clock, asked for many."""

    def __init__(self, per_minute: int, many: int, words: str = "", seconds: float = 900.0) -> None:
        self.told: list[str] = []
        self.sent = 0
        self._minute, self._taken = 0, 0
        self._most = per_minute
        self._words = words
        self.results: list[Any] = simulate(
            lambda loop: self._all(loop, many, Retry(seconds=seconds))
        )

    async def _all(self, loop: Simulated, many: int, retry: Retry) -> list[Any]:
        timing = Timing(chance=random.Random(7).random, clock=loop.time)
        limiter = Limiter(RateLimits(64), timing=timing, retry=retry, report=self.told.append)
        sender = RequestSender(limiter, Budget({}), timing)

        async def exchange() -> HttpReply[str]:
            self.sent += 1
            await asyncio.sleep(0.2)
            minute = int(loop.time() // 60)
            if minute != self._minute:
                self._minute, self._taken = minute, 0
            if self._taken >= self._most:
                left = 60.0 * (minute + 1) - loop.time()
                raise rate_limited(f"Rate limit reached{self._words}. Please retry in {left:.2f}s.")
            self._taken += 1
            return HttpReply("Yes.", {})

        row = usage_row("verify", None, "m", "r1")
        asked = (sender.send({}, exchange, row, []) for _ in range(many))
        results = await asyncio.gather(*asked, return_exceptions=True)
        self.seconds = loop.time()
        return list(results)


@pytest.mark.parametrize("words", ["", " (limit of requests per minute: 10)"])
def test_at_ten_requests_a_minute_all_judgements_come(words: str) -> None:
    served = Served(10, 320, words)
    assert served.results == ["Yes."] * 320
    assert served.seconds < 35 * 60
    assert served.sent < 2 * 320
    limits = [text for text in served.told if "a rate limit was met" in text]
    assert len(limits) == 1
    assert "Please retry in" in limits[0]
    assert served.told[1:] == ["--requests_per_minute 10 would fit the endpoint"]


def test_an_endpoint_that_takes_nothing_for_as_long_as_allowed_ends_the_run() -> None:
    served = Served(0, 3, seconds=100.0)
    assert all(one.final for one in served.results)
    assert "No request was answered for" in str(served.results[0])


def test_a_reply_that_is_nested_too_deeply_is_tried_again() -> None:
    deep = RecursionError("maximum recursion depth exceeded")
    assert Run([deep]).sent == Retry().attempts
    (error,) = Run([deep]).results
    assert "nested too deeply" in str(error)


@pytest.mark.parametrize("status", ["500", "garbled"])
def test_an_endpoint_that_answers_nothing_that_can_be_used_ends_the_run(status: str) -> None:
    async def main(loop: Simulated) -> list[Any]:
        timing = Timing(chance=lambda: 0.5, clock=loop.time)
        retry = Retry(seconds=100.0)
        limiter = Limiter(
            RateLimits(64), Stop(of_run=True), timing=timing, retry=retry, report=lambda _: None
        )
        sender = RequestSender(limiter, Budget({}), timing)

        async def exchange() -> HttpReply[str]:
            await asyncio.sleep(1.0)
            raise refused(status)

        rows = [usage_row("verify", None, "m", f"r{number}") for number in range(6)]
        asked = (sender.send({}, exchange, row, []) for row in rows)
        return list(await asyncio.gather(*asked, return_exceptions=True))

    results = simulate(main)
    assert any(one.final for one in results)
    assert "No request was answered for" in str(results[-1])


@pytest.mark.parametrize(
    ("good", "tries"),
    [pytest.param(1, 8, id="others are answered"), pytest.param(0, 9, id="all fail")],
)
def test_an_error_for_one_text_is_not_waited_for_as_long_as_one_for_all(
    good: int, tries: int
) -> None:
    attempts: list[int] = []

    async def main(loop: Simulated) -> None:
        timing = Timing(chance=lambda: 0.5, clock=loop.time)
        sender = RequestSender(Limiter(RateLimits(64), timing=timing), Budget({}), timing)
        row = usage_row("verify", None, "m", "r1")

        async def bad() -> HttpReply[str]:
            attempts.append(1)
            raise refusal_of("An error occurred, please try again later.", 500)

        async def fine() -> HttpReply[str]:
            await asyncio.sleep(0.1)
            return HttpReply("Yes.", {})

        async def others() -> None:
            while good and loop.time() < 1000:
                await sender.send({}, fine, replace(row), [])
                await asyncio.sleep(5.0)

        asked = [sender.send({}, bad, replace(row), []) for _ in range(5)]
        await asyncio.gather(*asked, others(), return_exceptions=True)

    simulate(main)
    assert (len(attempts) == 5 * tries) if good else (len(attempts) >= 5 * tries)
