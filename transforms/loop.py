"""Run coroutines from synchronous code: directly if they never wait, else on one loop a process.

The loop runs in a daemon thread. `CallWindow` submits coroutines to it and yields results in the
order of completion. A forked child starts a loop of its own.
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from ufo.schemas.errors import ends_run
from ufo.schemas.forks import SECONDS_BEFORE, Opened, at_fork

_ENDING_SECONDS = 5.0  # for replies to requests in flight at the end of a run

T = TypeVar("T")
K = TypeVar("K")

STEP: ContextVar[str | None] = ContextVar("ufo_step", default=None)
"""The step that this thread or coroutine runs, for log records."""


@contextmanager
def in_step(name: str) -> Iterator[None]:
    """Run the block as the step `name`."""
    token = STEP.set(name)
    try:
        yield
    finally:
        STEP.reset(token)


def run_now(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never waits, without a loop (1 µs instead of 60 µs).

    Raises:
        RuntimeError: the coroutine waited; its source or judge must set `remote = True`.
    """
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise RuntimeError("a source or judge that waits for something must set `remote = True`")


_THREAD = "ufo-loop"
_loops: Opened[str, asyncio.AbstractEventLoop] = Opened()  # one, by the name of its thread


def process_loop() -> asyncio.AbstractEventLoop:
    """Return this process's event loop, running in a daemon thread; started at the first call."""
    with _loops.lock:
        loop = _loops.get(_THREAD)
        if loop is None or loop.is_closed():
            loop = asyncio.new_event_loop()
            try:
                threading.Thread(target=loop.run_forever, name=_THREAD, daemon=True).start()
            except RuntimeError:  # for lack of memory; whoever waits for a loop without one hangs
                loop.close()
                raise
            _loops[_THREAD] = loop
        return loop


class _Fork(threading.local):
    """The fork that a thread is about to make, with the event that lets the loop go on after it."""

    over: threading.Event | None = None


_fork = _Fork()


def _stop_loop() -> None:
    """Stop the loop between two of its steps while this thread forks.

    A step may hold a lock, also of a library or of the import system, which nobody would release in
    the child.
    """
    loop = _loops.get(_THREAD)
    if loop is None or threading.current_thread().name == _THREAD:
        return
    stopped, over = threading.Event(), threading.Event()

    def stop() -> None:
        stopped.set()
        over.wait()

    _fork.over = over
    with suppress(RuntimeError):  # it is closed
        loop.call_soon_threadsafe(stop)
        stopped.wait(SECONDS_BEFORE)


def _go_on() -> None:
    if _fork.over is not None:
        _fork.over.set()
        _fork.over = None


at_fork(before=_stop_loop, in_parent=_go_on)


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the process's loop and return its result, from synchronous code."""
    return _started(coroutine).result()


def _started(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    try:
        return asyncio.run_coroutine_threadsafe(coroutine, process_loop())
    except BaseException:
        coroutine.close()  # otherwise Python warns that it was never awaited
        raise


class CallWindow(Generic[K, T]):
    """Up to `size` concurrent coroutines on the process's loop, each with a key.

    `submit` yields completed results, and waits only if the window is full; `drain` yields the
    rest. A slow coroutine does not delay the results of others. An exception of one cancels the
    others.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._under_way: dict[Future[T], K] = {}
        # Each wait on all futures would take time in proportion to their number.
        self._completed: SimpleQueue[Future[T]] = SimpleQueue()

    def submit(self, key: K, coroutine: Coroutine[Any, Any, T]) -> Iterator[tuple[K, T]]:
        """Start a coroutine; yield (key, result) of those completed by now, in any order."""
        future = _started(coroutine)
        self._under_way[future] = key
        future.add_done_callback(self._completed.put)
        while not self._completed.empty() or len(self._under_way) >= self._size:
            yield self._take()

    def drain(self) -> Iterator[tuple[K, T]]:
        """Yield (key, result) of all coroutines in progress, as each completes."""
        while self._under_way:
            yield self._take()

    def _take(self) -> tuple[K, T]:
        future = self._completed.get()
        key = self._under_way.pop(future)
        try:
            return key, future.result()
        except BaseException as error:
            if ends_run(error):
                # Requests in flight are paid for; their replies are cached if they arrive in time.
                wait(self._under_way, timeout=_ENDING_SECONDS)
            for other in self._under_way:
                other.cancel()
            self._under_way.clear()
            self._completed = SimpleQueue()
            raise
