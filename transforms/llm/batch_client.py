"""Answer requests from the batches of a run, or note them for the next one.

Where an endpoint is asked in batches, `BatchLine` replaces the connection and the sender. A request
whose reply is in the run's `BatchStore` gets it. Any other is noted there and raises
`NotYetAnswered`. All else is as for a request that is sent: refused parameters are left out, and
thoughts, refusals and garbled replies are read in the same way.
"""

import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeVar

from ufo.schemas.errors import NotYetAnswered
from ufo.schemas.records import Usage
from ufo.transforms.llm import chat
from ufo.transforms.llm.batch_store import BatchStore, Reply
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.errors import SendError, of_response
from ufo.transforms.llm.request import Request
from ufo.transforms.llm.send import Received
from ufo.transforms.llm.usage import usage_row

T = TypeVar("T")


class BatchLine:
    """The lines in batch files for one request; replaces the connection and the sender.

    A request takes several lines where an endpoint returns one choice a line, or refuses a
    parameter.
    """

    def __init__(self, store: BatchStore, endpoint: Endpoint, request: Request) -> None:
        self._store = store
        self._endpoint = endpoint
        self._request = request
        self._asked: Counter[str] = Counter()
        self._row: Usage | None = None

    async def send(self, body: Mapping[str, Any]) -> Received[Any]:
        """Return the JSON of the reply from a batch.

        Raises:
            NotYetAnswered: there is no reply yet; the request is noted for the next batch.
            SendError: the provider answered with an error.
        """
        request, body = self._request, {**body, **self._endpoint.added}
        digest = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:12]
        key = f"{request.key}-{digest}-{self._asked[digest]}"
        self._asked[digest] += 1
        row = usage_row(request.step, request.source, body["model"], request.response_id)
        reply, self._row = self._store.ask(key, self._endpoint, body, row)
        if reply is None:
            raise NotYetAnswered("the request waits for a batch")
        # An equal request of another response is charged to that one.
        first = self._row.response_id, self._row.step, self._row.source
        if first != (request.response_id, request.step, request.source):
            self._row = replace(row, request_id=reply.request_id, cached=True)
        if error := error_of(self._endpoint, reply):
            raise error
        return Received(reply.payload, {}, reply.request_id)

    async def look(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return None: an error in a batch does not justify another request."""
        return None

    async def receive(
        self, body: Any, exchange: Callable[[], Awaitable[Received[T]]], row: Any, rows: list[Usage]
    ) -> T:
        """Return the value that `exchange` receives; append the request's usage row.

        Raises:
            NotYetAnswered: there is no reply yet.
            SendError: the reply is an error, or cannot be read.
        """
        try:
            value = (await exchange()).value
        except SendError:
            rows += filter(None, [self._row])
            raise
        rows += filter(None, [self._row])
        return value


def error_of(endpoint: Endpoint, reply: Reply) -> SendError | None:
    """Return the error that a line of a batch says, None for a reply of the model."""
    if reply.message:
        return SendError(reply.message, reply.status, transient=True)
    if reply.status == "200":
        try:
            chat.answer(reply.payload, None)
        except chat.Garbled as garbled:
            return SendError(f"{endpoint.shown_url}: {garbled}", "garbled", transient=True)
        return None
    status = int(reply.status)
    return of_response(endpoint, endpoint.key(), status, {}, reply.payload, time.time())
