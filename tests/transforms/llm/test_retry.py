"""When another try is made, after which pause, and what the user is told of it."""

import asyncio
from collections.abc import Sequence

import pytest

from tests.transforms.llm.simulated import BODY, Simulated, limiter, refused, simulate
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.limiter import RateLimits
from ufo.transforms.llm.retry import Retry, Timing, retrying

POLICY = Retry(attempts=5, seconds=1000.0, first=0.5, longest=4.0)


def run(
    errors: Sequence[SendError | None], retry: Retry = POLICY
) -> tuple[list[float], str | SendError]:
    """Return the pauses, and what came in the end: each try takes one second."""
    now = 0.0
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        nonlocal now
        pauses.append(seconds)
        now += seconds

    async def send(attempt: int) -> str:
        nonlocal now
        now += 1.0
        error = errors[attempt]
        if error:
            raise error
        return f"attempt {attempt}"

    try:
        done = asyncio.run(retrying(send, retry, Timing(sleep, lambda: 0.0, lambda: now)))
    except SendError as error:
        return pauses, error
    return pauses, done


def test_pauses_double_up_to_the_longest() -> None:
    errors = [refused()] * 4
    assert run([*errors, None]) == ([0.25, 0.5, 1.0, 2.0], "attempt 4")
    assert POLICY.pause(10, None, 0.0) == 2.0


def test_the_last_error_is_raised_after_the_last_attempt() -> None:
    last = refused()
    pauses, found = run([*[refused()] * 4, last])
    assert found is last
    assert len(pauses) == 4


def test_what_does_not_pass_is_not_tried_again() -> None:
    error = SendError("no", "400")
    assert run([error]) == ([], error)


def test_a_wait_that_was_asked_for_is_kept_however_long() -> None:
    assert run([refused(retry_after=300.0), None]) == ([300.0], "attempt 1")


def test_a_wait_beyond_the_total_is_not_begun() -> None:
    error = refused(retry_after=2000.0)
    assert run([error, None]) == ([], error)


def test_the_total_counts_the_tries_too() -> None:
    errors = [refused()] * 5
    pauses, found = run(errors, Retry(attempts=5, seconds=3.0))
    assert isinstance(found, SendError)
    assert pauses == [0.25, 0.5]


@pytest.mark.parametrize("chance", [0.0, 0.5, 0.999])
def test_jitter_spreads_the_callers_but_never_before_the_time_asked_for(chance: float) -> None:
    assert 0.25 <= POLICY.pause(0, None, chance) < 0.5
    assert 10.0 <= POLICY.pause(3, 10.0, chance) < 11.0


def test_the_time_before_the_first_try_failed_is_not_counted() -> None:
    # The first try ends at 1 s: what it waited for before that was others' doing.
    retry = Retry(attempts=5, seconds=1.5, first=1.0)
    assert run([refused(), None], retry) == ([0.5], "attempt 1")


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


def test_retries_are_told_of_once_in_three_seconds() -> None:
    told, _ = outage(*((1.0, status) for status in ("429", "503", "503", "timeout", "500")))
    assert told == [
        "a request met a rate limit (429), retrying in 4 s",
        "a request timed out, retrying in 4 s",
    ]


def test_an_endpoint_that_is_away_is_reported_with_the_time_that_is_left() -> None:
    gone = [(30.0, "connection")] * 3
    told, final = outage(*gone, (30.0, "500"), (30.0, "connection"))
    assert told == [
        "the endpoint does not answer, retrying for 14 more minutes",
        "the endpoint does not answer, retrying for 14 more minutes",
        "the endpoint does not answer, retrying for 14 more minutes",
        "a request got status 500, retrying in 4 s",
        "the endpoint does not answer, retrying for 14 more minutes",
    ]
    assert not any(final)


@pytest.mark.parametrize(("patience", "final"), [(60.0, True), (0.0, False), (900.0, False)])
def test_an_endpoint_that_stays_away_ends_the_run(patience: float, final: bool) -> None:
    found = outage((0.0, "connection"), (60.0, "connection"), patience=patience)[1]
    assert found == [False, final]


def test_any_answer_ends_an_outage() -> None:
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
        retry = Retry(attempts=3, seconds=300.0)
        with pytest.raises(SendError):
            await retrying(send, retry, Timing(clock=loop.time), its)
        return loop.time()

    assert seconds <= simulate(main) <= seconds + 10.0
    assert (tries > 8) == reached
