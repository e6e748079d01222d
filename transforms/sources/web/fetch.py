"""Fetch a page politely, safely and within limits; a failure is a reason and never raised.

This module handles robots.txt (RFC 9309), pauses between requests to a host, redirects and retries.
`transport` connects to checked addresses only.
"""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urljoin, urlsplit

import httpcore
import httpx
from protego import Protego

from ufo.schemas.errors import ends_run
from ufo.schemas.text import host_of
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.send import Retry, Sleep, Timing, retrying
from ufo.transforms.llm.waits import retry_after
from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web.addresses import RefusedAddress, checked_url
from ufo.transforms.sources.web.documents import TYPES, UNTOLD, FetchedPage, type_of
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
AT_ONCE: Final = 2
"""Concurrent requests to a host, over all processes of a run."""
DELAY: Final = 0.1
"""Seconds between the starts of two requests to a host."""
LONGEST_DELAY: Final = 10.0
"""The longest delay, even if a host's Crawl-delay is longer."""

_MOVED: Final = (301, 302, 303, 307, 308)
_GOOD: Final = (200, 203)
_AGAIN: Final = (408, 425, 429, 502, 503, 504)
_LASTING: Final = (None, reasons.TOO_LARGE, reasons.UNSUPPORTED_TYPE, reasons.EMPTY)
# There are other pages, and a snippet for this one: it is worth one more try, but no long wait.
_RETRY: Final = Retry(attempts=2, seconds=5.0)
_MOST_SAID: Final = 500  # characters of an error
_SITES: Final = 2_000  # whose rules are cached
_RULES_SECONDS: Final = 24 * 3600.0  # RFC 9309, 2.4
_USER_AGENT: Final = re.compile(r"\s*user(?:-|\s+)?agent[\s:]+(.*)", re.IGNORECASE)


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
        self._sites = Cached[Protego | FetchedPage](_SITES, _RULES_SECONDS)
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
                page, moved = await retrying(send, _RETRY, Timing(self._sleep))
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
        """Return the URL of a page as it is requested, if it is valid and its site allows it.

        Raises:
            SendError: it may not be requested, or its site cannot say.
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
        """Return the rules of the site with this robots.txt; the failed page if it cannot say."""
        page = await self.get(rules_at, ruled=False)
        try:
            return await asyncio.to_thread(rules_of, page)
        except Exception as error:
            if ends_run(error):
                raise
            return replace(page, reason=reasons.UNREADABLE, detail=repr(error)[:_MOST_SAID])

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")


# --- robots.txt ---------------------------------------------------------------------------------


def rules_of(page: FetchedPage) -> Protego | FetchedPage:
    """Return the rules of a robots.txt; the page itself if there was no reply.

    A site without one (any 4xx, or endless redirects) allows everything. A site that cannot answer
    (5xx) allows nothing for now (RFC 9309, 2.3.1).
    """
    rules = "User-agent: *\nDisallow: /"
    if page.reason is None:
        # Always UTF-8, by the RFC; other lines than rules are ignored.
        lines = page.body.decode("utf-8-sig", "replace").splitlines()
        rules = "\n".join(map(_few_robots, lines))
    elif page.reason == reasons.TOO_MANY_REDIRECTS or 400 <= page.status < 500:
        rules = ""
    elif not page.status:
        return page
    return Protego.parse(rules)


def _few_robots(line: str) -> str:
    """Return the line with one name in place of every robot that is not this one.

    Protego stores the rules of a group once for each robot. A file with thousands of robots and
    rules would take minutes and gigabytes.
    """
    found = _USER_AGENT.match(line)
    robot = found and found[1].partition("#")[0].strip().lower()
    if not robot:
        return line
    robot = robot.replace("*", "") or "*"  # as Protego reads it
    return f"User-agent: {robot if robot == '*' or ROBOT.startswith(robot) else '-'}"


# --- what is shared between requests ------------------------------------------------------------


class Hosts:
    """Limits the requests to each host: few at once, and a pause between them.

    A longer Crawl-delay of a host is respected, up to ten seconds.
    """

    def __init__(
        self,
        workers: int = 1,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workers = workers
        self._sleep = sleep
        self._clock = clock
        self._places: dict[str, asyncio.Semaphore] = {}
        self._next: dict[str, float] = {}
        self._delays: dict[str, float] = {}

    def crawl_delay(self, host: str, seconds: float | None) -> None:
        """Set the Crawl-delay of a host, from its robots.txt."""
        self._delays[host] = min(max(seconds or 0.0, DELAY), LONGEST_DELAY)

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait for a slot and for the host's next time; hold the slot until the block ends."""
        at_once = max(1, AT_ONCE // self._workers)
        async with self._places.setdefault(host, asyncio.Semaphore(at_once)):
            now = self._clock()
            start = max(now, self._next.get(host, now))
            # The next request gets a later time, whatever the order of waking.
            self._next[host] = start + self._delays.get(host, DELAY) * self._workers
            if start > now:
                await self._sleep(start - now)
            yield


class Cached(Generic[T]):
    """A cache of up to `most` values, each for `seconds`; concurrent callers share one computation.

    Failures are not cached. `clock` is for tests.
    """

    def __init__(
        self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, asyncio.Task[T]]] = OrderedDict()

    async def get(self, key: str, make: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """Return the value of a key, and whether another call computed it."""
        known, now = self._known.get(key), self._clock()
        waited = known is not None and (not known[1].done() or now - known[0] < self._seconds)
        if known is None or not waited:
            # A separate task, which continues for the other callers if this one is cancelled.
            known = self._known[key] = (now, asyncio.ensure_future(make()))
            known[1].add_done_callback(lambda task: self._drop_failed(key, task))
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return await asyncio.shield(known[1]), waited

    def _drop_failed(self, key: str, task: asyncio.Task[T]) -> None:
        failed = task.cancelled() or task.exception() is not None
        if failed and key in self._known and self._known[key][1] is task:
            del self._known[key]
