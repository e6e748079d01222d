"""When another try is made, and after which pause; no test sleeps."""

import asyncio
from collections.abc import Sequence

import pytest

from transforms.llm.failures import SendError
from transforms.llm.retry import Retry, Timing, retrying

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


def transient(retry_after: float | None = None) -> SendError:
    return SendError("later", "429", transient=True, retry_after=retry_after)


def test_pauses_double_up_to_the_longest() -> None:
    errors = [transient()] * 4
    assert run([*errors, None]) == ([0.25, 0.5, 1.0, 2.0], "attempt 4")
    assert POLICY.pause(10, None, 0.0) == 2.0


def test_the_last_error_is_raised_after_the_last_attempt() -> None:
    last = transient()
    pauses, found = run([*[transient()] * 4, last])
    assert found is last
    assert len(pauses) == 4


def test_what_does_not_pass_is_not_tried_again() -> None:
    error = SendError("no", "400")
    assert run([error]) == ([], error)


def test_a_wait_that_was_asked_for_is_kept_however_long() -> None:
    assert run([transient(300.0), None]) == ([300.0], "attempt 1")


def test_a_wait_beyond_the_total_is_not_begun() -> None:
    error = transient(2000.0)
    assert run([error, None]) == ([], error)


def test_the_total_counts_the_tries_too() -> None:
    errors = [transient()] * 5
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
    assert run([transient(), None], retry) == ([0.5], "attempt 1")


def test_a_pause_longer_than_all_tries_may_take_is_final() -> None:
    error = Retry(seconds=900).within(transient(901))
    assert error.final
    assert not error.transient
    assert "wait 901 s" in error.message
    assert "--retry_seconds" in error.message
    for other in (transient(900), transient(), SendError("no", "400", retry_after=901)):
        assert Retry(seconds=900).within(other) is other
