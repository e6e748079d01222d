"""Start the worker processes of a run, with loky.

Unlike the standard library's, loky's workers do not import the `__main__` of the script or notebook
that starts them, and a killed worker is reported.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from loky import ProcessPoolExecutor

from ufo.pipelines import logs
from ufo.pipelines.logs import quiet_beam
from ufo.pipelines.stopping import end_with

_OF_THE_PARENT = (signal.SIGINT, signal.SIGTERM)


def pool(workers: int) -> ProcessPoolExecutor:
    """Return an executor with this number of processes, which end with this one."""
    started_with = (os.getpid(), logs.settings_for_worker())
    return ProcessPoolExecutor(workers, initializer=_start_evaluator, initargs=started_with)


@contextmanager
def signals_held_back() -> Iterator[None]:
    """Block Ctrl-C and SIGTERM within this context, also in processes started meanwhile.

    Ctrl-C reaches the whole process group, and a worker that is just starting would print a
    traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_THE_PARENT)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_evaluator(parent: int, settings: logs.LogSettings) -> None:
    as_worker(parent)
    quiet_beam()
    logs.start(settings)


def as_worker(parent: int) -> None:
    """Make this process a worker: ignore Ctrl-C and SIGTERM, and end with the process `parent`."""
    for number in _OF_THE_PARENT:
        signal.signal(number, signal.SIG_IGN)
    end_with(parent)
