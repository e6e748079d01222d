import asyncio
import threading
from collections.abc import Iterator

import pytest

from ufo.schemas.errors import RunError
from ufo.transforms.loop import CallWindow, process_loop, run_now, wait_for


async def plain(value: int) -> int:
    return value


async def waiting(value: int) -> int:
    await asyncio.sleep(0)
    return value


def test_a_coroutine_that_never_waits_needs_no_loop() -> None:
    assert run_now(plain(3)) == 3
    with pytest.raises(RuntimeError, match="remote = True"):
        run_now(waiting(3))


def test_a_coroutine_is_run_from_code_with_and_without_a_loop() -> None:
    assert wait_for(waiting(3)) == 3

    async def inside() -> int:
        return wait_for(waiting(4))

    assert asyncio.run(inside()) == 4
    assert process_loop() is process_loop()


class Gates:
    """Coroutines that end when the test says so."""

    def __init__(self) -> None:
        self.under_way = 0
        self.most = 0
        self._events: dict[int, asyncio.Event] = {}
        self._opened: set[int] = set()

    async def call(self, key: int) -> int:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        event = self._events[key] = asyncio.Event()
        if key in self._opened:
            event.set()
        await event.wait()
        self.under_way -= 1
        return key * 10

    def open(self, key: int) -> None:
        async def set_it() -> None:
            self._opened.add(key)
            if key in self._events:
                self._events[key].set()

        wait_for(set_it())


def test_any_completed_one_is_taken_and_a_slow_one_holds_up_nobody() -> None:
    gates = Gates()
    window: CallWindow[str, int] = CallWindow(3)
    assert list(window.submit("slow", gates.call(0))) == []
    found: list[tuple[str, int]] = []
    for key in range(1, 6):
        gates.open(key)
        found += window.submit(str(key), gates.call(key))
    assert "slow" not in dict(found)
    assert gates.most <= 3
    gates.open(0)
    found += window.drain()
    assert sorted(found) == [("1", 10), ("2", 20), ("3", 30), ("4", 40), ("5", 50), ("slow", 0)]
    assert list(window.drain()) == []


def test_an_exception_comes_out_where_the_result_would() -> None:
    async def breaks() -> int:
        raise ValueError("odd")

    def everything(window: CallWindow[str, int]) -> Iterator[tuple[str, int]]:
        yield from window.submit("a", breaks())
        yield from window.drain()

    with pytest.raises(ValueError, match="odd"):
        list(everything(CallWindow(2)))


@pytest.mark.parametrize("final", [True, False])
def test_what_is_under_way_is_kept_where_the_run_ends_and_stopped_where_something_broke(
    final: bool,
) -> None:
    started = threading.Event()
    ended: list[str] = []

    async def answers() -> int:
        started.set()
        try:
            await asyncio.sleep(0.05)
            ended.append("answered")
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return 1

    async def breaks() -> int:
        raise RunError("spent") if final else ValueError("odd")

    window: CallWindow[str, int] = CallWindow(4)
    assert list(window.submit("a", answers())) == []
    started.wait(5)
    with pytest.raises((RunError, ValueError)):
        [*window.submit("b", breaks()), *window.drain()]
    assert list(window.drain()) == []
    wait_for(asyncio.sleep(0))
    assert ended == ["answered" if final else "cancelled"]


def test_what_never_answers_is_given_up_where_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ufo.transforms.loop._ENDING_SECONDS", 0.01)
    cancelled = threading.Event()

    async def never() -> int:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return 1

    async def breaks() -> int:
        raise RunError("spent")

    window: CallWindow[str, int] = CallWindow(4)
    assert list(window.submit("a", never())) == []
    with pytest.raises(RunError):
        [*window.submit("b", breaks()), *window.drain()]
    assert cancelled.wait(5)
