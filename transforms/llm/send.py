"""Send requests to an endpoint within its limits and the budget, again after transient errors.

Requests to language models and to search engines use it.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

from ufo.schemas.records import Usage
from ufo.transforms.llm.errors import SendError, Tokens
from ufo.transforms.llm.limiter import AdmittedRequest, Limiter
from ufo.transforms.llm.retry import REAL, Retry, Timing
from ufo.transforms.llm.usage import OK

if TYPE_CHECKING:
    from ufo.transforms.llm.budget import Budget

T = TypeVar("T")
_LOG = logging.getLogger("ufo.llm")


async def send_with_retries(
    send: Callable[[int], Awaitable[T]],
    retry: Retry,
    timing: Timing = REAL,
    limiter: Limiter | None = None,
) -> T:
    """Return the result of `send(attempt)`, called again after transient errors.

    `limiter` reports each retry, and says whether more than `retry.attempts` are worth it.

    Raises:
        SendError: one that is not transient, or the last one.
    """
    # Neither the wait before the first attempt nor that for a request's turn counts.
    first = ends = inf
    attempt = 0
    while True:
        try:
            return await send(attempt)
        except SendError as error:
            now = timing.clock()
            first = min(first, now)
            waits = limiter is not None and limiter.waits(error, first)
            if not error.transient or (attempt + 1 >= retry.attempts and not waits):
                raise
            ends = now + retry.seconds if ends == inf else ends + error.queued
            pause = retry.pause(attempt, error.retry_after, timing.chance())
            if waits and not error.retry_after and ends > now:
                pause = min(pause, ends - now)  # one last attempt when the time is over
            if now + pause > ends:
                raise (limiter.gave_up(error, first) if limiter and waits else error) from None
            if limiter is not None:
                limiter.retrying(error, pause, ends - now)
        await timing.sleep(pause)
        attempt += 1


@dataclass(frozen=True, slots=True)
class HttpReply(Generic[T]):
    """A reply: its parsed `value`, headers, the endpoint's request id, and the tokens used."""

    value: T
    headers: Mapping[str, str]
    request_id: str | None = None
    tokens: Tokens = (None, None)
    status: str = OK


@dataclass(frozen=True, slots=True)
class RequestSender:
    """Sends requests to one endpoint, on one event loop."""

    limiter: Limiter
    budget: "Budget"
    timing: Timing = REAL

    async def send(
        self,
        body: Mapping[str, Any],
        exchange: Callable[[], Awaitable[HttpReply[T]]],
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
        limiter = self.limiter
        limiter.begin()
        try:
            attempt = partial(self._attempt, body, exchange, row, rows)
            return await send_with_retries(attempt, limiter.retry, self.timing, limiter)
        finally:
            limiter.end()

    async def _attempt(
        self,
        body: Mapping[str, Any],
        exchange: Callable[[], Awaitable[HttpReply[T]]],
        row: Usage,
        rows: list[Usage],
        attempt: int,
    ) -> T:
        sent = await self.limiter.admit(body, row)
        try:
            reserved = await self.budget.reserve(body)
            # The time waited for limiter and budget is not part of the request.
            started = time.monotonic()
            outcome: HttpReply[T] | SendError | None = None
            try:
                outcome = await self._outcome(exchange, sent)
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
                done = self.budget.settle(body, reserved, done, billed)
                rows += [done] if done is not None else []
        finally:
            self.limiter.release()
        if isinstance(outcome, SendError):
            fields = {"model": row.model, "status": outcome.status, "tries": attempt + 1}
            _LOG.info("a request failed: %s", outcome.message, extra={"ufo_fields": fields})
            raise outcome
        return outcome.value

    async def _outcome(
        self, exchange: Callable[[], Awaitable[HttpReply[T]]], sent: AdmittedRequest
    ) -> HttpReply[T] | SendError:
        """Send the request, and report its outcome to the limiter."""
        try:
            received = await exchange()
        except SendError as error:
            return self.limiter.failed(sent, error)
        except RecursionError:
            deep = SendError("a reply is nested too deeply to be read", "garbled", transient=True)
            return self.limiter.failed(sent, deep)
        tokens = sum(number or 0 for number in received.tokens) or None
        self.limiter.answered(sent, received.headers, tokens)
        return received
