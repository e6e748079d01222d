"""The fact source of the references given with a response in the input."""

from ufo.schemas.records import NO_REFERENCES, NOANS, OpenUnits, Passage
from ufo.transforms.sentences import Ranking, windows
from ufo.transforms.sources.fact_source import FactSource, Found, Retrieved


class ReferenceSource(FactSource):
    """Checks against the reference texts that you give with a response.

    A reference over 120 words is cut at sentence ends into windows of up to 100 words. Where there
    are more than `passages` windows, the best by BM25 on claim and query are used.
    """

    def __init__(self, passages: int = 5) -> None:
        self.passages = passages

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        """Return the windows of the references for each unit, in the references' order."""
        texts = [text for text in open_units.references if text.strip()]
        if not texts:
            return [Found((), NOANS, NO_REFERENCES)] * len(open_units.units)
        cut = [window for text in texts for window in windows(text)]
        hits = [Retrieved(self.named(Passage(text), row)) for row, text in enumerate(cut)]
        if len(hits) <= self.passages:
            return [Found(hits)] * len(open_units.units)
        ranking = Ranking(cut)
        answers = []
        for unit in open_units.units:
            best = ranking.best(f"{unit.claim} {unit.query}", self.passages)
            answers.append(Found([Retrieved(hits[row].passage, score) for row, score in best]))
        return answers
