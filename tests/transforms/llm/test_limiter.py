"""What an endpoint allows is kept and used, and when another try is made, by a simulated clock."""

import asyncio
import math
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.llm.simulated import BODY, Simulated, exchange, limiter, refused, simulate
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.limiter import LOCAL_START, RateLimits, estimated
from ufo.transforms.llm.request import LlmError
from ufo.transforms.llm.retry import Retry, Stop, Timing, retrying

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
        its = limiter(loop, limits)
        seen: list[tuple[float, int]] = []

        async def ask(size: int) -> None:
            body = {"messages": [{"role": "user", "content": "x" * size}]}
            started, ended = await exchange(its, loop, chance.uniform(0.1, slowest), body)
            # The endpoint counts a request somewhere between its way there and its way back.
            counted = chance.uniform(started, min(ended, started + 6.0))
            tokens = estimated(body) // 2
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
        its = limiter(loop, limits, **more)
        return await asyncio.gather(*(exchange(its, loop, seconds) for _ in range(many)))

    return [start for start, _ in simulate(main)]


def test_as_many_requests_as_allowed_are_under_way_and_no_more() -> None:
    assert starts(RateLimits(2), 5, 1.0) == [0.0, 0.0, 1.0, 1.0, 2.0]


def test_an_endpoint_on_this_machine_begins_with_two_requests() -> None:
    assert starts(RateLimits(8), 3, 1.0, start=LOCAL_START) == [0.0, 0.0, 1.0]


def test_a_request_larger_than_the_limit_goes_alone() -> None:
    first, second = starts(RateLimits(64, tokens_per_minute=10), 2, 1.0)
    assert first == 0.0
    assert second >= 60.0


@pytest.mark.parametrize(("before", "soon"), [(8, 2), (9, 1), (10, 0)])
def test_requests_that_were_sent_before_count(before: int, soon: int) -> None:
    found = starts(RateLimits(64, requests_per_minute=10), 3, 0.1, before=before)
    assert [start < 13.0 for start in found] == [True] * soon + [False] * (3 - soon)
    assert min([60.0, *found[soon:]]) >= 60.0


@pytest.mark.parametrize(
    ("seconds", "limit"),
    [
        pytest.param(25.0, 3.0, id="a quarter of the time-out"),
        pytest.param(26.0, 2.125, id="more than a quarter"),
    ],
)
def test_slow_replies_end_the_quick_growth(seconds: float, limit: float) -> None:
    async def main(loop: Simulated) -> float:
        its = limiter(loop, RateLimits(64), start=2, timeout=100.0)
        await exchange(its, loop, seconds)
        return its.limit

    assert simulate(main) == limit


@pytest.mark.parametrize(
    ("asked", "start"), [(60.0, 60.0), (61.0, 0.0)], ids=["as long as it is patient", "longer"]
)
def test_no_request_is_delayed_for_longer_than_patience(asked: float, start: float) -> None:
    async def main(loop: Simulated) -> float:
        its = limiter(loop, RateLimits(4), patience=60.0)
        async with its.admitted(BODY) as sent:
            its.failed(sent, refused(retry_after=asked))
        return (await exchange(its, loop, 1.0))[0]

    assert simulate(main) == pytest.approx(start, abs=1.0)


def test_a_final_error_stops_all_endpoints_of_a_run() -> None:
    async def main(loop: Simulated) -> None:
        stop = Stop(math.inf)
        its, elsewhere = (limiter(loop, RateLimits(4), stop=stop) for _ in range(2))
        async with its.admitted(BODY) as sent:
            its.failed(sent, SendError("the key is wrong", "401", final=True))
        await exchange(elsewhere, loop, 1.0)

    with pytest.raises(LlmError, match="the key is wrong") as caught:
        simulate(main)
    assert caught.value.final


def test_a_stop_outside_a_run_ends_after_its_seconds() -> None:
    stop = Stop(10.0)
    assert stop.stopped(0.0) is None
    stop.stop("the key is wrong", now=5.0)
    assert stop.stopped(14.9) == "the key is wrong"
    assert stop.stopped(15.0) is None


OVERLOAD = ("408", "429", "502", "503", "504", "529", "timeout", "connection")


@pytest.mark.parametrize("status", [*OVERLOAD, "400", "500", "garbled"])
def test_overload_halves_the_limit_once_and_good_replies_widen_it_again(status: str) -> None:
    async def main(loop: Simulated) -> list[float]:
        its = limiter(loop, RateLimits(concurrency=64))

        async def refuse() -> None:
            async with its.admitted(BODY) as sent:
                await asyncio.sleep(1.0)
                its.failed(sent, refused(status))

        found = []
        for many, good in ((64, False), (32, False), (80, True), (1000, True)):
            # The refusals of one burst count once.
            asked = (exchange(its, loop, 1.0) if good else refuse() for _ in range(many))
            await asyncio.gather(*asked)
            found.append(its.limit)
        for _ in range(20):
            await refuse()
        return [*found, its.limit]

    # One at a time is always left.
    left = [32.0, 16.0, 26.0, 64.0, 1.0]
    assert simulate(main) == (left if status in OVERLOAD else [64.0] * 5)


def test_a_server_with_one_request_at_a_time_is_not_driven_into_time_outs() -> None:
    async def main(loop: Simulated) -> tuple[float, float]:
        its = limiter(loop, RateLimits(concurrency=64), start=LOCAL_START, timeout=100.0)
        one_at_a_time = asyncio.Lock()
        slowest = 0.0

        async def ask() -> None:
            nonlocal slowest
            async with its.admitted(BODY) as sent:
                started = loop.time()
                async with one_at_a_time:
                    await asyncio.sleep(5.0)
                slowest = max(slowest, loop.time() - started)
                its.answered(sent, {}, None)

        await asyncio.gather(*(ask() for _ in range(60)))
        return slowest, its.limit

    slowest, limit = simulate(main)
    assert slowest < 100.0
    assert limit < 20


@pytest.mark.parametrize("seconds", [0.5, 30.0, 400.0])
@pytest.mark.parametrize("what", ["requests", "tokens"])
def test_while_an_endpoint_asks_to_wait_nobody_sends(seconds: float, what: str) -> None:
    async def main(loop: Simulated) -> list[float]:
        its, elsewhere, empty = (limiter(loop, RateLimits(4)) for _ in range(3))
        async with its.admitted(BODY) as sent:
            await asyncio.sleep(100.0)
            its.failed(sent, refused(retry_after=seconds))
        async with empty.admitted(BODY) as sent:  # and what is used up is waited for
            left = {
                f"x-ratelimit-remaining-{what}": "0",
                f"x-ratelimit-reset-{what}": f"{seconds}s",
            }
            empty.answered(sent, left, None)
        asked = (exchange(one, loop, 1.0) for one in [its, elsewhere, empty])
        return [start for start, _ in await asyncio.gather(*asked)]

    here, elsewhere, empty = simulate(main)
    assert 100.0 + seconds <= here <= 100.0 + seconds * 1.1
    assert elsewhere == pytest.approx(100.0)
    assert 100.0 + seconds <= empty <= 101.0 + seconds


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("timeout", "timed out"),
        ("connection", "lost the connection"),
        ("garbled", "got a reply that cannot be read"),
        ("429", "met a rate limit (429)"),
        ("500", "got status 500"),
    ],
)
def test_a_retry_is_told_of_with_its_cause(status: str, word: str) -> None:
    told, _ = outage((1.0, status), patience=math.inf)
    assert told == [f"a request {word}, retrying in 4 s"]


def test_retries_are_told_of_once_in_three_seconds() -> None:
    told, _ = outage(*((1.0, status) for status in ("429", "503", "503", "timeout", "500")))
    limit = "a request met a rate limit (429), retrying in 4 s"
    assert told == [limit, "a request timed out, retrying in 4 s"]


def test_retries_of_an_outage_are_told_of_with_the_time_that_is_left() -> None:
    told, final = outage(*[(30.0, "connection")] * 2, (30.0, "500"), (30.0, "connection"))
    away = "the endpoint does not answer, retrying for 14 more minutes"
    assert told == [away, away, "a request got status 500, retrying in 4 s", away]
    assert final == [False] * 4


@pytest.mark.parametrize(
    ("patience", "left"), [(99.0, "89 more seconds"), (100.0, "2 more minutes")]
)
def test_the_time_left_is_told_in_minutes_from_ninety_seconds(patience: float, left: str) -> None:
    told, _ = outage((10.0, "connection"), patience=patience)
    assert told == [f"the endpoint does not answer, retrying for {left}"]


def test_who_gives_up_waiting_takes_nothing_with_him() -> None:
    async def main(loop: Simulated) -> float:
        its = limiter(loop, RateLimits(1))
        first = asyncio.create_task(exchange(its, loop, 5.0))
        waiting = [asyncio.create_task(exchange(its, loop, 1.0)) for _ in range(3)]
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
        pytest.param(9, 0.0, 0.0, 0.0, id="nothing was asked for"),
    ],
)
def test_a_pause(attempt: int, asked: float | None, chance: float, pause: float) -> None:
    assert POLICY.pause(attempt, asked, chance) == pause


@pytest.mark.parametrize(
    ("reached", "status", "tries"),
    [
        pytest.param(True, "timeout", 5, id="no answer in time, from an endpoint that answered"),
        pytest.param(True, "connection", 5, id="no connection, to an endpoint that answered"),
        pytest.param(True, "503", 3, id="an error of an endpoint that answered"),
        pytest.param(False, "timeout", 3, id="no answer from an endpoint that never answered"),
    ],
)
def test_only_an_endpoint_that_answered_before_is_waited_for_beyond_all_tries(
    reached: bool, status: str, tries: int
) -> None:
    attempts: list[int] = []

    async def main(loop: Simulated) -> None:
        its = limiter(loop, RateLimits(), reached=reached, report=lambda message: None)
        timing = Timing(asyncio.sleep, lambda: 1.0, loop.time)

        async def send(attempt: int) -> None:
            attempts.append(attempt)
            raise refused(status)

        with pytest.raises(SendError):  # the last try is made when the time is over
            await retrying(send, Retry(3, seconds=10.0, first=1.0, longest=4.0), timing, its)
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
    found: str | SendError
    try:
        found = asyncio.run(retrying(send, retry, Timing(sleep, lambda: 0.0, lambda: now)))
    except SendError as error:
        found = error
    assert paused == row["pauses"]
    assert found == ERRORS.get(row["end"], row["end"])


def test_a_pause_longer_than_all_tries_may_take_is_final() -> None:
    asked = refused(retry_after=901, request_id="q1")
    error = Retry(seconds=900).within(asked)
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
    assert Retry(seconds=900).within(error) is error


def outage(*events: tuple[float, str], patience: float = 900.0) -> tuple[list[str], list[bool]]:
    """What is told of a request whose tries end with these errors after so many seconds each, and
    which of the errors are final."""
    told: list[str] = []
    final: list[bool] = []

    async def main(loop: Simulated) -> None:
        its = limiter(loop, RateLimits(), patience=patience, report=told.append)
        with its.asked():
            for seconds, status in events:
                async with its.admitted(BODY) as sent:
                    await asyncio.sleep(seconds)
                    error = its.failed(sent, refused(status))
                its.retrying(error, 4.0)
                final.append(error.final)

    simulate(main)
    return told, final


@pytest.mark.parametrize(
    ("patience", "final"),
    [
        pytest.param(60.0, [False, True], id="as long as its patience"),
        pytest.param(61.0, [False, False], id="not as long"),
        pytest.param(0.0, [False, False], id="no patience was set"),
    ],
)
def test_an_endpoint_that_stays_away_ends_the_run(patience: float, final: list[bool]) -> None:
    assert outage((0.0, "connection"), (60.0, "connection"), patience=patience)[1] == final


def test_any_answer_ends_an_outage() -> None:
    events = [(0.0, "connection"), (50.0, "500"), (20.0, "connection"), (50.0, "timeout")]
    assert outage(*events, (10.0, "connection"), patience=60.0)[1] == [False] * 4 + [True]


def test_an_outage_ends_when_nobody_asks_any_more() -> None:
    async def main(loop: Simulated) -> list[bool]:
        its = limiter(loop, RateLimits(), patience=60.0, report=lambda message: None)
        final = []
        for _ in range(2):
            with its.asked():
                async with its.admitted(BODY) as sent:
                    final.append(its.failed(sent, refused("connection")).final)
            await asyncio.sleep(60.0)
        return final

    assert simulate(main) == [False, False]


@pytest.mark.parametrize(
    ("others", "silence"), [(0, 0.0), (1, 3.0)], ids=["no other request", "another request"]
)
def test_silence_is_counted_from_the_last_answer(others: int, silence: float) -> None:
    async def main(loop: Simulated) -> float:
        its = limiter(loop, RateLimits())
        waiting = [asyncio.create_task(exchange(its, loop, 100.0)) for _ in range(others)]
        async with its.admitted(BODY) as sent:
            await asyncio.sleep(5.0)
            assert its.silence() == 5.0
            its.answered(sent, {}, None)
            await asyncio.sleep(3.0)
        found = its.silence()
        await asyncio.gather(*waiting)
        return found

    assert simulate(main) == silence


def test_an_endpoint_that_stays_away_is_named_with_the_remedy() -> None:
    async def main(loop: Simulated) -> SendError:
        its = limiter(loop, RateLimits(), patience=89.0, name="http://near/v1")
        with its.asked():
            async with its.admitted(BODY) as sent:
                await asyncio.sleep(89.0)
                return its.failed(sent, refused("connection", request_id="q1"))

    error = simulate(main)
    assert str(error) == (
        "http://near/v1 has not answered for 89 seconds: later; start it again, and run the same "
        "command again"
    )
    assert error.status == "connection"
    assert error.request_id == "q1"


@pytest.mark.parametrize(
    ("body", "tokens"),
    [({"a": ""}, 4), ({"a": "é"}, 4), ({"a": "bbb"}, 5)],
    ids=["9 bytes", "11 bytes", "12 bytes"],
)
def test_three_bytes_of_a_request_are_reserved_as_a_token(
    body: dict[str, str], tokens: int
) -> None:
    assert estimated(body) == tokens
