"""Cache requests: take kept answers, and share those that are under way.

The key of a request is what the endpoint is sent, and where; what it is for (step, source,
response) is not in it. Each of several samples is kept under its own number. What is no answer is
never kept (`usable`), and so is asked for again by a later run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from schemas.records import Usage
from transforms.llm.base import Choice, Client, Completion, LlmError, Request
from transforms.llm.capabilities import PROBE
from transforms.llm.failures import Tokens
from transforms.llm.memory import Memory, key_of
from transforms.llm.settings import ClientSettings
from transforms.llm.usage import OK, reused, shares, usage_row

_WITHHELD: Final = ("content_filter", "length")


class CachingClient:
    """A `Client` around another one. `memory` is shared by all of a process."""

    def __init__(self, inner: Client, settings: ClientSettings, memory: Memory) -> None:
        self._inner = inner
        self._settings = settings
        self._memory = memory

    async def complete(self, request: Request) -> Completion:
        """Return the completion: kept, or that of an equal request under way, or a new one.

        Raises:
            LlmError: from the client within.
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
        """Return what the context holds beside the request's prompt."""
        return self._inner.room(request)

    async def _ask(self, request: Request, keys: Sequence[str]) -> Completion:
        kept = await self._memory.get_many(keys)
        found = {key: answer for key, value in kept.items() if (answer := _read(value))}
        missing = [key for key in keys if key not in found]
        usage: list[Usage] = []
        first = ""
        if found:
            first = next(iter(found.values()))[1]
            model = self._settings.endpoint(request.role, request.model).model
            usage = [_reused(request, model, first, (tokens for *_, tokens in found.values()))]
        failed = None
        if missing:
            try:
                completion = await self._inner.complete(replace(request, n=len(missing)))
            except LlmError as error:
                failed = error
                completion = Completion(error.choices, error.request_id, error.usage)
            fresh = _answers(completion)
            # An endpoint may leave out some of the samples; those that came are the first.
            new = dict(zip(missing, fresh, strict=False))
            await self._memory.put_many(
                {
                    key: _written(*answer)
                    for key, answer in new.items()
                    if usable(request, answer[0])
                }
            )
            found |= new
            first = first or completion.request_id
            usage += completion.usage
        choices = [found[key][0] for key in keys if key in found]
        if failed is not None:
            raise LlmError(
                failed.message, failed.reason, failed.final, usage, choices, first
            ) from failed
        return Completion(choices, first, usage)


Answer = tuple[Choice, str, Tokens]
"""A choice, the id of its request, and its share of that request's tokens."""


def request_keys(request: Request, settings: ClientSettings) -> list[str]:
    """Return a key for each of the samples that are wanted."""
    # What a reply is limited to is no part of what is asked.
    canonical = asdict(replace(request, keep=None, max_tokens=None))
    for name in ("role", "n", "step", "source", "response_id", "keep", "expects"):
        del canonical[name]
    asked = settings.endpoint(request.role, request.model)
    place = asked.url, asked.model
    apart = [] if settings.share else [request.response_id]
    return [
        key_of("r", *place, canonical, settings.repeat, index, *apart) for index in range(request.n)
    ]


def usable(request: Request, choice: Choice) -> bool:
    """Tell whether a choice is worth keeping: an answer, by whoever asked or by its look."""
    if request.keep is not None:
        return request.keep(choice)
    if choice.refusal or choice.finish_reason in _WITHHELD:
        return False
    return bool(choice.text.strip() or choice.arguments)


def _answers(completion: Completion) -> list[Answer]:
    # A client may have asked what the endpoint can do first, which is accounted here too.
    paid = [row for row in completion.usage if row.status == OK and row.step != PROBE]
    tokens = shares(paid, len(completion.choices))
    pairs = zip(completion.choices, tokens, strict=True)
    return [(choice, completion.request_id, its) for choice, its in pairs]


def _written(choice: Choice, request_id: str, tokens: Tokens) -> Any:
    return {"choice": asdict(choice), "request": request_id, "tokens": tokens}


def _read(value: Any) -> Answer | None:
    """Return a kept answer; None where the value is none, whoever wrote it."""
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
