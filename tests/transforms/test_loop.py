"""Coroutines from code without a loop, and a window of calls that are under way."""

import asyncio
import threading

import pytest

from ufo.schemas.errors import RunError
from ufo.schemas.forks import Opened
from ufo.transforms import loop
from ufo.transforms.loop import STEP, CallWindow, in_step, process_loop, run_now, wait_for


async def plain(value: int) -> int:
    return value


async def waiting(value: int) -> int:
    await asyncio.sleep(0)
    return value


def test_a_coroutine_is_run_from_code_with_and_without_a_loop() -> None:
    assert run_now(plain(3)) == 3
    with pytest.raises(RuntimeError, match="remote = True"):
        run_now(waiting(3))
    assert wait_for(waiting(3)) == 3

    async def inside() -> int:
        return wait_for(waiting(4))

    assert asyncio.run(inside()) == 4
    assert process_loop() is process_loop()


def test_a_coroutine_that_waits_for_something_is_closed() -> None:
    ended = False

    async def waits() -> None:
        nonlocal ended
        try:
            await asyncio.sleep(0)
        finally:
            ended = True

    with pytest.raises(RuntimeError):
        run_now(waits())
    assert ended


def test_the_loop_s_thread_has_a_name_and_ends_with_the_process() -> None:
    process_loop()
    (thread,) = [one for one in threading.enumerate() if one.name == "ufo-loop"]
    assert thread.daemon


def test_a_step_is_known_within_its_block() -> None:
    assert STEP.get() is None
    with in_step("extract"):
        with in_step("judge"):
            assert STEP.get() == "judge"
        assert STEP.get() == "extract"
    assert STEP.get() is None


def test_any_completed_one_is_taken_and_a_slow_one_holds_up_nobody() -> None:
    slow, under_way = asyncio.Event(), [0]

    async def call(key: int) -> int:
        under_way.append(under_way[-1] + 1)
        await (asyncio.sleep(0) if key else slow.wait())
        under_way.append(under_way[-1] - 1)
        return key * 10

    window: CallWindow[int, int] = CallWindow(3)
    completed = [pair for key in range(6) for pair in window.submit(key, call(key))]
    assert len(completed) >= 3
    assert 0 not in dict(completed)
    assert max(under_way) <= 3
    process_loop().call_soon_threadsafe(slow.set)
    completed += window.drain()
    assert sorted(completed) == [(key, key * 10) for key in range(6)]
    assert list(window.drain()) == []


async def _breaks(error: Exception) -> int:
    raise error


@pytest.mark.parametrize(
    ("seconds", "error", "end"),
    [
        (0.05, ValueError("odd"), "cancelled"),
        (0.05, RunError("spent"), "answered"),
        (60, RunError("spent"), "cancelled"),  # what never answers is given up
    ],
    ids=["something broke", "the run ends", "the run ends without an answer"],
)
def test_what_is_under_way_is_kept_where_the_run_ends_and_stopped_where_something_broke(
    monkeypatch: pytest.MonkeyPatch, seconds: float, error: Exception, end: str
) -> None:
    if seconds == 60:
        monkeypatch.setattr("ufo.transforms.loop._ENDING_SECONDS", 0.01)
    started, ended = threading.Event(), threading.Event()
    outcome = "cancelled"

    async def answers() -> int:
        nonlocal outcome
        started.set()
        try:
            await asyncio.sleep(seconds)
            outcome = "answered"
        finally:
            ended.set()
        return 1

    window: CallWindow[str, int] = CallWindow(4)
    assert list(window.submit("a", answers())) == []
    started.wait(5)
    with pytest.raises(type(error), match=str(error)):
        [*window.submit("b", _breaks(error)), *window.drain()]
    assert list(window.drain()) == []
    assert ended.wait(5)
    assert outcome == end


@pytest.mark.filterwarnings("error")
def test_a_loop_whose_thread_cannot_start_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited for a loop without a thread would wait forever."""
    monkeypatch.setattr(loop, "_loops", Opened())

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="can't start new thread"):
                wait_for(waiting(3))
    before = set(threading.enumerate())
    assert wait_for(waiting(3)) == 3
    event_loop = process_loop()
    event_loop.call_soon_threadsafe(event_loop.stop)
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
    event_loop.close()
