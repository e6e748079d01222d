"""What an endpoint allows is kept and used, when another try is made, when a run cannot go on, and
what is recorded of a request; by a simulated clock."""

import asyncio
import logging
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.llm.simulated import (
    Simulated,
    admitted,
    exchange,
    limiter_of,
    refused,
    simulate,
)
from ufo.schemas.records import Usage
from ufo.transforms.llm.budget import Budget, Price
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.errors import SendError, of_response
from ufo.transforms.llm.limiter import LOCAL_START, Limiter, RateLimits, Stop
from ufo.transforms.llm.request import LlmError
from ufo.transforms.llm.retry import Retry, Timing
from ufo.transforms.llm.send import HttpReply, RequestSender, retrying
from ufo.transforms.llm.tokens import tokens_at_most
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.llm.usage_log import COST, UsageReader
from ufo.transforms.llm.usage_log import REQUESTS as SENT

REQUESTS = RateLimits(64, requests_per_minute=120)
TOKENS = RateLimits(64, tokens_per_minute=50_000)


@pytest.mark.parametrize(
    ("limits", "most", "slowest"),
    [
        pytest.param(REQUESTS, 120, 0.1, id="requests with quick replies"),
        pytest.param(REQUESTS, 120, 3.0, id="requests"),
        pytest.param(REQUESTS, 120, 20.0, id="requests with slow replies"),
        pytest.param(TOKENS, 50_000, 3.0, id="tokens"),
    ],
)
def test_no_minute_has_more_than_allowed_and_nine_tenths_are_used(
    limits: RateLimits, most: int, slowest: float
) -> None:
    chance = random.Random(slowest)

    async def main(loop: Simulated) -> list[tuple[float, int]]:
        limiter = limiter_of(loop, limits)
        seen: list[tuple[float, int]] = []

        async def ask(size: int) -> None:
            body = {"messages": [{"role": "user", "content": "x" * size}]}
            started, ended = await exchange(limiter, loop, chance.uniform(0.1, slowest), body)
            # The endpoint counts a request somewhere between its way there and its way back.
            counted = chance.uniform(started, min(ended, started + 6.0))
            tokens = tokens_at_most(body) // 2
            seen.append((counted, 1) if limits is REQUESTS else (started, tokens))

        await asyncio.gather(*(ask(chance.randint(300, 9000)) for _ in range(900)))
        return sorted(seen)

    seen = simulate(main)
    for first, (start, _) in enumerate(seen):
        assert sum(n for at, n in seen[first:] if at < start + 60.0) <= most
    # In the first minute, it is not known yet how many tokens a request comes to.
    last = seen[-1][0]
    spent = sum(n for at, n in seen if 60.0 <= at < last)
    assert spent / (most * (last - 60.0) / 60.0) >= 0.9


def starts(limits: RateLimits, many: int, seconds: float, **more: Any) -> list[float]:
    """When so many requests that are made at once are sent, each of which takes so long."""

    async def main(loop: Simulated) -> list[tuple[float, float]]:
        limiter = limiter_of(loop, limits, **more)
        return await asyncio.gather(*(exchange(limiter, loop, seconds) for _ in range(many)))

    return [start for start, _ in simulate(main)]


def test_as_many_requests_as_allowed_are_under_way_and_no_more() -> None:
    assert starts(RateLimits(2), 5, 1.0) == [0.0, 0.0, 1.0, 1.0, 2.0]


def test_an_endpoint_on_this_machine_begins_with_two_requests() -> None:
    assert starts(RateLimits(8), 3, 1.0, start=LOCAL_START) == [0.0, 0.0, 1.0]


def test_a_request_larger_than_the_limit_goes_alone() -> None:
    first, second = starts(RateLimits(64, tokens_per_minute=10), 2, 1.0)
    assert first == 0.0
    assert 60.0 <= second <= 65.0


def test_a_number_of_tokens_that_cannot_be_delays_by_a_minute() -> None:
    async def main(loop: Simulated) -> float:
        limiter = limiter_of(loop, RateLimits(tokens_per_minute=10_000))
        async with admitted(limiter) as sent:
            limiter.answered(sent, {}, 2**39)
        async with admitted(limiter) as second:
            return second.at

    assert 60.0 <= simulate(main) <= 65.0


@pytest.mark.parametrize(
    ("seconds", "limit"),
    [
        pytest.param(25.0, 3.0, id="a quarter of the time-out"),
        pytest.param(26.0, 2.125, id="more than a quarter"),
    ],
)
def test_slow_replies_end_the_quick_growth(seconds: float, limit: float) -> None:
    async def main(loop: Simulated) -> float:
        limiter = limiter_of(loop, RateLimits(64), start=2, timeout=100.0)
        await exchange(limiter, loop, seconds)
        return limiter.limit

    assert simulate(main) == limit


@pytest.mark.parametrize(
    ("asked", "start"), [(60.0, 60.0), (61.0, 0.0)], ids=["as long as allowed", "longer"]
)
def test_no_request_is_delayed_for_longer_than_retries_may_take(asked: float, start: float) -> None:
    async def main(loop: Simulated) -> float:
        limiter = limiter_of(loop, RateLimits(4), retry=Retry(seconds=60.0))
        async with admitted(limiter) as sent:
            headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{asked}s"}
            limiter.answered(sent, headers, None)
        return (await exchange(limiter, loop, 1.0))[0]

    assert simulate(main) == pytest.approx(start, abs=1.0)


def test_a_final_error_stops_all_endpoints_of_a_run() -> None:
    async def main(loop: Simulated) -> None:
        stop = Stop(of_run=True)
        limiter, elsewhere = (limiter_of(loop, RateLimits(4), stop=stop) for _ in range(2))
        async with admitted(limiter) as sent:
            limiter.failed(sent, SendError("the key is wrong", "401", final=True))
        await exchange(elsewhere, loop, 1.0)

    with pytest.raises(LlmError, match="the key is wrong") as caught:
        simulate(main)
    assert caught.value.final


@pytest.mark.parametrize(
    ("kinds", "stopped"),
    [(("key",), True), (("quota",), True), (("model",), False), ((), False)],
    ids=["key", "quota", "model", "connection"],
)
def test_outside_a_run_what_all_would_get_stops_requests_for_ten_seconds(
    kinds: tuple[str, ...], stopped: bool
) -> None:
    async def main(loop: Simulated) -> list[bool]:
        limiter = limiter_of(loop, RateLimits(4))
        async with admitted(limiter) as sent:
            limiter.failed(sent, SendError("it is wrong", "401", final=True, kinds=kinds))
        refused = []
        for seconds in (0.0, 9.0, 2.0):
            await asyncio.sleep(seconds)
            try:
                await exchange(limiter, loop, 0.0)
                refused.append(False)
            except LlmError:
                refused.append(True)
        return refused

    assert simulate(main) == [stopped, stopped, False]


OVERLOAD = ("408", "429", "502", "503", "504", "529", "timeout", "connection")


@pytest.mark.parametrize("status", [*OVERLOAD, "400", "500", "garbled"])
def test_overload_halves_the_limit_once_and_good_replies_widen_it_again(status: str) -> None:
    async def main(loop: Simulated) -> list[float]:
        limiter = limiter_of(loop, RateLimits(concurrency=64))

        async def refuse() -> None:
            async with admitted(limiter) as sent:
                await asyncio.sleep(1.0)
                limiter.failed(sent, refused(status))

        limits = []
        for many, good in ((64, False), (32, False), (80, True), (1000, True)):
            # The refusals of one burst count once.
            asked = (exchange(limiter, loop, 1.0) if good else refuse() for _ in range(many))
            await asyncio.gather(*asked)
            limits.append(limiter.limit)
        for _ in range(20):
            await refuse()
        return [*limits, limiter.limit]

    # One at a time is always left.
    left = [32.0, 16.0, 26.0, 64.0, 1.0]
    assert simulate(main) == (left if status in OVERLOAD else [64.0] * 5)


def test_a_server_with_one_request_at_a_time_is_not_driven_into_time_outs() -> None:
    async def main(loop: Simulated) -> tuple[float, float]:
        limiter = limiter_of(loop, RateLimits(concurrency=64), start=LOCAL_START, timeout=100.0)
        one_at_a_time = asyncio.Lock()
        slowest = 0.0

        async def ask() -> None:
            nonlocal slowest
            async with admitted(limiter) as sent:
                started = loop.time()
                async with one_at_a_time:
                    await asyncio.sleep(5.0)
                slowest = max(slowest, loop.time() - started)
                limiter.answered(sent, {}, None)

        await asyncio.gather(*(ask() for _ in range(60)))
        return slowest, limiter.limit

    slowest, limit = simulate(main)
    assert slowest < 100.0
    assert limit < 20


@pytest.mark.parametrize("seconds", [0.5, 30.0, 400.0])
@pytest.mark.parametrize("what", ["requests", "tokens"])
def test_while_an_endpoint_asks_to_wait_nobody_sends(seconds: float, what: str) -> None:
    async def main(loop: Simulated) -> list[float]:
        limiter, elsewhere, empty = (limiter_of(loop, RateLimits(4)) for _ in range(3))
        async with admitted(limiter) as sent:
            await asyncio.sleep(100.0)
            limiter.failed(sent, refused(retry_after=seconds))
        async with admitted(empty) as sent:  # and what is used up is waited for
            left = {
                f"x-ratelimit-remaining-{what}": "0",
                f"x-ratelimit-reset-{what}": f"{seconds}s",
            }
            empty.answered(sent, left, None)
        asked = (exchange(one, loop, 1.0) for one in [limiter, elsewhere, empty])
        return [start for start, _ in await asyncio.gather(*asked)]

    here, elsewhere, empty = simulate(main)
    assert 100.0 + seconds <= here <= 100.0 + seconds * 1.1
    assert elsewhere == pytest.approx(100.0)
    assert 100.0 + seconds <= empty <= 101.0 + seconds


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("timeout", "timed out"),
        ("garbled", "got a reply that cannot be read"),
        ("500", "got status 500"),
    ],
)
def test_a_retry_is_told_of_with_its_cause(status: str, word: str) -> None:
    messages = outage((1.0, status))
    assert messages == [f"a request {word}, retrying in 4 s"]


def test_retries_are_told_of_once_in_three_seconds() -> None:
    messages = outage(*((1.0, status) for status in ("502", "503", "503", "timeout", "500")))
    first = "a request got status 502, retrying in 4 s"
    assert messages == [first, "a request timed out, retrying in 4 s"]


def test_a_rate_limit_is_told_of_once_in_its_own_words() -> None:
    messages = outage(*[(5.0, "429")] * 3)
    assert messages == ["a rate limit was met: later; requests wait for it"]


@pytest.mark.parametrize(("left", "words"), [(89.0, "89 more seconds"), (90.0, "2 more minutes")])
def test_the_time_left_of_an_outage_is_told_in_minutes_from_ninety_seconds(
    left: float, words: str
) -> None:
    messages = outage((10.0, "connection"), left=left)
    assert messages == [f"the endpoint does not answer, retrying for {words}"]


def test_of_an_endpoint_that_never_answered_the_next_try_is_told() -> None:
    messages = outage((1.0, "connection"), reached=False)
    assert messages == ["a request lost the connection, retrying in 4 s"]


def test_who_gives_up_waiting_takes_nothing_with_him() -> None:
    async def main(loop: Simulated) -> float:
        limiter = limiter_of(loop, RateLimits(1))
        first = asyncio.create_task(exchange(limiter, loop, 5.0))
        waiting = [asyncio.create_task(exchange(limiter, loop, 1.0)) for _ in range(3)]
        await asyncio.sleep(1.0)
        for task in waiting[:2]:
            task.cancel()
        await asyncio.gather(first, *waiting, return_exceptions=True)
        return loop.time()

    assert simulate(main) == pytest.approx(6.0)


limits = st.builds(RateLimits, *[st.none() | st.integers(1, 5000)] * 3)


@given(limits, st.integers(1, 64))
def test_shares_never_come_to_more_than_the_whole(whole: RateLimits, workers: int) -> None:
    workers = int(min(workers, whole.most_workers))
    share = whole.divided(workers)
    for name in ("concurrency", "requests_per_minute", "tokens_per_minute"):
        limit, part = getattr(whole, name), getattr(share, name)
        assert (limit is None) == (part is None)
        if limit is not None:
            assert 1 <= part * workers <= limit


@pytest.mark.parametrize(
    ("attempt", "asked", "chance", "pause"),
    [
        pytest.param(0, None, 0.0, 0.25, id="half of the first pause"),
        pytest.param(0, None, 1.0, 0.5, id="the whole first pause"),
        pytest.param(2, None, 1.0, 2.0, id="doubled twice"),
        pytest.param(3, None, 1.0, 4.0, id="the longest"),
        pytest.param(9, None, 1.0, 4.0, id="never over the longest"),
        pytest.param(0, 7.0, 0.0, 7.0, id="what was asked for"),
        pytest.param(0, 7.0, 1.0, 7.5, id="up to a pause more than was asked for"),
        pytest.param(9, 7.0, 1.0, 8.0, id="up to a second more than was asked for"),
        pytest.param(9, 0.0, 1.0, 4.0, id="no time was named by zero"),
    ],
)
def test_a_pause(attempt: int, asked: float | None, chance: float, pause: float) -> None:
    assert POLICY.pause(attempt, asked, chance) == pause


@pytest.mark.parametrize(
    ("reached", "status", "tries"),
    [
        pytest.param(True, "timeout", 5, id="no answer in time, from an endpoint that answered"),
        pytest.param(True, "connection", 5, id="no connection, to an endpoint that answered"),
        pytest.param(True, "500", 3, id="an error of an endpoint that answered"),
        pytest.param(False, "429", 5, id="a rate limit"),
        pytest.param(False, "503", 5, id="an endpoint that is busy"),
        pytest.param(False, "529", 5, id="an endpoint that is overloaded"),
        pytest.param(False, "502", 3, id="a gateway's error for one request"),
        pytest.param(False, "timeout", 3, id="no answer from an endpoint that never answered"),
    ],
)
def test_only_an_endpoint_that_is_to_blame_is_waited_for_beyond_all_tries(
    reached: bool, status: str, tries: int
) -> None:
    attempts: list[int] = []

    async def main(loop: Simulated) -> None:
        limiter = limiter_of(loop, RateLimits(), reached=reached, report=lambda message: None)
        timing = Timing(asyncio.sleep, lambda: 1.0, loop.time)

        async def send(attempt: int) -> None:
            attempts.append(attempt)
            raise refused(status)

        with pytest.raises(SendError):  # the last try is made when the time is over
            await retrying(send, Retry(3, seconds=10.0, first=1.0, longest=4.0), timing, limiter)
        assert loop.time() == (10.0 if tries == 5 else 3.0)

    simulate(main)
    assert attempts == list(range(tries))


POLICY = Retry(attempts=5, seconds=1000.0, first=0.5, longest=4.0)


ERRORS = {"later": refused(), "no": SendError("no", "400")}
ERRORS |= {"soon": refused(retry_after=300.0), "late": refused(retry_after=2000.0)}


RETRIES = yaml.safe_load(Path(__file__).with_name("retries.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "row", RETRIES, ids=lambda row: f"{len(row['errors'])} errors, then {row['end']}"
)
def test_what_passes_is_tried_again_after_growing_pauses_for_so_long(row: dict[str, Any]) -> None:
    now = 0.0
    paused: list[float] = []

    async def sleep(seconds: float) -> None:
        nonlocal now
        paused.append(seconds)
        now += seconds

    async def send(attempt: int) -> str:
        nonlocal now
        now += 1.0
        if attempt < len(row["errors"]):
            raise ERRORS[row["errors"][attempt]]
        return f"attempt {attempt}"

    retry = Retry(**row["retry"]) if "retry" in row else POLICY
    end: str | SendError
    try:
        end = asyncio.run(retrying(send, retry, Timing(sleep, lambda: 0.0, lambda: now)))
    except SendError as error:
        end = error
    assert paused == row["pauses"]
    assert end == ERRORS.get(row["end"], row["end"])


def failed(error: SendError, seconds: float) -> SendError:
    """What the limiter makes of an error where retries may take so many seconds."""

    async def main(loop: Simulated) -> SendError:
        limiter = limiter_of(loop, RateLimits(), retry=Retry(seconds=seconds))
        async with admitted(limiter) as sent:
            return limiter.failed(sent, error)

    outcome: SendError = simulate(main)
    return outcome


def test_a_pause_longer_than_all_tries_may_take_is_final() -> None:
    error = failed(refused(retry_after=901, request_id="q1"), 900)
    assert error.final
    assert not error.transient
    assert error.status == "429"
    assert error.request_id == "q1"
    assert "wait 901 s" in error.message
    assert "--retry_seconds" in error.message


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(refused(retry_after=900), id="just as long"),
        pytest.param(refused(), id="no pause"),
        pytest.param(SendError("no", "400", retry_after=901), id="an error that does not pass"),
    ],
)
def test_another_error_stays_as_it_is(error: SendError) -> None:
    assert failed(error, 900) is error


def outage(*events: tuple[float, str], left: float = 840.0, reached: bool = True) -> list[str]:
    """What is told of a request whose tries end with these errors after so many seconds each."""
    messages: list[str] = []

    async def main(loop: Simulated) -> None:
        limiter = limiter_of(loop, RateLimits(), report=messages.append, reached=reached)
        for seconds, status in events:
            async with admitted(limiter) as sent:
                await asyncio.sleep(seconds)
                error = limiter.failed(sent, refused(status))
            limiter.retrying(error, 4.0, left)

    simulate(main)
    return messages


def away(status: str, seconds: float, good_at: float | None = None) -> SendError:
    """The error of a request to an endpoint that answered before and gives none but such errors;
    another request is answered at `good_at`."""

    async def main(loop: Simulated) -> SendError:
        timing = Timing(chance=lambda: 0.5, clock=loop.time)
        retry = Retry(seconds=seconds)
        limiter = Limiter(
            RateLimits(), timing=timing, retry=retry, report=lambda _: None, reached=True
        )

        async def lost() -> HttpReply[str]:
            await asyncio.sleep(1.0)
            raise refused(status, request_id="q1")

        async def other() -> None:
            if good_at is not None:
                await asyncio.sleep(good_at)
                await exchange(limiter, loop, 0.5)

        others = asyncio.create_task(other())
        with pytest.raises(SendError) as caught:
            await RequestSender(limiter, Budget({}), timing).send(ASKED, lost, ROW, [])
        await others
        return caught.value

    outcome: SendError = simulate(main)
    return outcome


@pytest.mark.parametrize(
    ("status", "seconds", "final"),
    [
        pytest.param("connection", 10.0, True, id="no connection"),
        pytest.param("429", 70.0, True, id="too busy for over a minute"),
        pytest.param("429", 50.0, False, id="too busy for less"),
        pytest.param("timeout", 70.0, False, id="a time-out, which may be this request's"),
    ],
)
def test_an_endpoint_that_stays_away_ends_the_run(status: str, seconds: float, final: bool) -> None:
    assert away(status, seconds).final == final


@pytest.mark.parametrize(
    ("good_at", "final"), [(5.0, False), (0.0, True)], ids=["since then", "before"]
)
def test_an_endpoint_that_answered_another_request_is_there(good_at: float, final: bool) -> None:
    assert away("connection", 10.0, good_at).final == final


def test_an_endpoint_that_stays_away_is_told_with_the_remedy() -> None:
    error = away("connection", 88.0)
    assert str(error) == (
        "later. No request was answered for 89 seconds; run the same command again when the "
        "endpoint answers"
    )
    assert error.status == "connection"
    assert error.request_id == "q1"


@pytest.mark.parametrize(
    ("others", "silence"), [(0, 0.0), (1, 3.0)], ids=["no other request", "another request"]
)
def test_silence_is_counted_from_the_last_answer(others: int, silence: float) -> None:
    async def main(loop: Simulated) -> float:
        limiter = limiter_of(loop, RateLimits())
        waiting = [asyncio.create_task(exchange(limiter, loop, 100.0)) for _ in range(others)]
        async with admitted(limiter) as sent:
            await asyncio.sleep(5.0)
            assert limiter.silence() == 5.0
            limiter.answered(sent, {}, None)
            await asyncio.sleep(3.0)
        silence = limiter.silence()
        await asyncio.gather(*waiting)
        return silence

    assert simulate(main) == silence


# --- what is recorded of a request ---

ASKED: dict[str, Any] = {"model": "m", "messages": [], "max_tokens": 10}
ROW = usage_row("verify", "wiki", "m", "r1")
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

    class Told(Limiter):
        def answered(self, sent: Any, headers: Any, tokens: int | None) -> None:
            learned.append((headers, tokens))
            super().answered(sent, headers, tokens)

    async def send() -> None:
        sender = RequestSender(Told(RateLimits()), Budget({}))

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


def test_the_usual_policy() -> None:
    usual = Retry()
    pauses: Sequence[float] = [usual.pause(attempt, None, 1.0) for attempt in range(8)]
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]
    assert usual.attempts == 8
    assert usual.seconds == 900.0


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
