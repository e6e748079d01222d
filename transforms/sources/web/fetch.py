"""One page from its URL: politely, safely, under caps; what goes wrong is a reason, never raised.

From outside in: robots.txt and redirects (here), HTTP caching (`http_cache`), and connections to
checked addresses only (`transport`). A page from the cache needs no connection.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urljoin

import httpcore
import httpx

from ufo.schemas.errors import ends_run
from ufo.transforms.llm.failures import SendError, retry_after
from ufo.transforms.llm.memory import Memory
from ufo.transforms.llm.retry import Retry, Sleep, Timing, retrying
from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web import robots
from ufo.transforms.sources.web.addresses import RefusedAddress, checked_url
from ufo.transforms.sources.web.cached import Cached
from ufo.transforms.sources.web.decoding import TooLarge, Undecodable, read_body
from ufo.transforms.sources.web.documents import FetchedPage
from ufo.transforms.sources.web.hosts import Hosts
from ufo.transforms.sources.web.transport import Resolve, page_client, system_resolver

HTML: Final = ("text/html", "application/xhtml+xml")
PLAIN: Final = "text/plain"
PDF: Final = "application/pdf"
TYPES: Final = (*HTML, PLAIN, PDF)
REDIRECTS: Final = 5
_MOVED: Final = (301, 302, 303, 307, 308)
_GOOD: Final = (200, 203)
_AGAIN: Final = (408, 425, 429, 502, 503, 504)
_UNTYPED: Final = ("", "application/octet-stream", "binary/octet-stream")
# A page is one of several, and has its snippet: it is worth one more try, and no long wait.
_RETRY: Final = Retry(attempts=2, seconds=5.0)
_MOST_SAID: Final = 500  # characters of an error
_SITES: Final = 2_000  # whose rules are cached
_RULES_SECONDS: Final = 24 * 3600.0  # RFC 9309, 2.4


@dataclass(frozen=True, slots=True)
class Caps:
    """What a page may take: seconds from request to last byte (over all redirects, waits for the
    host apart), and bytes as they come and decoded."""

    seconds: float = 20.0
    most_bytes: int = 8 * 1024 * 1024


class Fetcher:
    """Fetches pages; for one event loop.

    `memory` is where pages are kept as HTTP caching has it, None for nowhere. `allow_private`
    fetches from addresses that are not public, too. `resolve`, `sleep` and the clocks are for
    tests.
    """

    def __init__(
        self,
        memory: Memory | None = None,
        allow_private: bool = False,
        caps: Caps | None = None,
        hosts: Hosts | None = None,
        connections: int = 64,
        resolve: Resolve = system_resolver,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._allow_private = allow_private
        self._caps = caps or Caps()
        self._hosts = hosts or Hosts()
        self._sleep = sleep
        self._clock = clock
        self._places = asyncio.Semaphore(connections)
        self._sites = Cached[_Site](_SITES, _RULES_SECONDS)
        self._client = page_client(memory, allow_private, connections, resolve)

    async def get(self, url: str) -> FetchedPage:
        """Return the page at a URL, by way of up to five redirects; each is asked for by rules."""
        return await self._followed(url, self._caps.most_bytes, ruled=True)

    def broken(self, url: str, error: Exception) -> FetchedPage:
        """Return what stands for a page that no library could make anything of."""
        return self._without(url, url, reasons.UNREADABLE, repr(error)[:_MOST_SAID])

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _followed(self, url: str, most_bytes: int, ruled: bool) -> FetchedPage:
        at, left = url, self._caps.seconds
        for _ in range(REDIRECTS + 1):
            page, next_url, took = await self._step(at, most_bytes, left, ruled)
            if next_url is None:
                return replace(page, url=url)
            at, left = urljoin(at, next_url), left - took
        return self._without(url, at, reasons.TOO_MANY_REDIRECTS, f"more than {REDIRECTS}")

    async def _step(
        self, url: str, most_bytes: int, seconds: float, ruled: bool
    ) -> tuple[FetchedPage, str | None, float]:
        """Return the page or where it has moved to, and the seconds it took."""
        try:
            url = checked_url(url, self._allow_private)
            request = self._client.build_request("GET", url)
        except (RefusedAddress, httpx.InvalidURL, UnicodeError, ValueError) as error:
            return self._without(url, url, reasons.REFUSED_ADDRESS, str(error)), None, 0.0
        host = request.url.host
        if ruled:
            site = await self._site(url)
            if site.unreached is not None:
                return replace(site.unreached, url=url, final_url=url), None, 0.0
            # On a thread, as rules are read: 500 KiB of them take a second.
            if not await asyncio.to_thread(site.rules.allow, url):
                detail = f"{robots.address(url)} asks robots to leave it alone"
                return self._without(url, url, reasons.BLOCKED_BY_ROBOTS, detail), None, 0.0
            self._hosts.crawl_delay(host, site.rules.crawl_delay)
        took = 0.0

        async def send(attempt: int) -> tuple[FetchedPage, str | None]:
            nonlocal took
            async with self._hosts.turn(host), self._places:
                started = time.monotonic()
                try:
                    async with asyncio.timeout(max(seconds - took, 0.0)):
                        return await self._exchange(request, most_bytes, any_type=not ruled)
                except TimeoutError:
                    message = f"not there within {self._caps.seconds:g} s"
                    raise SendError(message, reasons.TIMEOUT) from None
                finally:
                    took += time.monotonic() - started

        try:
            page, moved = await retrying(send, _RETRY, Timing(self._sleep))
        except SendError as error:
            status = int(error.status) if error.status.isdigit() else 0
            reason = f"http_{status}" if status else error.status
            return self._without(url, url, reason, error.message, status), None, took
        return page, moved, took

    async def _exchange(
        self, request: httpx.Request, most_bytes: int, any_type: bool
    ) -> tuple[FetchedPage, str | None]:
        """Send a request once; returns the page, and where it has moved to if it has.

        Raises:
            SendError: no reply, or one that may be another later.
        """
        try:
            response = await self._client.send(request, stream=True)
            try:
                return await self._read(response, most_bytes, any_type)
            finally:
                await response.aclose()
        except RefusedAddress as error:
            raise SendError(str(error), reasons.REFUSED_ADDRESS) from None
        except httpcore.TimeoutException:
            raise SendError("the host did not answer in time", reasons.TIMEOUT) from None
        except httpcore.ConnectError as error:
            raise SendError(f"no connection: {error}", reasons.CONNECTION) from None
        except (httpcore.ProtocolError, httpx.ProtocolError) as error:
            raise SendError(f"no HTTP: {error}", reasons.GARBLED) from None
        except (httpcore.NetworkError, httpx.HTTPError, OSError) as error:
            message = f"the connection broke ({type(error).__name__})"
            raise SendError(message, reasons.CONNECTION, transient=True) from None
        except (ValueError, TypeError, RuntimeError) as error:
            # A hostile server's headers can raise anything in a library; that must not end a run.
            raise SendError(f"no HTTP: {error!r}", reasons.GARBLED) from None

    async def _read(
        self, response: httpx.Response, most_bytes: int, any_type: bool
    ) -> tuple[FetchedPage, str | None]:
        url, status = str(response.url), response.status_code
        if status in _MOVED and response.headers.get("location"):
            return self._without(url, url, f"http_{status}", "", status), response.headers[
                "location"
            ]
        if status not in _GOOD:
            now = self._clock().timestamp()
            raise SendError(
                f"answered {status}",
                str(status),
                transient=status in _AGAIN,
                retry_after=retry_after(response.headers, now),
            )
        declared = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        reason, body = None, b""
        if declared not in (*TYPES, *_UNTYPED) and not any_type:
            detail = f"{declared} is none of {', '.join(TYPES)}"
            return self._without(url, url, reasons.UNSUPPORTED_TYPE, detail, status), None
        try:
            coding = response.headers.get("content-encoding", "")
            body = await read_body(response.aiter_raw(), coding, most_bytes)
        except TooLarge:
            reason = reasons.TOO_LARGE
        except Undecodable:
            reason = reasons.GARBLED
        kind = _sniffed(body) if declared in _UNTYPED else declared
        if reason is None and not body.strip() and not any_type:
            reason = reasons.EMPTY
        elif reason is None and not kind and not any_type:
            reason = reasons.UNSUPPORTED_TYPE
        page = FetchedPage(
            url,
            url,
            status,
            kind,
            b"" if reason else body,
            response.charset_encoding,
            self._retrieved(response),
            reason,
            f"over {most_bytes:,} bytes" if reason == reasons.TOO_LARGE else "",
        )
        return page, None

    async def _site(self, url: str) -> "_Site":
        """Return what a URL's site allows; who asks while that is being found out waits for it."""
        where = robots.address(url)

        async def fetched() -> _Site:
            page = await self._followed(where, robots.MOST_BYTES, ruled=False)
            try:
                rules = await asyncio.to_thread(robots.rules_of, page)
            except Exception as error:
                if ends_run(error):
                    raise
                lost = self.broken(where, error)  # and with it each page of the site
                return _Site(robots.Rules(None, everything=False), lost)
            return _Site(rules, _unreached(page))

        return (await self._sites.get(where, fetched))[0]

    def _retrieved(self, response: httpx.Response) -> str:
        now = self._clock()
        caching = response.extensions.get("caching") or {}
        age = response.headers.get("age", "")
        if caching.get("from_cache") and age.isdigit():
            now -= timedelta(seconds=min(int(age), 10**9))
        return now.isoformat(timespec="seconds")

    def _without(
        self, url: str, final_url: str, reason: str, detail: str, status: int = 0
    ) -> FetchedPage:
        now = self._clock().isoformat(timespec="seconds")
        return FetchedPage(url, final_url, status, "", b"", None, now, reason, detail)


@dataclass(frozen=True, slots=True)
class _Site:
    """What a site allows; or why it could not even be asked."""

    rules: robots.Rules
    unreached: FetchedPage | None


def _unreached(page: FetchedPage) -> FetchedPage | None:
    lost = page.reason == reasons.TOO_MANY_REDIRECTS
    return None if page.status or lost else page


def _sniffed(body: bytes) -> str:
    """Return the type of a body that was sent without one; empty where it is none we read."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(b"%pdf-"):
        return PDF
    return HTML[0] if start.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml")) else ""
