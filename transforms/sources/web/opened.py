"""What this process has opened to the web, until the run that opened it ends."""

import threading
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar


class Closable(Protocol):
    """Something with connections."""

    async def aclose(self) -> None:
        """Close them."""
        ...


T = TypeVar("T", bound=Closable)
_lock = threading.Lock()
_opened: dict[tuple[str | None, Hashable], Any] = {}


def once(run: str | None, key: Hashable, make: Callable[[], T]) -> T:
    """Return what was made for this key in this run; None is what belongs to no run."""
    with _lock:
        if (run, key) not in _opened:
            _opened[run, key] = make()
        found: T = _opened[run, key]
        return found


async def leave(run: str) -> None:
    """Close what a run has opened; on the process's loop."""
    with _lock:
        ended = [_opened.pop(key) for key in list(_opened) if key[0] == run]
    for one in ended:
        await one.aclose()
