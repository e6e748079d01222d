"""Run coroutines concurrently, until the first error."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

from ufo.schemas.errors import NotYetAnswered

T = TypeVar("T")


async def together(coroutines: Iterable[Awaitable[T]]) -> list[T]:
    """Run coroutines concurrently; return their results in order.

    The first error cancels the others, waits for their end, and is raised. `NotYetAnswered` is
    raised only after all have ended, so that their requests are in the same batch.
    """
    waiting = list(coroutines)
    if len(waiting) == 1:
        return [await waiting[0]]
    tasks = [asyncio.ensure_future(coroutine) for coroutine in waiting]
    try:
        return list(await asyncio.gather(*tasks))
    except NotYetAnswered:
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
