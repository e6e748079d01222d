"""Fetch pages politely, safely and within limits; a failed page has a reason.

This module handles redirects and retries, `robots` the rules of a site, `host_limits` the pauses
between requests to a host. `transport` connects to checked addresses only.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, TypeVar
from urllib.parse import urljoin, urlsplit

import httpcore
import httpx
from protego import Protego

from ufo.schemas.errors import RunError, ends_run
from ufo.schemas.text import host_of
from ufo.transforms.llm.connections import client_errors
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.retry import Retry, Sleep, Timing
from ufo.transforms.llm.send import send_with_retries
from ufo.transforms.llm.waits import retry_after
from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web.addresses import RefusedAddress, checked_url
from ufo.transforms.sources.web.documents import TYPES, UNTOLD, FetchedPage, type_of
from ufo.transforms.sources.web.host_limits import Hosts
from ufo.transforms.sources.web.robots import rules_of
from ufo.transforms.sources.web.timed_cache import TimedCache
from ufo.transforms.sources.web.transport import (
    MOST_BYTES,
    ROBOT,
    Resolve,
    page_connections,
    page_request,
    read_body,
    system_resolver,
)

T = TypeVar("T")

SECONDS: Final = 20.0
"""Seconds from the request for a page to its last byte, with all redirects, but without waits for
the host."""
REDIRECTS: Final = 5
MOST_RULES: Final = 500 * 1024
"""The bytes of a robots.txt that are read: the least by RFC 9309, 2.5."""

_MOVED: Final = (301, 302, 303, 307, 308)
_GOOD: Final = (200, 203)
_AGAIN: Final = (408, 425, 429, 502, 503, 504)
_LASTING: Final = (None, reasons.TOO_LARGE, reasons.UNSUPPORTED_TYPE, reasons.EMPTY)
# There are other pages, and a snippet for this one: a page is worth one more try, but no long wait.
_RETRY: Final = Retry(attempts=2, seconds=5.0)
_MOST_SAID: Final = 500  # characters of an error
_SITES: Final = 2_000  # sites whose rules are cached
_RULES_SECONDS: Final = 24 * 3600.0  # RFC 9309, 2.4


def lasts(page: FetchedPage) -> bool:
    """Return whether a page, or the reason for its failure, is valid for the rest of the day."""
    refused = 400 <= page.status < 500 and page.status not in _AGAIN
    return not page.private and (page.reason in _LASTING or refused)


class Fetcher:
    """Fetches pages, `connections` at a time; for one event loop.

    `allow_private` fetches from addresses that are not public, too. Each of the `workers` processes
    of a run keeps to its share of the rate. `resolve`, `sleep` and `clock` are for tests.
    """

    def __init__(
        self,
        allow_private: bool = False,
        connections: int = 64,
        workers: int = 1,
        seconds: float = SECONDS,
        most_bytes: int = MOST_BYTES,
        resolve: Resolve = system_resolver,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._allow_private = allow_private
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._hosts = Hosts(workers, sleep)
        self._sleep = sleep
        self._clock = clock
        self._places = asyncio.Semaphore(connections)
        self._sites = TimedCache[Protego | FetchedPage](_SITES, _RULES_SECONDS)
        with client_errors("pages", RunError):
            self._connections = page_connections(allow_private, resolve)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connections.aclose()

    async def get(self, url: str, ruled: bool = True) -> FetchedPage:
        """Return the page at a URL after up to five redirects, each checked against robots.txt.

        After a failure, the page has its reason. With `ruled` False, for a robots.txt, no rules
        apply.
        """
        most_bytes = self._most_bytes if ruled else MOST_RULES
        at, private, left = url, False, self._seconds

        async def send(attempt: int) -> tuple[FetchedPage, str | None]:
            nonlocal left
            async with self._hosts.turn(host_of(at)), self._places:
                started = time.monotonic()
                try:
                    async with asyncio.timeout(max(left, 0.0)):
                        return await self._exchange(at, most_bytes, any_type=not ruled)
                except TimeoutError:
                    message = f"not there within {self._seconds:g} s"
                    raise SendError(message, reasons.TIMEOUT) from None
                finally:
                    left -= time.monotonic() - started

        try:
            for _ in range(REDIRECTS + 1):
                at = await self._allowed(at, ruled)
                page, moved = await send_with_retries(send, _RETRY, Timing(self._sleep))
                private = private or page.private
                if moved is None:
                    return replace(page, url=url, private=private)
                at = urljoin(at, moved)
            error = SendError(f"more than {REDIRECTS}", reasons.TOO_MANY_REDIRECTS)
        except SendError as raised:
            error = raised
        except Exception as raised:  # a hostile server's headers can raise any error of a library
            if ends_run(raised):
                raise
            error = SendError(repr(raised)[:_MOST_SAID], reasons.UNREADABLE)
        status = int(error.status) if error.status.isdigit() else 0
        reason = f"http_{status}" if status else error.status
        return FetchedPage(
            url, at, status, "", b"", None, self._now(), reason, error.message, private=private
        )

    async def _allowed(self, url: str, ruled: bool) -> str:
        """Return the URL to request for a page, if it is valid and its site allows it.

        Raises:
            SendError: the page may not be requested, or its site does not say.
        """
        try:
            url = checked_url(url, self._allow_private)
            asked = str(httpx.URL(url))
            page_request(asked)
        except (RefusedAddress, httpx.InvalidURL, UnicodeError, ValueError) as error:
            raise SendError(str(error), reasons.REFUSED_ADDRESS) from None
        if ruled:
            rules_at = f"{urlsplit(url).scheme}://{urlsplit(url).netloc}/robots.txt"
            # Other callers for the same site wait for the same request.
            rules, _ = await self._sites.get(rules_at, lambda: self._rules(rules_at))
            if isinstance(rules, FetchedPage):
                raise SendError(rules.detail, rules.reason or "")
            # On a thread, as rules are read: 500 KiB of them take a second.
            if not await asyncio.to_thread(rules.can_fetch, url, ROBOT):
                detail = f"{rules_at} asks robots to leave it alone"
                raise SendError(detail, reasons.BLOCKED_BY_ROBOTS)
            self._hosts.crawl_delay(host_of(asked), rules.crawl_delay(ROBOT))
        return asked

    async def _exchange(
        self, url: str, most_bytes: int, any_type: bool
    ) -> tuple[FetchedPage, str | None]:
        """Send a request once; return the page, and the new URL if it has moved.

        Raises:
            SendError: no page was received.
        """
        try:
            response = await self._connections.handle_async_request(page_request(url))
            try:
                return await self._read(url, response, most_bytes, any_type)
            finally:
                await response.aclose()
        except RefusedAddress as error:
            raise SendError(str(error), reasons.REFUSED_ADDRESS) from None
        except httpcore.TimeoutException:
            raise SendError("the host did not answer in time", reasons.TIMEOUT) from None
        except httpcore.ConnectError as error:
            raise SendError(f"no connection: {error}", reasons.CONNECTION) from None
        except httpcore.ProtocolError as error:
            raise SendError(f"no HTTP: {error}", reasons.GARBLED) from None
        except (httpcore.NetworkError, OSError) as error:
            message = f"the connection broke ({type(error).__name__})"
            raise SendError(message, reasons.CONNECTION, transient=True) from None

    async def _read(
        self, url: str, response: httpcore.Response, most_bytes: int, any_type: bool
    ) -> tuple[FetchedPage, str | None]:
        read = httpx.Response(response.status, headers=response.headers)
        status, headers = read.status_code, read.headers
        asked = headers.get("cache-control", "").lower()
        page = FetchedPage(
            url,
            url,
            status,
            headers.get("content-type", "").partition(";")[0].strip().lower(),
            b"",
            read.charset_encoding,
            self._now(),
            private="no-store" in asked or "private" in asked,
        )
        moved = headers.get("location") if status in _MOVED else None
        if moved:
            return page, moved
        if status not in _GOOD:
            wait = retry_after(headers, self._clock().timestamp())
            raise SendError(
                f"answered {status}", str(status), transient=status in _AGAIN, retry_after=wait
            )
        if page.content_type not in (*TYPES, *UNTOLD) and not any_type:
            detail = f"{page.content_type} is none of {', '.join(TYPES)}"
            return replace(page, reason=reasons.UNSUPPORTED_TYPE, detail=detail), None
        try:
            coding = headers.get("content-encoding", "")
            body = await read_body(response.aiter_stream(), coding, most_bytes)
        except SendError as error:
            if error.transient:
                raise
            return replace(page, reason=error.status, detail=error.message), None
        page = replace(page, content_type=type_of(page.content_type, body))
        if not any_type and not body.strip():
            return replace(page, reason=reasons.EMPTY, detail="it is empty"), None
        if not any_type and not page.content_type:
            detail = "its type is not known"
            return replace(page, reason=reasons.UNSUPPORTED_TYPE, detail=detail), None
        return replace(page, body=body), None

    async def _rules(self, rules_at: str) -> Protego | FetchedPage:
        """Return the rules in a robots.txt; the failed page if there are none to be had."""
        page = await self.get(rules_at, ruled=False)
        try:
            return await asyncio.to_thread(rules_of, page)
        except Exception as error:
            if ends_run(error):
                raise
            return replace(page, reason=reasons.UNREADABLE, detail=repr(error)[:_MOST_SAID])

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")
