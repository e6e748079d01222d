"""Close databases before a fork, since neither SQLite nor DuckDB works on in a child.

SQLite takes the parent's locks of a file for those of the child, and the end of a DuckDB waits for
threads that the child lacks.
"""

import threading
from abc import ABC, abstractmethod
from contextlib import ExitStack
from threading import RLock
from weakref import WeakSet

# Imported first, so that a fork calls its handler last: that blocks other threads, even one that
# holds a database.
import filelock  # noqa: F401

from ufo.schemas.forks import SECONDS_BEFORE, at_fork


class Reopened(ABC):
    """A database that is closed before a fork; parent and child open it anew at the next use.

    Hold the lock `in_use` while it is opened or used: a fork waits for it.
    """

    def __init__(self) -> None:
        self.in_use = RLock()
        _reopened.add(self)

    @abstractmethod
    def before_fork(self) -> None:
        """Close the database; called with the lock held."""


_reopened: WeakSet[Reopened] = WeakSet()


class _Held(threading.local):
    """The locks that a thread holds while it forks."""

    def __init__(self) -> None:
        self.locks = ExitStack()


_held = _Held()


def _before() -> None:
    for database in list(_reopened):
        if database.in_use.acquire(timeout=SECONDS_BEFORE):
            _held.locks.callback(database.in_use.release)
            database.before_fork()


def _in_parent() -> None:
    _held.locks.close()


def _in_child() -> None:
    for database in list(_reopened):
        database.in_use = RLock()
    _held.locks.pop_all()


at_fork(_before, _in_parent, _in_child)
