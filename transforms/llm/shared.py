"""One client a process for equal settings: judge and sources share connections, limits and answers.

This is the one place where the client is wrapped: what is sent and tried again inside, what needs
no sending outermost.
"""

import threading
from functools import partial
from pathlib import Path

from transforms.llm.base import Client, Completion, Request
from transforms.llm.cache import CachingClient
from transforms.llm.calls import CallSettings
from transforms.llm.client import ClientSettings, OpenAiClient
from transforms.llm.limits import Limiters
from transforms.llm.memory import Memory
from transforms.llm.store import OFF, StoreError, open_store, say

_lock = threading.Lock()
_clients: "dict[str, _Shared]" = {}
_limiters = Limiters()
_memories: dict[tuple[str, bool], Memory] = {}


class _Shared:
    """A client that stays open when one of its users closes it."""

    def __init__(self, client: Client, ledger: str | None) -> None:
        self.ledger = ledger
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

    It is used on the process's one event loop (`transforms.loop`) and lives as long as that.
    """
    memory = shared_memory(settings)
    # Settings hold mappings and so are no keys; their text tells equal ones, and has no secret.
    key = repr(settings)
    with _lock:
        if key not in _clients:
            client: Client = OpenAiClient(settings, limiters=_limiters)
            client = CachingClient(client, settings, memory)
            _clients[key] = _Shared(client, settings.ledger)
        return _clients[key]


async def end_run(ledger: str) -> None:
    """Close the clients of a finished run; on the process's loop."""
    with _lock:
        done = [key for key, client in _clients.items() if client.ledger == ledger]
        ended = [_clients.pop(key) for key in done]
        # A later run of this process may find a disk that has room again.
        for place in [place for place, memory in _memories.items() if memory.failed]:
            del _memories[place]
    _limiters.go_on()
    for client in ended:
        await client.end()


def shared_memory(settings: ClientSettings | CallSettings) -> Memory:
    """Return what this process remembers of the place that the settings name as their cache: of
    models and of whatever else it asks."""
    uri = settings.cache or OFF
    key = uri, settings.cache_writes
    with _lock:
        if key not in _memories:
            tell = partial(_once, settings.notices)
            try:
                store = None if uri == OFF else open_store(uri, tell)
            except StoreError as error:
                tell(f"the cache cannot be opened, and the run goes on without it: {error}")
                store = None
            _memories[key] = Memory(store, settings.cache_writes, tell)
            _memories[key].failed = store is None and uri != OFF
        return _memories[key]


def _once(folder: str | None, message: str) -> None:
    """Tell the user, unless another process of the run (they share `folder`) has told the same."""
    if folder is not None:
        try:
            Path(folder, "cache.told").touch(exist_ok=False)
        except FileExistsError:
            return
        except OSError:
            pass  # the disk is full for this, too: better twice than never
    say(message)
