"""The cascade: the offline judge first, and the language model for what it is not sure of.

A supported claim is as sure as its probability, which is calibrated on human labels; a refutation
is as sure as refutations were right there (`scripts/measure_cascade.py`). What is not answered, or
not in a language that the offline judge knows, always goes to the model. Claims and queries are the
model's, so that the claims are those of `--judge llm`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from schemas.records import REFUTED, SUPPORTED, Evidence, FactUnit, InputRecord, OpenUnits
from transforms.judges.base import Drafts, Judge, Judged, Queries
from transforms.judges.offline.judge import OfflineJudge
from transforms.sentences import Span
from transforms.sources.base import Found

SURE: Final = 0.9
"""From which probability of being right a judgement stays, by default."""
_REFUTATION: Final = (
    0.75  # People agreed to 12 of 15 on the calibration sets, too few to claim more.
)


class CascadeJudge(Judge):
    """Asks the offline judge, and `second` about what that is not sure of.

    `sure` in [0, 1] is from which probability of being right a judgement stays; at 1 none does,
    and the evidence is that of `second` alone. Each row's `judge` says who decided it.
    """

    name = "cascade"
    remote = True

    def __init__(self, second: Judge, sure: float = SURE) -> None:
        self._offline = OfflineJudge()
        self._second = second
        self._sure = sure

    def open(self) -> None:
        """Open both judges."""
        self._offline.open()
        self._second.open()

    def close(self) -> None:
        """Close both, for whoever is not on the loop that they were used in."""
        self._offline.close()
        self._second.close()

    async def aclose(self) -> None:
        """Close both, on the loop that they were used in."""
        await self._offline.aclose()
        await self._second.aclose()

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
        first = await self._offline.verify(open_units, source, found)
        settled = _by_unit(row for row in first.evidence if sureness(row) >= self._sure)
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
            return first
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
            failures=first.failures + second.failures,
            usage=first.usage + second.usage,
        )


def sureness(row: Evidence) -> float:
    """Return the probability in [0, 1) that a judgement of the offline judge is right; 0 where it
    found no answer, since another judge may."""
    if row.outcome == SUPPORTED:
        return row.probability or 0.0
    return _REFUTATION if row.outcome == REFUTED else 0.0


def _by_unit(rows: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    found: dict[str, list[Evidence]] = {}
    for row in rows:
        found.setdefault(row.unit_id, []).append(row)
    return found
