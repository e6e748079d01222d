"""The types that all formulations of verification share."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ufo.schemas import records
from ufo.transforms.judges.llm.asking import AskedValue, Asker
from ufo.transforms.judges.llm.fact_function import SHORT
from ufo.transforms.judges.llm.llm_settings import FUNCTION, LlmSettings
from ufo.transforms.judges.llm.packing import Pair as Pair


@dataclass(frozen=True, slots=True)
class Case:
    """The open units of one response, and the passages of one source to verify them against.

    `passages` have distinct titles and texts. `wanted` maps the index of each unit to the indexes
    of its passages.
    """

    open_units: records.OpenUnits
    passages: Sequence[records.Passage]
    wanted: Mapping[int, Sequence[int]]

    @property
    def units(self) -> Sequence[records.FactUnit]:
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

    @classmethod
    def of(cls, answer: "AskedValue[Finding]") -> "Finding":
        """Return the finding of an answer with the columns of its request, else the error."""
        reply = answer.reply
        found = answer.value or cls(records.ERROR, reply.reason, raw_verdict=reply.raw)
        return replace(found, request_id=reply.request_id, first_reason=answer.first_reason)

    def columns(self) -> dict[str, str | None]:
        """Return the columns by their names."""
        return {name: getattr(self, name) for name in self.__slots__}

    def explained(self, settings: LlmSettings) -> bool:
        """Return whether it is usable and has a rationale where the settings ask for one.

        No rationale is needed where the passage does not answer: outcome `noans`, or, with labels
        `tf`, `refuted` without an answer.
        """
        asked = settings.formulation == FUNCTION and settings.explain == SHORT
        silent = self.outcome == records.REFUTED and self.answer is None
        silent = silent or self.outcome == records.NOANS or settings.as_published or not asked
        return self.outcome != records.ERROR and (silent or bool(self.rationale))


@dataclass(frozen=True, slots=True)
class Formulation:
    """A way of asking a model for judgements.

    `names` are the prompts that its judgements depend on. `judge` returns a finding for every pair
    of a case, with outcome `error` where no reply had a usable judgement.
    """

    names: Sequence[str]
    judge: Callable[[Case, Asker], Awaitable[Mapping[Pair, Finding]]]
