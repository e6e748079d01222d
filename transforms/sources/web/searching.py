"""Search the web, but never for a query that was searched today or is being searched now.

The mechanisms are those of language models (`ufo.transforms.llm`): the cache for stored and running
requests, `send` for limits, retries and the usage log.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from math import inf
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import httpx

from ufo.schemas.errors import RunError, ends_run
from ufo.schemas.records import Usage
from ufo.schemas.text import storable
from ufo.transforms.llm.budget import Budget
from ufo.transforms.llm.client_settings import CallSettings
from ufo.transforms.llm.connections import client_errors, explain_failure, proxies
from ufo.transforms.llm.endpoint import NO_KEY, on_this_machine
from ufo.transforms.llm.errors import SendError, payload_of, words_of
from ufo.transforms.llm.limiter import LOCAL_START, Limiter, RateLimits
from ufo.transforms.llm.request import LlmError
from ufo.transforms.llm.retry import Sleep, Timing
from ufo.transforms.llm.send import HttpReply, RequestSender
from ufo.transforms.llm.shared import shared_cache
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.llm.waits import retry_after
from ufo.transforms.plugin_errors import message_of
from ufo.transforms.sources.web.engines import SearchApi, variable
from ufo.transforms.sources.web.snapshot import Snapshot, WebStore
from ufo.transforms.sources.web.transport import ACCEPTED, MOST_BYTES, read_body

_TITLE: Final = re.compile(r"<title[^<>]{0,200}>([^<]{1,300})", re.IGNORECASE)
_ABOUT_KEYS: Final = re.compile(
    r"\b(?:api|access|subscription)[ _-]?(?:key|token)s?\b|\bun(?:authori[sz]ed|authenticated)\b"
    r"|\b(?:missing|invalid|no|wrong) (?:key|token|credentials?)\b|\bauthentication\b",
    re.IGNORECASE,
)
_READ: Final = 10_000  # bytes of a reply that are searched for a title
_SHOWN: Final = 300

STEP: Final = "search"
SECONDS: Final = 30.0
"""The time-out of a request, and of reading the whole reply."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The result of a search: its raw reply with the time, or the error.

    `request_id` is the id of the request that fetched it. `usage` has a row for each request sent,
    or one row if the result was free.
    """

    reply: Any = None
    at: str = ""
    error: str = ""
    request_id: str = ""
    usage: Sequence[Usage] = ()


class Searcher:
    """One search API at its address, asked for `count` results a query; for one event loop.

    The user sets the address: it may be local, or behind the proxy of their environment. `snapshot`
    replays the searches, or records them.
    """

    def __init__(
        self,
        api: SearchApi,
        count: int,
        calls: CallSettings,
        snapshot: Snapshot | None = None,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.api = api
        self.url = api.url
        self._count = count
        self._clock = clock
        self._cache = shared_cache(calls)
        self._kept = WebStore(self._cache, snapshot, clock)
        self._recording = snapshot.folder if snapshot is not None else ""
        limiter = Limiter(
            RateLimits(calls.concurrency).divided(calls.workers),
            start=LOCAL_START if on_this_machine(self.url) else inf,
            timeout=SECONDS,
            retry=calls.retry,
            name="the search engine",
            queues=False,  # a page of another engine, or no page, is better than a long wait
        )
        self._budget = Budget({}, path=calls.usage_log)
        self._sender = RequestSender(limiter, self._budget, Timing(sleep))
        self._answered = False
        self._succeeded = False
        most = calls.concurrency
        with client_errors(self.url, RunError):
            self._client = httpx.AsyncClient(
                limits=httpx.Limits(max_connections=most, max_keepalive_connections=most),
                # A wait for a free connection is not a time-out of the engine.
                timeout=httpx.Timeout(SECONDS, pool=None),
                headers={"accept-encoding": ACCEPTED},
            )

    async def search(
        self, queries: Sequence[str], source: str, response_id: str
    ) -> dict[str, Searched]:
        """Return the result of each query. Equal queries, also of other responses, are sent once.

        Raises:
            RunError: every further search would fail: no such engine, a wrong key, no credit.
        """
        flights = {query: f"{key} {self._recording}" for query, key in self._keys(queries).items()}
        usage = usage_row(STEP, source, None, response_id)
        results, shared = await self._cache.ask_once(
            flights, partial(self._look_up_or_send, usage), shareable=lambda one: not one.error
        )
        for query, answer in shared.items():
            row = replace(usage, request_id=answer.request_id, coalesced=True)
            results[query] = replace(answer, usage=[row])
        return results

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()
        self._budget.close()

    async def _look_up_or_send(self, usage: Usage, queries: Sequence[str]) -> dict[str, Searched]:
        results = {}
        keys = self._keys(queries)
        kept = await self._kept.get_many(list(keys.values()))
        for query, key in keys.items():
            answer = self._from_json(kept.get(key))
            if answer is not None:
                row = replace(usage, request_id=answer.request_id, cached=True)
                results[query] = replace(answer, usage=[row])
        missing = [query for query in queries if query not in results]
        if self._kept.remedy is not None:
            lost = f"cannot be searched: {self._kept.remedy}"
            return results | {query: Searched(error=f"{query!r} {lost}") for query in missing}
        size = self.api.batch
        batches = (missing[at : at + size] for at in range(0, len(missing), size))
        asked = (self._send(batch, usage) for batch in batches)
        # Wait for all even if one fails: requests sent are paid for, and their replies are kept.
        for answers in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(answers, BaseException):
                raise answers
            results |= answers
        return results

    def _keys(self, queries: Sequence[str]) -> dict[str, str]:
        # A snapshot's key has neither the day nor the engine's address: both may change.
        name, count = self.api.name, self._count
        return {query: self._kept.key("s", name, count, query, today=self.url) for query in queries}

    def _from_json(self, value: Any) -> Searched | None:
        try:
            answer = Searched(value["reply"], str(value["at"]), request_id=str(value["request"]))
        except (TypeError, KeyError):
            return None
        return answer if self.api.answers(answer.reply) else None

    async def _send(self, queries: Sequence[str], usage: Usage) -> dict[str, Searched]:
        """Return the results of one request with these queries."""
        rows: list[Usage] = []
        key = variable(self.api.key_variable)
        call = self.api.call(list(map(storable, queries)), self._count, key)

        async def exchange() -> HttpReply[Sequence[Any]]:
            try:
                body, headers = await self._post(call)
                return HttpReply(self._replies(body, len(queries), key), headers)
            except SendError:
                raise
            except Exception as error:
                if ends_run(error):
                    raise
                # A reply that makes a library fail is a failed reply.
                message = f"the search's reply cannot be read: {message_of(error)}"
                raise SendError(message, "garbled") from None

        try:
            replies = await self._sender.send({}, exchange, usage, rows)
        except (SendError, LlmError) as error:
            if error.final:
                raise RunError(error.message) from None
            answers = [Searched(error=error.message) for _ in queries]
        else:
            now = self._clock().isoformat(timespec="seconds")
            answers = [
                Searched(reply, now, request_id=rows[-1].request_id)
                if self.api.answers(reply)
                else Searched(error="the search has no result for this query")
                for reply in replies
            ]
        # A request is reported once, with its first query.
        answers[0] = replace(answers[0], usage=rows)
        results = dict(zip(queries, answers, strict=True))
        keys = self._keys([query for query, one in results.items() if not one.error])
        values = {}
        for query, key in keys.items():
            result = results[query]
            values[key] = {"reply": result.reply, "at": result.at, "request": result.request_id}
        held = await self._kept.put_many(values)
        for query, key in keys.items():
            recorded = self._from_json(held[key]) or results[query]
            results[query] = replace(recorded, usage=results[query].usage)
        return results

    async def _post(self, call: Mapping[str, Any]) -> tuple[bytes, Mapping[str, str]]:
        """Send a request once; return the body and the headers of its reply."""
        try:
            async with self._client.stream(**call) as response:
                coding = response.headers.get("content-encoding", "")
                async with asyncio.timeout(SECONDS):
                    body = await read_body(response.aiter_raw(), coding, MOST_BYTES)
        except (httpx.TimeoutException, TimeoutError):
            raise SendError("the search timed out", "timeout", transient=True) from None
        except httpx.HTTPError as error:
            url, name = self.url, self.api.url_variable
            message, final = explain_failure(url, error, proxies(url), self._answered, name)
            raise SendError(message, "connection", transient=not final, final=final) from None
        self._answered = True
        if response.status_code != 200:
            key = variable(self.api.key_variable)
            raise self._refused(response.status_code, response.headers, body, key)
        return body, response.headers

    def _replies(self, body: bytes, queries: int, key: str) -> Sequence[Any]:
        """Return the raw reply to each query.

        Raises:
            SendError: the body is not a reply of this API. The error is `final` where every further
                one would be the same: a web page before any search succeeded, or a wanted key.
        """
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            if not body.lstrip().startswith(b"<"):
                message = "the search's reply is not JSON"
                raise SendError(message, "garbled", transient=True) from None
            message = (
                f"{self.url} answers with a web page, not with JSON ({_words(body, key)!r}); set "
                f"{self.api.url_variable} to the address of the API"
            )
            again = self._succeeded
            raise SendError(message, "garbled", transient=again, final=not again) from None
        replies = self.api.split(payload, queries)
        if replies is None or not any(map(self.api.answers, replies)):
            words = _words(body, key)
            if isinstance(payload, dict) and _ABOUT_KEYS.search(words):
                raise SendError(self._wants_key(f"200: {words}", key), "200", final=True)
        if replies is None:
            raise SendError("the search's reply is not one result a query", "garbled")
        self._succeeded = True
        return replies

    def _wants_key(self, reply: str, key: str) -> str:
        """Return the message for an engine that refuses the key, or that wants one."""
        name = self.api.key_variable
        if name is None:
            return f"{self.url} refused us ({reply}); allow this machine there"
        if not key:
            return f"{self.url} wants a key ({reply}); set {name} to one that is valid there"
        return f"{self.url} refused the key in {name} ({reply}); set it to one that is valid there"

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes, key: str) -> SendError:
        """Return the error for a reply whose status is not 200."""
        words = _words(body, key)
        reply = f"{status}: {words}" if words else str(status)
        own = self.api.refused(status, body.decode(errors="replace"), self.url)
        message = own or self._for_good(status, headers, reply, key)
        if message:
            return SendError(message, str(status), final=True)
        return SendError(
            f"{self.url} answered {reply}",
            str(status),
            words=words,
            transient=status in (408, 425, 429) or status >= 500,
            retry_after=retry_after(headers, datetime.now(UTC).timestamp()),
        )

    def _for_good(self, status: int, headers: Mapping[str, str], reply: str, key: str) -> str:
        """Return the message for a status that every further search would get, else ""."""
        if 300 <= status < 400:
            target = urlsplit(urljoin(self.url, headers.get("location", "")))
            return (
                f"{self.url} redirects to {target.scheme}://{target.hostname}{target.path} "
                f"({status}); set {self.api.url_variable} to the address of the API itself"
            )
        if status in (401, 403, 407) or (status in (400, 422) and _ABOUT_KEYS.search(reply)):
            return self._wants_key(reply, key)
        if status in (404, 405):
            return f"there is no search at {self.url} ({reply}); check {self.api.url_variable}"
        return ""


def _words(body: bytes, key: str) -> str:
    """Return the message of a reply, or the title of a page, without the key."""
    return words_of(payload_of(body.decode(errors="replace")) or "", key or NO_KEY)[0][:_SHOWN]
