"""Send requests to OpenAI-compatible endpoints, one for each role or the same for all.

`complete` sends requests until it has the number of choices wanted, retries transient errors, omits
parameters that the endpoint does not support, and returns a usage row for every request sent.
"""

import asyncio
import logging
from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Final

from ufo.schemas.dependencies import need
from ufo.schemas.records import Usage
from ufo.transforms.llm.batch_lines import BatchLine
from ufo.transforms.llm.batch_store import BatchStore
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.forms import (
    CALL,
    PROBE,
    PROBES,
    SAMPLE,
    Capabilities,
)
from ufo.transforms.llm.limiter import LOCAL_START, Limiter, Stop
from ufo.transforms.llm.model_connection import ModelConnection
from ufo.transforms.llm.request import Choice, Completion, LlmError, Request
from ufo.transforms.llm.retry import REAL, Timing
from ufo.transforms.llm.run_resources import RunResources
from ufo.transforms.llm.send import RequestSender
from ufo.transforms.llm.usage import OK

if TYPE_CHECKING:
    from ufo.transforms.llm.transport import Transport

_LOG: Final = logging.getLogger("ufo.llm")


class OpenAiClient:
    """A `Client` of the endpoints in `settings`; use it on one event loop."""

    def __init__(
        self, settings: ClientSettings, timing: Timing = REAL, resources: RunResources | None = None
    ) -> None:
        self._settings = settings
        self._timing = timing
        self._resources = resources or RunResources()
        self._budget = self._resources.budget(settings)
        # A run shows the messages in its log; elsewhere they are logged.
        log = self._budget.log
        self._report = log.report if log.shown else _LOG.warning
        self._report_once = log.report_once if log.shown else _LOG.warning
        self._transports: dict[Hashable, Transport] = {}
        self._sessions: dict[Endpoint, ModelConnection] = {}

    async def complete(self, request: Request) -> Completion:
        """Return `request.n` choices, in as many HTTP requests as that takes.

        Raises:
            LlmError: with the usage rows of the requests sent and the choices received.
        """
        session = self._session(request.role, request.model)
        rows: list[Usage] = []
        choices: list[Choice] = []
        shape = SAMPLE if request.function is None else CALL
        try:
            await session.probe(shape, rows)
            batches = self._resources.batches
            if batches and self._settings.batched(request.role, request.model):
                session = self._in_batch(request, session.known, batches)
            await _enough(session, request, rows, choices)
        except (SendError, LlmError) as error:
            first = _first(rows) if choices else ""
            received = choices[: request.n]
            raise LlmError(
                error.message, error.reason, error.final, rows, received, first, error.unexplained
            ) from None
        return Completion(choices[: request.n], _first(rows), rows)

    def room(self, request: Request) -> int | None:
        """Estimate how many tokens of the model's context a request's prompt leaves free.

        Returns None while the size of the context is unknown.
        """
        return self._session(request.role, request.model).room(request)

    def cap(self, request: Request) -> int | None:
        """Return the most tokens that the model may reply with, None while no limit is known."""
        return self._session(request.role, request.model).known.most_tokens

    async def probe(self, role: str, *shapes: str) -> tuple[Capabilities, list[Usage]]:
        """Return the capabilities of a role's endpoint, and usage rows of the probes sent.

        `shapes` are keys of `forms.PROBES`, by default all. Without a call of this, the first
        request of each shape probes the endpoint.

        Raises:
            LlmError: the endpoint cannot be used; final, and with the remedy.
        """
        session = self._session(role)
        rows: list[Usage] = []
        try:
            for shape in shapes or PROBES:
                await session.probe(shape, rows)
        except LlmError as error:
            raise replace(error, usage=rows) from None
        return session.known, rows

    async def look(self, role: str) -> tuple[bool, int | None]:
        """Return whether the endpoint of a role answers, and the size of the context or None."""
        endpoint = self._settings.endpoint(role)
        size = await self._session(role).stated_context()
        return self._transport(endpoint).reached, size

    def silences(self) -> dict[str, float]:
        """Return the seconds for which each endpoint has been asked without answering, by its URL.

        It can be called from any thread.
        """
        return {one.shown_url: self._limiter(one).silence() for one in tuple(self._sessions)}

    async def aclose(self) -> None:
        """Close the connections; a later request opens them again."""
        for transport in self._transports.values():
            await transport.aclose()
        await self._resources.aclose()

    def _session(self, role: str, model: str = "") -> ModelConnection:
        endpoint = self._settings.endpoint(role, model)
        if endpoint not in self._sessions:
            settings = self._settings
            limiter = self._limiter(endpoint)
            sender = RequestSender(limiter, self._budget, self._timing)
            self._sessions[endpoint] = ModelConnection(
                endpoint,
                self._transport(endpoint),
                sender.send,
                settings.capabilities.get(endpoint),
                settings.context,
                self._report_once,
            )
        return self._sessions[endpoint]

    def _in_batch(
        self, request: Request, known: Capabilities, batches: BatchStore
    ) -> ModelConnection:
        """Return the session of one request in a batch.

        It learns nothing from other requests, so that the request is the same in every pass.
        """
        endpoint = self._settings.endpoint(request.role, request.model)
        line = BatchLine(batches, endpoint, request)
        return ModelConnection(endpoint, line, line.receive, known, self._settings.context)

    # Models of one endpoint share its connections and its limits.

    def _transport(self, endpoint: Endpoint) -> "Transport":
        key = endpoint.place, endpoint.timeout
        if key not in self._transports:
            need("llm", f"the model {endpoint.model!r}")
            from ufo.transforms.llm.transport import Transport  # `openai` is slow to import

            reached = endpoint.url in self._settings.reached
            self._transports[key] = Transport(endpoint, reached)
        return self._transports[key]

    def _limiter(self, endpoint: Endpoint) -> Limiter:
        settings = self._settings
        key = endpoint.place, settings.limits
        if key not in self._resources.limiters:
            self._resources.limiters[key] = Limiter(
                settings.limits.divided(settings.workers),
                self._resources.stop or Stop(),
                LOCAL_START if endpoint.local else inf,
                endpoint.timeout,
                self._timing,
                settings.retry,
                self._report,
                reached=endpoint.url in settings.reached,
            )
        return self._resources.limiters[key]


def _first(rows: Sequence[Usage]) -> str:
    answered = [row for row in rows if row.status == OK]
    return next((row for row in answered if row.step != PROBE), answered[0]).request_id


async def _enough(
    session: ModelConnection, request: Request, rows: list[Usage], choices: list[Choice]
) -> None:
    """Append choices until there are `request.n`, whether or not the endpoint supports `n`."""
    while (missing := request.n - len(choices)) > 0:
        if missing == 1 or session.known.n:
            choices += await session.ask(request, missing, rows)
            continue
        # All are awaited even if one fails: each request sent is paid for and gets a usage row.
        requests = (session.ask(request, 1, rows) for _ in range(missing))
        failed: list[BaseException] = []
        for result in await asyncio.gather(*requests, return_exceptions=True):
            if isinstance(result, BaseException):
                failed.append(result)
            else:
                choices += result
        if failed:
            raise max(failed, key=lambda error: getattr(error, "final", True))
