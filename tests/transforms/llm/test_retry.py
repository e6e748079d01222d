"""When another try is made, after which pause, and what the user is told of it."""

import asyncio
from collections.abc import Sequence

import pytest

from tests.transforms.llm.simulated import BODY, Simulated, limiter, refused, simulate
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.limiter import RateLimits
from ufo.transforms.llm.retry import Retry, Timing, retrying

POLICY = Retry(attempts=5, seconds=1000.0, first=0.5, longest=4.0)
LATER, NO = refused(), SendError("no", "400")
SOON, LATE = refused(retry_after=300.0), refused(retry_after=2000.0)


@pytest.mark.parametrize(
    ("errors", "retry", "pauses", "end"),
    [
        ([LATER] * 4, POLICY, [0.25, 0.5, 1.0, 2.0], "attempt 4"),
        ([LATER] * 4 + [SOON], POLICY, [0.25, 0.5, 1.0, 2.0], SOON),
        ([NO], POLICY, [], NO),
        ([SOON], POLICY, [300.0], "attempt 1"),
        ([LATE], POLICY, [], LATE),
        # Each try takes a second, and that counts; what passed before the first failed does not.
        ([LATER] * 5, Retry(attempts=5, seconds=3.0), [0.25, 0.5], LATER),
        ([LATER], Retry(attempts=5, seconds=1.5, first=1.0), [0.5], "attempt 1"),
    ],
)
def test_what_passes_is_tried_again_after_growing_pauses_for_so_long(
    errors: Sequence[SendError], retry: Retry, pauses: list[float], end: str | SendError
) -> None:
    now = 0.0
    paused: list[float] = []

    async def sleep(seconds: float) -> None:
        nonlocal now
        paused.append(seconds)
        now += seconds

    async def send(attempt: int) -> str:
        nonlocal now
        now += 1.0
        if attempt < len(errors):
            raise errors[attempt]
        return f"attempt {attempt}"

    found: str | SendError
    try:
        found = asyncio.run(retrying(send, retry, Timing(sleep, lambda: 0.0, lambda: now)))
    except SendError as error:
        found = error
    assert (paused, found) == (pauses, end)


@pytest.mark.parametrize("chance", [0.0, 0.5, 0.999])
def test_jitter_spreads_the_callers_but_never_before_the_time_asked_for(chance: float) -> None:
    assert 0.25 <= POLICY.pause(0, None, chance) < 0.5
    assert 10.0 <= POLICY.pause(3, 10.0, chance) < 11.0
    assert 2.0 <= POLICY.pause(10, None, chance) < 4.0


def test_a_pause_longer_than_all_tries_may_take_is_final() -> None:
    error = Retry(seconds=900).within(refused(retry_after=901))
    assert (error.final, error.transient) == (True, False)
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


def test_retries_are_told_of_once_in_three_seconds() -> None:
    told, _ = outage(*((1.0, status) for status in ("429", "503", "503", "timeout", "500")))
    limit = "a request met a rate limit (429), retrying in 4 s"
    assert told == [limit, "a request timed out, retrying in 4 s"]


def test_an_endpoint_that_is_away_is_reported_with_the_time_that_is_left() -> None:
    told, final = outage(*[(30.0, "connection")] * 2, (30.0, "500"), (30.0, "connection"))
    away = "the endpoint does not answer, retrying for 14 more minutes"
    assert told == [away, away, "a request got status 500, retrying in 4 s", away]
    assert not any(final)


def test_an_endpoint_that_stays_away_ends_the_run_and_any_answer_ends_an_outage() -> None:
    gone = (0.0, "connection"), (60.0, "connection")
    found = [outage(*gone, patience=patience)[1] for patience in (60.0, 0.0, 900.0)]
    assert found == [[False, True], [False, False], [False, False]]
    events = [(0.0, "connection"), (50.0, "500"), (20.0, "connection"), (50.0, "timeout")]
    assert outage(*events, (10.0, "connection"), patience=60.0)[1] == [False] * 4 + [True]


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
            raise refused("timeout")

        its = limiter(loop, RateLimits(), reached=reached)
        with pytest.raises(SendError):
            await retrying(send, Retry(attempts=3, seconds=300.0), Timing(clock=loop.time), its)
        return loop.time()

    assert seconds <= simulate(main) <= seconds + 10.0
    assert (tries > 8) == reached
