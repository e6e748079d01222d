"""Cache paid values by key, each computed only once for concurrent callers.

`JsonCache` is the cache of all steps: requests, judgements
(`ufo.transforms.judges.llm.judgements`), searches and web pages. Use it on one event loop; the
store is called in threads, so the loop never blocks on a disk.
"""

import asyncio
import json
from asyncio import shield
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any, Final, TypeVar

from ufo.transforms.llm.request import Report
from ufo.transforms.llm.store import Store, StoreError, pack, report, unpack

_DIGITS: Final = 40
_VERSION: Final = 1  # of the format of keys and values

K = TypeVar("K")
V = TypeVar("V")


class JsonCache:
    """A cache of JSON values by key.

    Without a `store` nothing is kept, but callers still share values in progress. With `writes`
    False the store is only read. A store that fails is reported once and then not used any more.
    """

    def __init__(self, store: Store | None, writes: bool = True, report: Report = report) -> None:
        self._store = store
        self._report = report
        self._threads = ThreadPoolExecutor(store.threads if store else 1, "ufo-cache")
        self._in_progress: dict[str, asyncio.Future[Any]] = {}
        self.failed = False
        """Whether the store failed; the user was warned."""
        self.reads = store is not None
        """Whether the store is read."""
        self.writes = store is not None and writes
        """Whether the store is written."""

    async def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the cached values of these keys, in their order; damaged ones are left out."""
        if not self.reads or self._store is None:
            return {}
        keys = list(keys)
        try:
            entries = await self._in_thread(self._store.get_many, keys)
        except StoreError as error:
            self._fail("read, and the run continues without it", error)
            self.reads = False
            return {}
        values = {key: unpack(entries[key]) for key in keys if key in entries}
        return {key: value for key, value in values.items() if value is not None}

    async def put_many(self, values: Mapping[str, Any]) -> None:
        """Write the values, which then outlive the process even if it is killed."""
        if not self.writes or not values or self._store is None:
            return
        entries = {key: pack(value) for key, value in values.items()}
        try:
            await self._in_thread(self._store.put_many, entries)
        except StoreError as error:
            self._fail("written, and the run continues without keeping answers", error)

    async def _in_thread(self, operate: Callable[[K], V], argument: K) -> V:
        loop = asyncio.get_running_loop()
        # Shielded: a reply that was paid for is written even where the caller is cancelled.
        return await shield(loop.run_in_executor(self._threads, operate, argument))

    def _fail(self, what: str, error: StoreError) -> None:
        if not self.failed:
            self._report(f"the cache cannot be {what}: {error}")
        self.failed = True
        self.writes = False

    async def ask_once(
        self,
        keys: Mapping[K, str],
        ask: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]],
        look_up: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]] | None = None,
        shareable: Callable[[V], bool] = lambda value: True,
    ) -> tuple[dict[K, V], dict[K, V]]:
        """Return the values of items, computed here or by concurrent calls.

        Of concurrent calls with the same key, the first calls `look_up` and then `ask`; the others
        wait for its value. If the value is not `shareable`, each of them calls `ask` itself:
        otherwise they would wait for one another in turn.
        """
        waited: dict[K, asyncio.Future[V | None]] = {}
        own: dict[K, asyncio.Future[V | None]] = {}
        # Claimed before the first await, so that no other call can claim the same key.
        for item, key in keys.items():
            if key in self._in_progress:
                waited[item] = self._in_progress[key]
            else:
                own[item] = self._in_progress[key] = asyncio.get_running_loop().create_future()
        values: dict[K, V] = {}

        def settle(items: Iterable[K]) -> None:
            for item in items:
                future, value = own.pop(item), values.get(item)
                del self._in_progress[keys[item]]
                future.set_result(value if value is not None and shareable(value) else None)

        try:
            if look_up is not None and own:
                values |= await look_up(list(own))
                settle(list(values))
            if own:
                values |= await ask(list(own))
        finally:
            settle(list(own))
        # Shielded: cancelling one waiting call must not cancel the future that all wait for.
        results = {item: await shield(future) for item, future in waited.items()}
        shared = {item: value for item, value in results.items() if value is not None}
        missing = [item for item in waited if item not in shared]
        if missing:
            values |= await ask(missing)
        return values, shared


def key_of(kind: str, *parts: Any) -> str:
    """Return the cache key for JSON values: `kind`, a dash and 40 hex digits of SHA-256."""
    text = json.dumps([_VERSION, *parts], sort_keys=True)
    return f"{kind}-{sha256(text.encode()).hexdigest()[:_DIGITS]}"
