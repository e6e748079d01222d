"""Send requests to one model, in a form that its endpoint supports."""

import asyncio
import difflib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ufo.schemas.records import TRUNCATED, Usage
from ufo.transforms.llm import chat
from ufo.transforms.llm.batch_lines import BatchLine
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.errors import (
    LARGER,
    MODEL,
    THOUGHTS,
    SendError,
    error_inside,
    of_response,
    words_of,
)
from ufo.transforms.llm.forms import (
    PROBE,
    PROBES,
    Capabilities,
    Change,
    change_for,
    probe_endpoint,
)
from ufo.transforms.llm.request import Choice, LlmError, Report, Request
from ufo.transforms.llm.send import HttpReply
from ufo.transforms.llm.tokens import Context, far_fewer, prompt_tokens, stated_context
from ufo.transforms.llm.usage import usage_row

if TYPE_CHECKING:
    from ufo.transforms.llm.transport import Transport


_LOG: Final = logging.getLogger("ufo.llm")
_MORE_THOUGHTS: Final = 4  # times the usual room for thoughts, where that was too little
_MODELS_SHOWN: Final = 8
_SHOWN: Final = 200  # characters of a reply without choices


class ModelConnection:
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
        """Connect to the model of an endpoint; `send` works like `RequestSender.send`.

        `known` are the capabilities if they were probed before; `context` is the size of the
        model's context by `--context`.
        """
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
                await self._detect(shape, rows)
            except (SendError, LlmError) as error:
                self.known = self._worked
                self._failed = LlmError(error.message, error.reason, final=True)
                raise self._failed from None

    async def _detect(self, shape: str, rows: list[Usage]) -> None:
        async def ask(
            request: Request, known: Capabilities
        ) -> tuple[Sequence[Choice], Capabilities]:
            self.known = known
            return await self.ask(request, request.n, rows), self.known

        known = await probe_endpoint(shape, ask, self.known)
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
                change = change_for(known, request, n, error, limit)
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
    ) -> HttpReply[chat.ParsedReply]:
        """Send a request once; an error in a response of status 200 is raised, too."""
        place, request_id = self._endpoint, None
        try:
            received = await self._transport.send(body)
            request_id, payload, headers = received.request_id, received.value, received.headers
            error = error_inside(payload)
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
                return HttpReply(answer, {}, error.request_id)
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
        return HttpReply(answer, headers, request_id or answer.id, answer.tokens)

    def _check_count(self, body: Mapping[str, Any], prompt: int, counted: int | None) -> None:
        """Correct the estimates by the tokens that were counted; report once if too few were."""
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
