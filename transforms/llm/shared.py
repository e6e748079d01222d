"""Open things once a process for equal settings, and close them when their run ends.

All of it is used on the process's one event loop (`transforms.loop`). This is the one place where
the client of the models is wrapped: sending inside, the cache outside.
"""

import threading
from collections.abc import Callable, Hashable
from math import inf
from typing import Any, Protocol, TypeVar

from transforms.llm.base import Client
from transforms.llm.cache import CachingClient
from transforms.llm.client import OpenAiClient, Shared
from transforms.llm.memory import Memory, open_store
from transforms.llm.retry import Stop
from transforms.llm.settings import CallSettings, ClientSettings
from transforms.llm.store import OFF, StoreError, report


class Closable(Protocol):
    """Something with connections or files."""

    async def aclose(self) -> None:
        """Close them."""
        ...


T = TypeVar("T", bound=Closable)
_lock = threading.RLock()  # what is made may need something else that is shared
_opened: dict[tuple[str | None, Hashable], Any] = {}
_memories: dict[tuple[str, bool], Memory] = {}


def once(run: str | None, key: Hashable, make: Callable[[], T]) -> T:
    """Return what was made for this key in this run; None is what belongs to no run."""
    with _lock:
        if (run, key) not in _opened:
            _opened[run, key] = make()
        found: T = _opened[run, key]
        return found


async def end_run(run: str) -> None:
    """Close what a finished run has opened; on the process's loop."""
    with _lock:
        ended = [_opened.pop(key) for key in list(_opened) if key[0] == run]
        # A later run of this process may find a disk that has room again.
        for place in [place for place, memory in _memories.items() if memory.failed]:
            del _memories[place]
    for one in ended:
        await one.aclose()


def shared_client(settings: ClientSettings) -> Client:
    """Return this process's client for these settings: of judge and sources alike.

    Of one run are those whose settings name the same usage log.
    """
    run = settings.usage_log
    shared = once(run, Shared, lambda: Shared(Stop(inf) if run else Stop()))
    # Settings hold mappings and so are no keys; their text tells equal ones, and has no secret.
    client = once(run, repr(settings), lambda: OpenAiClient(settings, shared=shared))
    return CachingClient(client, settings, shared_memory(settings))


def shared_memory(settings: CallSettings) -> Memory:
    """Return what this process has kept in the place that the settings name as their cache."""
    uri = settings.cache or OFF
    key = uri, settings.cache_writes
    with _lock:
        if key not in _memories:
            try:
                store = None if uri == OFF else open_store(uri)
            except StoreError as error:
                report(f"the cache cannot be opened, and the run goes on without it: {error}")
                store = None
            _memories[key] = Memory(store, settings.cache_writes)
            _memories[key].failed = store is None and uri != OFF
        return _memories[key]
