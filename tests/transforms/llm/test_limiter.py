"""What an endpoint allows is kept and used, and when another try is made, by a simulated clock."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.llm.simulated import BODY, Simulated, exchange, limiter, refused, simulate
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.limiter import LOCAL_START, RateLimits, estimated
from ufo.transforms.llm.retry import Retry, Timing, retrying

REQUESTS = RateLimits(64, requests_per_minute=120)
TOKENS = RateLimits(64, tokens_per_minute=50_000)


@pytest.mark.parametrize(
    ("limits", "most", "slowest"),
    [*((REQUESTS, 120, slowest) for slowest in (0.1, 3.0, 20.0)), (TOKENS, 50_000, 3.0)],
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


def test_a_request_larger_than_the_limit_goes_alone_and_what_was_sent_before_counts() -> None:
    def starts(limits: RateLimits, many: int, seconds: float, before: int = 0) -> list[float]:
        async def main(loop: Simulated) -> list[tuple[float, float]]:
            its = limiter(loop, limits, before=before)
            return await asyncio.gather(*(exchange(its, loop, seconds) for _ in range(many)))

        return [start for start, _ in simulate(main)]

    first, second = starts(RateLimits(64, tokens_per_minute=10), 2, 1.0)
    assert first == 0.0
    assert second >= 60.0
    times = starts(RateLimits(64, requests_per_minute=10), 3, 0.1, before=8)
    assert times[1] < 10.0
    assert times[2] >= 60.0


OVERLOAD = ("429", "502", "503", "529", "timeout", "connection")


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
def test_while_an_endpoint_asks_to_wait_nobody_sends(seconds: float) -> None:
    async def main(loop: Simulated) -> list[float]:
        its, elsewhere, empty = (limiter(loop, RateLimits(4)) for _ in range(3))
        async with its.admitted(BODY) as sent:
            await asyncio.sleep(100.0)
            its.failed(sent, refused(retry_after=seconds))
        async with empty.admitted(BODY) as sent:  # and what is used up is waited for
            reset = {"x-ratelimit-reset-tokens": f"{seconds}s"}
            empty.answered(sent, {"x-ratelimit-remaining-tokens": "0", **reset}, None)
        asked = (exchange(one, loop, 1.0) for one in [its, elsewhere, empty])
        return [start for start, _ in await asyncio.gather(*asked)]

    here, elsewhere, empty = simulate(main)
    assert 100.0 + seconds <= here <= 100.0 + seconds * 1.1
    assert elsewhere == pytest.approx(100.0)
    assert 100.0 + seconds <= empty <= 101.0 + seconds


def test_retries_are_told_of_once_in_three_seconds_and_with_the_time_that_is_left() -> None:
    told, _ = outage(*((1.0, status) for status in ("429", "503", "503", "timeout", "500")))
    limit = "a request met a rate limit (429), retrying in 4 s"
    assert told == [limit, "a request timed out, retrying in 4 s"]
    told, final = outage(*[(30.0, "connection")] * 2, (30.0, "500"), (30.0, "connection"))
    away = "the endpoint does not answer, retrying for 14 more minutes"
    assert told == [away, away, "a request got status 500, retrying in 4 s", away]
    assert not any(final)


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


POLICY = Retry(attempts=5, seconds=1000.0, first=0.5, longest=4.0)


ERRORS = {"later": refused(), "no": SendError("no", "400")}
ERRORS |= {"soon": refused(retry_after=300.0), "late": refused(retry_after=2000.0)}


RETRIES = yaml.safe_load(Path(__file__).with_name("retries.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", RETRIES, ids=str)
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
    error = Retry(seconds=900).within(refused(retry_after=901))
    assert error.final
    assert not error.transient
    assert "wait 901 s" in error.message
    assert "--retry_seconds" in error.message
    for other in (refused(retry_after=900), refused(), SendError("no", "400", retry_after=901)):
        assert Retry(seconds=900).within(other) is other


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


def test_an_endpoint_that_stays_away_ends_the_run_and_any_answer_ends_an_outage() -> None:
    gone = (0.0, "connection"), (60.0, "connection")
    found = [outage(*gone, patience=patience)[1] for patience in (60.0, 0.0, 900.0)]
    assert found == [[False, True], [False, False], [False, False]]
    events = [(0.0, "connection"), (50.0, "500"), (20.0, "connection"), (50.0, "timeout")]
    assert outage(*events, (10.0, "connection"), patience=60.0)[1] == [False] * 4 + [True]
