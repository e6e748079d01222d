"""Pages with their text: each fetched and read once, however many queries find it."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

from indexes.embedders import Embedder
from transforms.sources.web.cached import Cached
from transforms.sources.web.fetch import Fetcher
from transforms.sources.web.page import FetchedPage
from transforms.sources.web.select import BM25, PageText, Window
from transforms.sources.web.snapshot import Snapshot
from transforms.sources.web.text import Document, document_of

_KEPT: Final = 512  # pages whose text is cached
_KEPT_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page, its body aside, and what it says. `seconds` is what it took to fetch."""

    page: FetchedPage
    document: Document
    text: PageText
    request_id: str
    seconds: float = 0.0
    replayed: bool = False

    @property
    def reason(self) -> str | None:
        """Why there is no text: of the fetch, or of the reading."""
        return self.page.reason or self.document.reason


class Pages:
    """Reads pages; for one event loop. `snapshot` has them, or takes them down.

    Reading and ranking are on threads, so that other pages keep coming in the meantime.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        snapshot: Snapshot | None = None,
        retriever: str = BM25,
        embedder: Embedder | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        self._snapshot = snapshot
        self._retriever = retriever
        self._embedder = embedder
        self._clock = clock
        self._cached = Cached[ReadPage](_KEPT, _KEPT_SECONDS, clock)

    async def read(self, url: str) -> tuple[ReadPage, bool]:
        """Return the page at a URL, and whether it was fetched for another query."""
        return await self._cached.get(url, lambda: self._read(url))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._fetcher.aclose()

    async def windows(self, read: ReadPage, query: str, n: int, context: int) -> list[Window]:
        """Return the best passages of a page for a query."""
        return await asyncio.to_thread(read.text.windows, query, n, context)

    async def _read(self, url: str) -> ReadPage:
        started = self._clock()
        page = self._snapshot.page(url) if self._snapshot is not None else None
        replayed = page is not None
        if page is None and self._snapshot is not None and self._snapshot.finished:
            page, replayed = self._snapshot.missing(url), True
        if page is None:
            page = await self._fetcher.get(url)
            if self._snapshot is not None:
                page = self._snapshot.keep_page(page)
        seconds = 0.0 if replayed else self._clock() - started
        document, text = await asyncio.to_thread(self._text, page)
        page = replace(page, body=b"")
        return ReadPage(page, document, text, uuid4().hex, seconds, replayed)

    def _text(self, page: FetchedPage) -> tuple[Document, PageText]:
        document = document_of(page)
        return document, PageText(
            document.text, self._retriever, self._embedder, title=document.title
        )
