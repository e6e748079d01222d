"""The processes that evaluate chunks: fresh ones, or forks of one that has Beam in it already.

Importing Beam takes as long as evaluating several hundred responses. The command therefore starts
a fork server first of all, which imports what a chunk needs while the command reads its input;
workers are forks of that, and share the time and the memory of the imports. A fork server keeps the
environment it was started in, and its forks run the program's `__main__` again, so this is for a
program that is ours. In one that is not (a notebook, a script without a guard, a process with
threads) workers are loky's: they start afresh and import no `__main__`.

Either kind tells of a killed sibling, and does not hang then.
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from multiprocessing import util
from typing import TYPE_CHECKING, Any

from pipelines import logs
from pipelines.runners.imports import settle_arrow, without
from pipelines.tracing import trace_where_asked

if TYPE_CHECKING:
    from loky import ProcessPoolExecutor

_FORKS = "forkserver"
_PRELOADED = "pipelines.runners.preload"
_OF_THE_END = ("pyarrow.parquet", "duckdb")
# A response makes hundreds of objects that stay until the end of its chunk: looking through them at
# every 700 new ones, as Python does, finds nothing and takes its time.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
_OF_THE_PARENT = {signal.SIGINT, signal.SIGTERM}

_forking = False


def fork_early() -> None:
    """Start the fork server of this process, where there can be one; for our own program only."""
    global _forking
    if _forking or _FORKS not in multiprocessing.get_all_start_methods():
        return
    from multiprocessing import forkserver, resource_tracker

    # Starting the tracker lets signals through again, so it comes first.
    with _helpers_forked():
        resource_tracker.ensure_running()
    forkserver.set_forkserver_preload([_PRELOADED])
    # Ctrl-C reaches the whole group, and so may SIGTERM; this process decides what becomes of the
    # others. They inherit that these are held back; here they come a moment later.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_THE_PARENT)
    try:
        with _helpers_forked():
            forkserver.ensure_running()
        _forking = True
    except OSError:
        pass  # no socket in TMPDIR, whose name may be too long for one: workers start afresh
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _helpers_forked() -> Iterator[None]:
    """Within this context multiprocessing starts its helpers as forks of this process.

    They run the same code as ever, and are there sooner than a Python that is started anew. A fork
    has no other threads, and libraries that have some may break in it, so this is for a process
    that has just begun.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        yield
        return
    start = util.spawnv_passfds
    util.spawnv_passfds = _fork
    try:
        yield
    finally:
        util.spawnv_passfds = start


def _fork(path: bytes, args: Sequence[Any], passfds: Sequence[int]) -> int:
    """Run the code that a new Python was to run, its last argument, in a fork; returns its id."""
    child = os.fork()
    if child:
        return child
    try:
        # As where a program is started: of the open files only those it was given.
        given = sorted({0, 1, 2, *map(int, passfds)})
        for before, after in pairwise([*given, os.sysconf("SC_OPEN_MAX")]):
            os.closerange(before + 1, after)
        exec(args[-1], {"__name__": _PRELOADED})  # noqa: S102  multiprocessing's own words
    except SystemExit:
        pass
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


def get_ready_for_the_end() -> None:
    """Import and make what this process needs when its workers have done, before they begin."""
    with without("pandas"):
        for name in _OF_THE_END:
            import_module(name)
        settle_arrow()
    from schemas.results import get_ready

    get_ready()


def forking() -> bool:
    """Tell whether the processes of a `pool` are forks that are cheap to have."""
    return _forking


def pool(workers: int) -> "ProcessPoolExecutor":
    """Return an executor of so many processes, which end with this one."""
    from loky import ProcessPoolExecutor

    return ProcessPoolExecutor(
        workers,
        context=multiprocessing.get_context(_FORKS) if _forking else None,
        initializer=_as_evaluator,
        initargs=(os.getpid(), _forking, logs.telling()),
    )


def _as_evaluator(parent: int, forked: bool, telling: logs.Telling) -> None:
    as_worker(parent, forked)
    import_module(_PRELOADED)
    trace_where_asked()
    logs.start(telling)
    collect_seldom()


def collect_seldom() -> None:
    """Have Python look for garbage less often: for processes that do nothing but what is ours."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)


def as_worker(parent: int, forked: bool = False) -> None:
    """Make this process a worker: it leaves signals to the process `parent`, and ends with it.

    `forked` if it was made by the fork server of `parent`.
    """
    for number in _OF_THE_PARENT:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent, forked), daemon=True).start()


def _end_with(parent: int, forked: bool) -> None:
    # A parent that was killed could not tell us, and nobody takes what we make any more.
    process = multiprocessing.parent_process()
    if forked and process is not None:
        process.join()  # to the kernel, the fork server is our parent
    else:
        while os.getppid() == parent:
            time.sleep(0.5)
    os._exit(1)
