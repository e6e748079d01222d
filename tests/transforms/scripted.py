"""A judge and sources that say what a test tells them to, and remember what they were asked."""

from collections.abc import Mapping, Sequence
from typing import Any

from ufo.schemas.records import (
    ERROR,
    REFUTED,
    SUPPORTED,
    TRANSPORT,
    Evidence,
    FactUnit,
    InputRecord,
    OpenUnits,
    Passage,
)
from ufo.transforms.judges.judge import Draft, Drafts, Judge, Judged, Queries
from ufo.transforms.sentences import Span
from ufo.transforms.sources.fact_source import FactSource, Found


class ScriptedJudge(Judge):
    """Takes a passage's text for what it says; extracts each sentence as a claim."""

    name = "scripted"

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        texts = [record.text[start:end] for start, end in sentences]
        return Drafts([Draft(row, text, f"Is it so: {text}") for row, text in enumerate(texts)])

    async def extract_sentences(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        return Drafts([Draft(row, "whole sentence", "?") for row in range(len(sentences))])

    async def queries(self, claims: Sequence[str], response_id: str | None = None) -> Queries:
        return Queries([f"Is it so: {claim}" for claim in claims])

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        rows = []
        for unit, answer in zip(open_units.units, found, strict=True):
            if not answer.passages:
                rows.append(self.without_passages(unit, source, answer))
            for rank, hit in enumerate(answer.passages, 1):
                outcome = hit.passage.text.split()[0]
                rows.append(evidence(unit, source, hit.passage.passage_id, rank, outcome))
        return Judged(rows)


def evidence(
    unit: FactUnit, source: str, passage_id: str | None, rank: int, outcome: str
) -> Evidence:
    fields: dict[str, Any] = dict.fromkeys(Evidence.__dataclass_fields__)
    ids = {"response_id": unit.response_id, "unit_id": unit.unit_id, "source": source}
    judgement = {"passage_id": passage_id, "rank": rank, "outcome": outcome, "judge": "scripted"}
    label = {SUPPORTED: 1, REFUTED: 0}.get(outcome)
    reason = TRANSPORT if outcome == ERROR else None
    return Evidence(**{**fields, **ids, **judgement, "label": label, "reason": reason})


class ScriptedSource(FactSource):
    """Has for each claim the outcomes of its passages, or an exception; `asked` remembers."""

    def __init__(self, name: str, answers: Mapping[str, Sequence[str] | Exception]) -> None:
        self.name = name
        self.answers = answers
        self.asked: list[str] = []

    def find(self, unit: FactUnit) -> list[Passage]:
        self.asked.append(unit.claim)
        answer = self.answers.get(unit.claim, ())
        if isinstance(answer, Exception):
            raise answer
        return [Passage(f"{outcome} {row}") for row, outcome in enumerate(answer)]


def opened(claims: Sequence[str]) -> OpenUnits:
    """Return the open units of a response from its claims."""
    units = [
        FactUnit("r", f"u-{claim}", row, claim, f"{claim}?", None)
        for row, claim in enumerate(claims)
    ]
    return OpenUnits("r", " ".join(claims), None, None, [], [], units)
