"""The client of OpenAI-compatible endpoints: one for each role, or the same for all.

`complete` asks until the wanted number of choices has come, tries again what passes, leaves out
what the endpoint cannot do, and accounts for every request that it sent.
"""

import asyncio
import difflib
import os
import random
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import uuid4

from schemas.records import Usage
from transforms.llm import capabilities as abilities
from transforms.llm import wire
from transforms.llm.base import VERIFIER, Choice, Completion, LlmError, Request
from transforms.llm.capabilities import Capabilities
from transforms.llm.endpoint import Endpoint
from transforms.llm.failures import SendError
from transforms.llm.retry import Retry, Sleep, retrying
from transforms.llm.transport import Transport

PROBE: Final = "probe"
_OK: Final = "ok"
_MODELS_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """How to reach the models: plain values, so that workers can be sent it.

    `endpoints` has one for each role; a role without one uses the verifier's. `concurrency` is of
    requests under way at an endpoint. `capabilities` are those already found out; an endpoint
    without is asked at its first request.
    """

    endpoints: Mapping[str, Endpoint]
    concurrency: int = 64
    retry: Retry = Retry()
    capabilities: Mapping[Endpoint, Capabilities] = field(default_factory=dict)


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
        self._sessions: dict[Endpoint, _Session] = {}

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
        except SendError as error:
            raise LlmError(error.message, error.reason, error.final, rows) from None
        except LlmError as error:
            raise LlmError(error.message, error.reason, error.final, rows) from None
        first = next(row.request_id for row in rows if row.status == _OK and row.step != PROBE)
        return Completion(choices, first, rows)

    async def capabilities(self, role: str, *shapes: str) -> Capabilities:
        """Return what the role's endpoint can do, asking it where that is not known yet.

        Raises:
            LlmError: the endpoint cannot be used; final, and with the remedy.
        """
        session = self._session(self._endpoint(role, ""))
        rows: list[Usage] = []
        for shape in shapes or abilities.PROBES:
            try:
                await session.probe(shape, rows)
            except LlmError as error:
                raise LlmError(error.message, error.reason, error.final, rows) from None
        return session.known

    async def aclose(self) -> None:
        """Close the connections; a later request opens them again."""
        for transport in self._transports.values():
            await transport.aclose()

    def _endpoint(self, role: str, model: str) -> Endpoint:
        endpoints = self._settings.endpoints
        endpoint = endpoints.get(role) or endpoints[VERIFIER]
        return replace(endpoint, model=model) if model else endpoint

    def _session(self, endpoint: Endpoint) -> "_Session":
        if endpoint not in self._sessions:
            # Models of one endpoint share its connections and its limit.
            place = (endpoint.base_url, endpoint.api_key_env, endpoint.timeout)
            if place not in self._transports:
                self._transports[place] = Transport(endpoint, self._settings.concurrency)
            self._sessions[endpoint] = _Session(
                endpoint,
                self._transports[place],
                self._settings,
                self._sleep,
                self._chance,
            )
        return self._sessions[endpoint]


async def _enough(session: "_Session", request: Request, rows: list[Usage]) -> list[Choice]:
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


class _Session:
    """One model at one endpoint: what it can do, and requests to it."""

    def __init__(
        self,
        endpoint: Endpoint,
        transport: Transport,
        settings: ClientSettings,
        sleep: Sleep,
        chance: Callable[[], float],
    ) -> None:
        given = settings.capabilities.get(endpoint)
        self.known = given or Capabilities()
        self._endpoint = endpoint
        self._transport = transport
        self._retry = settings.retry
        self._sleep = sleep
        self._chance = chance
        self._probed = set(abilities.PROBES) if given else set()
        self._unusable: LlmError | None = None
        self._lock = asyncio.Lock()

    async def probe(self, shape: str, rows: list[Usage]) -> None:
        """Find out once what the endpoint can do; everyone else waits for that.

        Raises:
            LlmError: it cannot be used. Final, since it did not even answer the smallest request.
        """
        if shape in self._probed and self._unusable is None:
            return
        async with self._lock:
            if self._unusable is not None:
                raise self._unusable
            if shape in self._probed:
                return

            async def ask(
                request: Request, known: Capabilities, n: int
            ) -> tuple[Sequence[Choice], Capabilities]:
                self.known = known
                return await self._ask(request, n, rows, probing=True), self.known

            try:
                self.known = await abilities.PROBES[shape](ask, self.known)
            except SendError as error:
                message = error.message + await self._known_models(error)
                self._unusable = LlmError(message, error.reason, final=True)
            except LlmError as error:
                self._unusable = error
            if self._unusable is not None:
                raise self._unusable
            self._probed.add(shape)

    async def ask(self, request: Request, n: int, rows: list[Usage]) -> Sequence[Choice]:
        """Return between one and `n` choices; each request that is sent adds a row.

        Raises:
            SendError: the last try's.
        """
        return await self._ask(request, n, rows, probing=False)

    async def _ask(
        self, request: Request, n: int, rows: list[Usage], probing: bool
    ) -> Sequence[Choice]:
        while True:
            known = self.known
            body = wire.body(request, self._endpoint.model, known, n)
            function = request.function.name if request.function and known.tools else None

            async def send(attempt: int) -> Sequence[Choice]:
                return await self._send(request, body, function, attempt, rows)

            try:
                return await retrying(send, self._retry, self._sleep, self._chance)
            except SendError as error:
                rest = abilities.learned(self.known, body, error, probing)
                if rest is None:
                    raise
                self.known = rest

    async def _send(
        self,
        request: Request,
        body: Mapping[str, object],
        function: str | None,
        attempt: int,
        rows: list[Usage],
    ) -> Sequence[Choice]:
        started = time.monotonic()
        try:
            reply = await self._transport.send(body)
            answer = wire.answer(reply.payload, function)
        except wire.Garbled as error:
            message = f"{self._endpoint.shown_url}: {error}"
            failure = SendError(message, "garbled", transient=True, request_id=reply.request_id)
            rows.append(self._row(request, failure.status, failure.request_id, attempt, started))
            raise failure from None
        except SendError as error:
            rows.append(self._row(request, error.status, error.request_id, attempt, started))
            raise
        row = self._row(request, _OK, reply.request_id or answer.id, attempt, started)
        rows.append(
            replace(
                row,
                prompt_tokens=answer.prompt_tokens,
                completion_tokens=answer.completion_tokens,
            )
        )
        return answer.choices

    def _row(
        self, request: Request, status: str, request_id: str | None, attempt: int, started: float
    ) -> Usage:
        return Usage(
            request_id=request_id or uuid4().hex,
            step=request.step,
            source=request.source,
            model=self._endpoint.model,
            response_id=request.response_id,
            worker_id=worker_id(),
            status=status,
            cached=False,
            coalesced=False,
            retries=attempt,
            prompt_tokens=None,
            completion_tokens=None,
            seconds=time.monotonic() - started,
            cost_usd=None,
        )

    async def _known_models(self, error: SendError) -> str:
        """For an unknown model: the nearest of those that the endpoint has."""
        if error.status != "404":
            return ""
        names = await self._transport.models()
        if not names:
            return ""
        near = difflib.get_close_matches(self._endpoint.model, names, n=1)
        hint = f". Did you mean {near[0]!r}?" if near else ""
        more = ", …" if len(names) > _MODELS_SHOWN else ""
        return f"; it has {', '.join(names[:_MODELS_SHOWN])}{more}{hint}"


def worker_id() -> str:
    """Return host:pid, which tells worker processes apart."""
    return f"{socket.gethostname()}:{os.getpid()}"
