"""The cascade: the offline judge first, and the language model for what it is not sure of.

An offline judgement stays where the verifier gives its outcome at least the probability asked for
(`benchmarks/measure_cascade.py` shows what that buys). What is not answered, or not in a language
that the offline judge knows, always goes to the model. Claims and queries are the model's, so that
the claims are those of `--judge llm`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from schemas.records import NOANS, Evidence, FactUnit, InputRecord, OpenUnits
from transforms.judges.base import Drafts, Judge, Judged, Queries
from transforms.judges.context import JudgeContext
from transforms.judges.offline.judge import OfflineJudge, Weighed
from transforms.sentences import Span
from transforms.sources.base import Found

CONFIDENCE: Final = 0.9
"""From which probability of its outcome an offline judgement stays, by default."""


class CascadeJudge(Judge):
    """Asks the offline judge with its `verifier`, and the LLM judge about what that is not sure of.

    `confidence` in [0, 1] is from which probability of its outcome a judgement stays; at 1 none
    does, and the evidence is that of the LLM judge alone. Each row's `judge` says who decided it.
    """

    name = "cascade"
    needs_endpoint = True
    asks_llm_judge = True

    def __init__(
        self, context: JudgeContext, confidence: float | None = None, verifier: str | None = None
    ) -> None:
        self._offline = OfflineJudge(verifier)
        self._second = context.llm_judge()
        self.confidence = CONFIDENCE if confidence is None else confidence

    def fingerprint(self) -> str:
        """Return the second judge's."""
        return self._second.fingerprint()

    def open(self) -> None:
        """Open both judges."""
        self._offline.open()
        self._second.open()

    def close(self) -> None:
        """Close both judges."""
        self._offline.close()
        self._second.close()

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the second judge's claims."""
        return await self._second.extract(record, sentences)

    async def extract_sentences(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the second judge's claims."""
        return await self._second.extract_sentences(record, sentences)

    async def queries(self, claims: Sequence[str], response_id: str | None = None) -> Queries:
        """Return the second judge's queries."""
        return await self._second.queries(claims, response_id)

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return what each passage says to each unit, by whoever is sure of it."""
        weighed = self._offline.weigh(open_units, source, found)
        settled = _by_unit(one.row for one in weighed if stays(one, self.confidence))
        units: list[FactUnit] = []
        open_: list[Found] = []
        ranks: dict[str, list[int]] = {}
        for unit, answer in zip(open_units.units, found, strict=True):
            known = {row.rank for row in settled.get(unit.unit_id, ())}
            left = [rank for rank in range(1, len(answer.passages) + 1) if rank not in known]
            if left or not answer.passages:
                units.append(unit)
                ranks[unit.unit_id] = left
                open_.append(replace(answer, passages=[answer.passages[at - 1] for at in left]))
        if not units:
            return Judged([one.row for one in weighed])
        asked = replace(open_units, units=units)
        second = await self._second.verify(asked, source, open_)
        judged = _by_unit(
            # It counted the passages that it was given.
            row if row.rank is None else replace(row, rank=ranks[row.unit_id][row.rank - 1])
            for row in second.evidence
        )
        return Judged(
            [
                row
                for unit in open_units.units
                for row in sorted(
                    [*settled.get(unit.unit_id, ()), *judged.get(unit.unit_id, ())],
                    key=lambda row: row.rank or 0,
                )
            ],
            failures=second.failures,
            usage=second.usage,
        )


def stays(weighed: Weighed, confidence: float) -> bool:
    """Tell whether an offline judgement stays. One that found no answer never does, since another
    judge may find one; and no probability is high enough for a confidence of 1."""
    return weighed.row.outcome != NOANS and confidence <= weighed.confidence < 1.0


def _by_unit(rows: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    found: dict[str, list[Evidence]] = {}
    for row in rows:
        found.setdefault(row.unit_id, []).append(row)
    return found
