"""Send one HTTP request through the `openai` package, without retries or interpretation."""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.request import getproxies

import httpx2
import openai
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from transforms.llm.endpoint import Endpoint
from transforms.llm.failures import SendError, of_response
from transforms.llm.sending import Received

_CONNECT_SECONDS = 10.0
_KEPT_SECONDS = 30.0


class Connections(httpx2.AsyncBaseTransport):
    """As many connections as there are requests at a time, who sees to that; idle ones are kept.

    Each is a pool of its own: a pool of `httpcore` looks at every connection, the idle ones down to
    their sockets, whenever a request begins or ends, so a request costs more the more are under
    way. Here the one used last is taken again (`benchmarks/bench_concurrency.py`).
    """

    def __init__(self) -> None:
        self._trusted = httpx2.create_ssl_context()
        self._idle: list[httpx2.AsyncHTTPTransport] = []
        self._all: list[httpx2.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request by a connection that is idle, or a new one; return the whole reply."""
        connection = self._idle.pop() if self._idle else self._opened()
        try:
            response = await connection.handle_async_request(request)
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            try:
                body = b"".join([part async for part in response.stream])
            finally:
                await response.stream.aclose()
        finally:
            self._idle.append(connection)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=httpx2.ByteStream(body),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        self._idle.clear()
        for connection in self._all:
            await connection.aclose()
        self._all.clear()

    def _opened(self) -> httpx2.AsyncHTTPTransport:
        connection = httpx2.AsyncHTTPTransport(verify=self._trusted, limits=_limits(1))
        self._all.append(connection)
        return connection


def _limits(connections: int) -> httpx2.Limits:
    return httpx2.Limits(
        max_connections=connections,
        max_keepalive_connections=connections,
        keepalive_expiry=_KEPT_SECONDS,
    )


class Transport:
    """The connections to one endpoint, enough for `concurrency` requests under way at a time.

    The `openai` client is bound to the loop it is used in and cannot be pickled, so it is opened
    at the first request. `reached` if the endpoint has answered this run before: one that is not
    there then is waited for.
    """

    def __init__(self, endpoint: Endpoint, concurrency: int, reached: bool = False) -> None:
        self._endpoint = endpoint
        self._concurrency = concurrency
        self._client: AsyncOpenAI | None = None
        self._key = ""
        self._reached = reached

    async def send(self, body: Mapping[str, Any]) -> Received[Any]:
        """Post a chat completion and return the JSON of the reply.

        Raises:
            SendError: no reply, or one of status 400 and above.
            LlmError: the endpoint's URL or key cannot be used at all.
        """
        response = await self._exchange("POST", "/chat/completions", body)
        request_id = response.headers.get("x-request-id")
        try:
            payload = json.loads(response.content)
        except ValueError:
            message = f"{self._endpoint.shown_url} answered with something that is no JSON"
            raise SendError(message, "garbled", transient=True, request_id=request_id) from None
        return Received(payload, response.headers, request_id)

    async def models(self) -> list[str]:
        """Return the names of the models that the endpoint lists; none where it lists none."""
        try:
            response = await self._exchange("GET", "/models", None)
            listed = json.loads(response.content)["data"]
            return sorted(str(model["id"]) for model in listed)
        except (SendError, ValueError, KeyError, TypeError):
            return []

    async def aclose(self) -> None:
        """Close the connections; another request opens them again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _exchange(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> httpx2.Response:
        client = self._opened()
        try:
            async with asyncio.timeout(self._endpoint.timeout):
                if method == "GET":
                    response = await client.get(path, cast_to=httpx2.Response)
                else:
                    response = await client.post(path, cast_to=httpx2.Response, body=body)
        except (TimeoutError, openai.APITimeoutError):
            message = (
                f"{self._endpoint.shown_url} did not answer within {self._endpoint.timeout:g} s"
            )
            raise SendError(message, "timeout", transient=True) from None
        except openai.APIConnectionError as error:
            raise self._unconnected(error) from None
        except openai.APIStatusError as error:
            raise self._refused(error, str(body["model"]) if body else "") from None
        self._reached = True
        return response

    def _opened(self) -> AsyncOpenAI:
        if self._client is None:
            self._key = self._endpoint.key()
            seconds = self._endpoint.timeout
            # Through a proxy the client finds its own way. Its pool keeps 100 connections by
            # default, whatever it has open: beyond that each request would open a new one.
            pool: dict[str, Any] = (
                {"limits": _limits(self._concurrency + 1)}
                if getproxies()
                else {"transport": Connections()}
            )
            self._client = AsyncOpenAI(
                api_key=self._key,
                base_url=self._endpoint.url,
                max_retries=0,  # retries are ours: this client's would hide what was paid for
                http_client=DefaultAsyncHttpxClient(
                    timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
                    **pool,
                ),
            )
        return self._client

    def _unconnected(self, error: Exception) -> SendError:
        cause = error.__cause__ or error
        where = self._endpoint.shown_url
        if isinstance(cause, httpx2.ConnectError) and not self._reached:
            return SendError(
                f"nothing answers at {where} ({cause}); check --base_url, and that the server runs",
                "connection",
                final=True,
            )
        message = f"the connection to {where} broke ({type(cause).__name__})"
        return SendError(message, "connection", transient=True)

    def _refused(self, error: openai.APIStatusError, model: str) -> SendError:
        self._reached = True
        endpoint = replace(self._endpoint, model=model)
        response = error.response
        try:
            payload = json.loads(response.content)
        except ValueError:
            payload = None  # a proxy's page says nothing that helps
        return of_response(
            endpoint, self._key, response.status_code, response.headers, payload, time.time()
        )
