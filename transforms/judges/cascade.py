"""The cascade judge: the offline judge first, and the LLM judge where its confidence is low.

An offline judgement is kept where the verifier's probability of its outcome is at least
`confidence` (`benchmarks/measure_cascade.py` measures the effect). Passages with outcome `noans`,
and texts in a language that the offline judge does not support, always go to the LLM judge. The
LLM judge extracts the claims and writes the queries.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ufo.schemas.records import NOANS, Evidence, FactUnit, InputRecord, OpenUnits
from ufo.transforms.judges.base import Drafts, Judge, Judged, Queries
from ufo.transforms.judges.context import JudgeContext
from ufo.transforms.judges.offline.judge import OfflineJudge, Weighed
from ufo.transforms.sentences import Span
from ufo.transforms.sources.base import Found

CONFIDENCE: Final = 0.9
"""The default of the lowest probability with which an offline judgement is kept."""


class CascadeJudge(Judge):
    """Asks the offline judge with its `verifier`, and the LLM judge where its confidence is low.

    `confidence` in [0, 1] is the lowest probability of its outcome with which an offline judgement
    is kept; with 1 none is, and all evidence is the LLM judge's. The column `judge` of a row names
    the judge that decided it.
    """

    name = "cascade"
    needs_endpoint = True
    asks_llm_judge = True

    def __init__(
        self, context: JudgeContext, confidence: float | None = None, verifier: str | None = None
    ) -> None:
        self._offline = OfflineJudge(verifier)
        self._llm = context.llm_judge()
        self.confidence = CONFIDENCE if confidence is None else confidence

    def fingerprint(self) -> str:
        """Return the LLM judge's fingerprint."""
        return self._llm.fingerprint()

    def open(self) -> None:
        """Open both judges."""
        self._offline.open()
        self._llm.open()

    def close(self) -> None:
        """Close both judges."""
        self._offline.close()
        self._llm.close()

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the LLM judge's claims."""
        return await self._llm.extract(record, sentences)

    async def extract_sentences(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the LLM judge's claims."""
        return await self._llm.extract_sentences(record, sentences)

    async def queries(self, claims: Sequence[str], response_id: str | None = None) -> Queries:
        """Return the LLM judge's queries."""
        return await self._llm.queries(claims, response_id)

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return the evidence rows; the LLM judge verifies the passages with low confidence."""
        weighed = self._offline.weigh(open_units, source, found)
        kept = _by_unit(one.row for one in weighed if stays(one, self.confidence))
        units: list[FactUnit] = []
        open_: list[Found] = []
        ranks: dict[str, list[int]] = {}
        for unit, answer in zip(open_units.units, found, strict=True):
            decided = {row.rank for row in kept.get(unit.unit_id, ())}
            left = [rank for rank in range(1, len(answer.passages) + 1) if rank not in decided]
            if left or not answer.passages:
                units.append(unit)
                ranks[unit.unit_id] = left
                open_.append(replace(answer, passages=[answer.passages[at - 1] for at in left]))
        if not units:
            return Judged([one.row for one in weighed])
        judged = await self._llm.verify(replace(open_units, units=units), source, open_)
        by_llm = _by_unit(
            # Ranks among the passages given to the LLM judge become ranks among all.
            row if row.rank is None else replace(row, rank=ranks[row.unit_id][row.rank - 1])
            for row in judged.evidence
        )
        return Judged(
            [
                row
                for unit in open_units.units
                for row in sorted(
                    [*kept.get(unit.unit_id, ()), *by_llm.get(unit.unit_id, ())],
                    key=lambda row: row.rank or 0,
                )
            ],
            failures=judged.failures,
            usage=judged.usage,
        )


def stays(weighed: Weighed, confidence: float) -> bool:
    """Return whether an offline judgement is kept: not `noans`, with at least this confidence.

    With a confidence of 1 none is kept.
    """
    return weighed.row.outcome != NOANS and confidence <= weighed.confidence < 1.0


def _by_unit(rows: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    by_unit: dict[str, list[Evidence]] = {}
    for row in rows:
        by_unit.setdefault(row.unit_id, []).append(row)
    return by_unit
