"""Work on the loop that owns the connections: its values, its errors, its time and its end."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from threading import Event
from typing import Any

import pytest

from ufo.transforms.loop import process_loop
from ufo.webapp.bridge import Pulse, run_on_loop, stream_from_loop
from ufo.webapp.limits import Refused

LONG = 20.0


async def ever() -> None:
    await asyncio.Event().wait()


async def numbers(*values: int, then: Callable[[], Any] | None = None) -> AsyncGenerator[int, None]:
    """Yield these; then wait for what `then` returns."""
    for value in values:
        yield value
    if then is not None:
        await then()


async def failing() -> None:
    raise LookupError("no such thing")


async def taken(work: AsyncGenerator[int, None], seconds: float, into: list[Any]) -> None:
    async with aclosing(stream_from_loop(work, seconds)) as stream:
        async for value in stream:
            into.append(value)


def test_a_coroutine_runs_on_the_loop_of_the_process_and_returns_its_result() -> None:
    async def which() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert asyncio.run(run_on_loop(which(), LONG)) is process_loop()


def test_an_error_of_a_coroutine_is_raised() -> None:
    with pytest.raises(LookupError, match="no such thing"):
        asyncio.run(run_on_loop(failing(), LONG))


def test_values_come_in_order_and_then_the_error() -> None:
    received: list[int] = []
    asyncio.run(taken(numbers(1, 2, 3), LONG, received))
    assert received == [1, 2, 3]
    with pytest.raises(LookupError, match="no such thing"):
        asyncio.run(taken(numbers(4, then=failing), LONG, received))
    assert received == [1, 2, 3, 4]


def refused(error: Refused) -> None:
    assert error.status == 422
    assert error.detail == "it took longer than 0.05 s, which is the most here"
    assert error.remedy == "send a shorter text or fewer sources, or use /upload"
    assert error.seconds == 1.0


def test_work_that_takes_too_long_is_refused_after_what_it_gave() -> None:
    received: list[int] = []
    with pytest.raises(Refused) as streaming:
        asyncio.run(taken(numbers(1, then=ever), 0.05, received))
    assert received == [1]
    refused(streaming.value)
    with pytest.raises(Refused) as alone:
        asyncio.run(run_on_loop(ever(), 0.05))
    refused(alone.value)


def test_pulses_come_while_the_work_goes_on_where_they_are_asked_for() -> None:
    async def first(pulse: float | None) -> list[str]:
        gate = asyncio.Event()

        async def wait_for_gate() -> None:
            here = asyncio.get_running_loop()
            opened[0] = lambda: here.call_soon_threadsafe(gate.set)
            await gate.wait()

        opened: list[Callable[[], object]] = [lambda: None]
        kinds = []
        work = numbers(1, then=wait_for_gate if pulse else None)
        async with aclosing(stream_from_loop(work, LONG, pulse)) as stream:
            async for value in stream:
                kinds.append(type(value).__name__)
                if kinds.count("Pulse") == 2:
                    opened[0]()
        return kinds

    kinds = asyncio.run(first(0.01))
    assert kinds.count("int") == 1
    assert kinds.count(Pulse.__name__) >= 2
    assert asyncio.run(first(None)) == ["int"]


def test_the_work_is_cancelled_with_who_reads_it() -> None:
    cancelled = Event()

    async def noticing() -> None:
        try:
            await ever()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def stop_after_the_first() -> None:
        async with aclosing(stream_from_loop(numbers(1, then=noticing), LONG)) as stream:
            await anext(stream)
            await asyncio.sleep(0)

    asyncio.run(stop_after_the_first())
    assert cancelled.wait(LONG)
