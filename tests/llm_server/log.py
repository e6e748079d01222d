"""What the server saw: one entry a request, and sums over them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Logged:
    """A request as it came and what became of it; times are of `time.monotonic`."""

    path: str
    authorization: str
    body: Any
    started: float
    in_flight: int
    connection: int
    step: str = ""
    status: int | None = None
    fault: str | None = None
    ended: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def by_step(entries: Iterable[Logged]) -> dict[str, dict[str, int]]:
    """Step → calls, prompt tokens and completion tokens of what was answered."""
    totals: dict[str, dict[str, int]] = {}
    for entry in entries:
        if entry.status == 200:
            empty = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0}
            row = totals.setdefault(entry.step, empty)
            row["calls"] += 1
            row["prompt_tokens"] += entry.prompt_tokens
            row["completion_tokens"] += entry.completion_tokens
    return totals
