"""Make rows of the table `usage`, and share out the tokens of a request."""

import os
import socket
from collections.abc import Iterable, Sequence
from typing import Final

from schemas.records import Usage

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


def total(values: Iterable[int | None]) -> int | None:
    """Return the sum of those that are known, None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def shares(tokens: Sequence[int | None], count: int) -> list[int | None]:
    """Return the sum of these in `count` whole parts; None where none is known."""
    known = total(tokens)
    if known is None or not count:
        return [None] * count
    each, rest = divmod(known, count)
    return [each + (at < rest) for at in range(count)]
