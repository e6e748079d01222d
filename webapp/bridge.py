"""Run coroutines of the service on the event loop that owns the connections."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from ufo.transforms.loop import process_loop
from ufo.webapp.limits import Refused

T = TypeVar("T")


async def run_on_loop(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """Run a coroutine on the process's event loop, and return its result; the caller can cancel it.

    Raises:
        Refused: it took longer than `seconds`.
    """

    async def once() -> AsyncGenerator[T, None]:
        yield await work

    async with aclosing(stream_from_loop(once(), seconds)) as results:
        async for result in results:
            assert not isinstance(result, Pulse)
            return result
    raise AssertionError("a coroutine returns once")


class Pulse:
    """A sign of life of the work, yielded at intervals."""


async def stream_from_loop(
    work: AsyncGenerator[T, None], seconds: float, pulse: float | None = None
) -> AsyncGenerator[T | Pulse, None]:
    """Yield the values of a generator that runs on the process's event loop.

    The generator is closed with this one. With `pulse`, a `Pulse` is yielded every `pulse` seconds.

    Raises:
        Refused: it took longer than `seconds` in all.
    """
    loop = asyncio.get_running_loop()
    items: asyncio.Queue[T | Pulse | None] = asyncio.Queue()

    async def run() -> None:
        try:
            async with asyncio.timeout(seconds), aclosing(work):
                async for item in work:
                    loop.call_soon_threadsafe(items.put_nowait, item)
        except TimeoutError:
            raise Refused(
                422,
                f"it took longer than {seconds:g} s, which is the most here",
                "send a shorter text or fewer sources, or use /upload",
                1.0,
            ) from None
        finally:
            loop.call_soon_threadsafe(items.put_nowait, None)

    async def beat(every: float) -> None:
        while True:
            await asyncio.sleep(every)
            items.put_nowait(Pulse())

    beating = loop.create_task(beat(pulse)) if pulse else None
    running = asyncio.run_coroutine_threadsafe(run(), process_loop())
    try:
        while (item := await items.get()) is not None:
            yield item
        await asyncio.wrap_future(running)
    finally:
        running.cancel()
        if beating is not None:
            beating.cancel()
