"""Web search: what a search engine finds for a query, and the sentences of those pages that fit.

The pages found are fetched, their sentences ranked against the query, and the best taken with
those around them (Facts&Evidence). The snippet is used where a page cannot be fetched or has no
text, and the engine's own answers (answer box, knowledge graph) are passages too.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ufo.indexes.embedders import checked_name
from ufo.schemas.errors import UsageError, ends_run, unknown_value
from ufo.schemas.extras import missing
from ufo.schemas.records import OpenUnits, Passage
from ufo.schemas.storage import is_remote
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.retry import Sleep
from ufo.transforms.prompts import load_prompts
from ufo.transforms.sources.base import FactSource, Found, Retrieved, failed, message_of
from ufo.transforms.sources.context import SourceContext
from ufo.transforms.sources.web.categories import Selection, hostname_of, load_categories
from ufo.transforms.sources.web.engines import (
    SearchResult,
    api_of,
    locale_of,
)
from ufo.transforms.sources.web.ranking import NO_EMBEDDER
from ufo.transforms.sources.web.select import BM25, DENSE, RETRIEVERS
from ufo.transforms.sources.web.snapshot import Snapshot

if TYPE_CHECKING:
    from ufo.transforms.sources.web.pages import Pages
    from ufo.transforms.sources.web.searcher import Searched
    from ufo.transforms.sources.web.transport import Resolve
    from ufo.transforms.sources.web.visit import Visit

_LEAST = 10  # results asked of an engine, so that a sweep over `pages` searches once


class WebSource(FactSource):
    """Answers from web search: passages of the pages found, snippets where these cannot be had.

    `search` is the engine; its key and address are in the environment. Of the first `pages`
    results the `passages_per_page` best sentences are taken, with `context_sentences` before and
    after each; 0 takes snippets alone and fetches nothing. Results are left out by the category or
    registered domain of their host. `web_snapshot` is a folder: a new one records what is
    searched and fetched, a finished one is replayed, without network or key.

    The kind of a host that no rule knows is asked of the judge's model, once.
    Pages come from public addresses only, unless `allow_private_hosts`. `page_timeout` and
    `host_delay` (between requests to a host) are in seconds.
    """

    remote = True

    def __init__(
        self,
        search: str = "serper",
        pages: int = 5,
        passages_per_page: int = 1,
        context_sentences: int = 1,
        web_retriever: str = BM25,
        embedder: str | None = None,
        locale: str = "",
        include_categories: str | Sequence[str] = "",
        exclude_categories: str | Sequence[str] = "",
        include_domains: str | Sequence[str] = "",
        exclude_domains: str | Sequence[str] = "",
        categories: str | None = None,
        allow_private_hosts: bool = False,
        web_snapshot: str | None = None,
        page_timeout: float = 20.0,
        host_delay: float = 0.1,
        prompts: str | None = None,
        context: SourceContext | None = None,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        resolve: "Resolve | None" = None,
    ) -> None:
        self._backend = api_of(search)
        if web_retriever not in RETRIEVERS:
            raise UsageError(unknown_value("--web_retriever", web_retriever, RETRIEVERS))
        self.search = search
        self.queries_a_request = self._backend.batch
        """How many queries one request has, for estimates."""
        self.pages = pages
        self.passages_per_page = passages_per_page
        self.context_sentences = context_sentences
        self.web_retriever = web_retriever
        self.embedder = _embedder_of(embedder) if web_retriever == DENSE else None
        self.locale = locale
        self._locale = locale_of(locale)
        self.include_categories = _listed(include_categories)
        self.exclude_categories = _listed(exclude_categories)
        self.include_domains = _listed(include_domains)
        self.exclude_domains = _listed(exclude_domains)
        self._selection = Selection(
            *map(_names, (include_categories, exclude_categories, include_domains, exclude_domains))
        )
        self._rules = load_categories(categories)
        self._rules_file = categories
        self.allow_private_hosts = allow_private_hosts
        if web_snapshot is not None and is_remote(web_snapshot):
            raise UsageError(
                f"--web_snapshot {web_snapshot!r}: a snapshot is a folder of this machine, which "
                "its processes write together; name one, and copy it there when it is whole"
            )
        self.snapshot = None if web_snapshot is None else str(Path(web_snapshot).absolute())
        self._replays = self.snapshot is not None and Snapshot(self.snapshot).finished
        self._page_timeout = page_timeout
        self._host_delay = host_delay
        run = context or SourceContext()
        self._calls = run.calls
        self._judge = run.judge_models
        self._prompts = prompts
        self._sleep = sleep
        self._clock = clock
        self._resolve = resolve

    def unavailable(self) -> str | None:
        """Return that a key, an address or a package is missing, with the remedy, or None.

        A snapshot that is replayed needs neither key nor address.
        """
        reason = None if self._replays else self._backend.unavailable()
        absent = missing("web")
        return reason or (f"it needs {absent}" if absent else None)

    def fingerprint(self) -> str:
        """Return the user's own rules of categories. A snapshot does not count: it is the web as
        it was."""
        return Path(self._rules_file).read_text("utf-8-sig") if self._rules_file else ""

    def open(self) -> None:
        """Take this process's searcher and pages; they connect when first asked."""
        # What connects and reads takes a second to import, and most runs search nothing.
        from ufo.transforms.sources.web.shared import common, pages, searcher, shared, visit_of

        prompts = load_prompts(self._prompts)
        self._visit_of = partial(visit_of, self._judge, prompts, self._rules, self.name)
        ours = common(self._calls, self.snapshot, self._sleep, self._clock, self._resolve)
        url = self._backend.url
        count = max(_LEAST, self.pages)
        self._searcher = shared(searcher, ours, self.search, url, self._locale, count)
        self._pages: Pages = shared(
            pages,
            ours,
            self.allow_private_hosts,
            self._page_timeout,
            self._host_delay,
            self.web_retriever,
            self.embedder,
        )

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        """Return the passages for each unit, by its query; equal queries share them."""
        queries = list(dict.fromkeys(unit.query for unit in open_units.units))
        searched = await self._searcher.search(queries, self.name, open_units.response_id)
        visit = self._visit_of(open_units.response_id)
        results = {}
        for query in queries:
            results[query], searched[query] = self._read(searched[query])
        await visit.learn(one.url for found in results.values() for one in found)
        asked = (self._answer(query, searched[query], results[query], visit) for query in queries)
        answers = dict(zip(queries, await asyncio.gather(*asked), strict=True))
        found = []
        for unit in open_units.units:
            answer = answers[unit.query]
            found.append(answer)
            # What was paid for is reported once, with the first unit that asked.
            answers[unit.query] = replace(answer, usage=(), failures=())
        if found:
            usage = [*found[0].usage, *visit.usage]
            failures = [*found[0].failures, *visit.failures]
            found[0] = replace(found[0], usage=usage, failures=failures)
        return found

    def _read(self, searched: "Searched") -> tuple[list[SearchResult], "Searched"]:
        """Return what a reply has; where it cannot be read, that is its query's error alone."""
        try:
            return self._results(searched), searched
        except Exception as error:
            if ends_run(error):
                raise
            message = f"the search's reply cannot be read: {message_of(error)}"
            return [], replace(searched, error=message)

    def _results(self, searched: "Searched") -> list[SearchResult]:
        """Return what was found; where nothing is left out by its kind, no more than is used."""
        if searched.error:
            return []
        found = [one for one in self._searcher.results(searched) if one.url or one.text]
        if self._selection:
            return [one for one in found if self._selection.admits_host(hostname_of(one.url))]
        return self._used(found)

    def _used(self, results: Sequence[SearchResult]) -> list[SearchResult]:
        pages = [one for one in results if not one.stands_alone]
        return [one for one in results if one.stands_alone] + pages[: self.pages]

    async def _answer(
        self, query: str, searched: "Searched", results: Sequence[SearchResult], visit: "Visit"
    ) -> Found:
        if searched.error:
            return replace(failed(SendError(searched.error, "")), usage=searched.usage)
        used = self._used([one for one in results if self._lets_in(one.url, visit)])
        taken = await asyncio.gather(
            *(self._of_result(query, one, searched.at, visit) for one in used)
        )
        return replace(self.found(hit for some in taken for hit in some), usage=searched.usage)

    async def _of_result(
        self, query: str, result: SearchResult, searched_at: str, visit: "Visit"
    ) -> list[Retrieved]:
        """Return the passages of one result; what is wrong with it costs no other result."""
        try:
            return await self._passages(query, result, searched_at, visit)
        except Exception as error:
            if ends_run(error):
                raise
            visit.lost(result.url, error)
            return []

    async def _passages(
        self, query: str, result: SearchResult, searched_at: str, visit: "Visit"
    ) -> list[Retrieved]:
        """Return the passages of one result's page, else its snippet."""
        snippet = [self._snippet(result, searched_at, visit)] if result.text else []
        if result.stands_alone or not self.passages_per_page or result.url is None:
            return snippet
        read, waited = await self._pages.read(result.url)
        visit.took(read, waited)
        if read.reason is not None:
            return snippet
        url = read.page.final_url
        await visit.learn([url])
        if not self._lets_in(url, visit):
            return []  # redirected to where nothing is taken from; its snippet is of there
        windows = await self._pages.windows(
            read, query, self.passages_per_page, self.context_sentences
        )
        passages = (
            Retrieved(
                Passage(
                    window.text,
                    title=read.document.title or result.title,
                    url=url,
                    source_category=visit.kind(url),
                    published_at=read.document.published_at or result.published_at,
                    retrieved_at=read.page.retrieved_at,
                ),
                window.score,
            )
            for window in windows
        )
        return list(passages) or snippet

    def _snippet(self, result: SearchResult, at: str, visit: "Visit") -> Retrieved:
        assert result.text is not None
        return Retrieved(
            Passage(
                result.text,
                title=result.title,
                url=result.url,
                source_category=visit.kind(result.url),
                published_at=result.published_at,
                retrieved_at=at,
            )
        )

    def _lets_in(self, url: str | None, visit: "Visit") -> bool:
        return not self._selection or self._selection.admits(hostname_of(url), visit.kind(url))


def _names(value: str | Iterable[str]) -> list[str]:
    items = value.split(",") if isinstance(value, str) else value
    return [item.strip() for item in items if item.strip()]


def _listed(value: str | Iterable[str]) -> str:
    return ",".join(_names(value))


def _embedder_of(name: str | None) -> str:
    """Return the full name of the embedder of dense selection."""
    if name is None:
        raise UsageError(NO_EMBEDDER)
    return checked_name(name)
