"""Pages with their text: each fetched and read once, however many queries find it."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

from ufo.indexes.embedders import Embedder
from ufo.schemas.errors import ends_run
from ufo.transforms.sources.web.cached import Cached
from ufo.transforms.sources.web.documents import Document, FetchedPage
from ufo.transforms.sources.web.fetch import Fetcher
from ufo.transforms.sources.web.readers import Readers
from ufo.transforms.sources.web.select import BM25, PageText, Window
from ufo.transforms.sources.web.snapshot import Snapshot

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
        """Why there is no text: the reason of the fetch, or of reading the document."""
        return self.page.reason or self.document.reason

    @property
    def detail(self) -> str:
        """What there is to say of the reason, for people."""
        return self.page.detail or self.document.detail


class Pages:
    """Reads pages; for one event loop. `snapshot` has them, or takes them down.

    Pages are read in up to `readers` processes, under a budget. These are asked on threads, and
    ranking is on threads, so that other pages keep coming in the meantime.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        snapshot: Snapshot | None = None,
        retriever: str = BM25,
        embedder: Embedder | None = None,
        readers: int = 2,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        self._snapshot = snapshot
        self._retriever = retriever
        self._embedder = embedder
        self._clock = clock
        self._readers = Readers()
        self._places = asyncio.Semaphore(readers)
        self._cached = Cached[ReadPage](_KEPT, _KEPT_SECONDS, clock)

    async def read(self, url: str) -> tuple[ReadPage, bool]:
        """Return the page at a URL, and whether it was fetched for another query."""
        return await self._cached.get(url, lambda: self._read(url))

    async def aclose(self) -> None:
        """Close the connections, and end the processes."""
        self._readers.close()
        await self._fetcher.aclose()

    async def windows(self, read: ReadPage, query: str, n: int, context: int) -> list[Window]:
        """Return the best passages of a page for a query."""
        return await asyncio.to_thread(read.text.windows, query, n, context)

    async def _read(self, url: str) -> ReadPage:
        """Return a page; whatever is wrong with it is its reason, and costs no other page."""
        started = self._clock()
        page, replayed = await self._fetched(url)
        seconds = 0.0 if replayed else self._clock() - started
        async with self._places:
            document, spans = await asyncio.to_thread(self._readers.read, page)
        text = PageText(
            document.text, self._retriever, self._embedder, title=document.title, spans=spans
        )
        return ReadPage(replace(page, body=b""), document, text, uuid4().hex, seconds, replayed)

    async def _fetched(self, url: str) -> tuple[FetchedPage, bool]:
        """Return a page, and whether it is of the snapshot."""
        page = self._snapshot.page(url) if self._snapshot is not None else None
        replayed = page is not None
        if page is None and self._snapshot is not None and self._snapshot.finished:
            page, replayed = self._snapshot.missing(url), True
        if page is None:
            try:
                page = await self._fetcher.get(url)
            except Exception as error:
                if ends_run(error):
                    raise
                page = self._fetcher.broken(url, error)
            if self._snapshot is not None:
                page = self._snapshot.keep_page(page)
        return page, replayed
