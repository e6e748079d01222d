"""Read each web page once, however many queries find it."""

import asyncio
import base64
import os
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from ufo.indexes.embedders import make_embedder
from ufo.transforms.llm.client_settings import CallSettings
from ufo.transforms.llm.retry import Sleep
from ufo.transforms.llm.shared import shared_cache
from ufo.transforms.sources.web.documents import Document, FetchedPage
from ufo.transforms.sources.web.fetch import Fetcher, lasts
from ufo.transforms.sources.web.ranking import PageText
from ufo.transforms.sources.web.readers import Readers
from ufo.transforms.sources.web.snapshot import NOT_RECORDED, Snapshot, WebStore
from ufo.transforms.sources.web.timed_cache import TimedCache
from ufo.transforms.sources.web.transport import Resolve

_MOST_BYTES: Final = 1024 * 1024  # of a page in the cache
_HELD: Final = 512  # pages whose text is kept in memory for _HELD_SECONDS
_HELD_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page without its body, and its content.

    `seconds` is the time to fetch it; `cached` says that it was not fetched.
    """

    page: FetchedPage
    document: Document
    text: PageText
    request_id: str
    seconds: float
    cached: bool


class Pages:
    """Reads pages; for one event loop. `snapshot` replays them, or records them.

    `embedder` is the full name of the embedder that ranks their sentences, None for BM25. Processes
    with a budget read the pages. Calls to them, and the ranking, run on threads, so that other
    pages are fetched in the meantime.
    """

    def __init__(
        self,
        allow_private: bool,
        embedder: str | None,
        resolve: Resolve,
        calls: CallSettings,
        snapshot: Snapshot | None,
        sleep: Sleep,
        clock: Callable[[], datetime],
    ) -> None:
        self._fetcher = Fetcher(
            allow_private,
            calls.concurrency,
            calls.workers,
            resolve=resolve,
            sleep=sleep,
            clock=clock,
        )
        self._allow_private = allow_private
        self._kept = WebStore(shared_cache(calls), snapshot, clock)
        self._embedder = None if embedder is None else make_embedder(embedder)
        # A page that uses its full time must not delay the others.
        self._readers = Readers(max(2, (os.cpu_count() or 1) // calls.workers))
        self._held = TimedCache[ReadPage](_HELD, _HELD_SECONDS)

    async def read(self, url: str) -> tuple[ReadPage, bool]:
        """Return the page at a URL, and whether it was fetched for another query."""
        return await self._held.get(url, lambda: self._read(url))

    async def aclose(self) -> None:
        """Close the connections, and end the processes."""
        self._readers.close()
        await self._fetcher.aclose()

    async def _read(self, url: str) -> ReadPage:
        """Return a page, or the one that it sends its readers to.

        An error is its `reason` and does not affect other pages.
        """
        started = time.monotonic()
        page, cached = await self._look_up_or_fetch(url)
        seconds = 0.0 if cached else time.monotonic() - started
        document = await self._document(page)
        if document.moved_to is not None:
            started = time.monotonic()
            moved, was_kept = await self._look_up_or_fetch(document.moved_to)
            seconds += 0.0 if was_kept else time.monotonic() - started
            detail = f"{document.detail}; {moved.detail}" if moved.reason else ""
            page, cached = replace(moved, url=url, detail=detail), cached and was_kept
            document = await self._document(page)
        text = PageText(document, self._embedder)
        return ReadPage(replace(page, body=b""), document, text, uuid4().hex, seconds, cached)

    async def _document(self, page: FetchedPage) -> Document:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers.threads, self._readers.read, page)

    async def _look_up_or_fetch(self, url: str) -> tuple[FetchedPage, bool]:
        """Return a page, and whether it was stored: recorded, or fetched today by any run."""
        # A stored page needs no check of addresses, so pages of private hosts have other keys.
        key = self._kept.key("p", url, today=self._allow_private)
        kept = _page_from_json((await self._kept.get_many([key])).get(key))
        if kept is not None:
            return kept, True
        remedy = self._kept.remedy
        if remedy is not None:
            return FetchedPage(url, url, 0, "", b"", None, "", NOT_RECORDED, remedy), True
        page = await self._fetcher.get(url)
        if not self._kept.writes:
            return page, False
        value = {**asdict(page), "body": base64.b64encode(zlib.compress(page.body, 1)).decode()}
        lasting = lasts(page) and len(page.body) <= _MOST_BYTES
        held = await self._kept.put_many({key: value}, lasting)
        return _page_from_json(held[key]) or page, False


def _page_from_json(value: Any) -> FetchedPage | None:
    try:
        body = zlib.decompress(base64.b64decode(value["body"]))
        return FetchedPage(**{**value, "body": body})
    except (TypeError, KeyError, ValueError, zlib.error):
        return None  # stored by another version
