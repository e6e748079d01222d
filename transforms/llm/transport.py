"""Send single HTTP requests through the `openai` package, without retries."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

import openai
from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpxClient

from ufo.transforms.llm.chat import completion_of
from ufo.transforms.llm.connections import client_errors, explain_failure, proxies
from ufo.transforms.llm.endpoint import AZURE_TOKEN_VARIABLE, Endpoint, azure_of
from ufo.transforms.llm.errors import SendError, is_page, of_response, payload_of
from ufo.transforms.llm.http_packages import httpcore, httpx
from ufo.transforms.llm.request import LlmError
from ufo.transforms.llm.send import HttpReply
from ufo.transforms.plugin_errors import message_of

C = TypeVar("C")
_CONNECT_SECONDS: Final = 10.0
_KEPT_SECONDS: Final = 30.0
_CONNECT_TIMEOUT: Final = (httpx.ConnectTimeout, httpcore.ConnectTimeout)
_OF_CONNECTIONS: Final = (
    OSError,
    EOFError,
    openai.APIConnectionError,
    httpx.HTTPError,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
)
"""The errors of connections. Any other is an error in the code of ufo or of a package."""


class Connections(httpx.AsyncBaseTransport):
    """A pool of as many connections as there are concurrent requests, which the `Limiter` bounds.

    A pool of `httpcore` checks the socket of every connection whenever a request begins or ends:
    at 512 connections a request takes five times as long (`benchmarks/speed/concurrency.py`). Here
    only the one used last is checked, which is reused first.
    """

    def __init__(self) -> None:
        self._trusted = httpx.create_ssl_context()
        self._idle: list[httpcore.AsyncHTTPConnection] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request over an idle or a new connection; return the response with its body."""
        url = request.url
        target = httpcore.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
        )
        assert isinstance(request.stream, httpx.AsyncByteStream)
        sent = httpcore.Request(
            request.method,
            target,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        connection = await self._connection(target.origin)
        response = await connection.handle_async_request(sent)
        try:
            body = await response.aread()
        finally:
            await response.aclose()
        self._idle.append(connection)
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=httpx.ByteStream(body),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        while self._idle:
            await self._idle.pop().aclose()

    async def _connection(self, origin: httpcore.Origin) -> httpcore.AsyncHTTPConnection:
        while self._idle:
            connection = self._idle.pop()
            usable = connection.is_available() and not connection.has_expired()
            if usable and connection.can_handle_request(origin):
                return connection
            await connection.aclose()
        return httpcore.AsyncHTTPConnection(origin, self._trusted, _KEPT_SECONDS)


class Transport:
    """The connections to one endpoint.

    The `openai` client is bound to its event loop and cannot be pickled, so it is created at the
    first request. `reached` says that the endpoint has answered this run before: a failure to
    connect is then transient, else final.
    """

    def __init__(self, endpoint: Endpoint, reached: bool = False) -> None:
        self._endpoint = endpoint
        self._client: AsyncOpenAI | None = None
        self._added = endpoint.added
        self._key = self._host = ""
        self._served = False  # whether a reply was JSON
        self._silent = False  # whether `look` got no answer
        self.reached = reached
        """Whether the endpoint has answered, with success or with an error."""

    async def send(self, body: Mapping[str, Any]) -> HttpReply[Any]:
        """Post a chat completion and return the JSON of the reply, whole or from a stream.

        Raises:
            SendError: there is no reply, it has a status of 300 or above, or it is not JSON.
            LlmError: the endpoint's URL or key is invalid, or no client can be made here.
        """
        endpoint, body = self._endpoint, {**body, **self._added}
        try:
            async with asyncio.timeout(endpoint.timeout):
                response = await self._ask("/chat/completions", body)
        except openai.APIStatusError as error:
            self.reached = True
            asked = replace(endpoint, model=str(body.get("model", "")))
            raise response_error(asked, self._key, error.response) from None
        except LlmError:
            raise
        except Exception as error:  # of the packages below, whatever it is: there is no answer
            raise no_answer_error(endpoint, error, self.reached) from None
        headers = dict(response.headers)  # which is quicker to read
        request_id = headers.get("x-request-id")
        try:
            payload = _read(response)
        except (ValueError, RecursionError):
            raise self._garbled(response, request_id) from None
        self._served = True
        return HttpReply(payload, headers, request_id)

    async def look(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON at a path below the base URL, or at a whole URL; None for an error.

        A `body` is posted. Azure is not asked: it lists models, but requests name deployments.
        """
        if azure_of(self._endpoint.url) or (self._silent and not self.reached):
            return None
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                response = await self._ask(path, body)
                return json.loads(response.content)
        except openai.APIStatusError:
            self.reached = True
        except LlmError:
            raise
        except (SendError, ValueError, RecursionError):
            pass
        except Exception:  # there is no answer, as in `send`
            self._silent = not self.reached
        return None

    async def aclose(self) -> None:
        """Close the connections; a later request opens them again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ask(self, path: str, body: Mapping[str, Any] | None) -> httpx.Response:
        client = self._open_client()
        if body is None:
            response = await client.get(path, cast_to=httpx.Response)
        else:
            response = await client.post(path, cast_to=httpx.Response, body=body)
        self.reached = True
        return response

    def _open_client(self) -> AsyncOpenAI:
        if self._client is None:
            endpoint = self._endpoint
            self._key = endpoint.key()
            self._host = httpx.URL(endpoint.url).host
            headers = endpoint.header_values()
            with client_errors(endpoint.shown_url, partial(LlmError, final=True)):
                client = DefaultAsyncHttpxClient(
                    # The whole request has a time-out here, so its parts need none.
                    timeout=httpx.Timeout(None, connect=min(endpoint.timeout, _CONNECT_SECONDS)),
                    event_hooks={"request": [self._check_host]},
                    # A proxy needs the client's own pool.
                    transport=None if proxies() else Connections(),
                )
                self._client = client_of(
                    endpoint,
                    self._key,
                    AsyncOpenAI,
                    AsyncAzureOpenAI,
                    max_retries=0,  # `llm.send` retries, with a usage row for each attempt
                    default_headers=headers,
                    http_client=client,
                )
        return self._client

    async def _check_host(self, request: httpx.Request) -> None:
        """Raise an error for a redirect to another host, where there is mostly a page to log in."""
        url = request.url
        if url.host != self._host or url.scheme not in ("http", "https"):
            message = f"it redirects to {str(url).partition('?')[0]}"
            raise of_response(self._endpoint, self._key, 302, {}, message, time.time())

    def _garbled(self, response: httpx.Response, request_id: str | None) -> SendError:
        endpoint = self._endpoint
        if is_page(response.text) and not self._served:
            return response_error(endpoint, self._key, response)
        message = f"{endpoint.shown_url} answered with something that is not JSON"
        return SendError(message, "garbled", transient=True, request_id=request_id)


def client_of(
    endpoint: Endpoint,
    key: str,
    kind: Callable[..., C],
    azure_kind: Callable[..., C],
    **common: Any,
) -> C:
    """Return the `openai` client for an endpoint: of class `azure_kind` for Azure, else `kind`.

    Raises:
        LlmError: no client can be made here, as for a proxy that is not one.
    """
    azure = azure_of(endpoint.url)
    with client_errors(endpoint.shown_url, partial(LlmError, final=True)):
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


def _read(response: httpx.Response) -> Any:
    """Return the JSON of a reply, joined from its events if it is a stream.

    Its content decides which it is: not every server names the right type.

    Raises:
        ValueError: it is neither.
    """
    try:
        return json.loads(response.content)
    except ValueError:
        return completion_of(response.text)


# --- errors ---


def response_error(endpoint: Endpoint, key: str, response: Any) -> SendError:
    """Return the error for a response of status 300 and above, or for a web page."""
    payload, status = payload_of(response.text), response.status_code
    if status == 407 and proxies(endpoint.url):
        return connection_error(endpoint, httpx.ProxyError("407 Proxy Authentication Required"))
    return of_response(endpoint, key, status, response.headers, payload, time.time())


def no_answer_error(endpoint: Endpoint, error: Exception, reached: bool) -> SendError:
    """Return the error for a request without an answer: for a time-out, or a broken connection."""
    cause = _cause(error)
    if isinstance(cause, SendError):
        return cause
    if isinstance(cause, _CONNECT_TIMEOUT):
        where = proxies(endpoint.url) or endpoint.shown_url
        message = f"no connection to {where} within {min(endpoint.timeout, _CONNECT_SECONDS):g} s"
        return SendError(message, "timeout", transient=True)
    if isinstance(cause, TimeoutError):
        message = f"{endpoint.shown_url} did not answer within {endpoint.timeout:g} s"
        return SendError(message, "timeout", transient=True)
    return connection_error(endpoint, cause, reached)


def _cause(error: Exception) -> Exception:
    """Return the error of a package below from which an error of `openai` was raised."""
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else None
    return cause if isinstance(cause, Exception) else error


def connection_error(endpoint: Endpoint, error: Exception, reached: bool = True) -> SendError:
    """Return the error for a connection that broke or could not be made.

    It is transient if the endpoint was `reached` before, or if its cause is not known. An error in
    code is not transient, since it would occur again.
    """
    message, final = explain_failure(endpoint.shown_url, error, proxies(endpoint.url), reached)
    if not final and not isinstance(_cause(error), _OF_CONNECTIONS):
        cause = f"{type(error).__name__}: {message_of(error)}"
        message = (
            f"a request to {endpoint.shown_url} could not be made, by an error in the code and not "
            f"of the connection ({cause}; openai {openai.__version__})"
        )
        return SendError(message, "internal", final=not reached)
    return SendError(message, "connection", transient=not final, final=final)
