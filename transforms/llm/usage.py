"""Make rows of the table `usage`, and share out the tokens of a request."""

import os
import socket
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from schemas.records import Usage
from transforms.llm.failures import Tokens

OK: Final = "ok"
"""The status of a request that was answered."""


def worker_id() -> str:
    """Return host:pid, which tells worker processes apart."""
    return f"{socket.gethostname()}:{os.getpid()}"


def usage_row(
    step: str,
    source: str | None,
    model: str | None,
    response_id: str | None,
    request_id: str = "",
) -> Usage:
    """Return the row of a request that was answered and cost nothing; what differs is replaced."""
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


def reused(row: Usage, tokens: Iterable[Tokens] | None) -> Usage:
    """Return the row of answers that nobody was asked for: kept ones with the tokens that each of
    them saves, those of another response under way (None) with none."""
    if tokens is None:
        return replace(row, coalesced=True)
    prompt, completion = zip(*tokens, strict=True)
    return replace(
        row, cached=True, prompt_tokens=total(prompt), completion_tokens=total(completion)
    )


def total(values: Iterable[int | None]) -> int | None:
    """Return the sum of those that are known, None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def shares(rows: Sequence[Usage], count: int) -> list[Tokens]:
    """Return the tokens of these requests in `count` whole parts."""
    prompt = _parts(total(row.prompt_tokens for row in rows), count)
    completion = _parts(total(row.completion_tokens for row in rows), count)
    return list(zip(prompt, completion, strict=True))


def _parts(tokens: int | None, count: int) -> list[int | None]:
    if tokens is None or not count:
        return [None] * count
    each, rest = divmod(tokens, count)
    return [each + (at < rest) for at in range(count)]
