"""Send one HTTP request to an endpoint, without retries; say what keeps it from being answered."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, quote

import httpx2

from ufo.transforms.llm.connections import explained, opening, proxies
from ufo.transforms.llm.endpoint import AZURE_TOKEN_VARIABLE, Endpoint, azure_of
from ufo.transforms.llm.errors import SendError, inside, is_page, of_response, payload_of
from ufo.transforms.llm.request import LlmError
from ufo.transforms.llm.send import Received

C = TypeVar("C")
_CONNECT_SECONDS: Final = 10.0
_KEPT_SECONDS: Final = 30.0
_REDIRECTS: Final = 3
_HEADERS: Final = {
    "accept": "application/json",
    "accept-encoding": "gzip, deflate",
    "content-type": "application/json",
    "user-agent": "ufo",
}
# The headers by which OpenAI bills an organisation or project, and the variables of their values.
_BILLED: Final = {"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}


class Connections(httpx2.AsyncBaseTransport):
    """A pool of at most `most` connections; the cost of a request does not grow with their number.

    A pool of `httpcore2` checks the socket of every connection whenever a request begins or ends:
    at 512 connections a request takes five times as long (`benchmarks/speed/concurrency.py`). Here
    each connection is a pool of size one, and the one used last is reused first.
    """

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._trusted = httpx2.create_ssl_context()
        self._idle: list[httpx2.AsyncHTTPTransport] = []
        self._all: list[httpx2.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request over an idle or a new connection; return the response with its body."""
        async with self._free:
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

    The HTTP client is bound to its event loop and cannot be pickled, so it is created at the first
    request. `reached` says that the endpoint has answered this run before: a failure to connect is
    then transient, else final.
    """

    def __init__(self, endpoint: Endpoint, concurrency: int, reached: bool = False) -> None:
        self._endpoint = endpoint
        self._concurrency = concurrency
        self._client: httpx2.AsyncClient | None = None
        self._added = endpoint.added
        self._key = ""
        self._headers = httpx2.Headers()
        self._addresses: dict[tuple[str, str], httpx2.URL] = {}
        seconds = endpoint.timeout
        self._timeout = httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        self._reached = reached
        self._served = False  # whether a reply was JSON

    async def send(self, body: Mapping[str, Any]) -> Received[Any]:
        """Post a chat completion and return the JSON of the reply, joined from its chunks if
        streamed.

        Raises:
            SendError: there is no reply, it has a status of 300 or above, or it is not JSON.
            LlmError: the endpoint's URL or key is invalid, or no client can be made here.
        """
        response = await self._exchange("POST", "/chat/completions", {**body, **self._added})
        request_id = response.headers.get("x-request-id")
        try:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                payload = completion_of(response.text)
            else:
                payload = json.loads(response.content)
        except (ValueError, RecursionError):
            raise self._garbled(response, request_id) from None
        self._served = True
        return Received(payload, response.headers, request_id)

    async def get(self, path: str) -> Any:
        """Return the JSON at a path of the endpoint; None where there is none."""
        try:
            return payload_of((await self._exchange("GET", path, None)).text)
        except SendError:
            return None

    async def models(self) -> list[str]:
        """Return the sorted names of the models that the endpoint lists; [] where that fails. It is
        [] for Azure, too: it lists models, but requests name deployments."""
        if azure_of(self._endpoint.url):
            return []
        try:
            return sorted(str(model["id"]) for model in (await self.get("/models"))["data"])
        except (KeyError, TypeError):
            return []

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
            await client.aclose()

    async def _exchange(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> httpx2.Response:
        client, model = self._opened(), str(body["model"]) if body else ""
        text = None if body is None else json.dumps(body, ensure_ascii=False)
        seconds = self._endpoint.timeout
        try:
            request = httpx2.Request(
                method,
                self._address(path, model),
                headers=self._headers,
                content=None if text is None else text.encode(errors="replace"),
                extensions={"timeout": self._timeout.as_dict()},
            )
            async with asyncio.timeout(seconds):
                response = await client.send(request)
                for _ in range(_REDIRECTS):
                    moved = response.next_request if response.status_code in (307, 308) else None
                    if moved is None or moved.url.host != request.url.host:
                        break
                    response = await client.send(moved)
        except httpx2.ConnectTimeout:
            where = proxies(self._endpoint.url) or self._endpoint.shown_url
            message = f"no connection to {where} within {min(seconds, _CONNECT_SECONDS):g} s"
            raise SendError(message, "timeout", transient=True) from None
        except (TimeoutError, httpx2.TimeoutException):
            message = f"{self._endpoint.shown_url} did not answer within {seconds:g} s"
            raise SendError(message, "timeout", transient=True) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as error:
            raise broken(self._endpoint, error, self._reached) from None
        self._reached = True
        if response.status_code >= 300:
            raise refused(replace(self._endpoint, model=model), self._key, response)
        return response

    def _opened(self) -> httpx2.AsyncClient:
        if self._client is None:
            endpoint = self._endpoint
            self._key = endpoint.key()
            own_header = azure_of(endpoint.url) and endpoint.api_key_env != AZURE_TOKEN_VARIABLE
            bearer = {"authorization": f"Bearer {self._key}"}
            self._headers = httpx2.Headers({"api-key": self._key} if own_header else bearer)
            self._headers.update(_HEADERS)
            billed = {name: os.environ[at] for name, at in _BILLED.items() if os.environ.get(at)}
            self._headers.update(billed)
            self._headers.update(endpoint.header_values())
            most = self._concurrency + 1
            with opening(endpoint.shown_url, partial(LlmError, final=True)):
                if proxies():  # the client's own pool knows them
                    self._client = httpx2.AsyncClient(limits=_limits(most))
                else:
                    self._client = httpx2.AsyncClient(transport=Connections(most))
        return self._client

    def _address(self, path: str, model: str) -> httpx2.URL:
        """Return the address of a path; at Azure it is below the model's deployment."""
        if (path, model) not in self._addresses:
            base, _, query = self._endpoint.url.partition("?")
            if azure := azure_of(self._endpoint.url):
                base = f"{azure.address}/openai/deployments/{quote(azure.deployment or model)}"
                query = f"api-version={quote(azure.version)}"
            self._addresses[path, model] = httpx2.URL(f"{base}{path}?{query}".rstrip("?"))
        return self._addresses[path, model]

    def _garbled(self, response: httpx2.Response, request_id: str | None) -> SendError:
        endpoint = self._endpoint
        if is_page(response.text) and not self._served:
            return refused(endpoint, self._key, response)
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
    with opening(endpoint.shown_url, partial(LlmError, final=True)):
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


# --- what went wrong ---


def refused(endpoint: Endpoint, key: str, response: Any) -> SendError:
    """Return the error for a response of status 300 and above, or for a web page."""
    payload, status = payload_of(response.text), response.status_code
    if status == 407 and proxies(endpoint.url):
        return broken(endpoint, httpx2.ProxyError("407 Proxy Authentication Required"))
    if response.next_request is not None:
        address = str(response.next_request.url).partition("?")[0]
        payload = f"it redirects to {address}"
    return of_response(endpoint, key, status, response.headers, payload, time.time())


def broken(endpoint: Endpoint, error: Exception, reached: bool = True) -> SendError:
    """Return the error for a connection that broke, or that there is none.

    It is transient if the endpoint was `reached` before, or if its cause is not known.
    """
    message, final = explained(endpoint.shown_url, error, proxies(endpoint.url), reached)
    return SendError(message, "connection", transient=not final, final=final)


# --- streams ---


def completion_of(events: str) -> dict[str, Any]:
    """Put the chunks of a stream of server-sent events together to the JSON of a whole reply; an
    error in one of them is the reply.

    Raises:
        ValueError: a chunk is not of the API.
    """
    payload: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for chunk in _chunks(events):
        if inside(chunk):
            return {**payload, **chunk}
        payload |= {name: chunk[name] for name in ("id", "usage") if chunk.get(name)}
        try:
            for part in chunk.get("choices") or ():
                choice = choices.setdefault(part.get("index") or 0, {"message": {}})
                _append(choice["message"], part.get("delta") or part.get("message") or {})
                if part.get("finish_reason"):
                    choice["finish_reason"] = part["finish_reason"]
                if part.get("logprobs"):
                    _append(choice.setdefault("logprobs", {}), part["logprobs"])
        except (AttributeError, TypeError) as error:
            raise ValueError(f"a chunk has another shape: {error}") from None
    return {**payload, "choices": [choices[index] for index in sorted(choices)]}


def _chunks(events: str) -> Iterator[dict[str, Any]]:
    for line in events.split("\n"):
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if data and data != "[DONE]":
            chunk = json.loads(data)
            if not isinstance(chunk, dict):
                raise ValueError("a chunk is not an object")
            yield chunk


def _append(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Append the texts and lists of a chunk to those before it."""
    for name, value in part.items():
        before = whole.get(name)
        if name == "tool_calls" and isinstance(value, list):
            calls = whole.setdefault(name, [])
            for call in value:
                index = call.get("index")
                index = len(calls) if index is None else index
                calls += [{} for _ in range(index + 1 - len(calls))]
                _append(calls[index], call)
        elif isinstance(value, Mapping):
            _append(whole.setdefault(name, {}), value)
        elif name in ("id", "type", "role", "name") or not isinstance(before, type(value)):
            whole[name] = before if value is None else value
        elif isinstance(value, str | list):
            whole[name] = before + value
