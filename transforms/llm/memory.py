"""Keep answers in a store, and share those that are being waited for right now.

All caches use it: of requests (`transforms.llm.cache`), of judgements
(`transforms.judges.llm.judgement_cache`), of searches and of pages. It is used on one event loop,
which never waits for a disk: the store is called in threads.
"""

import asyncio
import json
import zlib
from asyncio import shield
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any, Final, TypeVar

from transforms.llm.base import Report
from transforms.llm.store import Store, StoreError, report
from transforms.llm.store_sqlite import SqliteStore

_DIGITS: Final = 40
_VERSION: Final = 1  # of what the keys are made of and the values hold

K = TypeVar("K")
V = TypeVar("V")


def open_store(uri: str, report: Report = report) -> Store:
    """Open the store at a URI that `checked_uri` returned, made where it is not there.

    Raises:
        StoreError: there can be none.
    """
    if not uri.endswith("/"):
        return SqliteStore(uri, report)
    from transforms.llm.store_prefix import PrefixStore  # needs pyarrow, which is slow to import

    return PrefixStore(uri)


class Memory:
    """Answers by key, as plain JSON values.

    `store` None keeps nothing, and still shares; without `writes` nothing is added to it. A store
    that fails is reported once, and the run goes on without it.
    """

    def __init__(self, store: Store | None, writes: bool = True, report: Report = report) -> None:
        self._store = store
        self._report = report
        self._threads = ThreadPoolExecutor(store.threads if store else 1, "ufo-cache")
        self._under_way: dict[str, asyncio.Future[Any]] = {}
        self.failed = False
        """Whether the store failed, which was reported."""
        self.reads = store is not None
        """Whether anything can be found here."""
        self.writes = store is not None and writes
        """Whether what is put here stays."""

    async def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is kept under these keys, in their order; what does not read well is not
        there."""
        if not self.reads or self._store is None:
            return {}
        keys = list(keys)
        try:
            kept = await self._in_thread(self._store.get_many, keys)
        except StoreError as error:
            if self.reads:
                self._fail("read, and the run goes on without it", error)
            self.reads = self.writes = False
            return {}
        found = {key: unpacked(kept[key]) for key in keys if key in kept}
        return {key: value for key, value in found.items() if value is not None}

    async def put_many(self, values: Mapping[str, Any]) -> None:
        """Keep the values; when this returns a killed process has them still."""
        if not self.writes or not values or self._store is None:
            return
        entries = {key: packed(value) for key, value in values.items()}
        try:
            await self._in_thread(self._store.put_many, entries)
        except StoreError as error:
            if self.writes:
                self._fail("written, and the run goes on without keeping answers", error)
            self.writes = False

    async def _in_thread(self, operate: Callable[[K], V], what: K) -> V:
        loop = asyncio.get_running_loop()
        # Whoever waits may be cancelled; what was paid for is kept all the same.
        return await shield(loop.run_in_executor(self._threads, operate, what))

    def _fail(self, what: str, error: StoreError) -> None:
        self.failed = True
        self._report(f"the cache cannot be {what}: {error}")

    async def ask_once(
        self,
        keys: Mapping[K, str],
        ask: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]],
        look_up: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]] | None = None,
        shareable: Callable[[V], bool] = lambda value: True,
    ) -> tuple[dict[K, V], dict[K, V]]:
        """Return what was found for these items, and what others got who were asking already.

        Of those that want the same key, the first looks it up and asks, and the rest wait for its
        answer. One that is not `shareable` each of them asks for alone: sharing it again would make
        them wait for one another in turn.
        """
        waited: dict[K, asyncio.Future[V | None]] = {}
        mine: dict[K, asyncio.Future[V | None]] = {}
        # Claimed before the first wait, so that nobody comes between the look and the claim.
        for item, key in keys.items():
            if key in self._under_way:
                waited[item] = self._under_way[key]
            else:
                mine[item] = self._under_way[key] = asyncio.get_running_loop().create_future()
        found: dict[K, V] = {}

        def settle(items: Iterable[K]) -> None:
            for item in items:
                future, answer = mine.pop(item), found.get(item)
                del self._under_way[keys[item]]
                future.set_result(answer if answer is not None and shareable(answer) else None)

        try:
            if look_up is not None and mine:
                found |= await look_up(list(mine))
                settle(list(found))
            if mine:
                found |= await ask(list(mine))
        finally:
            settle(list(mine))
        # Others wait for the same future: cancelling one of them must not cancel it.
        answers = {item: await shield(future) for item, future in waited.items()}
        taken = {item: answer for item, answer in answers.items() if answer is not None}
        late = [item for item in waited if item not in taken]
        if late:
            found |= await ask(late)
        return found, taken


def key_of(kind: str, *parts: Any) -> str:
    """Return the key for JSON values; equal ones have equal keys on every machine."""
    text = json.dumps([_VERSION, *parts], sort_keys=True, ensure_ascii=True)
    return f"{kind}-{sha256(text.encode()).hexdigest()[:_DIGITS]}"


def packed(value: Any) -> bytes:
    """Return a JSON value as bytes that tell whether they are whole."""
    return zlib.compress(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)


def unpacked(data: bytes) -> Any:
    """Return the value, None for bytes that are not whole."""
    try:
        return json.loads(zlib.decompress(data).decode("utf-8", "surrogatepass"))
    except (zlib.error, ValueError, RecursionError):
        return None
