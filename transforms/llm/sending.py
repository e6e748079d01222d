"""Send a request with rate limits, retries, budget and usage row.

Requests to language models and to search engines use it.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar
from uuid import uuid4

from ufo.schemas.records import Usage
from ufo.transforms.llm.budget import Budget
from ufo.transforms.llm.errors import SendError, Tokens
from ufo.transforms.llm.limiter import Limiter, Sent
from ufo.transforms.llm.retry import REAL, Retry, Timing, retrying
from ufo.transforms.llm.usage import OK

T = TypeVar("T")
_LOG = logging.getLogger("ufo.llm")


@dataclass(frozen=True, slots=True)
class Received(Generic[T]):
    """A reply: its parsed `value`, headers, the endpoint's request id, and the tokens used."""

    value: T
    headers: Mapping[str, str]
    request_id: str | None = None
    tokens: Tokens = (None, None)
    status: str = OK


class Sender:
    """Sends requests to one endpoint, on one event loop."""

    def __init__(
        self,
        limiter: Limiter,
        retry: Retry,
        budget: Budget,
        timing: Timing = REAL,
    ) -> None:
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
        """Return the value that `exchange` receives, called again after transient errors.

        For each request sent, `row` is completed with the outcome and appended to `rows` and to the
        usage log.

        Raises:
            SendError: the error of the last attempt.
            LlmError: no request can succeed any more.
            CostCapped: the request could exceed the cap of the budget.
        """
        send = partial(self._once, body, exchange, row, rows)
        with self._limiter.asked():
            return await retrying(send, self._retry, self._timing, self._limiter)

    async def _once(
        self,
        body: Mapping[str, Any],
        exchange: Callable[[], Awaitable[Received[T]]],
        row: Usage,
        rows: list[Usage],
        attempt: int,
    ) -> T:
        async with self._limiter.admitted(body) as sent:
            reserved = await self._budget.reserve(body)
            # The time waited for limiter and budget is not part of the request.
            started = time.monotonic()
            outcome: Received[T] | SendError | None = None
            try:
                outcome = await self._outcome(exchange, sent)
                if isinstance(outcome, SendError):
                    raise outcome
                return outcome.value
            finally:
                done = None
                if outcome is not None:
                    done = replace(
                        row,
                        request_id=outcome.request_id or uuid4().hex,
                        status=outcome.status,
                        retries=attempt,
                        prompt_tokens=outcome.tokens[0],
                        completion_tokens=outcome.tokens[1],
                        seconds=time.monotonic() - started,
                        cost_usd=None,
                    )
                # A request refused with an HTTP status is not billed. A request that was cancelled
                # or lost its connection may have been billed.
                billed = outcome is None or not outcome.status.isdigit()
                done = self._budget.settle(body, reserved, done, billed)
                if done is not None:
                    rows.append(done)
                if isinstance(outcome, SendError):
                    fields = {"model": row.model, "status": outcome.status, "tries": attempt + 1}
                    _LOG.info("a request failed: %s", outcome.message, extra={"ufo_fields": fields})

    async def _outcome(
        self, exchange: Callable[[], Awaitable[Received[T]]], sent: Sent
    ) -> Received[T] | SendError:
        """Send the request, and report its outcome to the limiter."""
        try:
            received = await exchange()
        except SendError as error:
            return self._limiter.failed(sent, self._retry.within(error))
        tokens = sum(number or 0 for number in received.tokens) or None
        self._limiter.answered(sent, received.headers, tokens)
        return received
