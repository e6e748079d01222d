"""The interface of recallers, which generate facts and verify answers against them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ufo.schemas.ids import unit_ids
from ufo.schemas.recall import RecallAnswer, RecallInput
from ufo.schemas.records import FactUnit, OpenUnits
from ufo.transforms.judges.base import Work
from ufo.transforms.judges.llm.formulation import Finding


@dataclass(slots=True)
class Generated(Work):
    """The facts generated for a record."""

    facts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Verified(Work):
    """The findings of one answer, in the order of the facts."""

    findings: list[Finding] = field(default_factory=list)


class Recaller:
    """Base class: generates facts and verifies answers.

    `remote` says whether it waits for anything outside this process.
    """

    name: str = ""
    model: str | None = None
    remote: bool = False

    def open(self) -> None:
        """Open connections and files in this process. Called once before the first record."""

    def close(self) -> None:
        """Close what `open` opened."""

    async def generate(self, record: RecallInput) -> Generated:
        """Return the facts that the record's ground truth states in answer to its question."""
        raise NotImplementedError

    async def verify(
        self, record: RecallInput, answer: RecallAnswer, facts: Sequence[str], formulation: str
    ) -> Verified:
        """Return a finding for each fact: whether the answer states it."""
        raise NotImplementedError

    def prompt_version(self, formulation: str) -> str | None:
        """Return the version of the prompts that the findings of a formulation depend on."""
        return None


def fact_units(record_id: str, facts: Sequence[str]) -> list[FactUnit]:
    """Return the facts as fact units for a judge, without queries."""
    ids = unit_ids(record_id, [(None, fact) for fact in facts])
    return [
        FactUnit(record_id, fact_id, None, fact, "", None)
        for fact_id, fact in zip(ids, facts, strict=True)
    ]


def open_units(record: RecallInput, answer: RecallAnswer, units: Sequence[FactUnit]) -> OpenUnits:
    """Return the units to be verified against an answer, without sentences and references."""
    return OpenUnits(record.record_id, answer.text, record.question, None, [], [], units)
