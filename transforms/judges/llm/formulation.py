"""The types and functions that all formulations of verification share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ufo.schemas.functions import FALSE, NOT_CLEAR, TRUE
from ufo.schemas.records import (
    ERROR,
    FILTERED,
    REFUSED,
    REFUTED,
    SUPPORTED,
    TRANSPORT,
    TRUNCATED,
    FactUnit,
    OpenUnits,
    Passage,
)
from ufo.schemas.records import NOANS as NOANS_OUTCOME
from ufo.transforms.judges.llm.asking import Asker, Reply

T = TypeVar("T")

_OUTCOMES = {TRUE: SUPPORTED, FALSE: REFUTED, NOT_CLEAR: NOANS_OUTCOME}
_MOST_RAW = 4096  # characters of an unusable reply in an evidence row

Pair = tuple[int, int]
"""(index of the unit, index of the passage) in a `Case`."""


@dataclass(frozen=True, slots=True)
class Case:
    """The open units of one response, and the passages of one source to verify them against.

    `passages` have distinct titles and texts. `wanted` maps the index of each unit to the indexes
    of its passages.
    """

    open_units: OpenUnits
    passages: Sequence[Passage]
    wanted: Mapping[int, Sequence[int]]

    @property
    def units(self) -> Sequence[FactUnit]:
        """The open units."""
        return self.open_units.units

    def sentence(self, unit: int) -> str:
        """Return the text of a unit's sentence in the response, "" where there is none."""
        offsets, at = self.open_units.sentence_spans, self.units[unit].sentence_index
        if at is None or 2 * at + 1 >= len(offsets):
            return ""
        return self.open_units.text[offsets[2 * at] : offsets[2 * at + 1]]

    @property
    def pairs(self) -> list[Pair]:
        """The pairs to be judged, in order."""
        return [(unit, passage) for unit, found in self.wanted.items() for passage in found]


@dataclass(frozen=True, slots=True)
class Finding:
    """The judgement on a unit by a passage, as columns of the table `evidence`.

    `reason` is set where `outcome` is an error. `first_reason` is the reason why the first reply
    had no usable judgement, even if a repair then had one.
    """

    outcome: str
    reason: str | None = None
    answer: str | None = None
    rationale: str | None = None
    citation: str | None = None
    raw_verdict: str | None = None
    request_id: str | None = None
    first_reason: str | None = None


class Formulation(Protocol):
    """A way of asking a model for judgements."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the prompts that its judgements depend on."""
        ...

    async def judge(self, case: Case, asker: Asker) -> Mapping[Pair, Finding]:
        """Return a finding for every pair of the case; one with outcome `error` on failure."""
        ...


def outcome_of(verdict: str) -> str:
    """Return the outcome of a verdict (T, F, N)."""
    return _OUTCOMES[verdict]


def unknown(reply: Reply) -> Finding:
    """Return the finding with outcome `error` for a reply without a usable judgement."""
    return Finding(
        ERROR,
        reply.reason,
        raw_verdict=reply.raw[:_MOST_RAW] or None,
        request_id=reply.request_id,
        first_reason=reply.first_reason or reply.reason,
    )


def explained(finding: Finding, asked: bool) -> bool:
    """Return whether a finding is usable and has a rationale where one is `asked` for.

    No rationale is needed where the passage does not answer: outcome `noans`, or, with labels `tf`,
    `refuted` without an answer.
    """
    if finding.outcome in (ERROR, NOANS_OUTCOME):
        return finding.outcome != ERROR
    unanswered = finding.outcome == REFUTED and finding.answer is None
    return bool(finding.rationale) or unanswered or not asked


def worth_keeping(settled: int, of: int, again: bool, repairs: int) -> bool:
    """Return whether a reply with `settled` of `of` items may be cached.

    An incomplete reply may only where a repair follows, that is not if it is one (`again`);
    otherwise the missing items would be missing in every later run.
    """
    return settled == of or (settled > 0 and repairs > 0 and not again)


def worth_repairing(reply: Reply) -> bool:
    """Return whether a repair request can help: not after an error of transport, which was retried,
    and not where the request is too long."""
    return reply.reason != TRANSPORT and not (reply.too_long and reply.error)


def trouble(reply: Reply, otherwise: str) -> str:
    """Return what was wrong with a reply, as a text for the repair prompt."""
    if reply.reason == TRUNCATED:
        return "it was cut off before its end; be brief"
    if reply.reason in (REFUSED, FILTERED):
        return "it was a refusal or was stopped by a filter"
    return otherwise


def repeats(query: str, claim: str) -> bool:
    """Return whether a query equals its claim, ignoring case and final punctuation."""
    return query.strip(" .?").casefold() == claim.strip(" .?").casefold()


def ranges(numbers: Sequence[int]) -> str:
    """Format numbers as sorted ranges: "1-3 5"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
