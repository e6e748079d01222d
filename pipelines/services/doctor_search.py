"""Test whether the configured search engines answer, with one search each."""

import asyncio
from collections.abc import Mapping
from typing import Any

from ufo.schemas.extras import missing
from ufo.schemas.records import Usage
from ufo.transforms.llm.base import LlmError
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.limiter import Limiter, RateLimits
from ufo.transforms.llm.retry import Retry
from ufo.transforms.sources.web.search import (
    BACKENDS,
    Locale,
    SearchBackend,
    backend_of,
    unavailable,
    variable,
)

_QUERY = "When was the telephone invented?"
_TWICE = Retry(attempts=2, seconds=60.0)


async def diagnose_searches(seconds: float) -> list[dict[str, Any]]:
    """Ask each engine whose key or address is in the environment; end within so many seconds.

    Return what is found out as plain values: `problem` is None where an engine can be used, and
    else ends with the remedy; `results` is how many it gave to one query.
    """
    configured = [
        backend
        for backend in map(backend_of, BACKENDS)
        if variable(backend.key_variable) or variable(backend.url_variable)
    ]
    return list(await asyncio.gather(*(_diagnosed(backend, seconds) for backend in configured)))


def search_in_words(found: Mapping[str, Any]) -> str:
    """Return what was found out about one engine, for people."""
    where = f" at {found['base_url']}" if found["base_url"] else ""
    said = f"answers           {found['results']} results to one query"
    if not found["usable"]:
        said = f"cannot be used: {found['problem']}"
    return f"search by {found['search']}{where}\n  {said}"


async def _diagnosed(backend: SearchBackend, seconds: float) -> dict[str, Any]:
    problem, absent = unavailable(backend), missing("web")
    problem = problem or (f"it needs {absent}" if absent else None)
    url, results = "", 0
    rows: list[Usage] = []
    if problem is None:
        from ufo.transforms.sources.web.engine import Engine  # of the extra `web`

        engine = Engine(backend, Limiter(RateLimits(1)), _TWICE, connections=1)
        url = engine.url
        try:
            async with asyncio.timeout(seconds):
                (reply,) = await engine.ask([_QUERY], 10, Locale(), rows)
            results = len(list(backend.results(reply)))
            if not backend.answers(reply):
                problem = f"the reply of {url} is not a search result; check {backend.url_variable}"
        except TimeoutError:
            problem = f"no answer within --timeout {seconds:g} s; check {backend.url_variable}"
        except (SendError, LlmError) as error:
            problem = error.message
        finally:
            await engine.aclose()
    return {
        "search": backend.name,
        "base_url": url,
        "results": results,
        "requests": len(rows),
        "problem": problem,
        "usable": problem is None,
    }
