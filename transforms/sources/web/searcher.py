"""Searching: what was searched today, or is being searched now, is not searched again.

The mechanisms are those of the language models (`ufo.transforms.llm`): their store and what is
under way (`memory`), and limits, retries and the usage log (`sending`).
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ufo.schemas.errors import RunError
from ufo.schemas.records import Usage
from ufo.transforms.llm.base import LlmError
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.memory import Memory, key_of
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.sources.web.engine import STEP, Engine
from ufo.transforms.sources.web.engines import Locale, SearchResult
from ufo.transforms.sources.web.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search gave: its raw reply and when that came, or what went wrong.

    `request_id` is of the request that fetched it. `usage` has a row for each request that was
    sent for it, and one where it cost nothing.
    """

    reply: Any = None
    at: str = ""
    error: str = ""
    request_id: str = ""
    usage: Sequence[Usage] = ()


class Searcher:
    """One engine in one locale, asked for `count` results a query; for one event loop.

    `clock` is for tests.
    """

    def __init__(
        self,
        engine: Engine,
        memory: Memory,
        count: int = 10,
        locale: Locale | None = None,
        snapshot: Snapshot | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._engine = engine
        self._memory = memory
        self._count = count
        self._locale = locale or Locale()
        self._snapshot = snapshot
        self._clock = clock

    async def search(
        self, queries: Sequence[str], source: str, response_id: str
    ) -> dict[str, Searched]:
        """Return what each query gave. Equal ones, and those of other responses, are asked once.

        Raises:
            RunError: what every further search would meet: no such engine, a wrong key, no credit.
        """
        keys = {query: self._flight(query) for query in dict.fromkeys(queries)}
        usage = usage_row(STEP, source, None, response_id)

        async def ask(missing: Sequence[str]) -> dict[str, Searched]:
            return await self._ask(missing, usage)

        found, shared = await self._memory.ask_once(keys, ask, shareable=lambda one: not one.error)
        for query, answer in shared.items():
            row = replace(usage, request_id=answer.request_id, coalesced=True)
            found[query] = replace(answer, usage=[row])
        return found

    async def aclose(self) -> None:
        """Close the connections."""
        await self._engine.aclose()

    def results(self, searched: Searched) -> list[SearchResult]:
        """Return what a reply has, best first."""
        return list(self._engine.backend.results(searched.reply))

    async def _ask(self, queries: Sequence[str], usage: Usage) -> dict[str, Searched]:
        found = self._recorded(queries)
        kept = await self._kept([query for query in queries if query not in found])
        found |= kept
        for query, answer in found.items():
            if not answer.error:
                row = replace(usage, request_id=answer.request_id, cached=True)
                found[query] = replace(answer, usage=[row])
        missing = [query for query in queries if query not in found]
        size = self._engine.backend.batch
        batches = [missing[at : at + size] for at in range(0, len(missing), size)]
        asked = (self._batch(batch, usage) for batch in batches)
        # All are waited for even where one failed: what was sent is paid for and kept.
        for batch, answers in zip(
            batches, await asyncio.gather(*asked, return_exceptions=True), strict=True
        ):
            if isinstance(answers, BaseException):
                raise answers
            found.update(zip(batch, answers, strict=True))
        if self._snapshot is not None and not self._snapshot.finished:
            for query in (*missing, *kept):
                found[query] = self._record(query, found[query])
        return found

    # --- sent ---

    async def _batch(self, queries: Sequence[str], usage: Usage) -> list[Searched]:
        """Return what one request with these queries gave."""
        rows: list[Usage] = []
        try:
            replies = await self._engine.ask(queries, self._count, self._locale, rows, usage)
        except (SendError, LlmError) as error:
            if error.final:
                raise RunError(error.message) from None
            answers = [Searched(error=error.message) for _ in queries]
        else:
            now = self._clock().isoformat(timespec="seconds")
            answers = [self._read(reply, now, rows[-1].request_id) for reply in replies]
            await self._keep(queries, answers)
        # What was paid for is reported once, with the first query that it served.
        return [replace(answers[0], usage=rows), *answers[1:]]

    def _read(self, reply: Any, now: str, request_id: str) -> Searched:
        if not self._engine.backend.answers(reply):
            return Searched(error="the search has no result for this query")
        return Searched(reply, now, request_id=request_id)

    # --- kept ---

    def _key(self, query: str) -> str:
        """By engine and its address, query, locale and day (and how many results were asked)."""
        day = self._clock().date().isoformat()
        where = self._engine.backend.name, self._engine.url
        return key_of("s", *where, query, str(self._locale), day, self._count)

    def _flight(self, query: str) -> str:
        folder = str(self._snapshot.folder) if self._snapshot else ""
        return f"{self._key(query)} {folder}"

    async def _kept(self, queries: Sequence[str]) -> dict[str, Searched]:
        keys = {query: self._key(query) for query in queries}
        kept = await self._memory.get_many(keys.values())
        found = {}
        for query, key in keys.items():
            answer = self._unpacked(kept.get(key))
            if answer is not None:
                found[query] = answer
        return found

    async def _keep(self, queries: Sequence[str], answers: Sequence[Searched]) -> None:
        await self._memory.put_many(
            {
                self._key(query): _packed(answer)
                for query, answer in zip(queries, answers, strict=True)
                if not answer.error
            }
        )

    def _unpacked(self, value: Any) -> Searched | None:
        try:
            answer = Searched(
                value["reply"], str(value["at"]), str(value["error"]), str(value["request"])
            )
        except (TypeError, KeyError, AttributeError):
            return None
        return answer if answer.error or self._engine.backend.answers(answer.reply) else None

    # --- recorded ---

    def _recorded(self, queries: Sequence[str]) -> dict[str, Searched]:
        """Return what the snapshot has; of a finished one, an error for what it has not."""
        if self._snapshot is None:
            return {}
        found = {}
        for query in queries:
            answer = self._unpacked(self._snapshot.search(self._record_key(query)))
            if answer is None and self._snapshot.finished:
                answer = Searched(error=f"{query!r} cannot be searched: {self._snapshot.remedy}")
            # While it is recorded, a search that failed is tried again.
            if answer is not None and (self._snapshot.finished or not answer.error):
                found[query] = answer
        return found

    def _record(self, query: str, answer: Searched) -> Searched:
        assert self._snapshot is not None
        key = self._record_key(query)
        before = self._snapshot.search(key)
        again = before is not None and bool(before.get("error"))
        held = self._unpacked(self._snapshot.keep_search(key, _packed(answer), again))
        return answer if held is None else replace(held, usage=answer.usage)

    def _record_key(self, query: str) -> str:
        # Neither the day nor where the engine was: next year both are others.
        return key_of("s", self._engine.backend.name, query, str(self._locale), self._count)


def _packed(answer: Searched) -> dict[str, Any]:
    return {
        "reply": answer.reply,
        "at": answer.at,
        "error": answer.error,
        "request": answer.request_id,
    }
