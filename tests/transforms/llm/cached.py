"""A model behind a cache: what the tests of the cache share."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ufo.schemas.records import Usage
from ufo.transforms.llm.cache import CachingClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.request import VERIFIER, Choice, Completion, Message, Request

SETTINGS = ClientSettings({VERIFIER: Endpoint("m", "http://localhost:1/v1")})
ASKED = Request(VERIFIER, "m", [Message("user", "One?")], step="verify", response_id="r1")


class Model:
    """Answers with the number of the choice; `replies` go before. Waits for `gate`, if set."""

    def __init__(self, *replies: Choice | Exception) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []
        self.gate: asyncio.Event | None = None
        self.choices = 0

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        number = len(self.requests)
        if self.gate is not None:
            await self.gate.wait()
        reply = self.replies.pop(0) if self.replies else None
        if isinstance(reply, Exception):
            raise reply
        choices = [reply or self._choice() for _ in range(request.n)]
        return Completion(choices, f"q{number}", [self._row(request, f"q{number}")])

    def room(self, request: Request) -> int | None:
        return None

    def cap(self, request: Request) -> int | None:
        return None

    def _choice(self) -> Choice:
        self.choices += 1
        return Choice(f"answer {self.choices}", logprob_mean=-0.5)

    def _row(self, request: Request, request_id: str) -> Usage:
        who = (request_id, request.step, request.source, "m", request.response_id, "host:1")
        return Usage(*who, "ok", False, False, 0, 10 * request.n, 3, 0.2, 0.01)


Ask = Callable[[CachingClient], Awaitable[Any]]


def complete(*requests: Request) -> Ask:
    async def ask(client: CachingClient) -> Sequence[Completion]:
        return await asyncio.gather(*map(client.complete, requests))

    return ask


def texts(completion: Completion) -> list[str]:
    return [choice.text for choice in completion.choices]
