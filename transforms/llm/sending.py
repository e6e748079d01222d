"""Send a request to an endpoint, with limits, retries, budget, usage row and span.

Requests to language models and to search engines go through it.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar
from uuid import uuid4

from schemas.records import Usage
from transforms.llm.budget import Budget
from transforms.llm.failures import SendError, Tokens
from transforms.llm.limiter import Limiter, Sent
from transforms.llm.retry import REAL, Retry, Timing, retrying
from transforms.llm.spans import span
from transforms.llm.usage import OK

T = TypeVar("T")
_LOG = logging.getLogger("ufo.llm")


@dataclass(frozen=True, slots=True)
class Received(Generic[T]):
    """What a request brought. `request_id` is the endpoint's; `tokens` are None where unknown."""

    value: T
    headers: Mapping[str, str]
    request_id: str | None = None
    tokens: Tokens = (None, None)
    status: str = OK


class Sender:
    """Sends requests to one endpoint; for one event loop. `name` is that of a request's span."""

    def __init__(
        self,
        name: str,
        limiter: Limiter,
        retry: Retry,
        budget: Budget,
        timing: Timing = REAL,
    ) -> None:
        self._name = name
        self._limiter = limiter
        self._retry = retry
        self._budget = budget
        self._timing = timing

    async def send(
        self,
        body: Mapping[str, Any],
        exchange: Callable[[], Awaitable[Received[T]]],
        row: Usage,
        rows: list[Usage],
    ) -> T:
        """Return what `exchange` brings, tried again where that can help.

        Each request that is sent adds to `rows`, and to the usage log: `row`, with what came of it.

        Raises:
            SendError: the last try's.
            LlmError: no request can succeed any more.
            CostCapped: the request could pass the cap of the budget.
        """
        send = partial(self._once, body, exchange, row, rows)
        return await retrying(send, self._retry, self._timing, self._limiter.backoff)

    async def _once(
        self,
        body: Mapping[str, Any],
        exchange: Callable[[], Awaitable[Received[T]]],
        row: Usage,
        rows: list[Usage],
        attempt: int,
    ) -> T:
        about = {
            "gen_ai.request.model": row.model,
            "ufo.step": row.step,
            "ufo.source": row.source,
        }
        async with self._limiter.admitted(body) as sent:
            reserved = await self._budget.reserve(body)
            # What it waited for limiter and budget is no part of the request.
            started = time.monotonic()
            got: Received[T] | SendError | None = None
            try:
                with span(self._name, **about) as seen:
                    got = await self._outcome(exchange, sent)
                    if seen is not None:
                        seen.set_attribute("gen_ai.usage.input_tokens", got.tokens[0] or 0)
                        seen.set_attribute("gen_ai.usage.output_tokens", got.tokens[1] or 0)
                    if isinstance(got, SendError):
                        raise got
                    return got.value
            finally:
                done = None
                if got is not None:
                    done = replace(
                        row,
                        request_id=got.request_id or uuid4().hex,
                        status=got.status,
                        retries=attempt,
                        prompt_tokens=got.tokens[0],
                        completion_tokens=got.tokens[1],
                        seconds=time.monotonic() - started,
                        cost_usd=None,
                    )
                # What was refused is not billed; what broke off on the way may have been.
                billed = got is None or not got.status.isdigit()
                done = self._budget.settle(body, reserved, done, billed)
                if done is not None:
                    rows.append(done)
                if done is not None and isinstance(got, SendError):
                    fields = {"model": done.model, "status": done.status, "tries": attempt + 1}
                    _LOG.info("a request failed: %s", got.message, extra={"ufo_fields": fields})

    async def _outcome(
        self, exchange: Callable[[], Awaitable[Received[T]]], sent: Sent
    ) -> Received[T] | SendError:
        """Send the request; the limiter hears what came of it."""
        try:
            received = await exchange()
        except SendError as error:
            return self._limiter.failed(sent, self._retry.within(error))
        tokens = sum(number or 0 for number in received.tokens) or None
        self._limiter.answered(sent, received.headers, tokens)
        return received
