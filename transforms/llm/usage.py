"""Make rows of the table `usage`, and divide the tokens of requests among their results."""

import os
import socket
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ufo.schemas.records import Usage
from ufo.transforms.llm.errors import Tokens

OK: Final = "ok"
"""The status of a request that was answered."""


_HOST: Final = socket.gethostname()


def worker_id() -> str:
    """Return `host:pid` of this process."""
    return f"{_HOST}:{os.getpid()}"


def usage_row(
    step: str,
    source: str | None,
    model: str | None,
    response_id: str | None,
    request_id: str = "",
) -> Usage:
    """Return the row of a request with status OK, no tokens and no cost."""
    return Usage(
        request_id=request_id,
        step=step,
        source=source,
        model=model,
        response_id=response_id,
        worker_id=worker_id(),
        status=OK,
        cached=False,
        coalesced=False,
        retries=0,
        prompt_tokens=0,
        completion_tokens=0,
        seconds=0.0,
        cost_usd=0.0,
    )


def reused(row: Usage, results: Iterable[tuple[str, Tokens]], cached: bool) -> list[Usage]:
    """Return a row for each request whose results, with their shares of its tokens, are used again.

    Rows of `cached` results have the tokens saved. Rows of results that another response requested
    at the same time have none.
    """
    used: dict[str, list[Tokens]] = {}
    for request_id, tokens in results:
        used.setdefault(request_id, []).append(tokens)
    rows = []
    for request_id, saved in used.items():
        own = replace(row, request_id=request_id, cached=cached, coalesced=not cached)
        if cached:
            prompt, completion = (total(each) for each in zip(*saved, strict=True))
            own = replace(own, prompt_tokens=prompt, completion_tokens=completion)
        rows.append(own)
    return rows


def total(values: Iterable[int | None]) -> int | None:
    """Return the sum of the values that are not None, None where there is none."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def shares(rows: Sequence[Usage], count: int) -> list[Tokens]:
    """Divide the tokens of these requests into `count` shares of whole tokens."""
    prompt = _parts(total(row.prompt_tokens for row in rows), count)
    completion = _parts(total(row.completion_tokens for row in rows), count)
    return list(zip(prompt, completion, strict=True))


def _parts(tokens: int | None, count: int) -> list[int | None]:
    if tokens is None or not count:
        return [None] * count
    each, rest = divmod(tokens, count)
    return [each + (at < rest) for at in range(count)]
