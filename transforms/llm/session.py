"""One model at one endpoint: what it can do, found out once, and requests to it with retries."""

import asyncio
import difflib
import logging
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final
from uuid import uuid4

from schemas.records import TRUNCATED, Usage
from transforms.llm import wire
from transforms.llm.base import Choice, LlmError, Request
from transforms.llm.budget import Budget
from transforms.llm.capabilities import PROBE, Capabilities, learned
from transforms.llm.endpoint import Endpoint
from transforms.llm.failures import SendError
from transforms.llm.limiter import Limiter, Sent
from transforms.llm.overflow import LARGER
from transforms.llm.probes import PROBES
from transforms.llm.retry import Retry, Sleep, retrying
from transforms.llm.spans import span
from transforms.llm.tokens import prompt_tokens
from transforms.llm.transport import Transport
from transforms.llm.window import Window

OK: Final = "ok"
_MODELS_SHOWN: Final = 8
_LOG = logging.getLogger("ufo.llm")


class Session:
    """One model at one endpoint: what it can do, and requests to it."""

    def __init__(
        self,
        endpoint: Endpoint,
        transport: Transport,
        limiter: Limiter,
        retry: Retry,
        known: Capabilities | None,
        sleep: Sleep,
        chance: Callable[[], float],
        clock: Callable[[], float],
        budget: Budget,
        context: int | None = None,
    ) -> None:
        """`known` is what the endpoint can do where that was found out before; `context` the tokens
        of the model's context, None to learn them."""
        self._budget = budget
        self._clock = clock
        self._window = Window(context)
        self._cut_told = False
        self.known = known or Capabilities()
        self._endpoint = endpoint
        self._transport = transport
        self._limiter = limiter
        self._retry = retry
        self._sleep = sleep
        self._chance = chance
        self._probed = set(PROBES) if known else set()
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
                raise LlmError(*self._unusable.args)
            if shape in self._probed:
                return

            async def ask(
                request: Request, known: Capabilities, n: int
            ) -> tuple[Sequence[Choice], Capabilities]:
                self.known = known
                return await self._ask(request, n, rows, probing=True), self.known

            try:
                self.known = await PROBES[shape](ask, self.known)
            except SendError as error:
                message = error.message + await self._known_models(error)
                self._unusable = LlmError(message, error.reason, final=True)
            except LlmError as error:
                self._unusable = error
            if self._unusable is not None:
                raise LlmError(*self._unusable.args)
            self._probed.add(shape)

    async def models(self) -> list[str]:
        """Return the names of the models that the endpoint lists; none where it does not tell."""
        return await self._transport.models()

    async def ask(self, request: Request, n: int, rows: list[Usage]) -> Sequence[Choice]:
        """Return between one and `n` choices; each request that is sent adds a row.

        Raises:
            SendError: the last try's.
        """
        return await self._ask(request, n, rows, probing=False)

    def room(self, request: Request) -> int | None:
        """Return about how many tokens fit beside the request's prompt, None where that is not
        known."""
        if self._window.context is None:
            return None
        return self._window.room(
            prompt_tokens(wire.body(request, self._endpoint.model, self.known, 1))
        )

    async def _ask(
        self, request: Request, n: int, rows: list[Usage], probing: bool
    ) -> Sequence[Choice]:
        while True:
            known = self.known
            body = wire.body(request, self._endpoint.model, known, n)
            prompt = prompt_tokens(body)
            if self._window.hopeless(prompt) and not probing:
                raise self._too_long(prompt)
            limit = body.get(known.limit_field or "", 0)
            if limit and not probing:
                limit = self._window.limit(prompt, limit, request.expects)
                body[str(known.limit_field)] = limit
            function = request.function.name if request.function and known.tools else None
            send = partial(self._send, request, body, prompt, function, rows)
            try:
                return await retrying(
                    send,
                    self._retry,
                    self._sleep,
                    self._chance,
                    self._clock,
                    self._limiter.backoff,
                )
            except SendError as error:
                if error.overflow is not None:
                    self._window.refused(prompt, limit, error.overflow)
                    if probing or not self._window.fits(prompt, request.expects):
                        raise
                    if self._window.limit(prompt, limit, request.expects) < limit:
                        continue
                    raise
                rest = learned(known, request, n, error, probing)
                if rest is None:
                    raise
                if self.known == known:  # else another request has learned something meanwhile
                    self.known = rest

    async def _send(
        self,
        request: Request,
        body: Mapping[str, object],
        prompt: int,
        function: str | None,
        rows: list[Usage],
        attempt: int,
    ) -> Sequence[Choice]:
        about = {"gen_ai.request.model": self._endpoint.model, "ufo.step": request.step}
        async with self._limiter.admitted(body) as sent:
            reserved = await self._budget.reserve(body)
            # What it waited for limiter and budget is no part of the request.
            started = time.monotonic()
            got: _Outcome | None = None
            try:
                with span("ufo.llm_request", **about, **{"ufo.source": request.source}) as seen:
                    got = await self._exchange(body, function, sent)
                    if seen is not None:
                        seen.set_attribute("gen_ai.usage.input_tokens", got.tokens[0] or 0)
                        seen.set_attribute("gen_ai.usage.output_tokens", got.tokens[1] or 0)
                    if got.error is not None:
                        raise got.error
                    assert got.answer is not None
                    if got.answer.thinks and not self.known.thinks:
                        self.known = replace(self.known, thinks=True)
                    if request.step != PROBE:
                        self._check_length(body, prompt, got.answer)
                    return got.answer.choices
            finally:
                row = None
                if got is not None:
                    row = self._row(request, got, attempt, time.monotonic() - started)
                # What was refused is not billed; what broke off on the way may have been.
                billed = got is None or not got.status.isdigit()
                row = self._budget.settle(body, reserved, row, billed)
                if row is not None and got is not None:
                    rows.append(row)
                    _tell(row, got.error)

    def _check_length(self, body: Mapping[str, object], prompt: int, answer: wire.Answer) -> None:
        """Learn from an answer what the context holds.

        Raises:
            SendError: the endpoint cut the prompt, so that the answer is to something else.
        """
        counted, said = answer.prompt_tokens or 0, answer.completion_tokens or 0
        if not self._window.arrived(body, prompt, counted):
            message = (
                f"{self._endpoint.shown_url} read {counted:,} tokens of a prompt of about "
                f"{prompt:,} and cut the rest without an error; {LARGER}; if its context is larger "
                "already, set --context to it"
            )
            if not self._cut_told:
                self._cut_told = True
                _LOG.warning(
                    "%s. Such replies are not used; what they lack is asked again", message
                )
            raise SendError(message, OK, reason=TRUNCATED)
        limit = body.get(self.known.limit_field or "")
        cut_off = len(answer.choices) == 1 and answer.choices[0].finish_reason == "length"
        if cut_off and counted and isinstance(limit, int) and 0 < said < limit - 1:
            self._window.ended(counted + said)

    def _too_long(self, prompt: int) -> SendError:
        message = (
            f"a request of about {prompt:,} tokens was not sent: the context of "
            f"{self._endpoint.model} at {self._endpoint.shown_url} holds {self._window.context:,}; "
            f"{LARGER}"
        )
        return SendError(message, "context", reason=TRUNCATED)

    async def _exchange(
        self, body: Mapping[str, object], function: str | None, sent: Sent
    ) -> "_Outcome":
        """Send a request and read the reply; the limiter hears what came of it."""
        try:
            reply = await self._transport.send(body)
        except SendError as met:
            error = self._limiter.failed(sent, self._retry.within(met))
            return _Outcome(error.status, error.request_id, error=error)
        tokens = wire.tokens(reply.payload)
        try:
            answer = wire.answer(reply.payload, function)
        except wire.Garbled as garbled:
            message = f"{self._endpoint.shown_url}: {garbled}"
            error = SendError(message, "garbled", transient=True, request_id=reply.request_id)
            return _Outcome(error.status, error.request_id, tokens, error=error)
        self._limiter.answered(sent, reply.headers, sum(n or 0 for n in tokens) or None)
        return _Outcome(OK, reply.request_id or answer.id, tokens, answer)

    def _row(self, request: Request, got: "_Outcome", attempt: int, seconds: float) -> Usage:
        return Usage(
            request_id=got.request_id or uuid4().hex,
            step=request.step,
            source=request.source,
            model=self._endpoint.model,
            response_id=request.response_id,
            worker_id=worker_id(),
            status=got.status,
            cached=False,
            coalesced=False,
            retries=attempt,
            prompt_tokens=got.tokens[0],
            completion_tokens=got.tokens[1],
            seconds=seconds,
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


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of one request: an answer, or an error."""

    status: str
    request_id: str | None
    tokens: tuple[int | None, int | None] = (None, None)
    answer: wire.Answer | None = None
    error: SendError | None = None


def _tell(row: Usage, error: SendError | None) -> None:
    if error is None:
        return
    fields = {"model": row.model, "status": row.status, "tries": row.retries + 1}
    _LOG.info("a request failed: %s", error.message, extra={"ufo_fields": fields})


def worker_id() -> str:
    """Return host:pid, which tells worker processes apart."""
    return f"{socket.gethostname()}:{os.getpid()}"
