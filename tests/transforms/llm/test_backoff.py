"""What the user is told of an endpoint that is slow, away, or has had enough."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.transforms.llm.simulated import Simulated, refused, simulate
from transforms.llm.failures import SendError
from transforms.llm.retry import Backoff, Retry, Timing, retrying

Told = list[tuple[float, str]]


def told_by(fails: Callable[[Simulated, Backoff], Any], seconds: float = 900.0) -> Told:
    """What was told, and when, while `fails` went on and some seconds after it."""
    told: Told = []

    async def main(loop: Simulated) -> None:
        backoff = Backoff(seconds, lambda message: told.append((loop.time(), message)))
        await fails(loop, backoff)
        await asyncio.sleep(10.0)

    simulate(main)
    return told


def test_what_fails_at_about_the_same_time_is_one_message() -> None:
    async def fails(loop: Simulated, backoff: Backoff) -> None:
        for pause in (12.0, 9.0, 20.0):
            backoff.retrying(refused("timeout"), pause)
            await asyncio.sleep(0.3)

    assert told_by(fails) == [(1.0, "3 requests timed out, retrying in 9 s")]


def test_the_next_message_comes_three_seconds_later_with_all_that_failed_until_then() -> None:
    async def fails(loop: Simulated, backoff: Backoff) -> None:
        for status in ("429", "503", "503", "timeout", "503"):
            backoff.retrying(refused(status), 4.0)
            await asyncio.sleep(1.4)

    assert told_by(fails) == [
        (1.0, "1 request met a rate limit (429), retrying in 3 s"),
        (4.0, "2 requests got status 503, retrying in 2 s"),
        (7.0, "1 request timed out, 1 got status 503, retrying in 2 s"),
    ]


def test_an_endpoint_that_is_away_is_told_with_the_time_that_is_left() -> None:
    async def fails(loop: Simulated, backoff: Backoff) -> None:
        for _ in range(3):
            backoff.retrying(backoff.failed(refused("connection"), loop.time()), 30.0)
            await asyncio.sleep(30.0)
        backoff.answered()
        backoff.retrying(refused("500"), 1.0)

    assert [message for _, message in told_by(fails)] == [
        "the endpoint does not answer, retrying for 15 more minutes",
        "the endpoint does not answer, retrying for 14 more minutes",
        "the endpoint does not answer, retrying for 14 more minutes",
        "1 request got status 500, retrying in 1 s",
    ]


@pytest.mark.parametrize(("seconds", "final"), [(60.0, True), (0.0, False), (900.0, False)])
def test_an_endpoint_that_stays_away_ends_the_run(seconds: float, final: bool) -> None:
    backoff = Backoff(seconds)
    gone = refused("connection")
    assert backoff.failed(gone, 0.0) is gone
    assert backoff.failed(gone, 60.0).final == final


def test_any_answer_ends_an_outage() -> None:
    backoff = Backoff(60.0)
    backoff.failed(refused("connection"), 0.0)
    backoff.failed(refused("500"), 50.0)
    assert not backoff.failed(refused("connection"), 70.0).final
    backoff.failed(refused("timeout"), 120.0)  # which is none
    assert backoff.failed(refused("connection"), 130.0).final


@pytest.mark.parametrize(("reached", "seconds"), [(True, 300.0), (False, 15.0)])
def test_what_answers_no_more_is_waited_for_by_time_and_not_by_tries(
    reached: bool, seconds: float
) -> None:
    tries = 0

    async def main(loop: Simulated) -> float:
        async def send(attempt: int) -> None:
            nonlocal tries
            tries += 1
            await asyncio.sleep(5.0)
            raise SendError("later", "timeout", transient=True)

        backoff = Backoff(300.0, lambda message: None, reached=reached)
        retry = Retry(attempts=3, seconds=300.0)
        with pytest.raises(SendError):
            await retrying(send, retry, Timing(clock=loop.time), backoff)
        return loop.time()

    assert seconds <= simulate(main) <= seconds + 10.0
    assert (tries > 8) == reached
