"""Send requests to OpenAI-compatible endpoints, one for each role or the same for all.

`complete` sends requests until it has the number of choices wanted, retries transient errors, omits
parameters that the endpoint does not support, and returns a usage row for every request sent.
"""

import asyncio
import difflib
import logging
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final

from ufo.schemas.dependencies import need
from ufo.schemas.records import TRUNCATED, Usage
from ufo.transforms.llm import chat
from ufo.transforms.llm.batch_lines import BatchLine
from ufo.transforms.llm.batch_store import BatchStore
from ufo.transforms.llm.budget import Budget
from ufo.transforms.llm.client_settings import BatchSettings, ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.errors import (
    LARGER,
    MODEL,
    THOUGHTS,
    SendError,
    inside,
    of_response,
    words_of,
)
from ufo.transforms.llm.forms import (
    CALL,
    PROBE,
    PROBES,
    SAMPLE,
    Capabilities,
    Change,
    learned,
    probed,
)
from ufo.transforms.llm.request import Choice, Completion, LlmError, Report, Request
from ufo.transforms.llm.send import LOCAL_START, REAL, Limiter, Received, Sender, Stop, Timing
from ufo.transforms.llm.tokens import Context, far_fewer, prompt_tokens, stated_context
from ufo.transforms.llm.usage import OK, usage_row

if TYPE_CHECKING:
    from ufo.transforms.llm.transport import Transport

_MORE_THOUGHTS: Final = 4  # times the usual room for thoughts, where that was too little
_MODELS_SHOWN: Final = 8
_SHOWN: Final = 200  # characters of a reply that is none
_LOG: Final = logging.getLogger("ufo.llm")


class Session:
    """One model at one endpoint: its capabilities, and requests to it."""

    def __init__(
        self,
        endpoint: Endpoint,
        transport: "Transport | BatchLine",
        send: Callable[..., Awaitable[chat.ParsedReply]],
        known: Capabilities | None,
        context: int | None = None,
        report: Report = _LOG.warning,
    ) -> None:
        """`send` works like `Sender.send`. `known` are the capabilities if they were probed before;
        `context` is the size of the model's context by `--context`."""
        self.known = known or Capabilities()
        self._worked = self.known
        self._endpoint = endpoint
        self._transport = transport
        self._send = send
        self._context = Context(context or self.known.context)
        self._report = report
        self._reported = False
        self._probed = set(PROBES) if known else set()
        self._failed: LlmError | None = None  # of the last probe that failed
        self._lock = asyncio.Lock()

    async def probe(self, shape: str, rows: list[Usage]) -> None:
        """Detect the endpoint's capabilities once; concurrent calls wait for that.

        Raises:
            LlmError: final: the endpoint cannot be used. A later call probes it again.
        """
        if shape in self._probed:
            return

        failed_before = self._failed
        async with self._lock:
            if self._failed is not None and self._failed is not failed_before:
                raise replace(self._failed)  # this call waited for a probe that failed
            if shape in self._probed:
                return
            try:
                await self._find_out(shape, rows)
            except (SendError, LlmError) as error:
                self.known = self._worked
                self._failed = LlmError(error.message, error.reason, final=True)
                raise self._failed from None

    async def _find_out(self, shape: str, rows: list[Usage]) -> None:
        async def ask(
            request: Request, known: Capabilities
        ) -> tuple[Sequence[Choice], Capabilities]:
            self.known = known
            return await self.ask(request, request.n, rows), self.known

        known = await probed(shape, ask, self.known)
        if self._context.size is None and not self._probed:
            # A server may load the model, and know its context, at the first request.
            self._context.size = await self.stated_context()
        self.known = self._worked = replace(known, context=self._context.size)
        self._probed.add(shape)

    async def stated_context(self) -> int | None:
        """Return the size of the model's context that the server states, None where it does not."""
        url = self._endpoint.url
        own = url.startswith("http://")
        return await stated_context(self._transport.look, url, self._endpoint.model, own)

    def room(self, request: Request) -> int | None:
        """Estimate the tokens of the context that a prompt leaves free, None if unknown."""
        if not self._context.known:
            return None
        body = chat.body(request, self._endpoint.model, self.known, 1)
        return self._context.room(prompt_tokens(body))

    async def ask(self, request: Request, n: int, rows: list[Usage]) -> Sequence[Choice]:
        """Return between one and `n` choices; append a usage row for each request sent.

        A refused request is sent again without the parameter that the error names. It is sent once
        more, with more room, where the reply has only thoughts.

        Raises:
            SendError: the error of the last attempt.
        """
        row = usage_row(request.step, request.source, self._endpoint.model, request.response_id)
        function = request.function.name if request.function else None
        probing = request.step == PROBE
        thoughts, only_thoughts, sent = 1, None, 0
        while True:
            known = self.known
            body = chat.body(request, self._endpoint.model, known, n, thoughts)
            prompt = prompt_tokens(body) if self._context.size else 0
            if self._context.hopeless(prompt):
                raise self._too_long(prompt)
            limit = body.get(known.limit_field or "", 0)
            if limit and prompt:
                limit = self._context.limit(prompt, limit, request.expects)
                body[str(known.limit_field)] = limit
            if only_thoughts is not None and limit <= sent:
                return only_thoughts.choices
            exchange = partial(self._exchange, body, function if known.tools else None)
            try:
                answer = await self._send(body, exchange, row, rows)
            except SendError as error:
                if error.overflow is not None:
                    tokens = prompt or prompt_tokens(body)
                    less = self._context.refused(tokens, limit, request.expects, error.overflow)
                    if not less:
                        raise
                    continue
                change = learned(known, request, n, error, limit)
                if change is None:
                    # Refused in every form: it was about this request's text.
                    if error.refusal and not probing:
                        self._learn(known, {"forms": self._worked.forms})
                        self._learn(known, {"references": self._worked.references})
                    raise
                self._learn(known, change)
                if change.get("most_tokens", request.expects) < request.expects:
                    raise SendError(error.message, error.status, reason=TRUNCATED) from None
                continue
            self._worked = known
            self._check_count(body, prompt, answer.tokens[0])
            if answer.thinks and not self.known.thinks:
                self.known = replace(self.known, thinks=True)
            if n > 1 and len(answer.choices) == 1:
                self.known = replace(self.known, n=False)
            if probing or only_thoughts is not None or not answer.only_thoughts:
                return answer.choices
            thoughts = _MORE_THOUGHTS if known.thinks else 1
            only_thoughts, sent = answer, limit

    def _learn(self, known: Capabilities, change: Change) -> None:
        """Apply a change to the capabilities, unless they changed since the request was sent."""
        if all(getattr(self.known, name) == getattr(known, name) for name in change):
            self.known = replace(self.known, **change)

    async def _exchange(
        self, body: Mapping[str, object], function: str | None
    ) -> Received[chat.ParsedReply]:
        """Send a request; raise also an error that is in a response of status 200."""
        place, request_id = self._endpoint, None
        try:
            received = await self._transport.send(body)
            request_id, payload, headers = received.request_id, received.value, received.headers
            error = inside(payload)
            if error is not None:
                raise of_response(
                    place, place.key(), error[0], headers, error[1], time.time(), True
                )
            answer = chat.answer(payload, function)
        except SendError as error:
            if error.kind == THOUGHTS:  # OpenAI's error for a reply that ends within them
                cut_off = Choice(finish_reason="length")
                answer = chat.ParsedReply(
                    [cut_off], (None, None), None, thinks=True, only_thoughts=True
                )
                return Received(answer, {}, error.request_id)
            if error.kind == MODEL:
                error.message += await self._known_models()
            raise
        except chat.Garbled as garbled:
            message, tokens = f"{place.shown_url}: {garbled}", chat.tokens(payload)
            if not (isinstance(payload, Mapping) and payload.get("choices")):
                words = words_of(payload, place.key())[0][:_SHOWN]
                message += f": {words}" if words else ""
            raise SendError(
                message, "garbled", transient=True, request_id=request_id, tokens=tokens
            ) from None
        return Received(answer, headers, request_id or answer.id, answer.tokens)

    def _check_count(self, body: Mapping[str, Any], prompt: int, counted: int | None) -> None:
        """Learn from the tokens that the endpoint counted in a prompt; say once if they are far too
        few."""
        self._context.counted(prompt, counted)
        if not self._reported and far_fewer(body, counted):
            self._reported = True
            self._report(
                f"{self._endpoint.shown_url} counts far fewer tokens than the prompts of "
                f"{self._endpoint.model} have. Either it counts only what it had not read before, "
                f"or it cuts prompts without an error: then {LARGER}, and set --context to its size"
            )

    def _too_long(self, prompt: int) -> SendError:
        message = (
            f"a request of about {prompt:,} tokens was not sent: the context of "
            f"{self._endpoint.model} at {self._endpoint.shown_url} holds {self._context.size:,}; "
            f"{LARGER}"
        )
        return SendError(message, "context", reason=TRUNCATED)

    async def _known_models(self) -> str:
        """Return a hint about the models that the endpoint has."""
        model = self._endpoint.model
        listed: Any = await self._transport.look("/models")
        try:
            names = sorted(str(one["id"]) for one in listed["data"])
        except (KeyError, TypeError):
            names = []
        if not names:
            return ""
        near = [] if model in names else difflib.get_close_matches(model, names, n=1)
        hint = f". Did you mean {near[0]!r}?" if near else ""
        more = ", …" if len(names) > _MODELS_SHOWN else ""
        return f"; it has {', '.join(names[:_MODELS_SHOWN])}{more}{hint}"


class Shared:
    """The limiters, budgets, batches and the `Stop` that all clients of a run share.

    Outside a run there is no `stop`. `batches` is None where requests are sent at once.
    """

    def __init__(self, stop: Stop | None = None, batch: BatchSettings | None = None) -> None:
        self.stop = stop
        self.batches = BatchStore(batch.path, batch.run) if batch else None
        self.limiters: dict[Hashable, Limiter] = {}
        self._budgets: list[tuple[object, Budget]] = []

    def budget(self, settings: ClientSettings) -> Budget:
        """Return the budget of clients with these prices, cap and usage log."""
        terms = settings.prices, settings.max_cost, settings.usage_log
        for others, budget in self._budgets:
            if others == terms:
                return budget
        budget = Budget(*terms)
        self._budgets.append((terms, budget))
        return budget

    async def aclose(self) -> None:
        """Close the usage logs; a later request opens them again."""
        for _, budget in self._budgets:
            budget.close()
        if self.batches:
            self.batches.close()


class OpenAiClient:
    """A `Client` of the endpoints in `settings`; use it on one event loop."""

    def __init__(
        self, settings: ClientSettings, timing: Timing = REAL, shared: Shared | None = None
    ) -> None:
        self._settings = settings
        self._timing = timing
        self._shared = shared or Shared()
        self._budget = self._shared.budget(settings)
        # A run shows the messages in its log; elsewhere they are logged.
        log = self._budget.log
        self._report = log.report if log.shown else _LOG.warning
        self._report_once = log.report_once if log.shown else _LOG.warning
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
            batches = self._shared.batches
            if batches and self._settings.batched(request.role, request.model):
                session = self._in_batch(request, session.known, batches)
            await _enough(session, request, rows, choices)
        except (SendError, LlmError) as error:
            first = _first(rows) if choices else ""
            what = error.message, error.reason, error.final
            raise LlmError(*what, rows, choices[: request.n], first, error.unexplained) from None
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
        """Return whether a server answers at the address of a role's endpoint, and the size of the
        context that it states, None where it does not."""
        endpoint = self._settings.endpoint(role)
        size = await self._session(role).stated_context()
        return self._transport(endpoint).reached, size

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
            sender = Sender(limiter, self._budget, self._timing)
            self._sessions[endpoint] = Session(
                endpoint,
                self._transport(endpoint),
                sender.send,
                settings.capabilities.get(endpoint),
                settings.context,
                self._report_once,
            )
        return self._sessions[endpoint]

    def _in_batch(self, request: Request, known: Capabilities, batches: BatchStore) -> Session:
        """Return the session of one request in a batch. It learns nothing from other requests, so
        that the request is the same in every pass of the run."""
        endpoint = self._settings.endpoint(request.role, request.model)
        line = BatchLine(batches, endpoint, request)
        return Session(endpoint, line, line.receive, known, self._settings.context)

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
        if key not in self._shared.limiters:
            self._shared.limiters[key] = Limiter(
                settings.limits.divided(settings.workers),
                self._shared.stop or Stop(),
                LOCAL_START if endpoint.local else inf,
                endpoint.timeout,
                self._timing,
                settings.retry,
                self._report,
                reached=endpoint.url in settings.reached,
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
