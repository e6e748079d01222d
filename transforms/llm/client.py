"""The client of OpenAI-compatible endpoints: one for each role, or the same for all.

`complete` asks until the wanted number of choices has come, tries again what passes, leaves out
what the endpoint cannot do, and accounts for every request that it sent.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from schemas.records import Usage
from transforms.llm import capabilities as abilities
from transforms.llm.base import VERIFIER, Choice, Completion, LlmError, Request
from transforms.llm.capabilities import Capabilities
from transforms.llm.endpoint import Endpoint
from transforms.llm.failures import SendError
from transforms.llm.retry import Retry, Sleep
from transforms.llm.session import OK, Session
from transforms.llm.transport import Transport


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """How to reach the models: plain values, so that workers can be sent it.

    `endpoints` has one for each role; a role without one uses the verifier's. `concurrency` is of
    requests under way at an endpoint. `capabilities` are those already found out; an endpoint
    without is asked at its first request.

    `cache` is where answers are kept (`transforms.llm.store`), None for nowhere; with
    `cache_writes` False what is there is used and nothing added. `repeat` tells runs apart that
    are to be answered anew. Without `share`, a response takes over no other one's answers.
    """

    endpoints: Mapping[str, Endpoint]
    concurrency: int = 64
    retry: Retry = field(default_factory=Retry)
    capabilities: Mapping[Endpoint, Capabilities] = field(default_factory=dict)
    cache: str | None = None
    cache_writes: bool = True
    repeat: int = 0
    share: bool = True


class OpenAiClient:
    """A `Client`; use it on one event loop. `sleep` and `chance` are for tests."""

    def __init__(
        self,
        settings: ClientSettings,
        sleep: Sleep = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._settings = settings
        self._sleep = sleep
        self._chance = chance
        self._transports: dict[tuple[str | None, str, float], Transport] = {}
        self._sessions: dict[Endpoint, Session] = {}

    async def complete(self, request: Request) -> Completion:
        """Return `request.n` choices, in as many requests as that takes.

        Raises:
            LlmError: with the usage of what was sent until then.
        """
        session = self._session(self._endpoint(request.role, request.model))
        rows: list[Usage] = []
        shape = abilities.SAMPLE if request.function is None else abilities.CALL
        try:
            await session.probe(shape, rows)
            choices = await _enough(session, request, rows)
        except (SendError, LlmError) as error:
            raise LlmError(error.message, error.reason, error.final, rows) from None
        first = next(
            row.request_id for row in rows if row.status == OK and row.step != abilities.PROBE
        )
        return Completion(choices, first, rows)

    async def probe(self, role: str, *shapes: str) -> tuple[Capabilities, list[Usage]]:
        """Return what the role's endpoint can do, and what was sent where that was not known yet.

        `shapes` are of capabilities.PROBES, by default all. A run may skip this: what it needs is
        asked before its first request.

        Raises:
            LlmError: the endpoint cannot be used; final, and with the remedy.
        """
        session = self._session(self._endpoint(role, ""))
        rows: list[Usage] = []
        try:
            for shape in shapes or abilities.PROBES:
                await session.probe(shape, rows)
        except LlmError as error:
            raise LlmError(error.message, error.reason, error.final, rows) from None
        return session.known, rows

    async def aclose(self) -> None:
        """Close the connections; a later request opens them again."""
        for transport in self._transports.values():
            await transport.aclose()

    def _endpoint(self, role: str, model: str) -> Endpoint:
        endpoints = self._settings.endpoints
        endpoint = endpoints.get(role) or endpoints[VERIFIER]
        return replace(endpoint, model=model) if model else endpoint

    def _session(self, endpoint: Endpoint) -> Session:
        if endpoint not in self._sessions:
            # Models of one endpoint share its connections and its limit.
            place = (endpoint.base_url, endpoint.api_key_env, endpoint.timeout)
            if place not in self._transports:
                self._transports[place] = Transport(endpoint, self._settings.concurrency)
            self._sessions[endpoint] = Session(
                endpoint,
                self._transports[place],
                self._settings.retry,
                self._settings.capabilities.get(endpoint),
                self._sleep,
                self._chance,
            )
        return self._sessions[endpoint]


async def _enough(session: Session, request: Request, rows: list[Usage]) -> list[Choice]:
    """Ask until `request.n` choices have come, whatever the endpoint does with `n`."""
    choices: list[Choice] = []
    while (missing := request.n - len(choices)) > 0:
        if missing == 1 or session.known.n:
            got = await session.ask(request, missing, rows)
            if len(got) == 1 and missing > 1:
                session.known = replace(session.known, n=False)
            choices += got
            continue
        # All are waited for even where one failed: what was sent is paid for and accounted for.
        asked = (session.ask(request, 1, rows) for _ in range(missing))
        for result in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
            choices += result
    return choices[: request.n]
