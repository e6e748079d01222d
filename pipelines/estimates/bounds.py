"""The least and the most that a run may ask: calls, tokens and cost, by step, source and model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.estimates.counting import Counter
from pipelines.estimates.sampling import standard_error
from transforms.llm.budget import Price

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
    """What one step asks of one model for one source, at least and at most."""

    step: str
    source: str | None
    model: str
    least: Asked
    most: Asked


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will ask. Of `records`, `sampled` were gone through; `near` are the sources that
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


def lines_of(
    least: Counter, most: Counter, records: int, prices: Mapping[str, Price]
) -> list[Line]:
    """Return what is asked for all records, by what was counted for some of them."""
    sampled = len(most.tokens)
    error = _ERRORS * standard_error(most.tokens) if records > sampled else 0.0

    def asked(counts: Sequence[float], model: str, factor: float) -> Asked:
        calls, prompt, completion = (round(count * factor * records / sampled) for count in counts)
        # What a search costs is between the user and their engine; pages cost nothing.
        cost = prices[model].of(prompt, completion) if model in prices else None
        return Asked(calls, prompt, completion, cost if model else 0.0)

    return [
        Line(
            *key,
            asked(least.counts[key], key[2], max(0.0, 1 - error)),
            asked(counts, key[2], 1 + error),
        )
        for key, counts in most.counts.items()
    ]


def _sum(parts: Sequence[Asked]) -> Asked:
    costs = [part.cost_usd for part in parts]
    return Asked(
        sum(part.calls for part in parts),
        sum(part.prompt_tokens for part in parts),
        sum(part.completion_tokens for part in parts),
        None if None in costs else math.fsum(cost for cost in costs if cost is not None),
    )
