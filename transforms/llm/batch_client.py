"""Answer requests from the batches of a run, or note them for the next one.

Where an endpoint is asked in batches, `BatchLine` takes the place of the connection and of the
sender: a request whose reply is in the run's `BatchStore` gets it, and any other is noted there and
raises `NotYetAnswered`. Everything else is as for a request that is sent: parameters that are
refused are left out, and thoughts, refusals and garbled replies are read alike.
"""

import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final, TypeVar

from ufo.schemas.errors import NotYetAnswered
from ufo.schemas.records import Usage
from ufo.transforms.llm.batch_store import BatchStore, Reply
from ufo.transforms.llm.budget import Price, priced
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.failures import SendError, Tokens, of_response
from ufo.transforms.llm.request import Request
from ufo.transforms.llm.sending import Received
from ufo.transforms.llm.usage import usage_row

T = TypeVar("T")
WORKER: Final = "batch"
"""In the column `worker_id` of `usage`: the provider answered the request in a batch."""


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Which requests are asked in batches, as plain values that are sent to workers.

    `path` is the file of the `BatchStore`, `run` the name of the run's rows in it. `urls` are the
    base URLs of the endpoints that are asked in batches, none for all.
    """

    path: str
    run: str
    urls: tuple[str, ...] = ()

    def asks(self, endpoint: Endpoint) -> bool:
        """Return whether an endpoint is asked in batches."""
        return not self.urls or endpoint.url in self.urls


@dataclass(frozen=True, slots=True)
class Limits:
    """The most `requests` and `bytes` of a batch's file, `repairs` more rounds for a request that
    failed, and the seconds to `wait` for batches in all, None for as long as it takes."""

    requests: int = 50_000
    bytes: int = 200_000_000
    repairs: int = 1
    wait: float | None = None


class BatchLine:
    """The lines of batch files that one request takes: in place of connection and sender.

    A request takes more than one where an endpoint gives one choice a time, or refuses a parameter.
    """

    def __init__(
        self, store: BatchStore, endpoint: Endpoint, request: Request, prices: Mapping[str, Price]
    ) -> None:
        self._store = store
        self._endpoint = endpoint
        self._request = request
        self._prices = prices
        self._asked: Counter[str] = Counter()
        self._charged = True

    async def send(self, body: Mapping[str, Any]) -> Received[Any]:
        """Return the JSON of the reply that a batch brought.

        Raises:
            NotYetAnswered: there is none yet; it is noted for the next batch.
            SendError: the provider answered with an error.
        """
        request, body = self._request, {**body, **self._endpoint.added}
        digest = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:12]
        key = f"{request.key}-{digest}-{self._asked[digest]}"
        self._asked[digest] += 1
        row = usage_row(request.step, request.source, body["model"], request.response_id)
        row = replace(row, worker_id=WORKER)
        reply, self._charged = self._store.ask(key, self._endpoint, body, row)
        if reply is None:
            raise NotYetAnswered("the request waits for a batch")
        if reply.message:
            error = SendError(reply.message, reply.status, transient=True)
            error.request_id = reply.request_id
            raise error
        if reply.status != "200":
            error = refused(self._endpoint, reply)
            error.request_id = reply.request_id
            raise error
        return Received(reply.payload, {}, reply.request_id)

    async def models(self) -> list[str]:
        """Return []: an error in a batch is not worth a question of its own."""
        return []

    async def receive(
        self,
        body: Mapping[str, Any],
        exchange: Callable[[], Awaitable[Received[T]]],
        row: Usage,
        rows: list[Usage],
    ) -> T:
        """Return the value that `exchange` receives; append the request's usage row.

        Raises:
            NotYetAnswered: there is no reply yet.
            SendError: the reply is an error, or none that can be read.
        """
        outcome: Received[T] | SendError
        try:
            outcome = await exchange()
        except SendError as error:
            outcome = error
        of = outcome.request_id, outcome.status, outcome.tokens
        done = batch_row(row, *of, self._prices)
        rows.append(done if self._charged else replace(done, cached=True, cost_usd=0.0))
        if isinstance(outcome, SendError):
            raise outcome
        return outcome.value


def refused(endpoint: Endpoint, reply: Reply) -> SendError:
    """Return the error for a line of a batch with an HTTP status of 400 and above."""
    status = int(reply.status)
    return of_response(endpoint, endpoint.key(), status, {}, reply.payload, time.time())


def batch_row(
    row: Usage, request_id: str | None, status: str, tokens: Tokens, prices: Mapping[str, Price]
) -> Usage:
    """Return the usage row of a request in a batch, with its cost at the price of batches."""
    done = replace(
        row,
        request_id=request_id or "",
        worker_id=WORKER,
        status=status,
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
        seconds=None,
        cost_usd=None,
    )
    return priced(done, {model: price.of_batch for model, price in prices.items()})
