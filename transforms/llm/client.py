"""Send requests to OpenAI-compatible endpoints, one for each role or the same for all.

`complete` sends requests until it has the number of choices wanted, retries transient errors, omits
parameters that the endpoint does not support, and returns a usage row for every request sent.
"""

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ufo.schemas.extras import need
from ufo.schemas.records import Usage
from ufo.transforms.llm.base import Choice, Completion, LlmError, Request
from ufo.transforms.llm.budget import Budget
from ufo.transforms.llm.capabilities import CALL, PROBE, PROBES, SAMPLE, Capabilities
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.limiter import LOCAL_START, Limiter
from ufo.transforms.llm.retry import REAL, Backoff, Stop, Timing
from ufo.transforms.llm.sending import Sender
from ufo.transforms.llm.session import Session
from ufo.transforms.llm.settings import ClientSettings
from ufo.transforms.llm.usage import OK

if TYPE_CHECKING:
    from ufo.transforms.llm.transport import Transport


class Shared:
    """The limiters, budgets and the `Stop` that all clients of a run share.

    Without a `stop`, where there is no run, each endpoint has one of its own: that one does not
    answer says nothing of the others.
    """

    def __init__(self, stop: Stop | None = None) -> None:
        self.stop = stop
        self.limiters: dict[Hashable, Limiter] = {}
        self._budgets: dict[str, Budget] = {}

    def budget(self, settings: ClientSettings) -> Budget:
        """Return the budget of clients with these prices, cap and usage log."""
        given = settings.prices, settings.max_cost, settings.usage_log
        return self._budgets.setdefault(repr(given), Budget(*given))

    async def aclose(self) -> None:
        """Close the usage logs; a later request opens them again."""
        for budget in self._budgets.values():
            budget.close()


class OpenAiClient:
    """A `Client` of the endpoints in `settings`; use it on one event loop."""

    def __init__(
        self, settings: ClientSettings, timing: Timing = REAL, shared: Shared | None = None
    ) -> None:
        self._settings = settings
        self._timing = timing
        self._shared = shared or Shared()
        self._budget = self._shared.budget(settings)
        self._transports: dict[Hashable, Transport] = {}
        self._sessions: dict[Endpoint, Session] = {}

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
            await _enough(session, request, rows, choices)
        except (SendError, LlmError) as error:
            request_id = _first(rows) if choices else ""
            received = choices[: request.n]
            raise LlmError(
                error.message, error.reason, error.final, rows, received, request_id
            ) from None
        return Completion(choices[: request.n], _first(rows), rows)

    def room(self, request: Request) -> int | None:
        """Estimate how many tokens of the model's context are left beside a request's prompt.

        Returns None while the size of the context is unknown.
        """
        return self._session(request.role, request.model).room(request)

    def cap(self, request: Request) -> int | None:
        """Return the most tokens that the model may reply with, None while no limit is known."""
        return self._session(request.role, request.model).known.most_tokens

    async def probe(self, role: str, *shapes: str) -> tuple[Capabilities, list[Usage]]:
        """Return the capabilities of a role's endpoint, and usage rows of the probes sent.

        `shapes` are keys of `capabilities.PROBES`, by default all. Without a call of this, the
        first request of each shape probes the endpoint.

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

    async def models(self, role: str) -> list[str]:
        """Return the names of the models that a role's endpoint lists, sorted."""
        return await self._transport(self._settings.endpoint(role)).models()

    async def answers(self, role: str) -> bool:
        """Return whether a server answers at the address of a role's endpoint."""
        return await self._transport(self._settings.endpoint(role)).answers()

    def silences(self) -> dict[str, float]:
        """Return for how many seconds each endpoint has been asked without answering, by its URL.

        It can be called from any thread.
        """
        return {one.shown_url: self._limiter(one).silence() for one in tuple(self._sessions)}

    async def aclose(self) -> None:
        """Close the connections; a later request opens them again."""
        for transport in self._transports.values():
            await transport.aclose()
        await self._shared.aclose()

    def _session(self, role: str, model: str = "") -> Session:
        endpoint = self._settings.endpoint(role, model)
        if endpoint not in self._sessions:
            settings = self._settings
            limiter = self._limiter(endpoint)
            sender = Sender(limiter, settings.retry, self._budget, self._timing)
            self._sessions[endpoint] = Session(
                endpoint,
                self._transport(endpoint),
                sender,
                settings.capabilities.get(endpoint),
                settings.context,
            )
        return self._sessions[endpoint]

    # Models of one endpoint share its connections and its limits.

    def _transport(self, endpoint: Endpoint) -> "Transport":
        key = endpoint.place, endpoint.timeout
        if key not in self._transports:
            need("llm", f"the model {endpoint.model!r}")
            from ufo.transforms.llm.transport import Transport  # `openai` is slow to import

            reached = endpoint.url in self._settings.reached
            self._transports[key] = Transport(endpoint, self._settings.concurrency, reached)
        return self._transports[key]

    def _limiter(self, endpoint: Endpoint) -> Limiter:
        settings = self._settings
        key = endpoint.place, settings.limits
        if key not in self._shared.limiters:
            report = self._budget.log.report if settings.usage_log else None
            reached = endpoint.url in settings.reached
            self._shared.limiters[key] = Limiter(
                settings.limits.divided(settings.workers),
                Backoff(settings.retry.seconds, report, reached=reached),
                self._shared.stop,
                settings.sent_before,
                LOCAL_START if endpoint.local else None,
                endpoint.timeout,
                self._timing,
            )
        return self._shared.limiters[key]


def _first(rows: Sequence[Usage]) -> str:
    answered = [row for row in rows if row.status == OK]
    return next((row for row in answered if row.step != PROBE), answered[0]).request_id


async def _enough(
    session: Session, request: Request, rows: list[Usage], choices: list[Choice]
) -> None:
    """Append choices until there are `request.n`, whether or not the endpoint supports `n`."""
    while (missing := request.n - len(choices)) > 0:
        if missing == 1 or session.known.n:
            received = await session.ask(request, missing, rows)
            if len(received) == 1 and missing > 1:
                session.known = replace(session.known, n=False)
            choices += received
            continue
        # All are awaited even where one failed: each request sent is paid for and gets a usage row.
        requests = (session.ask(request, 1, rows) for _ in range(missing))
        results = await asyncio.gather(*requests, return_exceptions=True)
        failed = [result for result in results if isinstance(result, BaseException)]
        for result in results:
            if not isinstance(result, BaseException):
                choices += result
        if failed:
            raise next((e for e in failed if getattr(e, "final", True)), failed[0])
