"""Politeness: few requests to a host at once, and a pause between them."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

AT_ONCE: Final = 2
DELAY: Final = 0.1  # seconds between the starts of two requests
LONGEST_DELAY: Final = 10.0  # that is waited, whatever Crawl-delay a host asks for


@dataclass(slots=True)
class _Host:
    places: asyncio.Semaphore
    next: float = 0.0
    delay: float = 0.0


class Hosts:
    """The hosts that this process asks; for one event loop.

    `at_once` and `delay` (seconds) are of the whole run, and each of its `workers` processes keeps
    to its share. A Crawl-delay that a host asks for beyond that holds too, up to ten seconds.
    """

    def __init__(
        self,
        at_once: int = AT_ONCE,
        delay: float = DELAY,
        workers: int = 1,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._at_once = max(1, at_once // workers)
        self._delay = delay
        self._workers = workers
        self._sleep = sleep
        self._clock = clock
        self._hosts: dict[str, _Host] = {}

    def crawl_delay(self, host: str, seconds: float | None) -> None:
        """Take note of what a host's robots.txt asks for."""
        self._of(host).delay = min(max(seconds or 0.0, 0.0), LONGEST_DELAY)

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait for a place and the host's next moment; the place is held until the block ends."""
        its = self._of(host)
        async with its.places:
            now = self._clock()
            start = max(now, its.next)
            # The next request finds the moment taken, so that no order of waking is needed.
            its.next = start + max(self._delay, its.delay) * self._workers
            if start > now:
                await self._sleep(start - now)
            yield

    def _of(self, host: str) -> _Host:
        if host not in self._hosts:
            self._hosts[host] = _Host(asyncio.Semaphore(self._at_once))
        return self._hosts[host]
