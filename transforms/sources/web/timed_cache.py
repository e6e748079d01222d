"""Cache values for some time, each computed once for concurrent callers."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class TimedCache(Generic[T]):
    """A cache of up to `most` values, each for `seconds`; concurrent callers share one computation.

    Failures are not cached. `clock` is for tests.
    """

    def __init__(
        self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, asyncio.Task[T]]] = OrderedDict()

    async def get(self, key: str, make: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """Return the value of a key, and whether another call computed it."""
        known, now = self._known.get(key), self._clock()
        waited = known is not None and (not known[1].done() or now - known[0] < self._seconds)
        if known is None or not waited:
            # A separate task, which continues for the other callers if this one is cancelled.
            known = self._known[key] = (now, asyncio.ensure_future(make()))
            known[1].add_done_callback(lambda task: self._drop_failed(key, task))
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return await asyncio.shield(known[1]), waited

    def _drop_failed(self, key: str, task: asyncio.Task[T]) -> None:
        failed = task.cancelled() or task.exception() is not None
        if failed and key in self._known and self._known[key][1] is task:
            del self._known[key]
