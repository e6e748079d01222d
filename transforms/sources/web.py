"""Web search: the snippets that a search engine gives for a query, each a passage.

Serper (https://serper.dev) takes a batch of queries in one request: `POST /search` with a JSON
array, the key in `X-API-KEY`; the reply is an array of results in the same order.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any
from uuid import uuid4

import httpx

from schemas.errors import RunError, UsageError, unknown_value
from schemas.records import OpenUnits, Passage, Usage
from transforms.llm.failures import SendError, retry_after
from transforms.llm.retry import Retry, Sleep, retrying
from transforms.sources.base import FactSource, Found, failed

SEARCHES = ("serper",)
KEY_VARIABLE = "SERPER_API_KEY"
URL_VARIABLE = "SERPER_BASE_URL"
SERPER_URL = "https://google.serper.dev"
_BATCH = 100  # Serper's limit of queries in one request
_SECONDS = 30.0


class WebSource(FactSource):
    """Answers from web search: result snippets, the answer box and the knowledge graph.

    `pages` results a query are asked for. The key is read from SERPER_API_KEY, the address from
    SERPER_BASE_URL where it is not Serper's own.
    """

    remote = True

    def __init__(
        self,
        search: str = "serper",
        pages: int = 5,
        concurrency: int = 64,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if search not in SEARCHES:
            raise UsageError(unknown_value("--search", search, SEARCHES))
        self.search = search
        self.pages = pages
        self._concurrency = concurrency
        self._sleep = sleep
        self._clock = clock
        self._client: httpx.AsyncClient | None = None

    def unavailable(self) -> str | None:
        """Return that there is neither a key nor an address of one's own."""
        if not (os.environ.get(KEY_VARIABLE) or os.environ.get(URL_VARIABLE)):
            return f"it needs a search engine: set {KEY_VARIABLE} (or {URL_VARIABLE})"
        return None

    def open(self) -> None:
        """Take this process's client; it connects at the first search."""
        url = os.environ.get(URL_VARIABLE) or SERPER_URL
        self._client = _client(url, os.environ.get(KEY_VARIABLE, ""), self._concurrency)

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        """Return the passages for each unit's query; one request for up to 100 distinct ones."""
        queries = list(dict.fromkeys(unit.query for unit in open_units.units))
        batches = [queries[at : at + _BATCH] for at in range(0, len(queries), _BATCH)]
        asked = (self._searched(batch, open_units.response_id) for batch in batches)
        answers: dict[str, Found] = {}
        for batch, found in zip(batches, await asyncio.gather(*asked), strict=True):
            answers.update(zip(batch, found, strict=True))
        paid: set[str] = set()
        result = []
        for unit in open_units.units:
            answer = answers[unit.query]
            if unit.query in paid and answer.usage:
                answer = Found(
                    answer.passages,
                    answer.outcome,
                    answer.reason,
                    answer.error_type,
                    answer.message,
                )
            paid.add(unit.query)
            result.append(answer)
        return result

    async def _searched(self, queries: Sequence[str], response_id: str) -> list[Found]:
        usage: list[Usage] = []

        async def send(attempt: int) -> list[Any]:
            request_id = uuid4().hex
            started = self._clock()
            status = "ok"
            try:
                return await self._post(queries)
            except SendError as error:
                status = error.status
                raise
            finally:
                seconds = (self._clock() - started).total_seconds()
                usage.append(self._usage(request_id, response_id, status, attempt, seconds))

        try:
            replies = await retrying(send, Retry(), sleep=self._sleep)
        except SendError as error:
            if error.final:
                raise RunError(error.message) from None
            failure = failed(error)
            told = Found((), failure.outcome, failure.reason, "SendError", error.message, usage)
            untold = Found((), failure.outcome, failure.reason, "SendError", error.message)
            return [told, *[untold] * (len(queries) - 1)]
        now = self._clock().isoformat(timespec="seconds")
        results = [self.found(passages_of(reply, self.pages, now)) for reply in replies]
        first = results[0]
        results[0] = Found(first.passages, first.outcome, first.reason, usage=usage)
        return results

    async def _post(self, queries: Sequence[str]) -> list[Any]:
        assert self._client is not None, "open() comes before look_up()"
        body = [{"q": query, "num": self.pages} for query in queries]
        try:
            response = await self._client.post("/search", json=body)
        except httpx.TimeoutException:
            raise SendError("the search timed out", "timeout", transient=True) from None
        except httpx.HTTPError as error:
            message = f"no connection to {self._client.base_url}: {type(error).__name__}"
            raise SendError(message, "connection", transient=True) from None
        status = response.status_code
        if status in (401, 403):
            raise SendError(
                f"{self._client.base_url} refused the key in {KEY_VARIABLE} ({status}); set it to "
                "one that is valid there",
                str(status),
                final=True,
            )
        if status == 404:
            raise SendError(
                f"there is no search at {self._client.base_url} (404); check {URL_VARIABLE}",
                "404",
                final=True,
            )
        if status != 200:
            raise SendError(
                f"{self._client.base_url} answered {status}",
                str(status),
                transient=status == 429 or status >= 500,
                retry_after=retry_after(response.headers, datetime.now(UTC).timestamp()),
            )
        try:
            replies = response.json()
        except ValueError:
            raise SendError("the search's reply is not JSON", "garbled", transient=True) from None
        # One query may be answered by an object alone.
        replies = [replies] if isinstance(replies, dict) else replies
        if not isinstance(replies, list) or len(replies) != len(queries):
            raise SendError("the search's reply is not one result a query", "garbled")
        return replies

    def _usage(
        self, request_id: str, response_id: str, status: str, attempt: int, seconds: float
    ) -> Usage:
        return Usage(
            request_id=request_id,
            step="search",
            source=self.name,
            model=None,
            response_id=response_id,
            worker_id=str(os.getpid()),
            status=status,
            cached=False,
            coalesced=False,
            retries=attempt,
            prompt_tokens=None,
            completion_tokens=None,
            seconds=seconds,
            cost_usd=None,
        )


@cache
def _client(url: str, key: str, concurrency: int) -> httpx.AsyncClient:
    # One a process: it is used on the process's one loop, and lives as long as that.
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    headers = {"X-API-KEY": key}
    return httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=_SECONDS)


def passages_of(reply: object, pages: int, now: str) -> Iterator[Passage]:
    """Yield the passages of one result of Serper's: answer box, knowledge graph, snippets.

    What is missing, a snippet above all, or of another type than it should be is left out.
    """
    if not isinstance(reply, dict):
        return
    box = _object(reply.get("answerBox"))
    answer = _text(box, "answer") or _text(box, "snippet")
    if answer:
        title, url = _text(box, "title"), _text(box, "link")
        yield Passage(answer, title=title, url=url, published_at=_day(box), retrieved_at=now)
    graph = _object(reply.get("knowledgeGraph"))
    said = list(_statements(graph))
    if said:
        url = _text(graph, "descriptionLink") or _text(graph, "website")
        yield Passage(" ".join(said), title=_text(graph, "title"), url=url, retrieved_at=now)
    organic = reply.get("organic")
    for result in (organic if isinstance(organic, list) else [])[:pages]:
        item = _object(result)
        snippet = _text(item, "snippet")
        if snippet:
            title, url = _text(item, "title"), _text(item, "link")
            yield Passage(snippet, title=title, url=url, published_at=_day(item), retrieved_at=now)


def _statements(graph: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a knowledge graph says as sentences about its title."""
    title = _text(graph, "title")
    if title is None:
        return
    kind, description = _text(graph, "type"), _text(graph, "description")
    if kind:
        yield f"{title}: {kind}."
    if description:
        yield description
    for name, value in _object(graph.get("attributes")).items():
        if isinstance(value, str) and value.strip():
            yield f"{name}: {value.strip()}."


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(item: Mapping[str, Any], name: str) -> str | None:
    value = item.get(name)
    return value.strip() if isinstance(value, str) and value.strip() else None


def _day(item: Mapping[str, Any]) -> str | None:
    """Return the date of a result as ISO 8601; one like "3 days ago" is not a date."""
    text = _text(item, "date") or ""
    for shape in ("%b %d, %Y", "%d %b %Y", "%Y-%m-%d"):
        try:
            return datetime.strptime(text, shape).date().isoformat()
        except ValueError:
            continue
    return None
