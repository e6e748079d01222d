"""Answer requests from the lines of a batch's output.

Where an endpoint is asked in batches, `BatchLine` replaces the connection and the sender. A request
whose reply is in the run's `BatchStore` gets it. Any other is noted there and raises
`NotYetAnswered`. All else is as for a request that is sent: refused parameters are left out, and
thoughts, refusals and garbled replies are read in the same way.
"""

import json
import re
import time
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeVar

from ufo.schemas.errors import NotYetAnswered
from ufo.schemas.records import Usage
from ufo.transforms.llm import chat
from ufo.transforms.llm.batch_store import BatchStore, Reply
from ufo.transforms.llm.endpoint import NO_KEY, Endpoint
from ufo.transforms.llm.errors import SendError, error_inside, of_response, words_of
from ufo.transforms.llm.request import Request
from ufo.transforms.llm.send import HttpReply

T = TypeVar("T")


class BatchLine:
    """The lines of one request in the files of batches.

    There are several where an endpoint returns one choice a line, or refuses a parameter.
    """

    def __init__(self, store: BatchStore, endpoint: Endpoint, request: Request) -> None:
        self._store = store
        self._endpoint = endpoint
        self._request = request
        self._asked: Counter[str] = Counter()
        self._reply: Reply | None = None

    async def receive(
        self,
        body: Mapping[str, Any],
        exchange: Callable[[], Awaitable[HttpReply[T]]],
        row: Usage,
        rows: list[Usage],
    ) -> T:
        """Return the value that `exchange` receives from `send`; append the request's usage row.

        Raises:
            NotYetAnswered: there is no reply yet; the request is noted for the next batch.
        """
        body = {**body, **self._endpoint.added}
        digest = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:12]
        key = f"{self._request.key}-{digest}-{self._asked[digest]}"
        self._asked[digest] += 1
        self._reply, paid = self._store.ask(key, self._endpoint, body, row)
        if self._reply is None:
            raise NotYetAnswered("the request waits for a batch")
        # An equal request of another response is charged to that one.
        own = (paid.response_id, paid.step, paid.source) == (row.response_id, row.step, row.source)
        shared = replace(row, request_id=self._reply.request_id, cached=True)
        rows.append(paid if own else replace(shared, saved_usd=paid.cost_usd))
        return (await exchange()).value

    async def send(self, body: Mapping[str, Any]) -> HttpReply[Any]:
        """Return the JSON of the reply that `receive` has found, or raise its error."""
        assert self._reply is not None
        if error := error_of(self._endpoint, self._reply):
            raise error
        return HttpReply(self._reply.payload, {}, self._reply.request_id)

    async def look(self, path: str, body: Mapping[str, Any] | None = None) -> None:
        """Return None: an error in a batch does not justify another request."""


def read_lines(lines: Iterable[bytes]) -> Iterator[tuple[str, Reply] | None]:
    """Yield key and reply of each line in a batch's file of replies, None for an unreadable line.

    An unreadable last line without a line feed is left out: it is being written.
    """
    for line in lines:
        text = line.removeprefix(BOM_UTF8).strip()
        try:
            if text:
                yield _read(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            if line.endswith(b"\n"):
                yield None


def _read(line: Any) -> tuple[str, Reply]:
    key = str(line["custom_id"])
    response = _parsed(line.get("response"))
    fields = response if isinstance(response, Mapping) else {}
    body = _parsed(fields.get("body", line.get("body", response)))
    status = _status(fields.get("status_code", fields.get("status", line.get("status_code"))))
    request_id = str(fields.get("request_id") or line.get("id") or key)
    error = error_inside(body)
    choices = isinstance(body, Mapping) and body.get("choices")
    if status < 400 and not error and (choices or (status and not line.get("error"))):
        return key, Reply("200", body, request_id)
    problem = error[1] if error else {"error": line.get("error") or body or "no reply and no error"}
    if status >= 400:
        return key, Reply(str(status), body or problem, request_id)
    if status and error:
        return key, Reply(str(error[0]), problem, request_id)
    code = words_of(problem, NO_KEY)[1].partition(" ")[0] or "error"
    return key, Reply(code, problem, request_id)


def error_of(endpoint: Endpoint, reply: Reply) -> SendError | None:
    """Return the error in a line of a batch, None for a reply of the model.

    An error without a status is transient, unless its words are known.
    """
    if reply.status == "200":
        try:
            chat.answer(reply.payload, None)
        except chat.Garbled as garbled:
            return SendError(f"{endpoint.shown_url}: {garbled}", "garbled", transient=True)
        return None
    key, status = endpoint.key(), _status(reply.status)
    refused = status >= 400
    error = of_response(endpoint, key, status if refused else 500, {}, reply.payload, time.time())
    if refused or not error.transient:
        return error
    message = f"{endpoint.shown_url}, {reply.status}: {words_of(reply.payload, key)[0]}"
    return SendError(message, reply.status, transient=True)


def _parsed(value: Any) -> Any:
    """Return the value of a JSON text; any other value unchanged."""
    if isinstance(value, str):
        with suppress(ValueError):
            return json.loads(value)
    return value


def _status(value: Any) -> int:
    """Return the HTTP status of a reply or of an error, also from text; 0 for anything else."""
    match = re.match("[245][0-9]{2}(?![0-9])", str(value))
    return int(match[0]) if match else 0
