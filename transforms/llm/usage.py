"""Make rows of the table `usage`, with the tokens of requests divided among their results."""

import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ufo.schemas.records import Usage
from ufo.transforms.llm.errors import Tokens
from ufo.transforms.llm.prices import Price, with_cost

OK: Final = "ok"
"""The status of a request that was answered."""


Paid = tuple[str, int | None, int | None]
"""A request, by its id, and a share of its tokens: of the prompt and of the completion."""

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


def reused_rows(
    row: Usage, results: Iterable[Paid], cached: bool, prices: Mapping[str, Price]
) -> list[Usage]:
    """Return a usage row for each request whose results are used again.

    `results` have their shares of its tokens. Each row has the cost saved. Rows of `cached` results
    also have the tokens saved; results that another response requested at the same time have none.
    """
    used: dict[str, list[Tokens]] = {}
    for request_id, prompt, completion in results:
        used.setdefault(request_id, []).append((prompt, completion))
    rows = []
    for request_id, saved in used.items():
        prompt, completion = (total(each) for each in zip(*saved, strict=True))
        whole = replace(row, prompt_tokens=prompt, completion_tokens=completion)
        whole = with_cost(replace(whole, cost_usd=None), prices)
        own = whole if cached else row
        rows.append(
            replace(
                own,
                request_id=request_id,
                cached=cached,
                coalesced=not cached,
                cost_usd=0.0,
                saved_usd=whole.cost_usd,
            )
        )
    return rows


def total(values: Iterable[int | None]) -> int | None:
    """Return the sum of the values without None, or None where all are None."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def divide_among(rows: Sequence[Usage], count: int) -> list[list[Paid]]:
    """Divide requests and their tokens among `count` results.

    Each request belongs to a result, or to several if there are more results than requests.
    """
    shares: list[list[Paid]] = [[] for _ in range(count)]
    for number, row in enumerate(rows):
        if number < count:
            share(row, shares[number :: len(rows)])
        elif count:
            share(row, [shares[number % count]])
    return shares


def share(row: Usage, owners: Sequence[list[Paid]]) -> None:
    """Append a request to the lists of its results, each with a whole number of its tokens."""
    prompt = _parts(row.prompt_tokens, len(owners))
    completion = _parts(row.completion_tokens, len(owners))
    for own, asked, replied in zip(owners, prompt, completion, strict=True):
        own.append((row.request_id, asked, replied))


def _parts(tokens: int | None, count: int) -> list[int | None]:
    if tokens is None:
        return [None] * count
    each, rest = divmod(tokens, count)
    return [each + (at < rest) for at in range(count)]
