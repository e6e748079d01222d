"""Cache the values that were paid for, and compute a value only once for concurrent callers.

`Memory` is the cache of all steps: requests, judgements
(`ufo.transforms.judges.llm.judgements`), searches and web pages. Use it on one event loop; the
store is called in threads, so the loop never blocks on a disk.

`CachingClient` caches completions. The key of a request is a hash of what is sent and of the
endpoint's address; step, source and response are not in it. Each of several choices has its own
number in the key. A choice that is not `usable` is not cached, so a later run requests it again.
"""

import asyncio
import json
from asyncio import shield
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, TypeVar

from ufo.schemas.records import Usage
from ufo.transforms.llm.batch_store import BatchStore
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.forms import PROBE
from ufo.transforms.llm.request import Choice, Client, Completion, LlmError, Report, Request
from ufo.transforms.llm.store import Store, StoreError, packed, report, unpacked
from ufo.transforms.llm.usage import OK, Paid, divided, reused, usage_row

_OF_FUNCTIONS: Final = ("name", "description", "parameters", "example")
_DIGITS: Final = 40
_VERSION: Final = 1  # of the format of keys and values

K = TypeVar("K")
V = TypeVar("V")

Answer = tuple[Choice, str, list[Paid]]
"""A choice, the id of its request, and the requests by which it was paid."""


class Memory:
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
        values = {key: unpacked(entries[key]) for key in keys if key in entries}
        return {key: value for key, value in values.items() if value is not None}

    async def put_many(self, values: Mapping[str, Any]) -> None:
        """Write the values; when this returns they are kept even if the process is killed."""
        if not self.writes or not values or self._store is None:
            return
        entries = {key: packed(value) for key, value in values.items()}
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


class CachingClient:
    """A `Client` that answers from `memory` and sends the rest through `inner`."""

    def __init__(
        self,
        inner: Client,
        settings: ClientSettings,
        memory: Memory,
        batches: BatchStore | None = None,
    ) -> None:
        self._inner = inner
        self._settings = settings
        self._memory = memory
        self._batches = batches

    async def complete(self, request: Request) -> Completion:
        """Return the completion from the cache, from equal requests in flight, or from `inner`.

        Raises:
            LlmError: from `inner`.
        """
        keys = request_keys(request, self._settings)
        there: set[int] = set()
        usage: list[Usage] = []
        failed: list[LlmError] = []

        async def look_up(numbers: Sequence[int]) -> dict[int, Answer]:
            values = await self._memory.get_many(keys[number] for number in numbers)
            read = {number: _from_json(values.get(keys[number])) for number in numbers}
            cached = {number: answer for number, answer in read.items() if answer}
            there.update(cached)
            if self._batches is not None and self._batches.knows(keys[0]):
                return {}  # a run in batches reads its own replies in every pass, with their cost
            usage.extend(self._reused(request, cached.values(), cached=True))
            return cached

        async def ask(numbers: Sequence[int]) -> dict[int, Answer]:
            if failed:  # while it waited for equal requests
                return {}
            asked = replace(request, n=len(numbers), key=keys[numbers[0]])
            try:
                completion = await self._inner.complete(asked)
            except LlmError as error:
                failed.append(error)
                completion = Completion(error.choices, error.request_id, error.usage)
            usage.extend(completion.usage)
            # An endpoint may return fewer choices than wanted: they get the first numbers.
            new = dict(zip(numbers, _answers(completion), strict=False))
            if self._memory.writes:
                kept = {
                    keys[number]: _to_json(*answer)
                    for number, answer in new.items()
                    if number not in there and usable(request, answer[0])
                }
                await self._memory.put_many(kept)
            return new

        own, shared = await self._memory.ask_once(dict(enumerate(keys)), ask, look_up)
        usage += self._reused(request, shared.values(), cached=False)
        answers = [answer for _, answer in sorted((own | shared).items())]
        choices = [choice for choice, *_ in answers]
        first = answers[0][1] if answers else ""
        if failed:
            error = replace(failed[0], usage=usage, choices=choices, request_id=first)
            raise error from failed[0]
        return Completion(choices, first, usage)

    def _reused(self, request: Request, answers: Collection[Answer], cached: bool) -> list[Usage]:
        if not answers:
            return []
        model = self._settings.endpoint(request.role, request.model).model
        row = usage_row(request.step, request.source, model, request.response_id)
        paid = (one for *_, requests in answers for one in requests)
        return reused(row, paid, cached, self._settings.prices_of(request.role, request.model))

    def room(self, request: Request) -> int | None:
        """Return the inner client's estimate."""
        return self._inner.room(request)

    def cap(self, request: Request) -> int | None:
        """Return the inner client's limit of a reply."""
        return self._inner.cap(request)


def request_keys(request: Request, settings: ClientSettings) -> list[str]:
    """Return the cache key of each of the `request.n` choices."""
    function = request.function
    canonical = {
        "model": request.model,
        "messages": [{"role": one.role, "content": one.content} for one in request.messages],
        "function": function and {name: getattr(function, name) for name in _OF_FUNCTIONS},
        "temperature": request.temperature,
        "max_tokens": None,  # a limit does not change the question
        "logprobs": request.logprobs,
    }
    endpoint = settings.endpoint(request.role, request.model)
    common = [endpoint.url, endpoint.model, canonical, 0]  # 0: the keys of existing caches have it
    if added := endpoint.added:
        common.append(added)
    separate = [] if settings.share else [request.response_id]
    return [key_of("r", *common, index, *separate) for index in range(request.n)]


def usable(request: Request, choice: Choice) -> bool:
    """Return whether a choice may be cached: whether it is a whole answer, and by
    `request.keep`."""
    if choice.refusal or not choice.whole:
        return False
    if request.keep is not None:
        return request.keep(choice)
    return bool(choice.text.strip() or choice.arguments)


def _answers(completion: Completion) -> list[Answer]:
    # The usage may have rows of the client's probes of the endpoint.
    paid = [row for row in completion.usage if row.status == OK and row.step != PROBE]
    shares = divided(paid, len(completion.choices))
    pairs = zip(completion.choices, shares, strict=True)
    return [(choice, completion.request_id, its) for choice, its in pairs]


def _to_json(choice: Choice, request_id: str, paid: list[Paid]) -> Any:
    fields = {name: getattr(choice, name) for name in Choice.__slots__}
    return {"choice": fields, "request": request_id, "paid": paid}


def paid_in(value: Mapping[str, Any], request_id: str) -> list[Paid]:
    """Return the requests by which a cached value was paid.

    Raises:
        TypeError, ValueError, KeyError: the value has another shape.
    """
    # Some caches have only the tokens of one request.
    paid = value["paid"] if "paid" in value else [(request_id, *value["tokens"])]
    return [(str(name), _number(prompt), _number(reply)) for name, prompt, reply in paid]


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _from_json(value: Any) -> Answer | None:
    """Return a cached answer; None for a value of another shape, or an answer that is not whole."""
    try:
        choice = Choice(**value["choice"])
        request_id = str(value["request"])
        return (choice, request_id, paid_in(value, request_id)) if choice.whole else None
    except (TypeError, KeyError, ValueError, AttributeError):
        return None
