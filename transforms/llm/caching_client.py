"""A client that answers requests from the cache, and sends only the others.

The key of a request is a hash of what is sent and of the endpoint's address; step, source and
response are not in it. Each of several choices has its own number in the key. A choice that is not
`usable` is not cached, so a later run requests it again.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ufo.schemas.records import Usage
from ufo.transforms.llm.batch_store import BatchStore
from ufo.transforms.llm.cache import JsonCache, key_of
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.forms import PROBE
from ufo.transforms.llm.request import Choice, Client, Completion, LlmError, Request
from ufo.transforms.llm.usage import OK, Paid, divide_among, reused_rows, usage_row

_FUNCTION_FIELDS: Final = ("name", "description", "parameters", "example")
Answer = tuple[Choice, str, list[Paid]]
"""A choice, the id of its request, and the requests by which it was paid."""


class CachingClient:
    """A `Client` that answers from `cache` and sends the rest through `inner`."""

    def __init__(
        self,
        inner: Client,
        settings: ClientSettings,
        cache: JsonCache,
        batches: BatchStore | None = None,
    ) -> None:
        self._inner = inner
        self._settings = settings
        self._cache = cache
        self._batches = batches

    async def complete(self, request: Request) -> Completion:
        """Return the completion from the cache, from equal requests in flight, or from `inner`.

        Raises:
            LlmError: from `inner`.
        """
        keys = request_keys(request, self._settings)
        already_cached: set[int] = set()
        usage: list[Usage] = []
        failed: list[LlmError] = []

        async def look_up(numbers: Sequence[int]) -> dict[int, Answer]:
            values = await self._cache.get_many(keys[number] for number in numbers)
            read = {number: _from_json(values.get(keys[number])) for number in numbers}
            cached = {number: answer for number, answer in read.items() if answer}
            already_cached.update(cached)
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
            if self._cache.writes:
                kept = {
                    keys[number]: _to_json(*answer)
                    for number, answer in new.items()
                    if number not in already_cached and usable(request, answer[0])
                }
                await self._cache.put_many(kept)
            return new

        own, shared = await self._cache.ask_once(dict(enumerate(keys)), ask, look_up)
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
        return reused_rows(row, paid, cached, self._settings.prices_of(request.role, request.model))

    def room(self, request: Request) -> int | None:
        """Return the inner client's estimate of the tokens that a prompt leaves free."""
        return self._inner.room(request)

    def cap(self, request: Request) -> int | None:
        """Return the inner client's limit for the tokens of a reply."""
        return self._inner.cap(request)


def request_keys(request: Request, settings: ClientSettings) -> list[str]:
    """Return the cache key of each of the `request.n` choices."""
    function = request.function
    canonical = {
        "model": request.model,
        "messages": [{"role": one.role, "content": one.content} for one in request.messages],
        "function": function and {name: getattr(function, name) for name in _FUNCTION_FIELDS},
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
    """Return whether a choice may be cached: a whole answer that `request.keep` accepts."""
    if choice.refusal or not choice.whole:
        return False
    if request.keep is not None:
        return request.keep(choice)
    return bool(choice.text.strip() or choice.arguments)


def _answers(completion: Completion) -> list[Answer]:
    # The usage may have rows of the client's probes of the endpoint.
    paid = [row for row in completion.usage if row.status == OK and row.step != PROBE]
    shares = divide_among(paid, len(completion.choices))
    pairs = zip(completion.choices, shares, strict=True)
    return [(choice, completion.request_id, share) for choice, share in pairs]


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
