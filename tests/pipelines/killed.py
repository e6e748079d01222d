"""A run in a process of its own that is killed at a known moment, started without importing anew.

The server that forks these processes has imported what a run needs, so that each takes a fraction
of a second and a test can afford twenty.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from typing import Any

import apache_beam  # noqa: F401  (imported before the fork)
import duckdb  # noqa: F401
import openai  # noqa: F401
import pyarrow.parquet  # noqa: F401

import ufo.pipelines.graph
import ufo.pipelines.runs.run  # noqa: F401
from ufo.pipelines.cli import main
from ufo.schemas import storage
from ufo.transforms.llm.store import SqliteStore

BEFORE, AFTER, FILE = "before keeping", "after keeping", "at a file"
DELETION = "at a deletion"
"""Moments: before or after answers are kept for the n-th time, at the n-th file that is written or
moved, and at the n-th deletion."""

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


def started(arguments: Sequence[object], kind: str = "", number: int = 0) -> Any:
    """Start a command; of the kinds above, it kills itself at the n-th such moment."""
    words = [str(argument) for argument in arguments]
    process = _CONTEXT.Process(target=_run, args=(words, kind, number, dict(os.environ)))
    process.start()
    return process


def kill(process: Any) -> None:
    """Kill a process of these, and those that it started."""
    os.killpg(process.pid, signal.SIGKILL)


def _run(words: Sequence[str], kind: str, number: int, environment: dict[str, str]) -> None:
    os.setsid()
    os.environ.update(environment)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    if kind in (FILE, DELETION):
        left = [number]
        for name in ("write", "move") if kind == FILE else ("delete",):
            setattr(storage, name, _counted(getattr(storage, name), left, after=False))
    elif kind:
        keep = _counted(SqliteStore.put_many, [number], after=kind == AFTER)
        SqliteStore.put_many = keep  # type: ignore[method-assign]
    os._exit(main(list(words)))


def _counted(act: Callable[..., Any], left: list[int], after: bool) -> Callable[..., Any]:
    def counted(*arguments: Any) -> Any:
        left[0] -= 1
        if not left[0] and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = act(*arguments)
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return counted
