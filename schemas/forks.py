"""Keep the loops, pools and connections of a process out of its forked children.

A fork copies all objects, but only the thread that forks. So a child has event loops and pools
whose threads are gone, locks that nobody will release, and connections that belong to its parent.
What can be opened again is in an `Opened`, which is empty in a child. A database is closed before
the fork (`ufo.schemas.reopened`).
"""

import os
from collections.abc import Callable
from threading import RLock
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

SECONDS_BEFORE = 5.0
"""How long a fork waits for other threads to finish a computation or a write."""


def _nothing() -> None:
    pass


def at_fork(
    before: Callable[[], None] = _nothing,
    in_parent: Callable[[], None] = _nothing,
    in_child: Callable[[], None] = _nothing,
) -> None:
    """Call these functions at each fork of this process; `subprocess` and `spawn` do not fork."""
    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(before=before, after_in_parent=in_parent, after_in_child=in_child)


class Opened(dict[K, V]):
    """The open objects of this process by key, with a `lock` for changes; empty in a forked child.

    It lives as long as the process, as a global variable of its module.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lock = RLock()
        self._of_parents: list[dict[K, V]] = []
        at_fork(in_child=self._begin)

    def _begin(self) -> None:
        self.lock = RLock()
        # Kept, since the end of an object may change what the parent uses: the connections of a
        # loop are in the table of files to watch that both processes share.
        self._of_parents.append(dict(self))
        self.clear()
