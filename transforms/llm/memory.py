"""Keep answers in a store, and share those that are being waited for right now.

All caches use it: of requests (`transforms.llm.cache`), of judgements
(`transforms.judges.llm.judgement_cache`), of searches and of pages. The store is on a thread of its
own, which takes what has come together since it last looked as one batch, so that the event loop
never waits for a disk.
"""

import asyncio
import json
import queue
import threading
import zlib
from asyncio import shield
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, TypeVar

from transforms.llm.store import Report, Store, StoreError, report

_BATCH: Final = 1_000
_DIGITS: Final = 40
_VERSION: Final = 1  # of what the keys are made of and the values hold

K = TypeVar("K")
V = TypeVar("V")


@dataclass(slots=True)
class _Job:
    """Keys to look up, or entries to keep, and who waits for that."""

    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[dict[str, bytes]]"
    keys: Sequence[str] = ()
    entries: Mapping[str, bytes] = field(default_factory=dict)


class Memory:
    """Answers by key, as plain JSON values.

    `store` None keeps nothing, and still shares; without `writes` nothing is added to it. A store
    that fails is reported once, and the run goes on without it.
    """

    def __init__(self, store: Store | None, writes: bool = True, report: Report = report) -> None:
        self._store = store
        self._report = report
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._flights: dict[tuple[int, str], asyncio.Future[Any]] = {}
        self.failed = False
        """Whether the store failed, which was reported."""
        self._reads = store is not None
        self._writes = store is not None and writes
        if store is not None:
            threading.Thread(target=self._serve, name="ufo-cache", daemon=True).start()

    @property
    def reads(self) -> bool:
        """Whether anything can be found here."""
        return self._reads

    @property
    def writes(self) -> bool:
        """Whether what is put here stays."""
        return self._writes

    # --- kept ---

    async def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is kept under these keys; what does not read well is not there."""
        if not self._reads:
            return {}
        loop = asyncio.get_running_loop()
        job = _Job(loop, loop.create_future(), keys=list(keys))
        self._jobs.put(job)
        found = {key: unpacked(value) for key, value in (await job.done).items()}
        return {key: value for key, value in found.items() if value is not None}

    async def put_many(self, values: Mapping[str, Any]) -> None:
        """Keep the values; when this returns a killed process has them still."""
        if not self._writes or not values:
            return
        loop = asyncio.get_running_loop()
        entries = {key: packed(value) for key, value in values.items()}
        job = _Job(loop, loop.create_future(), entries=entries)
        self._jobs.put(job)
        await job.done

    def _serve(self) -> None:
        while True:
            jobs = [self._jobs.get()]
            while len(jobs) < _BATCH and not self._jobs.empty():
                jobs.append(self._jobs.get())
            self._write({key: value for job in jobs for key, value in job.entries.items()})
            found = self._read(list(dict.fromkeys(key for job in jobs for key in job.keys)))
            by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
            for job in jobs:
                by_loop.setdefault(job.loop, []).append(job)
            for loop, its in by_loop.items():
                if not loop.is_closed():
                    loop.call_soon_threadsafe(_answer, its, found)

    def _read(self, keys: Sequence[str]) -> dict[str, bytes]:
        if not keys or not self._reads or self._store is None:
            return {}
        try:
            return self._store.get_many(keys)
        except StoreError as error:
            self._reads = self._writes = False
            self.failed = True
            self._report(f"the cache cannot be read, and the run goes on without it: {error}")
            return {}

    def _write(self, entries: Mapping[str, bytes]) -> None:
        if not entries or not self._writes or self._store is None:
            return
        try:
            self._store.put_many(entries)
        except StoreError as error:
            self._writes = False
            self.failed = True
            self._report(
                f"the cache cannot be written, and the run goes on without keeping answers: {error}"
            )

    # --- under way ---

    async def ask_once(
        self,
        keys: Mapping[K, str],
        ask: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]],
        look_up: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]] | None = None,
        shareable: Callable[[V], bool] = lambda value: True,
    ) -> tuple[dict[K, V], dict[K, V]]:
        """Return what was found for these items, and what others got who were asking already.

        Of those on one event loop that want the same key, the first looks it up and asks, and the
        rest wait for its answer. One that is not `shareable` each of them asks for alone: sharing
        it again would make them wait for one another in turn.
        """
        loop = asyncio.get_running_loop()
        waited: dict[K, asyncio.Future[V | None]] = {}
        mine: dict[K, asyncio.Future[V | None]] = {}
        # Claimed before the first wait, so that nobody comes between the look and the claim.
        for item, key in keys.items():
            place = id(loop), key
            if place in self._flights:
                waited[item] = self._flights[place]
            else:
                mine[item] = self._flights[place] = loop.create_future()
        found: dict[K, V] = {}

        def settle(items: Iterable[K]) -> None:
            for item in items:
                future, answer = mine.pop(item), found.get(item)
                del self._flights[id(loop), keys[item]]
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


def _answer(jobs: Iterable[_Job], found: Mapping[str, bytes]) -> None:
    for job in jobs:
        if not job.done.done():  # whoever waited may have been cancelled
            job.done.set_result({key: found[key] for key in job.keys if key in found})


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
