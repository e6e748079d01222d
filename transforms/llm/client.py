"""Send requests to OpenAI-compatible endpoints, one for each role or the same for all.

`complete` asks until the wanted number of choices has come, tries again what passes, leaves out
what the endpoint cannot do, and accounts for every request that it sent.
"""

import asyncio
import random
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schemas.records import Usage
from transforms.llm.backoff import Backoff, Stop
from transforms.llm.base import VERIFIER, Choice, Completion, LlmError, Request
from transforms.llm.budget import Budget
from transforms.llm.capabilities import PROBE, Capabilities
from transforms.llm.endpoint import Endpoint
from transforms.llm.failures import SendError
from transforms.llm.limiter import LOCAL_START, Limiter
from transforms.llm.limits import Limits, strictest
from transforms.llm.prices import Price
from transforms.llm.probes import CALL, PROBES, SAMPLE
from transforms.llm.retry import Retry, Sleep
from transforms.llm.sending import Sender
from transforms.llm.session import Session
from transforms.llm.usage import OK

if TYPE_CHECKING:
    from transforms.llm.transport import Transport


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """How to reach the models: plain values, so that workers can be sent it.

    `endpoints` has one for each role; a role without one uses the verifier's. `concurrency` is of
    requests under way at an endpoint, the other limits are of any minute; `limits` has those of a
    role, where it has its own. All hold for an endpoint, whichever roles and models share it: the
    strictest counts. `capabilities` are those already found out; an endpoint without is asked at
    its first request.

    Each of several processes (`workers`) keeps to its share of them. `sent_before` is how many
    requests of this minute were sent before they started, and `reached` are the URLs that answered
    these. `minute` is in seconds, and another number is for tests.

    `context` is how many tokens the models' contexts hold, None to learn it from what the endpoints
    refuse.

    `cache` is where answers are kept (`transforms.llm.store`), None for nowhere; with
    `cache_writes` False what is there is used and nothing added. `repeat` tells runs apart that
    are to be answered anew. Without `share`, a response takes over no other one's answers.

    `prices` are by the model's name. `usage_log` is the file in which the run's requests are
    written down (`transforms.llm.usage_log`); together they cost at most `max_cost` US dollars,
    which only one process can keep.
    """

    endpoints: Mapping[str, Endpoint]
    concurrency: int = 64
    retry: Retry = field(default_factory=Retry)
    capabilities: Mapping[Endpoint, Capabilities] = field(default_factory=dict)
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    limits: Mapping[str, Limits] = field(default_factory=dict)
    workers: int = 1
    sent_before: int = 0
    reached: frozenset[str] = frozenset()
    minute: float = 60.0
    context: int | None = None
    cache: str | None = None
    cache_writes: bool = True
    repeat: int = 0
    share: bool = True
    prices: Mapping[str, Price] = field(default_factory=dict)
    max_cost: float | None = None
    usage_log: str | None = None

    def elsewhere(self) -> "ClientSettings":
        """Return the settings for processes whose environment does not tell where a model is."""
        asked = {*self.endpoints.values(), *self.capabilities}
        named = {endpoint: replace(endpoint, base_url=endpoint.url) for endpoint in asked}
        return replace(
            self,
            endpoints={role: named[endpoint] for role, endpoint in self.endpoints.items()},
            capabilities={named[endpoint]: can for endpoint, can in self.capabilities.items()},
        )

    def limits_of(self, place: "Place | None" = None) -> Limits:
        """Return what holds at a place for all processes together; by default, at every place."""
        general = Limits(self.concurrency, self.requests_per_minute, self.tokens_per_minute)
        found = [
            self.limits.get(role, general).or_else(general)
            for role, endpoint in self.endpoints.items()
            if place in (None, place_of(endpoint))
        ]
        return strictest(found or [general])


Place = tuple[str | None, str]


def place_of(endpoint: Endpoint) -> Place:
    """Return what endpoints of several models have in common: the address and the key."""
    return endpoint.base_url, endpoint.api_key_env


class RunLimits:
    """What the clients of a run on one loop share: limits, a budget, and what ends the run."""

    def __init__(self, stop: Stop | None = None) -> None:
        self.stop = stop or Stop()
        self.limiters: dict[Hashable, Limiter] = {}
        self._budgets: dict[str, Budget] = {}

    def budget(self, settings: ClientSettings) -> Budget:
        """Return the budget that clients of these settings have in common."""
        given = settings.prices, settings.max_cost, settings.usage_log
        return self._budgets.setdefault(repr(given), Budget(*given))

    async def aclose(self) -> None:
        """Close the usage logs; a later request opens them again."""
        for budget in self._budgets.values():
            budget.close()


class OpenAiClient:
    """A `Client`; use it on one event loop.

    `run` is what it shares with other clients of its run. `sleep`, `chance` and `clock` are for
    tests.
    """

    def __init__(
        self,
        settings: ClientSettings,
        sleep: Sleep = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
        run: RunLimits | None = None,
    ) -> None:
        self._settings = settings
        self._sleep = sleep
        self._chance = chance
        self._clock = clock
        self._run = run or RunLimits()
        self._budget = self._run.budget(settings)
        self._transports: dict[tuple[Place, float], Transport] = {}
        self._sessions: dict[Endpoint, Session] = {}

    async def complete(self, request: Request) -> Completion:
        """Return `request.n` choices, in as many requests as that takes.

        Raises:
            LlmError: with the usage of what was sent until then, and the choices that came.
        """
        session = self._session(self._endpoint(request.role, request.model))
        rows: list[Usage] = []
        choices: list[Choice] = []
        shape = SAMPLE if request.function is None else CALL
        try:
            await session.probe(shape, rows)
            await _enough(session, request, rows, choices)
        except (SendError, LlmError) as error:
            came = choices[: request.n]
            raise LlmError(
                *(error.message, error.reason, error.final, rows),
                *(came, _first(rows) if came else ""),
            ) from None
        return Completion(choices[: request.n], _first(rows), rows)

    def room(self, request: Request) -> int | None:
        """Return about how many tokens the model's context holds beside the prompt of a request,
        None where that is not known (yet)."""
        return self._session(self._endpoint(request.role, request.model)).room(request)

    async def probe(self, role: str, *shapes: str) -> tuple[Capabilities, list[Usage]]:
        """Return what the role's endpoint can do, and what was sent where that was not known yet.

        `shapes` are of probes.PROBES, by default all. A run may skip this: what it needs is
        asked before its first request.

        Raises:
            LlmError: the endpoint cannot be used; final, and with the remedy.
        """
        session = self._session(self._endpoint(role, ""))
        rows: list[Usage] = []
        try:
            for shape in shapes or PROBES:
                await session.probe(shape, rows)
        except LlmError as error:
            raise LlmError(error.message, error.reason, error.final, rows) from None
        return session.known, rows

    async def models(self, role: str) -> list[str]:
        """Return the models that the role's endpoint lists; none where it does not tell."""
        return await self._session(self._endpoint(role, "")).models()

    async def aclose(self) -> None:
        """Close the connections; a later request opens them again."""
        for transport in self._transports.values():
            await transport.aclose()
        await self._run.aclose()

    def _endpoint(self, role: str, model: str) -> Endpoint:
        endpoints = self._settings.endpoints
        endpoint = endpoints.get(role) or endpoints[VERIFIER]
        return replace(endpoint, model=model) if model else endpoint

    def _session(self, endpoint: Endpoint) -> Session:
        if endpoint not in self._sessions:
            settings = self._settings
            # Models of one endpoint share its connections and its limits.
            place = place_of(endpoint)
            limits = settings.limits_of(place)
            limiters = self._run.limiters
            key = place, limits, settings.minute
            if key not in limiters:
                limiters[key] = self._limiter(endpoint, limits)
            if (place, endpoint.timeout) not in self._transports:
                from transforms.llm.transport import Transport  # `openai` is slow to import

                most = limits.concurrency or settings.concurrency
                reached = endpoint.url in settings.reached
                self._transports[place, endpoint.timeout] = Transport(endpoint, most, reached)
            sender = Sender(
                "ufo.llm_request",
                limiters[key],
                settings.retry,
                self._budget,
                self._sleep,
                self._chance,
                self._clock,
            )
            self._sessions[endpoint] = Session(
                endpoint,
                self._transports[place, endpoint.timeout],
                sender,
                settings.capabilities.get(endpoint),
                settings.context,
            )
        return self._sessions[endpoint]

    def _limiter(self, endpoint: Endpoint, limits: Limits) -> Limiter:
        settings = self._settings
        tell = self._budget.log.tell if settings.usage_log else None
        return Limiter(
            limits.divided(settings.workers),
            Backoff(settings.retry.seconds, tell, reached=endpoint.url in settings.reached),
            settings.minute,
            settings.sent_before,
            settings.retry.seconds,
            self._sleep,
            self._chance,
            self._clock,
            self._run.stop,
            LOCAL_START if endpoint.local else None,
            endpoint.timeout,
        )


def _first(rows: Sequence[Usage]) -> str:
    answered = [row for row in rows if row.status == OK]
    return next((row for row in answered if row.step != PROBE), answered[0]).request_id


async def _enough(
    session: Session, request: Request, rows: list[Usage], choices: list[Choice]
) -> None:
    """Ask until `request.n` choices have come, whatever the endpoint does with `n`."""
    while (missing := request.n - len(choices)) > 0:
        if missing == 1 or session.known.n:
            got = await session.ask(request, missing, rows)
            if len(got) == 1 and missing > 1:
                session.known = replace(session.known, n=False)
            choices += got
            continue
        # All are waited for even where one failed: what was sent is paid for and accounted for.
        asked = (session.ask(request, 1, rows) for _ in range(missing))
        results = await asyncio.gather(*asked, return_exceptions=True)
        failed = [result for result in results if isinstance(result, BaseException)]
        for result in results:
            if not isinstance(result, BaseException):
                choices += result
        if failed:
            raise next((e for e in failed if getattr(e, "final", True)), failed[0])
