"""Connect to the servers of pages, always to the very address that was checked.

A client that checks a name and lets its library resolve it again can get two different addresses.
Here the name is resolved once for a connection. Every address in the answer is checked, and the
socket is opened to one of them. The host header and TLS still have the name. This applies to every
connection, also after redirects and for robots.txt.

Proxies of the environment are ignored: they would resolve names themselves, unchecked.
"""

import asyncio
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any, Final

import httpcore
import httpx

from ufo.transforms.llm.errors import SendError
from ufo.transforms.sources.web.addresses import Address, RefusedAddress, literal, why_refused
from ufo.transforms.sources.web.documents import GARBLED, TOO_LARGE

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host name and port; raises OSError where there is none."""

ROBOT: Final = "ufo"
"""The name of this robot in a robots.txt; the first word of the User-Agent."""
USER_AGENT: Final = f"{ROBOT}/{version('ufo-factuality')} (factuality evaluation)"
"""The User-Agent."""
ACCEPTED: Final = "gzip"
MOST_BYTES: Final = 8 * 1024 * 1024
"""The most bytes of a body, both before and after decoding."""

_TRIED: Final = 3  # addresses of a host that are tried before it counts as unreachable
_CONNECT_SECONDS: Final = 5.0
_HEADERS: Final = {
    "user-agent": USER_AGENT,
    "accept": "text/html, application/xhtml+xml, application/pdf, text/plain, */*;q=0.1",
    "accept-encoding": ACCEPTED,
}


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Return the addresses that this machine's resolver gives."""
    loop = asyncio.get_running_loop()
    infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(sockaddr[0]) for *_, sockaddr in infos]


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens sockets to public addresses only; to others too where `allow_private`."""

    def __init__(self, allow_private: bool = False, resolve: Resolve = system_resolver) -> None:
        self._allow_private = allow_private
        self._resolve = resolve
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to a host, by an address that was checked.

        Raises:
            RefusedAddress: at least one of its addresses is not public.
            httpcore.ConnectError, httpcore.ConnectTimeout: no server answers.
        """
        addresses = await self._addresses(host, port)
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses[:_TRIED]:
            try:
                return await self._backend.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def _addresses(self, host: str, port: int) -> list[Address]:
        spelled = literal(host)
        if spelled is not None:
            addresses = [spelled]
        else:
            try:
                answers = await self._resolve(host, port)
            except (OSError, UnicodeError):
                raise httpcore.ConnectError(f"{host} cannot be resolved") from None
            addresses = [address for answer in answers if (address := literal(answer)) is not None]
        if not self._allow_private:
            for address in addresses:
                why = why_refused(address)
                if why is not None:
                    raise RefusedAddress(f"{host} is {address}, {why}")
        return addresses


def page_connections(allow_private: bool, resolve: Resolve) -> httpcore.AsyncConnectionPool:
    """Return the connection pool for pages, without any of the user's data.

    There are no cookies, no passwords of a netrc file and no proxies of the environment.
    """
    return httpcore.AsyncConnectionPool(
        ssl_context=httpx.create_ssl_context(),
        max_connections=None,  # as many as there are requests at a time
        keepalive_expiry=15.0,
        network_backend=CheckedBackend(allow_private, resolve),
    )


def page_request(url: str) -> httpcore.Request:
    """Return the request for a page.

    Raises:
        httpx.InvalidURL, UnicodeError, ValueError: it is not a URL.
    """
    request = httpx.Request("GET", url, headers=_HEADERS)
    parts = request.url
    return httpcore.Request(
        "GET",
        httpcore.URL(
            scheme=parts.raw_scheme, host=parts.raw_host, port=parts.port, target=parts.raw_path
        ),
        headers=request.headers.raw,
        # The other time limits are for a whole request, not from byte to byte.
        extensions={"timeout": {"connect": _CONNECT_SECONDS}},
    )


# --- bodies -------------------------------------------------------------------------------------


async def read_body(parts: AsyncIterator[bytes], coding: str, most: int) -> bytes:
    """Return a body decoded, of at most `most` bytes before and after decoding.

    `coding` is the Content-Encoding header. At most the cap and one part of the stream (64 KiB) are
    in memory. A decoder returns only as much as there is room for, so a decompression bomb stops at
    the cap.

    Raises:
        SendError: it is too large, broken, or in a coding that was not requested.
    """
    codings = [
        name for name in coding.lower().replace(" ", "").split(",") if name not in ("", "identity")
    ]
    undecodable = SendError(
        "the reply is in a content coding that was not asked for, or broken",
        GARBLED,
        transient=True,
    )
    # Several codings multiply the effect of a bomb, and no server of pages needs them.
    if codings not in ([], ["gzip"], ["x-gzip"]):
        raise undecodable
    inflate = zlib.decompressobj(16 + zlib.MAX_WBITS) if codings else None
    came, body = 0, bytearray()
    async for part in parts:
        came += len(part)
        if inflate is not None and came <= most:
            try:
                part = inflate.decompress(inflate.unconsumed_tail + part, most - len(body) + 1)
            except zlib.error:
                raise undecodable from None
        body += part
        if max(came, len(body)) > most:
            raise SendError(f"the reply is over {most:,} bytes", TOO_LARGE)
    return bytes(body)
