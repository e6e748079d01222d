"""Keep connections for hundreds of requests at a time, each one a pool of its own.

A pool of `httpcore` looks at every connection, the idle ones down to their sockets, whenever a
request begins or ends, so a request costs more the more are under way. Here the one used last is
taken again, whatever their number (`benchmarks/bench_concurrency.py`).
"""

from collections.abc import AsyncIterator, Callable

import httpx2

_KEPT_SECONDS = 30.0


class Connections(httpx2.AsyncBaseTransport):
    """As many connections as there are requests at a time, who sees to that; idle ones are kept."""

    def __init__(self) -> None:
        self._trusted = httpx2.create_ssl_context()
        self._idle: list[httpx2.AsyncHTTPTransport] = []
        self._all: list[httpx2.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request by a connection that is idle, or a new one."""
        connection = self._idle.pop() if self._idle else self._opened()

        def give_back() -> None:
            self._idle.append(connection)

        try:
            response = await connection.handle_async_request(request)
        except BaseException:
            give_back()
            raise
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Lent(stream, give_back),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        self._idle.clear()
        for connection in self._all:
            await connection.aclose()
        self._all.clear()

    def _opened(self) -> httpx2.AsyncHTTPTransport:
        limits = httpx2.Limits(
            max_connections=1, max_keepalive_connections=1, keepalive_expiry=_KEPT_SECONDS
        )
        connection = httpx2.AsyncHTTPTransport(verify=self._trusted, limits=limits)
        self._all.append(connection)
        return connection


class _Lent(httpx2.AsyncByteStream):
    """A response's body; its connection is given back when it is closed."""

    def __init__(self, stream: httpx2.AsyncByteStream, give_back: Callable[[], None]) -> None:
        self._stream = stream
        self._give_back: Callable[[], None] | None = give_back

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        """Close the body."""
        give_back, self._give_back = self._give_back, None
        try:
            await self._stream.aclose()
        finally:
            if give_back is not None:
                give_back()
