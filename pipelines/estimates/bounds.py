"""Bound the calls, tokens and cost of a run, by step, source and model."""

import math
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from ufo.pipelines.estimates.counting import Counter
from ufo.pipelines.options.settings import Settings
from ufo.transforms.loop import wait_for

_ERRORS = 2.0  # standard errors of a sample, which are about 95 %


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests, their tokens and their cost. A cost of None is unknown: there is no price."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """The requests of one step to one model for one source, at least and at most."""

    step: str
    source: str | None
    model: str
    least: Asked
    most: Asked


@dataclass(frozen=True, slots=True)
class Estimate:
    """The requests of a run. Of `records`, `sampled` were counted; `near` are the sources that
    were looked things up in, `far` those that were not."""

    lines: Sequence[Line]
    records: int
    sampled: int
    near: Sequence[str] = ()
    far: Sequence[str] = ()

    @property
    def total(self) -> Line:
        """The sum of the lines; without a price of each model there is no cost."""
        least, most = [line.least for line in self.lines], [line.most for line in self.lines]
        return Line("total", None, "", _sum(least), _sum(most))


def estimated(
    settings: Settings,
    total: int,
    count: Callable[[Counter], Coroutine[Any, Any, None]],
    near: Sequence[str] = (),
    far: Sequence[str] = (),
) -> Estimate:
    """Return the estimate for all `total` records from what `count` counts for a sample."""
    least, most = Counter(settings, least=True), Counter(settings, least=False)
    for counter in (least, most):
        wait_for(count(counter))
    sampled, prices = len(most.tokens), most.how.prices
    error = _ERRORS * _standard_error(most.tokens) if total > sampled else 0.0

    def asked(counts: Sequence[float], model: str, factor: float) -> Asked:
        calls, prompt, completion = (round(count * factor * total / sampled) for count in counts)
        # What a search costs is between the user and their engine; pages cost nothing.
        cost = prices[model].cost(prompt, completion) if model in prices else None
        return Asked(calls, prompt, completion, cost if model else 0.0)

    lines = [
        Line(
            *key,
            asked(least.counts[key], key[2], max(0.0, 1 - error)),
            asked(counts, key[2], 1 + error),
        )
        for key, counts in most.counts.items()
    ]
    return Estimate(lines, total, sampled, near, far)


def _sum(parts: Sequence[Asked]) -> Asked:
    costs = [part.cost_usd for part in parts]
    return Asked(
        sum(part.calls for part in parts),
        sum(part.prompt_tokens for part in parts),
        sum(part.completion_tokens for part in parts),
        None if None in costs else math.fsum(cost for cost in costs if cost is not None),
    )


def _standard_error(values: Sequence[float]) -> float:
    """Return the relative standard error of a sum that is estimated from a sample of its parts."""
    n, total = len(values), math.fsum(values)
    if n < 2 or not total:
        return 0.0
    variance = math.fsum((value - total / n) ** 2 for value in values) / (n - 1)
    return math.sqrt(variance * n) / total
