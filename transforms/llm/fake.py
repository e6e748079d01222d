"""A client with scripted replies, for tests without network and key.

    client = FakeClient([{"word": "ready"}, "some text", Choice(finish_reason="content_filter")])

A reply is a text, a mapping (the arguments of the function call), a `Choice`, a `Completion`, an
exception to raise, or, where several choices are wanted, a list of texts, mappings and choices.
Instead of a list of replies, a function from request to reply can be given.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ufo.schemas.text import quantity
from ufo.transforms.llm.request import Choice, Completion, LlmError, Request
from ufo.transforms.llm.usage import usage_row

Reply = str | Mapping[str, Any] | Choice | Completion | Exception | Sequence[Any]
Script = Sequence[Reply] | Callable[[Request], Reply]


class FakeClient:
    """A `Client` with scripted replies; `requests` are the requests received, in order."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        """Return the next reply.

        Raises:
            LlmError: final, where the script has no reply left; or a scripted exception.
        """
        self.requests.append(request)
        reply = self._next(request)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        if isinstance(reply, str | Mapping | Choice):
            reply = [reply] * request.n
        request_id = f"fake-{len(self.requests)}"
        row = usage_row(
            request.step, request.source, request.model, request.response_id, request_id
        )
        return Completion([_choice(item) for item in reply], request_id, [row])

    def room(self, request: Request) -> int | None:
        """Return None: there is no limit."""
        return None

    def cap(self, request: Request) -> int | None:
        """Return None: there is no limit."""
        return None

    def _next(self, request: Request) -> Reply:
        if callable(self._script):
            return self._script(request)
        asked = len(self.requests)
        if asked > len(self._script):
            raise LlmError(
                f"the script has {quantity(len(self._script), 'reply', 'replies')} and this is "
                f"request {asked}: "
                f"{request.step or request.role}, {request.messages[-1].content[:200]!r}",
                final=True,
            )
        return self._script[asked - 1]


def _choice(item: Any) -> Choice:
    if isinstance(item, Choice):
        return item
    if isinstance(item, str):
        return Choice(item)
    return Choice(arguments=json.dumps(item, ensure_ascii=False), finish_reason="tool_calls")
