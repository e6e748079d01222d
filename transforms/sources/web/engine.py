"""An engine at an address: requests with queries, their limits, and what errors mean."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import httpx

from ufo.schemas.errors import ends_run
from ufo.schemas.records import Usage
from ufo.schemas.text import storable
from ufo.transforms.llm.budget import Budget
from ufo.transforms.llm.failures import SendError, retry_after
from ufo.transforms.llm.limiter import Limiter
from ufo.transforms.llm.retry import Retry, Sleep, Timing
from ufo.transforms.llm.sending import Received, Sender
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.sources.base import message_of
from ufo.transforms.sources.web.decoding import ACCEPTED, TooLarge, Undecodable, read_body
from ufo.transforms.sources.web.engines import Locale, SearchApi, SearchCall, variable
from ufo.transforms.sources.web.fetch import Caps

STEP = "search"
SECONDS = 30.0
"""The time-out of a request, and that of reading the whole reply."""
MOST_BYTES: Final = Caps().most_bytes
"""Of a reply, as it comes and decoded: as many as of a page."""

_TIMEOUT = httpx.Timeout(SECONDS, pool=None)  # to wait for a connection is not the engine's fault


@dataclass(frozen=True, slots=True)
class _Reply:
    """An HTTP reply that was read."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Engine:
    """One search API at its address, with up to `connections` requests at a time.

    The address is the user's own: it may be local, or behind the proxy of their environment.
    """

    def __init__(
        self,
        backend: SearchApi,
        limiter: Limiter,
        retry: Retry | None = None,
        connections: int = 64,
        sleep: Sleep = asyncio.sleep,
        usage_log: str | None = None,
    ) -> None:
        self.backend = backend
        self.url = backend.url
        self._answered = False
        self._budget = Budget({}, path=usage_log)
        self._sender = Sender(limiter, retry or Retry(), self._budget, Timing(sleep))
        limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
        self._client = httpx.AsyncClient(
            limits=limits, timeout=_TIMEOUT, headers={"accept-encoding": ACCEPTED}
        )

    async def ask(
        self,
        queries: Sequence[str],
        count: int,
        locale: Locale,
        rows: list[Usage],
        row: Usage | None = None,
    ) -> Sequence[Any]:
        """Return the raw reply to each query.

        Each request that is sent adds to `rows`: `row`, with what came of it.

        Raises:
            SendError: the last try's. A final one every further search would meet.
        """
        key = variable(self.backend.key_variable)
        call = self.backend.call(list(map(storable, queries)), count, locale, key)

        async def exchange() -> Received[Sequence[Any]]:
            try:
                reply = await self._post(call)
                return Received(self._replies(reply, len(queries)), reply.headers)
            except SendError:
                raise
            except Exception as error:
                if ends_run(error):
                    raise
                # What a reply does to a library is that reply's failure.
                message = f"the search's reply cannot be read: {message_of(error)}"
                raise SendError(message, "garbled") from None

        row = row or usage_row(STEP, None, None, None)
        return await self._sender.send({}, exchange, row, rows)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()
        self._budget.close()

    async def _post(self, call: SearchCall) -> _Reply:
        headers = {name: value for name, value in call.headers.items() if value}
        try:
            async with self._client.stream(
                call.method,
                self.url + call.path,
                params=dict(call.params) or None,
                json=call.json,
                headers=headers,
            ) as response:
                coding = response.headers.get("content-encoding", "")
                async with asyncio.timeout(SECONDS):
                    body = await read_body(response.aiter_raw(), coding, MOST_BYTES)
        except TooLarge:
            message = f"the search's reply is over {MOST_BYTES:,} bytes"
            raise SendError(message, "too_large") from None
        except Undecodable:
            message = "the search's reply is in a content coding that was not asked for, or broken"
            raise SendError(message, "garbled", transient=True) from None
        except (httpx.TimeoutException, TimeoutError):
            raise SendError("the search timed out", "timeout", transient=True) from None
        except httpx.HTTPError as error:
            if isinstance(error, httpx.ConnectError) and not self._answered:
                name = self.backend.url_variable
                message = f"nothing answers at {self.url}; check {name} and the network"
                raise SendError(message, "connection", final=True) from None
            message = f"the connection to {self.url} broke ({type(error).__name__})"
            raise SendError(message, "connection", transient=True) from None
        self._answered = True
        reply = _Reply(response.status_code, response.headers, body)
        if reply.status != 200:
            raise self._refused(reply)
        return reply

    def _replies(self, reply: _Reply, queries: int) -> Sequence[Any]:
        try:
            payload = json.loads(reply.body)
        except (ValueError, RecursionError):
            raise SendError("the search's reply is not JSON", "garbled", transient=True) from None
        replies = self.backend.split(payload, queries)
        if replies is None:
            raise SendError("the search's reply is not one result a query", "garbled")
        return replies

    def _refused(self, reply: _Reply) -> SendError:
        """Return what a reply of another status than 200 means."""
        status, backend = reply.status, self.backend
        own = backend.refused(status, reply.body.decode(errors="replace"), self.url)
        if own:
            return SendError(own, str(status), final=True)
        if status in (401, 403):
            key = f"the key in {backend.key_variable}" if backend.key_variable else "us"
            remedy = "set it to one that is valid there" if backend.key_variable else "allow it"
            message = f"{self.url} refused {key} ({status}); {remedy}"
            return SendError(message, str(status), final=True)
        if status in (404, 405):
            message = f"there is no search at {self.url} ({status}); check {backend.url_variable}"
            return SendError(message, str(status), final=True)
        return SendError(
            f"{self.url} answered {status}",
            str(status),
            transient=status in (408, 425, 429) or status >= 500,
            retry_after=retry_after(reply.headers, datetime.now(UTC).timestamp()),
        )
