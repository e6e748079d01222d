"""Probe one model at one endpoint once, and send requests with the parameters it supports."""

import asyncio
import difflib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ufo.schemas.records import TRUNCATED, Usage
from ufo.transforms.llm import wire
from ufo.transforms.llm.base import Choice, LlmError, Request
from ufo.transforms.llm.capabilities import PROBE, PROBES, Capabilities, learned
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.failures import LARGER, SendError
from ufo.transforms.llm.sending import Received, Sender
from ufo.transforms.llm.usage import OK, usage_row
from ufo.transforms.llm.window import Window, prompt_tokens

if TYPE_CHECKING:
    from ufo.transforms.llm.transport import Transport

_MODELS_SHOWN: Final = 8
_LOG = logging.getLogger("ufo.llm")


class Session:
    """One model at one endpoint: its capabilities, and requests to it."""

    def __init__(
        self,
        endpoint: Endpoint,
        transport: "Transport",
        sender: Sender,
        known: Capabilities | None,
        context: int | None = None,
    ) -> None:
        """`known` are the capabilities where they were probed before; `context` is the size of the
        model's context in tokens, None to learn it from replies."""
        self.known = known or Capabilities()
        self._endpoint = endpoint
        self._transport = transport
        self._sender = sender
        self._window = Window(context)
        self._cut_reported = False
        self._probed = set(PROBES) if known else set()
        self._unusable: LlmError | None = None
        self._lock = asyncio.Lock()

    async def probe(self, shape: str, rows: list[Usage]) -> None:
        """Detect the endpoint's capabilities once; concurrent calls wait for that.

        Raises:
            LlmError: final: the endpoint cannot be used.
        """
        if shape in self._probed and self._unusable is None:
            return
        async with self._lock:
            if self._unusable is not None:
                raise replace(self._unusable)
            if shape in self._probed:
                return

            async def ask(
                request: Request, known: Capabilities, n: int
            ) -> tuple[Sequence[Choice], Capabilities]:
                self.known = known
                return await self.ask(request, n, rows, probing=True), self.known

            try:
                self.known = await PROBES[shape](ask, self.known)
            except SendError as error:
                message = error.message + await self._known_models(error)
                self._unusable = LlmError(message, error.reason, final=True)
            except LlmError as error:
                self._unusable = error
            if self._unusable is not None:
                raise replace(self._unusable)
            self._probed.add(shape)

    def room(self, request: Request) -> int | None:
        """Estimate the tokens of the context left beside a request's prompt, None if unknown."""
        if self._window.context is None:
            return None
        return self._window.room(
            prompt_tokens(wire.body(request, self._endpoint.model, self.known, 1))
        )

    async def ask(
        self, request: Request, n: int, rows: list[Usage], probing: bool = False
    ) -> Sequence[Choice]:
        """Return between one and `n` choices; append a usage row for each request sent.

        A request that the endpoint refuses is sent again without the parameter that it names.
        `probing` marks the requests of probes.

        Raises:
            SendError: the error of the last attempt.
        """
        row = usage_row(request.step, request.source, self._endpoint.model, request.response_id)
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
            try:
                exchange = partial(self._exchange, body, function)
                answer = await self._sender.send(body, exchange, row, rows)
                if answer.thinks and not self.known.thinks:
                    self.known = replace(self.known, thinks=True)
                if request.step != PROBE:
                    self._check_length(body, prompt, answer)
                return answer.choices
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
                if self.known == known:  # else another request has updated it meanwhile
                    self.known = rest

    async def _exchange(
        self, body: Mapping[str, object], function: str | None
    ) -> Received[wire.Answer]:
        received = await self._transport.send(body)
        tokens = wire.tokens(received.value)
        try:
            answer = wire.answer(received.value, function)
        except wire.Garbled as garbled:
            raise SendError(
                f"{self._endpoint.shown_url}: {garbled}",
                "garbled",
                transient=True,
                request_id=received.request_id,
                tokens=tokens,
            ) from None
        request_id = received.request_id or answer.id
        return Received(answer, received.headers, request_id, tokens)

    def _check_length(self, body: Mapping[str, object], prompt: int, answer: wire.Answer) -> None:
        """Learn the size of the context from a reply.

        Raises:
            SendError: the endpoint cut the prompt, so the reply answers another one.
        """
        counted, replied = (tokens or 0 for tokens in answer.tokens)
        if not self._window.arrived(body, prompt, counted):
            message = (
                f"{self._endpoint.shown_url} read {counted:,} tokens of a prompt of about "
                f"{prompt:,} and cut the rest without an error; {LARGER}; if its context is larger "
                "already, set --context to it"
            )
            if not self._cut_reported:
                self._cut_reported = True
                _LOG.warning(
                    "%s. Such replies are not used; what they lack is asked again", message
                )
            raise SendError(message, OK, reason=TRUNCATED)
        limit = body.get(self.known.limit_field or "")
        cut_off = len(answer.choices) == 1 and answer.choices[0].finish_reason == "length"
        if cut_off and counted and isinstance(limit, int) and 0 < replied < limit - 1:
            self._window.ended(counted + replied)

    def _too_long(self, prompt: int) -> SendError:
        message = (
            f"a request of about {prompt:,} tokens was not sent: the context of "
            f"{self._endpoint.model} at {self._endpoint.shown_url} holds {self._window.context:,}; "
            f"{LARGER}"
        )
        return SendError(message, "context", reason=TRUNCATED)

    async def _known_models(self, error: SendError) -> str:
        """Return a hint about the models that the endpoint has, if the model is unknown there."""
        if error.status != "404":
            return ""
        names = await self._transport.models()
        if not names:
            return ""
        near = difflib.get_close_matches(self._endpoint.model, names, n=1)
        hint = f". Did you mean {near[0]!r}?" if near else ""
        more = ", …" if len(names) > _MODELS_SHOWN else ""
        return f"; it has {', '.join(names[:_MODELS_SHOWN])}{more}{hint}"
