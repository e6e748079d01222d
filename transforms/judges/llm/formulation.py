"""The types and functions that all formulations of verification share."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ufo.schemas.functions import FALSE, NOT_CLEAR, SHORT, TRUE
from ufo.schemas.records import ERROR, REFUTED, SUPPORTED, FactUnit, OpenUnits, Passage
from ufo.schemas.records import NOANS as NOANS_OUTCOME
from ufo.transforms.judges.llm.asking import Answer, Asker
from ufo.transforms.judges.llm.settings import FUNCTION, LlmSettings

OUTCOMES: Mapping[str, str] = {TRUE: SUPPORTED, FALSE: REFUTED, NOT_CLEAR: NOANS_OUTCOME}
"""The outcome of each verdict."""

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


@dataclass(frozen=True, slots=True)
class Formulation:
    """A way of asking a model for judgements.

    `names` are those of the prompts that its judgements depend on. `judge` returns a finding for
    every pair of a case, one with outcome `error` where no reply had a usable judgement.
    """

    names: Sequence[str]
    judge: Callable[[Case, Asker], Awaitable[Mapping[Pair, Finding]]]


def finding_of(answer: Answer[Finding]) -> Finding:
    """Return the finding of an answer with the columns of its request, else the error."""
    reply = answer.reply
    found = answer.value or Finding(ERROR, reply.reason, raw_verdict=reply.raw)
    return replace(found, request_id=reply.request_id, first_reason=answer.first_reason)


def by_fact(pairs: Iterable[Pair]) -> dict[int, list[int]]:
    """Return the passages of each unit, in the order of the pairs."""
    passages: dict[int, list[int]] = {}
    for unit, passage in pairs:
        passages.setdefault(unit, []).append(passage)
    return passages


def explained(finding: Finding, settings: LlmSettings) -> bool:
    """Return whether a finding is usable and has a rationale where the settings ask for one.

    No rationale is needed where the passage does not answer: outcome `noans`, or, with labels `tf`,
    `refuted` without an answer.
    """
    if finding.outcome in (ERROR, NOANS_OUTCOME):
        return finding.outcome != ERROR
    asked = settings.formulation == FUNCTION and settings.explain == SHORT
    unanswered = finding.outcome == REFUTED and finding.answer is None
    return bool(finding.rationale) or unanswered or not asked or settings.as_published


def repeats(query: str, claim: str) -> bool:
    """Return whether a query equals its claim, ignoring case and final punctuation."""
    return query.strip(" .?").casefold() == claim.strip(" .?").casefold()
