"""Send one HTTP request through the `openai` package, without retries or interpretation."""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.request import getproxies

import httpx2
import openai
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from transforms.llm.connections import Connections
from transforms.llm.endpoint import Endpoint
from transforms.llm.failures import SendError, of_response

_CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What a request of status 200 brought: JSON, its headers, and the id the endpoint gave it."""

    payload: Any
    request_id: str | None
    headers: Mapping[str, str]


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

    async def send(self, body: Mapping[str, Any]) -> Reply:
        """Post a chat completion and return the reply.

        Raises:
            SendError: no reply, or one of status 400 and above.
            LlmError: the endpoint's URL or key cannot be used at all.
        """
        response = await self._exchange("POST", "/chat/completions", body)
        request_id = response.headers.get("x-request-id")
        try:
            payload = json.loads(response.content)
        except ValueError:
            raise self._garbled(request_id) from None
        return Reply(payload, request_id, response.headers)

    async def models(self) -> list[str]:
        """Return the names of the models that the endpoint lists; none where it does not tell."""
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
            self._client = AsyncOpenAI(
                api_key=self._key,
                base_url=self._endpoint.url,
                max_retries=0,  # retries are ours: this client's would hide what was paid for
                http_client=DefaultAsyncHttpxClient(
                    timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
                    **self._pool(),
                ),
            )
        return self._client

    def _pool(self) -> dict[str, Any]:
        """Return the options of a client that are about its connections."""
        if not getproxies():
            return {"transport": Connections()}
        # Through a proxy the client finds its own way. Its pool keeps 100 connections by default,
        # whatever it has open: beyond that each request would open a new one.
        limits = httpx2.Limits(
            max_connections=self._concurrency + 1,
            max_keepalive_connections=self._concurrency + 1,
            keepalive_expiry=30.0,
        )
        return {"limits": limits}

    def _unconnected(self, error: Exception) -> SendError:
        cause = error.__cause__ or error
        kind = type(cause).__name__
        where = self._endpoint.shown_url
        if isinstance(cause, httpx2.ConnectError) and not self._reached:
            return SendError(
                f"nothing answers at {where} ({cause}); check --base_url, and that the server runs",
                "connection",
                final=True,
            )
        return SendError(f"the connection to {where} broke ({kind})", "connection", transient=True)

    def _refused(self, error: Any, model: str) -> SendError:
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

    def _garbled(self, request_id: str | None) -> SendError:
        message = f"{self._endpoint.shown_url} answered with something that is no JSON"
        return SendError(message, "garbled", transient=True, request_id=request_id)
