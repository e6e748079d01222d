"""Limit the requests to each web host."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

AT_ONCE: Final = 2
"""Concurrent requests to a host, over all processes of a run."""


DELAY: Final = 0.1
"""Seconds between the starts of two requests to a host."""


LONGEST_DELAY: Final = 10.0
"""The longest delay, even if a host's Crawl-delay is longer."""


class Hosts:
    """Limits the requests to each host: few at once, and a pause between them.

    A longer Crawl-delay of a host is respected, up to ten seconds.
    """

    def __init__(
        self,
        workers: int = 1,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workers = workers
        self._sleep = sleep
        self._clock = clock
        self._places: dict[str, asyncio.Semaphore] = {}
        self._next: dict[str, float] = {}
        self._delays: dict[str, float] = {}

    def crawl_delay(self, host: str, seconds: float | None) -> None:
        """Set the Crawl-delay of a host, from its robots.txt."""
        self._delays[host] = min(max(seconds or 0.0, DELAY), LONGEST_DELAY)

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait for a slot and for the host's next time; hold the slot until the block ends."""
        at_once = max(1, AT_ONCE // self._workers)
        async with self._places.setdefault(host, asyncio.Semaphore(at_once)):
            now = self._clock()
            start = max(now, self._next.get(host, now))
            # The next request gets a later time, whatever the order of waking.
            self._next[host] = start + self._delays.get(host, DELAY) * self._workers
            if start > now:
                await self._sleep(start - now)
            yield
