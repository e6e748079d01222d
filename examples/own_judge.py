"""Your own judge, in your own file:

    ufo evaluate … --judge examples/own_judge.py:Contained
    ufo evaluate … --judge examples/own_judge.py:Cascade --model my-model

`Contained` judges by itself: it calls a claim supported where a passage has nearly all of it,
letter by letter, in any language. `Cascade` asks a small verifier, and a language model only where
that is not sure. Claims are extracted by rules, unless the judge has a method `extract`.
"""

from collections.abc import Sequence
from dataclasses import replace

import ufo
from ufo.transforms.judges.offline.offline_judge import OfflineJudge


class Contained(ufo.Judge):
    """Looks how many of a claim's pieces of a few letters a passage has."""

    def __init__(self, share: float = 0.9, letters: int = 4) -> None:
        self.share = share
        self.letters = letters

    # It may be a coroutine (`async def`), and then many responses are judged at once.
    def outcome(self, unit: ufo.FactUnit, passage: ufo.Passage) -> ufo.Judgement:
        wanted, there = self._pieces(unit.claim), self._pieces(passage.text)
        share = len(wanted & there) / max(len(wanted), 1)
        label = "supported" if share >= self.share else "noans"
        return ufo.Judgement(label, rationale=f"the passage has {share:.0%} of the claim")

    def _pieces(self, text: str) -> set[str]:
        shown = "".join(filter(str.isalnum, text.lower()))
        return {shown[at : at + self.letters] for at in range(len(shown) - self.letters + 1)}


class Cascade(ufo.Judge):
    """Asks the offline judge first, and the LLM judge about claims that it is not sure of."""

    needs_endpoint = True
    asks_llm_judge = True

    def __init__(
        self, context: ufo.JudgeContext, sure: float = 0.9, verifier: str | None = None
    ) -> None:
        self.sure = sure
        self.offline, self.llm = OfflineJudge(verifier), context.llm_judge()

    def fingerprint(self) -> str:
        return self.llm.fingerprint()

    def open(self) -> None:
        self.offline.open()
        self.llm.open()

    async def verify(
        self, open_units: ufo.OpenUnits, source: str, found: Sequence[ufo.Found]
    ) -> ufo.Judged:
        rows = (await self.offline.verify(open_units, source, found)).evidence
        sure = {row.unit_id for row in rows if (row.probability or 0) >= self.sure}
        units = [unit for unit in open_units.units if unit.unit_id not in sure]
        answers = [one for one, unit in zip(found, open_units.units, strict=True) if unit in units]
        judged = await self.llm.verify(replace(open_units, units=units), source, answers)
        order = [unit.unit_id for unit in open_units.units]
        judged.evidence += [row for row in rows if row.unit_id in sure]
        judged.evidence.sort(key=lambda row: order.index(row.unit_id))
        return judged
