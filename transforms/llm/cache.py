"""Cache completions, and send equal requests that are in flight at the same time once.

The key of a request is a hash of what is sent and of the endpoint's address; step, source and
response are not in it. Each of several choices has its own number in the key. A choice that is not
`usable` is not cached, so a later run requests it again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from ufo.schemas.records import Usage
from ufo.transforms.llm.batch_store import BatchStore
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.errors import Tokens
from ufo.transforms.llm.forms import PROBE
from ufo.transforms.llm.memory import Keys, Memory
from ufo.transforms.llm.request import Choice, Client, Completion, LlmError, Request
from ufo.transforms.llm.usage import OK, reused, shares, usage_row

_OF_FUNCTIONS: Final = ("name", "description", "parameters", "example")
_WITHHELD: Final = ("content_filter", "length")


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
        """Return the completion from the cache, from an equal request in flight, or from `inner`.

        Raises:
            LlmError: from `inner`.
        """
        keys = request_keys(request, self._settings)

        async def ask(_: Sequence[int]) -> dict[int, Completion]:
            return {0: await self._ask(request, keys)}

        found, shared = await self._memory.ask_once({0: f"{keys[0]}*{request.n}"}, ask)
        if shared:
            model = next((row.model for row in shared[0].usage), request.model)
            row = _reused(request, model, shared[0].request_id)
            return replace(shared[0], usage=[row])
        return found[0]

    def room(self, request: Request) -> int | None:
        """Return the inner client's estimate."""
        return self._inner.room(request)

    def cap(self, request: Request) -> int | None:
        """Return the inner client's limit of a reply."""
        return self._inner.cap(request)

    async def _ask(self, request: Request, keys: Sequence[str]) -> Completion:
        cached = await self._memory.get_many(keys)
        answers = {key: answer for key, value in cached.items() if (answer := _from_json(value))}
        if self._batches is not None and self._batches.knows(keys[0]):
            answers = {}  # a run in batches reads its own replies in every pass, with their cost
        missing = [key for key in keys if key not in answers]
        usage: list[Usage] = []
        first = ""
        if answers:
            first = next(iter(answers.values()))[1]
            model = self._settings.endpoint(request.role, request.model).model
            usage = [_reused(request, model, first, (tokens for *_, tokens in answers.values()))]
        failed = None
        if missing:
            try:
                asked = replace(request, n=len(missing), key=missing[0])
                completion = await self._inner.complete(asked)
            except LlmError as error:
                failed = error
                completion = Completion(error.choices, error.request_id, error.usage)
            # An endpoint may return fewer choices than wanted: they get the first numbers.
            new = dict(zip(missing, _answers(completion), strict=False))
            kept = [key for key in new if key not in cached and usable(request, new[key][0])]
            await self._memory.put_many({key: _to_json(*new[key]) for key in kept})
            answers |= new
            first = first or completion.request_id
            usage += completion.usage
        choices = [answers[key][0] for key in keys if key in answers]
        if failed is not None:
            raise replace(failed, usage=usage, choices=choices, request_id=first) from failed
        return Completion(choices, first, usage)


Answer = tuple[Choice, str, Tokens]
"""A choice, the id of its request, and its share of that request's tokens."""


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
    added = [endpoint.added] if endpoint.added else []
    common = (endpoint.url, endpoint.model, canonical, 0, *added)  # 0: keys as in earlier versions
    separate = [] if settings.share else [request.response_id]
    keys = Keys("r", *common)
    return [keys.of(index, *separate) for index in range(request.n)]


def usable(request: Request, choice: Choice) -> bool:
    """Return whether a choice may be cached: by `request.keep`, else if it is a whole answer."""
    if request.keep is not None:
        return request.keep(choice)
    if choice.refusal or choice.finish_reason in _WITHHELD:
        return False
    return bool(choice.text.strip() or choice.arguments)


def _answers(completion: Completion) -> list[Answer]:
    # The usage may have rows of the client's probes of the endpoint.
    paid = [row for row in completion.usage if row.status == OK and row.step != PROBE]
    tokens = shares(paid, len(completion.choices))
    pairs = zip(completion.choices, tokens, strict=True)
    return [(choice, completion.request_id, its) for choice, its in pairs]


def _to_json(choice: Choice, request_id: str, tokens: Tokens) -> Any:
    return {"choice": asdict(choice), "request": request_id, "tokens": tokens}


def _from_json(value: Any) -> Answer | None:
    """Return a cached answer; None for a value of another shape."""
    try:
        choice = Choice(**value["choice"])
        prompt, reply = (None if one is None else int(one) for one in value["tokens"])
        return choice, str(value["request"]), (prompt, reply)
    except (TypeError, KeyError, ValueError, AttributeError):
        return None


def _reused(
    request: Request, model: str | None, request_id: str, tokens: Iterable[Tokens] | None = None
) -> Usage:
    row = usage_row(request.step, request.source, model, request.response_id, request_id)
    return reused(row, tokens)
