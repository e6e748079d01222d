"""Web search: the snippets that a search engine gives for a query, each a passage.

Serper (https://serper.dev) takes a batch of queries in one request: `POST /search` with a JSON
array, the key in `X-API-KEY`; the reply is an array of results in the same order.
"""

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx

from schemas.errors import RunError, UsageError, unknown_value
from schemas.records import OpenUnits, Passage, Usage
from transforms.llm.failures import SendError, retry_after
from transforms.llm.retry import Retry, Sleep, retrying
from transforms.llm.session import worker_id
from transforms.sources.base import FactSource, Found, failed

SEARCHES = ("serper",)
KEY_VARIABLE = "SERPER_API_KEY"
URL_VARIABLE = "SERPER_BASE_URL"
SERPER_URL = "https://google.serper.dev"
_BATCH = 100  # Serper's limit of queries in one request
_TIMEOUT = httpx.Timeout(30.0, pool=None)  # to wait for a connection is not the engine's fault
_PARTS = ("organic", "answerBox", "knowledgeGraph", "searchParameters")  # of a result, any of them
_SURROGATES = re.compile("[\ud800-\udfff]")


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
        self._url = ""
        self._answered = False

    def unavailable(self) -> str | None:
        """Return that there is neither a key nor an address of one's own, or not a usable one."""
        key, url = _variable(KEY_VARIABLE), _variable(URL_VARIABLE)
        if not (key or url):
            return f"it needs a search engine: set {KEY_VARIABLE} (or {URL_VARIABLE})"
        if not (key.isascii() and key.isprintable()):
            return f"the key in {KEY_VARIABLE} has characters that no key has; set it again"
        if url and not _usable(url):
            return f"{URL_VARIABLE} is no http:// or https:// URL (without user name); set it again"
        return None

    def open(self) -> None:
        """Take this process's client; it connects at the first search."""
        url = _variable(URL_VARIABLE) or SERPER_URL
        self._url = url.partition("?")[0].rstrip("/")
        self._client = _client(url, _variable(KEY_VARIABLE), self._concurrency)

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
                answer = replace(answer, usage=())
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
            results = [failed(error)] * len(queries)
        else:
            now = self._clock().isoformat(timespec="seconds")
            results = [self._result(reply, now) for reply in replies]
        # What was paid for is told once, with the first query that it served.
        return [replace(results[0], usage=usage), *results[1:]]

    def _result(self, reply: object, now: str) -> Found:
        if not isinstance(reply, dict) or not any(part in reply for part in _PARTS):
            return failed(SendError("the search has no result for this query", "garbled"))
        return self.found(passages_of(reply, self.pages, now))

    async def _post(self, queries: Sequence[str]) -> list[Any]:
        assert self._client is not None, "open() comes before look_up()"
        body = [{"q": _whole(query), "num": self.pages} for query in queries]
        try:
            response = await self._client.post("/search", json=body)
        except httpx.TimeoutException:
            raise SendError("the search timed out", "timeout", transient=True) from None
        except httpx.HTTPError as error:
            if isinstance(error, httpx.ConnectError) and not self._answered:
                message = f"nothing answers at {self._url}; check {URL_VARIABLE} and the network"
                raise SendError(message, "connection", final=True) from None
            message = f"the connection to {self._url} broke ({type(error).__name__})"
            raise SendError(message, "connection", transient=True) from None
        self._answered = True
        if response.status_code != 200:
            raise _refused(self._url, response)
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
            worker_id=worker_id(),
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
    return httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=_TIMEOUT)


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()


def _usable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username


def _refused(url: str, response: httpx.Response) -> SendError:
    """Return what a reply of another status than 200 means."""
    status = response.status_code
    if status == 402 or (status == 400 and "credits" in response.text.lower()):
        message = (
            f"the credits of the key in {KEY_VARIABLE} at {url} are spent ({status}); top them up, "
            "or set another key, and run the same command again"
        )
        return SendError(message, str(status), final=True)
    if status in (401, 403):
        message = (
            f"{url} refused the key in {KEY_VARIABLE} ({status}); set it to one that is valid there"
        )
        return SendError(message, str(status), final=True)
    if status in (404, 405):
        message = f"there is no search at {url} ({status}); check {URL_VARIABLE}"
        return SendError(message, str(status), final=True)
    return SendError(
        f"{url} answered {status}",
        str(status),
        transient=status in (408, 425, 429) or status >= 500,
        retry_after=retry_after(response.headers, datetime.now(UTC).timestamp()),
    )


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
            yield _whole(f"{name}: {value.strip()}.")


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(item: Mapping[str, Any], name: str) -> str | None:
    value = item.get(name)
    return _whole(value.strip()) if isinstance(value, str) and value.strip() else None


def _whole(text: str) -> str:
    """Return the text with what is half a character, and has no UTF-8, replaced."""
    return _SURROGATES.sub("\ufffd", text)


def _day(item: Mapping[str, Any]) -> str | None:
    """Return the date of a result as ISO 8601; one like "3 days ago" is not a date."""
    text = _text(item, "date") or ""
    for shape in ("%b %d, %Y", "%d %b %Y", "%Y-%m-%d"):
        try:
            return datetime.strptime(text, shape).date().isoformat()
        except ValueError:
            continue
    return None
