"""Test whether the configured search engines answer, with one search each."""

import asyncio
from dataclasses import asdict, dataclass
from typing import Any

from ufo.schemas.extras import missing
from ufo.schemas.records import Usage
from ufo.transforms.llm.base import LlmError
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.limiter import Limiter, Limits
from ufo.transforms.llm.retry import Retry
from ufo.transforms.sources.web.engines import (
    APIS,
    Locale,
    SearchApi,
    api_of,
)

_QUERY = "When was the telephone invented?"
_TWICE = Retry(attempts=2, seconds=60.0)


@dataclass(frozen=True, slots=True)
class SearchDiagnosis:
    """What was found out about one engine. `problem` is None where it can be used, and else ends
    with the remedy; `results` is how many it gave to one query; `requests` were sent."""

    search: str
    base_url: str
    results: int
    requests: int
    problem: str | None

    @property
    def usable(self) -> bool:
        """Whether a run can search there."""
        return self.problem is None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self) | {"usable": self.usable}

    def as_text(self) -> str:
        """Return it for people."""
        where = f" at {self.base_url}" if self.base_url else ""
        said = f"answers           {self.results} results to one query"
        if not self.usable:
            said = f"cannot be used: {self.problem}"
        return f"search by {self.search}{where}\n  {said}"


async def diagnose_searches(seconds: float) -> list[SearchDiagnosis]:
    """Ask each engine whose key or address is in the environment; ends within so many seconds."""
    configured = [backend for backend in map(api_of, APIS) if backend.configured]
    return list(await asyncio.gather(*(_in_time(backend, seconds) for backend in configured)))


async def _in_time(backend: SearchApi, seconds: float) -> SearchDiagnosis:
    try:
        async with asyncio.timeout(seconds):
            return await _diagnosed(backend)
    except TimeoutError:
        problem = f"no answer within --timeout {seconds:g} s; check {backend.url_variable}"
        return SearchDiagnosis(backend.name, "", 0, 0, problem)


async def _diagnosed(backend: SearchApi) -> SearchDiagnosis:
    problem = backend.unavailable()
    absent = missing("web")
    if problem is not None or absent is not None:
        return SearchDiagnosis(backend.name, "", 0, 0, problem or f"it needs {absent}")
    from ufo.transforms.sources.web.engine import Engine  # of the extra `web`

    engine = Engine(backend, Limiter(Limits(1)), _TWICE, connections=1)
    rows: list[Usage] = []
    results = 0
    try:
        (reply,) = await engine.ask([_QUERY], 10, Locale(), rows)
        results = len(list(backend.results(reply)))
        if not backend.answers(reply):
            problem = (
                f"the reply of {engine.url} is not a search result; check {backend.url_variable}"
            )
    except (SendError, LlmError) as error:
        problem = error.message
    finally:
        await engine.aclose()
    return SearchDiagnosis(backend.name, engine.url, results, len(rows), problem)
