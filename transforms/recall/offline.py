"""The recaller for any judge: facts are the claims of the ground truth, an answer is a passage."""

from collections.abc import Sequence
from dataclasses import replace

from ufo.schemas.recall import RecallAnswer, RecallInput
from ufo.schemas.records import InputRecord, Passage
from ufo.transforms.judges.base import Judge
from ufo.transforms.judges.llm.formulation import Finding
from ufo.transforms.recall.base import Generated, Recaller, Verified, fact_units, open_units
from ufo.transforms.sentences import segment
from ufo.transforms.sources.base import Found, Retrieved


class JudgeRecaller(Recaller):
    """Generates facts by the judge's extraction, and verifies answers by its verification."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.name = judge.name
        self.remote = judge.remote

    def open(self) -> None:
        """Open the judge."""
        self._judge.open()
        self.model = self._judge.model

    def close(self) -> None:
        """Close the judge."""
        self._judge.close()

    async def generate(self, record: RecallInput) -> Generated:
        """Return the claims of the ground truth."""
        text = record.ground_truth
        response = InputRecord(record.key, record.record_id, text, question=record.question)
        drafts = await self._judge.extract(response, segment(text))
        facts = [draft.claim for draft in drafts.drafts]
        return Generated(facts, failures=drafts.failures, usage=drafts.usage)

    async def verify(
        self, record: RecallInput, answer: RecallAnswer, facts: Sequence[str], formulation: str
    ) -> Verified:
        """Return a finding for each fact; the judge writes the queries."""
        queries = (await self._judge.queries(facts)).queries
        units = fact_units(record.record_id, facts)
        units = [replace(unit, query=query) for unit, query in zip(units, queries, strict=True)]
        passages = [Found([Retrieved(Passage(answer.text))]) for _ in units]
        judged = await self._judge.verify(open_units(record, answer, units), formulation, passages)
        return Verified(
            [
                Finding(row.outcome, row.reason, row.answer, row.rationale, row.citation)
                for row in judged.evidence
            ],
            failures=judged.failures,
            usage=judged.usage,
        )
