"""Use the web as a fact source: a search for each query, and the best sentences of the pages found.

The pages found are fetched and their sentences ranked for the query. The best are taken with the
sentences around them (as in Facts&Evidence). Where a page cannot be fetched or has no text, its
snippet is used. The engine's own statements (answer box, knowledge graph, infobox, questions that
people also ask) are passages of the page that they name.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ufo.schemas.dependencies import missing
from ufo.schemas.errors import DoesNotFit, UsageError, ends_run, unknown_value
from ufo.schemas.file_systems import is_remote
from ufo.schemas.records import Failure, OpenUnits, Passage, Usage
from ufo.schemas.text import quantity
from ufo.transforms.concurrently import together
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.request import VERIFIER, Request
from ufo.transforms.llm.retry import Sleep
from ufo.transforms.llm.shared import once, shared_client
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.plugin_errors import message_of
from ufo.transforms.prompts import load_prompts
from ufo.transforms.sources import defaults
from ufo.transforms.sources.fact_source import (
    FactSource,
    Found,
    Retrieved,
    SourceContext,
    failed_result,
    reported_once,
)
from ufo.transforms.sources.host_categories import hostname_of
from ufo.transforms.sources.host_selection import hosts_chosen
from ufo.transforms.sources.web.categories import kind_of
from ufo.transforms.sources.web.engines import api_of
from ufo.transforms.sources.web.same_page import Listing, by_page, listing_of, page_keys
from ufo.transforms.sources.web.snapshot import Snapshot

if TYPE_CHECKING:
    from ufo.transforms.judges.llm.asking import Asker
    from ufo.transforms.sources.web.pages import ReadPage
    from ufo.transforms.sources.web.searching import Searched
    from ufo.transforms.sources.web.transport import Resolve

DENSE: Final = "dense"
_RETRIEVERS: Final = (defaults.RETRIEVER, DENSE)
_LEAST: Final = 10  # results requested, so that runs with other `pages` use the same search
_PAGE: Final = "page"
_LEFT_OUT: Final = "sentences_left_out"
_UNSENT: Final = ("blocked_by_robots", "refused_address")


class WebSource(FactSource):
    """Checks against the web: pages that a search finds, or the excerpts that it shows of them.

    `search` is the engine; its key and address are in the environment. From each of the first
    `pages` pages the `passages_per_page` best sentences are taken, with `context_sentences` before
    and after each. Several addresses of one page count as one. With `passages_per_page` 0 only
    snippets are used and nothing is fetched. Results can be left out by the category or registered
    domain of their host. `web_snapshot` is a folder: a new one records searches and pages, a
    finished one is replayed without network or key.

    The judge's model is asked once for the category of a host without a rule. Pages are fetched
    from public addresses only, unless `allow_private_hosts`.

    The attributes `sleep`, `clock` and `resolve` are for tests, which set them before `open`.
    """

    remote = True

    def __init__(
        self,
        search: str = defaults.ENGINE,
        pages: int = defaults.PAGES,
        passages_per_page: int = defaults.PASSAGES_PER_PAGE,
        context_sentences: int = defaults.CONTEXT_SENTENCES,
        web_retriever: str = defaults.RETRIEVER,
        embedder: str | None = None,
        include_categories: str | Sequence[str] = "",
        exclude_categories: str | Sequence[str] = "",
        include_domains: str | Sequence[str] = "",
        exclude_domains: str | Sequence[str] = "",
        allow_private_hosts: bool = False,
        web_snapshot: str | None = None,
        prompts: str | None = None,
        context: SourceContext | None = None,
    ) -> None:
        self._api = api_of(search)
        if web_retriever not in _RETRIEVERS:
            raise UsageError(unknown_value("--web_retriever", web_retriever, _RETRIEVERS))
        self.embedder = None
        if web_retriever == DENSE:
            from ufo.indexes.embedders import ALLOWED, checked_name  # numpy is slow to import

            if embedder is None:
                raise DoesNotFit(f"--web_retriever dense needs --embedder: {ALLOWED}")
            self.embedder = checked_name(embedder)
        self.search = search
        self.queries_a_request = self._api.batch
        """The number of queries in one request, for estimates."""
        self.pages = pages
        self.passages_per_page = passages_per_page
        self.context_sentences = context_sentences
        self.web_retriever = web_retriever
        chosen = include_categories, exclude_categories, include_domains, exclude_domains
        names = [_names(value) for value in chosen]
        self._selection = hosts_chosen(*names)
        self._chooses = any(names)
        self.include_categories, self.exclude_categories = map(",".join, names[:2])
        self.include_domains, self.exclude_domains = map(",".join, names[2:])
        self.allow_private_hosts = allow_private_hosts
        if web_snapshot is not None and is_remote(web_snapshot):
            raise UsageError(
                f"--web_snapshot {web_snapshot!r}: a snapshot must be a folder of this machine; "
                "name one, and copy it when it is complete"
            )
        self.snapshot = None if web_snapshot is None else str(Path(web_snapshot).absolute())
        self._replays = self.snapshot is not None and Snapshot(self.snapshot).finished
        self._run = context or SourceContext()
        self._prompts = prompts
        self.sleep: Sleep = asyncio.sleep
        self.clock: Callable[[], datetime] = _now
        self.resolve: Resolve | None = None

    def unavailable(self) -> str | None:
        """Return which key, address or package is missing, with the remedy, or None.

        A snapshot that is replayed needs neither key nor address.
        """
        reason = None if self._replays else self._api.unavailable()
        absent = missing("web")
        return reason or (f"it needs {absent}" if absent else None)

    def open(self) -> None:
        """Get this process's searcher and pages, shared by sources of a run with equal settings.

        They connect at the first request.
        """
        # These modules take a second to import, and most runs do not search.
        from ufo.transforms.sources.web.pages import Pages
        from ufo.transforms.sources.web.searching import Searcher
        from ufo.transforms.sources.web.transport import system_resolver

        calls = self._run.calls
        self._texts = load_prompts(self._prompts)
        snapshot = None
        if self.snapshot is not None:
            new_snapshot = Snapshot(self.snapshot)
            # A recording and a replay of the same folder are separate objects.
            key = Snapshot, new_snapshot.folder, new_snapshot.finished
            snapshot = once(calls.run, key, lambda: new_snapshot)
        shared = calls, snapshot, self.sleep, self.clock
        count = max(_LEAST, self.pages)
        self._searcher = once(
            calls.run,
            (Searcher, self.search, self._api.url, count, *shared),
            lambda: Searcher(self._api, count, *shared),
        )
        private, embedder = self.allow_private_hosts, self.embedder
        resolve = self.resolve or system_resolver
        self._pages = once(
            calls.run,
            (Pages, private, embedder, resolve, *shared),
            lambda: Pages(private, embedder, resolve, *shared),
        )

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        """Return the passages for each unit, by its query; equal queries share them."""
        queries = list(dict.fromkeys(unit.query for unit in open_units.units))
        searched = await self._searcher.search(queries, self.name, open_units.response_id)
        visit = PageVisits(self.name, open_units.response_id, self._asker(open_units.response_id))
        asked = (self._answer(query, searched[query], visit) for query in queries)
        answers = dict(zip(queries, await together(asked), strict=True))
        results = reported_once(open_units.units, answers)
        if results:
            usage = [*results[0].usage, *visit.usage.values()]
            failures = [*visit.failures.values()]
            if visit.asker is not None:
                usage += visit.asker.usage
                failures += visit.asker.failures
            results[0] = replace(results[0], usage=usage, failures=failures)
        return results

    def _asker(self, response_id: str) -> "Asker | None":
        """Return the asker for the categories of hosts, None if the judge has no model."""
        from ufo.transforms.judges.llm.asking import Asker  # not needed where no model is asked

        judge = self._run.models if self._run.judge_asks else None
        if judge is None:
            return None
        client = self._run.client() if self._run.client else shared_client(judge)
        model = judge.endpoints[VERIFIER].model
        of = Request(
            VERIFIER, model, (), step="category", source=self.name, response_id=response_id
        )
        return Asker(client, self._texts, of)

    async def _answer(self, query: str, searched: "Searched", visit: "PageVisits") -> Found:
        """Return the passages for a query; an unreadable reply is an error of this query only."""
        error = searched.error
        hits: list[Retrieved] = []
        if not error:
            try:
                listings = await self._listings(searched.reply, visit)
                hits = await self._hits(query, listings, searched.at, visit)
            except Exception as caught:
                if ends_run(caught):
                    raise
                error = f"the search's reply cannot be read: {message_of(caught)}"
        if error:
            return replace(failed_result(SendError(error, ""), self.name), usage=searched.usage)
        return replace(self.found(hits), usage=searched.usage)

    async def _listings(self, reply: Any, visit: "PageVisits") -> list[Listing]:
        """Return the listings of a search's reply, one a page, without those of excluded hosts."""
        results = [result for result in self._api.results(reply) if result.url or result.text]
        admitted = await together(self._admits(result.url, visit) for result in results)
        return by_page(map(listing_of, compress(results, admitted)))

    async def _hits(
        self, query: str, listings: Sequence[Listing], searched_at: str, visit: "PageVisits"
    ) -> list[Retrieved]:
        """Return the passages of the engine's own statements and of the first pages.

        A page that turns out to be an earlier one adds only its listing, and the next takes its
        place.
        """
        alone = [one for one in listings if one.result.stands_alone]
        waiting = deque(one for one in listings if not one.result.stands_alone)
        pages: list[Listing] = []
        while waiting and len(pages) < self.pages:
            batch = [waiting.popleft() for _ in range(min(len(waiting), self.pages - len(pages)))]
            await together(self._read(listing, visit) for listing in batch)
            pages = by_page([*pages, *batch])
        pages = by_page([*pages, *alone])
        pages.sort(key=lambda listing: not listing.result.stands_alone)
        taken = await together(self._of_page(query, page, searched_at, visit) for page in pages)
        return list(chain.from_iterable(taken))

    async def _read(self, listing: Listing, visit: "PageVisits") -> None:
        """Read the page of a listing, if that is possible."""
        url = listing.result.url
        if url is None or not self.passages_per_page:
            return
        with visit.recording_errors(url):
            page, waited = await self._pages.read(url)
            visit.record_page(page, waited)
            document = page.document
            if document.reason is None:
                urls = url, page.page.final_url
                listing.page = page
                listing.keys = page_keys(urls, document.canonical, document.text)

    async def _of_page(
        self, query: str, listing: Listing, searched_at: str, visit: "PageVisits"
    ) -> list[Retrieved]:
        """Return the passages of a page; its errors do not affect other pages."""
        with visit.recording_errors(listing.result.url or "?"):
            return await self._passages(query, listing, searched_at, visit)
        return []

    async def _passages(
        self, query: str, listing: Listing, searched_at: str, visit: "PageVisits"
    ) -> list[Retrieved]:
        """Return the best passages of a page, the engine's statements with the first.

        Where the page was not read, its snippet is the passage.
        """
        result, statements, read = listing.result, listing.statements, listing.page
        shown = Passage(
            "\n".join([*statements, *listing.snippets]),
            title=result.title,
            url=result.url,
            source_category=await visit.kind(result.url),
            published_at=result.published_at,
            retrieved_at=searched_at,
        )
        snippet = [Retrieved(shown)] if shown.text else []
        if read is None:
            return snippet
        url = read.page.final_url
        if not await self._admits(url, visit):
            return []  # redirected to an excluded host, which the snippet is from, too
        of_page = replace(
            shown,
            title=read.document.title or result.title,
            url=url,
            source_category=await visit.kind(url),
            published_at=read.document.published_at or result.published_at,
            retrieved_at=read.page.retrieved_at,
        )
        # On a thread, so that other pages are fetched in the meantime.
        windows = await asyncio.to_thread(
            read.text.windows, query, self.passages_per_page, self.context_sentences
        )
        if not windows:
            return snippet
        (best, score), *others = windows
        unsaid = [text for text in statements if text not in best]
        first = "\n".join([*unsaid, best]), score
        return [
            Retrieved(replace(of_page, text=text), score, document=url)
            for text, score in (first, *others)
        ]

    async def _admits(self, url: str | None, visit: "PageVisits") -> bool:
        if not self._chooses:
            return True
        host = Passage("", hostname=hostname_of(url))
        # For a host that is excluded by its domain no model is asked.
        of_domain = replace(self._selection, without_categories=(), only_categories=None)
        if not of_domain.keeps("", host):
            return False
        kind = await visit.kind(url)
        return self._selection.keeps("", replace(host, source_category=kind))


def _now() -> datetime:
    return datetime.now(UTC)


def _names(value: str | Iterable[str]) -> list[str]:
    items = value.split(",") if isinstance(value, str) else value
    return [item.strip() for item in items if item.strip()]


@dataclass(frozen=True, slots=True)
class PageVisits:
    """The requests for pages of one response, the failed ones by URL, and the categories of hosts.

    `asker` is asked for the category of a host without a rule.
    """

    source: str
    response_id: str
    asker: "Asker | None"
    usage: dict[str, Usage] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    _kinds: dict[str, asyncio.Future[str]] = field(default_factory=dict)

    async def kind(self, url: str | None) -> str:
        """Return the category of a URL's host; a model is asked at most once.

        Raises:
            LlmError: no request to the model can succeed (`final`).
        """
        host = hostname_of(url)
        if host not in self._kinds:
            self._kinds[host] = asyncio.ensure_future(kind_of(host, self.asker))
        return await self._kinds[host]

    @contextmanager
    def recording_errors(self, key: str) -> Iterator[None]:
        """Record an error of a library in the block, and go on after the block."""
        try:
            yield
        except Exception as error:
            if ends_run(error):
                raise
            self.failures[key] = Failure(_PAGE, key, type(error).__name__, message_of(error))

    def record_page(self, read: "ReadPage", waited: bool) -> None:
        """Record a page that was read; `waited` says that another response or query fetched it."""
        url = read.page.url
        if url in self.usage or url in self.failures:
            return
        reason, detail = read.document.reason, read.document.detail
        if reason is not None:
            message = f"{reason}: {detail or 'nothing to read'}"
            self.failures[url] = Failure(_PAGE, url, reason, message)
        elif read.document.left_out:
            message = (
                f"{quantity(read.document.left_out, 'sentence')} left out, since a raised number "
                "may be a power or the mark of a note, or a formula has no text"
            )
            self.failures[url] = Failure(_PAGE, url, _LEFT_OUT, message)
        if read.page.reason in _UNSENT:
            return
        row = usage_row(_PAGE, self.source, None, self.response_id, read.request_id)
        failed_as = str(read.page.status or read.page.reason)
        self.usage[url] = replace(
            row,
            status=failed_as if read.page.reason else row.status,
            seconds=0.0 if waited else read.seconds,
            cached=read.cached,
            coalesced=waited and not read.cached,
        )
