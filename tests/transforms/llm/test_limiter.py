"""What an endpoint allows is kept and used, and when a run cannot go on; by a simulated clock."""

import asyncio
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.llm.simulated import (
    ASKED,
    ROW,
    Simulated,
    admitted,
    exchange,
    limiter_of,
    refused,
    simulate,
)
from ufo.transforms.llm.budget import Budget
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.limiter import LOCAL_START, Limiter, RateLimits, Stop
from ufo.transforms.llm.request import LlmError
from ufo.transforms.llm.retry import Retry, Timing
from ufo.transforms.llm.send import HttpReply, RequestSender, send_with_retries
from ufo.transforms.llm.tokens import tokens_at_most

REQUESTS = RateLimits(64, requests_per_minute=120)
TOKENS = RateLimits(64, tokens_per_minute=50_000)
OVERLOAD = ("408", "429", "502", "503", "504", "529", "timeout", "connection")
limits = st.builds(
    RateLimits,
    st.none() | st.integers(1, 5000),
    st.none() | st.integers(1, 5000),
    st.none() | st.integers(1, 5000),
)


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
            return second.sent_at

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
            await send_with_retries(
                send, Retry(3, seconds=10.0, first=1.0, longest=4.0), timing, limiter
            )
        assert loop.time() == (10.0 if tries == 5 else 3.0)

    simulate(main)
    assert attempts == list(range(tries))


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
