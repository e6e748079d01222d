"""One client a process for equal settings: judge and sources share connections, limits and answers.

This is the one place where the client is wrapped: what is sent and tried again inside, what needs
no sending outermost.
"""

import threading
from math import inf

from transforms.llm.backoff import Stop
from transforms.llm.base import Client, Completion, Request
from transforms.llm.cache import CachingClient
from transforms.llm.calls import CallSettings
from transforms.llm.client import ClientSettings, OpenAiClient, RunLimits
from transforms.llm.memory import Memory
from transforms.llm.store import OFF, StoreError, open_store, say

_lock = threading.Lock()
_clients: "dict[tuple[str | None, str], _Shared]" = {}
_runs: dict[str | None, RunLimits] = {}
_memories: dict[tuple[str, bool], Memory] = {}


class _Shared:
    """A client that stays open when one of its users closes it."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def complete(self, request: Request) -> Completion:
        """Return the completion."""
        return await self._client.complete(request)

    def room(self, request: Request) -> int | None:
        """Return what the context holds beside the request's prompt."""
        return self._client.room(request)

    async def aclose(self) -> None:
        """Stay open: others of this process use it."""

    async def end(self) -> None:
        """Close the client, which nobody uses any more."""
        await self._client.aclose()


def shared_client(settings: ClientSettings) -> Client:
    """Return this process's client for these settings.

    It is used on the process's one event loop (`transforms.loop`) and lives as long as its run. Of
    one run are those whose settings name the same usage log.
    """
    memory = shared_memory(settings)
    # Settings hold mappings and so are no keys; their text tells equal ones, and has no secret.
    key = settings.usage_log, repr(settings)
    with _lock:
        if key not in _clients:
            stop = Stop(inf) if settings.usage_log else Stop()
            run = _runs.setdefault(settings.usage_log, RunLimits(stop))
            client = CachingClient(OpenAiClient(settings, run=run), settings, memory)
            _clients[key] = _Shared(client)
        return _clients[key]


async def end_run(usage_log: str) -> None:
    """Close the clients of a finished run; on the process's loop."""
    with _lock:
        ended = [_clients.pop(key) for key in list(_clients) if key[0] == usage_log]
        _runs.pop(usage_log, None)
        # A later run of this process may find a disk that has room again.
        for place in [place for place, memory in _memories.items() if memory.failed]:
            del _memories[place]
    for client in ended:
        await client.end()


def shared_memory(settings: ClientSettings | CallSettings) -> Memory:
    """Return what this process remembers of the place that the settings name as their cache: of
    models and of whatever else it asks."""
    uri = settings.cache or OFF
    key = uri, settings.cache_writes
    with _lock:
        if key not in _memories:
            try:
                store = None if uri == OFF else open_store(uri)
            except StoreError as error:
                say(f"the cache cannot be opened, and the run goes on without it: {error}")
                store = None
            _memories[key] = Memory(store, settings.cache_writes)
            _memories[key].failed = store is None and uri != OFF
        return _memories[key]
