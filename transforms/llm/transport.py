"""Send one HTTP request through the `openai` package, without retries or interpretation."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import parse_qsl
from urllib.request import getproxies

import httpx2
import openai
from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpxClient

from ufo.transforms.llm.chat import completion_of
from ufo.transforms.llm.endpoint import AZURE_TOKEN_VARIABLE, Endpoint, azure_of
from ufo.transforms.llm.errors import SendError, of_response
from ufo.transforms.llm.request import LlmError
from ufo.transforms.llm.sending import Received

C = TypeVar("C")
_CONNECT_SECONDS = 10.0
_KEPT_SECONDS = 30.0


class Connections(httpx2.AsyncBaseTransport):
    """A connection pool without a limit; the cost of a request does not grow with concurrency.

    A pool of `httpcore` checks the socket of every connection whenever a request begins or ends.
    Here each connection is a pool of size one, and the one used last is reused first
    (`benchmarks/speed/concurrency.py`). The caller limits the number of concurrent requests.
    """

    def __init__(self) -> None:
        self._trusted = httpx2.create_ssl_context()
        self._idle: list[httpx2.AsyncHTTPTransport] = []
        self._all: list[httpx2.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request over an idle or a new connection; return the response with its body."""
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
    """The connections to one endpoint, for up to `concurrency` concurrent requests.

    The `openai` client is bound to its event loop and cannot be pickled, so it is created at the
    first request. `reached` says that the endpoint has answered this run before: a failure to
    connect is then transient, else final.
    """

    def __init__(self, endpoint: Endpoint, concurrency: int, reached: bool = False) -> None:
        self._endpoint = endpoint
        self._concurrency = concurrency
        self._client: AsyncOpenAI | None = None
        self._added = endpoint.added
        self._key = ""
        self._reached = reached

    async def send(self, body: Mapping[str, Any]) -> Received[Any]:
        """Post a chat completion and return the JSON of the reply, joined from its chunks if
        streamed.

        Raises:
            SendError: there is no reply, it has a status of 400 or above, or it is not JSON.
            LlmError: the endpoint's URL or key is invalid.
        """
        response = await self._exchange("POST", "/chat/completions", {**body, **self._added})
        request_id = response.headers.get("x-request-id")
        try:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                payload = completion_of(response.text)
            else:
                payload = json.loads(response.content)
        except ValueError:
            message = f"{self._endpoint.shown_url} answered with something that is not JSON"
            raise SendError(message, "garbled", transient=True, request_id=request_id) from None
        return Received(payload, response.headers, request_id)

    async def look(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON that the server gives at a path below its base URL, or at a whole URL;
        None for an error. With a `body` it is posted. Azure is not asked: it lists models, but
        requests name deployments."""
        if azure_of(self._endpoint.url):
            return None
        with suppress(SendError, ValueError):
            response = await self._exchange("GET" if body is None else "POST", path, body)
            return json.loads(response.content)
        return None

    async def answers(self) -> bool:
        """Return whether a server answers at the address, with success or with an error."""
        with suppress(SendError, LlmError, TimeoutError):
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self._exchange("GET", "/models", None)
        return self._reached

    async def aclose(self) -> None:
        """Close the connections; a later request opens them again."""
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
            raise self._refused(error, str(body.get("model", "")) if body else "") from None
        self._reached = True
        return response

    def _opened(self) -> AsyncOpenAI:
        if self._client is None:
            self._key = self._endpoint.key()
            seconds = self._endpoint.timeout
            # A proxy needs the client's own transport. Its pool keeps only 100 connections by
            # default: beyond that each request would open a new one.
            pool: dict[str, Any] = (
                {"limits": _limits(self._concurrency + 1)}
                if getproxies()
                else {"transport": Connections()}
            )
            common: dict[str, Any] = {
                "max_retries": 0,  # `llm.retry` retries, with a usage row for each attempt
                "default_headers": self._endpoint.header_values(),
                "http_client": DefaultAsyncHttpxClient(
                    timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
                    **pool,
                ),
            }
            kinds = AsyncOpenAI, AsyncAzureOpenAI
            self._client = client_of(self._endpoint, self._key, *kinds, **common)
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
        return broken(self._endpoint, error)

    def _refused(self, error: openai.APIStatusError, model: str) -> SendError:
        self._reached = True
        return refused(replace(self._endpoint, model=model), self._key, error)


def client_of(
    endpoint: Endpoint,
    key: str,
    kind: Callable[..., C],
    azure_kind: Callable[..., C],
    **common: Any,
) -> C:
    """Return the `openai` client for an endpoint: of class `azure_kind` for Azure, else `kind`."""
    azure = azure_of(endpoint.url)
    if azure is None:
        base, _, query = endpoint.url.partition("?")
        return kind(api_key=key, base_url=base, default_query=dict(parse_qsl(query)), **common)
    token = endpoint.api_key_env == AZURE_TOKEN_VARIABLE
    return azure_kind(
        azure_endpoint=azure.address,
        azure_deployment=azure.deployment,
        api_version=azure.version,
        api_key=None if token else key,
        azure_ad_token=key if token else None,
        **common,
    )


def broken(endpoint: Endpoint, error: Exception) -> SendError:
    """Return the error for a connection that broke."""
    cause = error.__cause__ or error
    message = f"the connection to {endpoint.shown_url} broke ({type(cause).__name__})"
    return SendError(message, "connection", transient=True)


def refused(endpoint: Endpoint, key: str, error: openai.APIStatusError) -> SendError:
    """Return the error for a response of status 400 and above."""
    response = error.response
    try:
        payload = json.loads(response.content)
    except ValueError:
        payload = None  # a proxy's error page
    status, headers = response.status_code, response.headers
    return of_response(endpoint, key, status, headers, payload, time.time())
