"""The clients and caches of a process, each made once and closed at the end of its run.

Use them on the process's event loop (`ufo.transforms.loop`). `shared_client` returns a caching
client around the client that sends requests.
"""

import os
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ufo.schemas.cache_folder import OFF
from ufo.schemas.forks import Opened
from ufo.transforms.llm.cache import JsonCache
from ufo.transforms.llm.caching_client import CachingClient
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import CallSettings, ClientSettings
from ufo.transforms.llm.endpoint import AZURE_URL_VARIABLE, URL_VARIABLE
from ufo.transforms.llm.limiter import Stop
from ufo.transforms.llm.request import Client
from ufo.transforms.llm.run_resources import RunResources
from ufo.transforms.llm.store import StoreError, open_store, report
from ufo.transforms.llm.usage_log import is_folder

T = TypeVar("T")
_opened: Opened[tuple[str | None, Hashable], Any] = Opened()


def once(run: str | None, key: Hashable, make: Callable[[], T]) -> T:
    """Return the object of this key and run (None: no run), made by `make` at the first call.

    What belongs to a run has a method `aclose`, which is called at the end of the run.
    """
    with _opened.lock:  # `make` may call `once` itself
        if (run, key) not in _opened:
            _opened[run, key] = make()
        opened: T = _opened[run, key]
        return opened


async def end_run(run: str) -> None:
    """Close the objects of a finished run; call it on the process's loop."""
    with _opened.lock:
        ended = [_opened.pop(key) for key in list(_opened) if key[0] == run]
        # The next run tries a failed cache again: the disk may have space by then.
        caches = {key: cache for key, cache in _opened.items() if isinstance(cache, JsonCache)}
        for key in [key for key, cache in caches.items() if cache.failed]:
            del _opened[key]
    for opened in ended:
        await opened.aclose()


def shared_client(settings: ClientSettings) -> Client:
    """Return this process's client for these settings, shared by the judge and the sources.

    Settings with the same usage log belong to the same run.
    """
    run, resources = settings.usage_log, run_resources(settings)
    client = once(run, _key(settings), lambda: OpenAiClient(settings, resources=resources))
    return CachingClient(client, settings, shared_cache(settings), resources.batches)


def run_resources(settings: ClientSettings) -> RunResources:
    """Return the resources that all clients of a run share in this process."""
    run = settings.usage_log
    # A worker of an engine outlives a run.
    stop = Stop(of_run=True) if run and not is_folder(run) else None
    return once(run, RunResources, lambda: RunResources(stop, settings.batch))


def silences(settings: ClientSettings) -> dict[str, float]:
    """Return the seconds for which each endpoint of these settings has been silent, by its URL."""
    client = _opened.get((settings.usage_log, _key(settings)))
    return client.silences() if client is not None else {}


def _key(settings: ClientSettings) -> Hashable:
    """Return the key of a client: its settings, and the endpoint that the environment names now."""
    return settings, *map(os.environ.get, (URL_VARIABLE, AZURE_URL_VARIABLE))


def shared_cache(settings: CallSettings) -> JsonCache:
    """Return this process's cache for the URI in the settings."""
    uri, writes = settings.cache or OFF, settings.cache_writes
    return once(None, (JsonCache, uri, writes), lambda: _open_cache(uri, writes))


def _open_cache(uri: str, writes: bool) -> JsonCache:
    if uri == OFF:
        return JsonCache(None)
    try:
        return JsonCache(open_store(uri), writes)
    except StoreError as error:
        report(f"the cache cannot be opened, and the run continues without it: {error}")
    cache = JsonCache(None)
    cache.failed = True
    return cache
