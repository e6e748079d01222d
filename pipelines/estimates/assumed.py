"""Replace judges and sources in an estimate: they count requests and assume the replies."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from ufo.pipelines.estimates.counting import PASSAGE, Counter
from ufo.schemas.records import FactUnit, InputRecord, OpenUnits, Passage
from ufo.transforms.judges.base import Drafts, Judge, Judged, Judgement, Queries
from ufo.transforms.judges.context import JudgeContext
from ufo.transforms.judges.llm.asking import Asker
from ufo.transforms.judges.llm.formulation import Case, Finding, Formulation, Pair
from ufo.transforms.judges.llm.judge import LlmJudge
from ufo.transforms.judges.llm.judgement_cache import JudgementCache
from ufo.transforms.judges.llm.settings import LlmSettings
from ufo.transforms.sentences import Span
from ufo.transforms.sources.base import FactSource, Found
from ufo.transforms.sources.llm import LlmSource

_PASSAGES = 5


class CountedJudge(LlmJudge):
    """The LLM judge, with claims extracted by rules where no reply is cached."""

    def __init__(self, llm_settings: LlmSettings, counter: Counter) -> None:
        llm_settings = replace(llm_settings, repairs=0)
        super().__init__(
            JudgeContext(
                llm_settings, lambda: counter.client, lambda: _Assumed(llm_settings, counter)
            )
        )

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the cached claims, else those extracted by rules."""
        found = await super().extract(record, sentences)
        return await Judge.extract(self, record, sentences) if found.failures else found

    async def extract_sentences(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the cached claims, else those extracted by rules."""
        found = await super().extract_sentences(record, sentences)
        return await Judge.extract_sentences(self, record, sentences) if found.failures else found

    async def queries(self, claims: Sequence[str], response_id: str | None = None) -> Queries:
        """Return the cached queries, else those written by rules."""
        found = await super().queries(claims, response_id)
        return await Judge.queries(self, claims, response_id) if found.failures else found


class _Assumed(JudgementCache):
    """Cached judgements; for the rest, requests are counted and the outcome is assumed."""

    def __init__(self, llm_settings: LlmSettings, counter: Counter) -> None:
        super().__init__(llm_settings, counter.how, counter.memory)
        self._outcome = counter.outcome

    async def judge(
        self, case: Case, asker: Asker, formulation: Formulation, prompt_version: str
    ) -> dict[Pair, Finding]:
        async def requests(case: Case, asker: Asker) -> dict[Pair, Finding]:
            await formulation.judge(case, asker)
            # Complete, so that equal questions are asked once.
            return dict.fromkeys(case.pairs, Finding(self._outcome, rationale="assumed"))

        counted = replace(formulation, judge=requests)
        return await super().judge(case, asker, counted, prompt_version)


class CountedPassages(Judge):
    """Replaces another remote judge: each passage is a call, or what `judge` asks a
    model."""

    remote = True

    def __init__(self, counter: Counter, model: str, judge: Judge | None) -> None:
        self._counter = counter
        self._asked = model
        self._judge = judge

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Count the requests; return the assumed outcome of each passage."""
        if self._judge is not None:
            await self._judge.verify(open_units, source, found)
        else:
            passages = sum(len(answer.passages) for answer in found)
            self._counter.add(("verify", source, self._asked), passages)
        return await super().verify(open_units, source, found)

    def outcome(self, unit: FactUnit, passage: Passage) -> Judgement:
        """Return the assumed outcome."""
        return Judgement(self._counter.outcome)


class FarSource(FactSource):
    """Replaces a source that is not asked, by assumed passages.

    For a web search, searches and fetched pages are counted.
    """

    remote = True

    def __init__(self, source: FactSource, counter: Counter) -> None:
        self._source = source
        self._counter = counter
        self.name = source.name

    def open(self) -> None:
        """Open a source that makes requests to count."""
        if isinstance(self._source, LlmSource):
            self._source.open()

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        """Return cached answers, else assumed ones."""
        found = [Found()] * len(open_units.units)
        if isinstance(self._source, LlmSource):
            most = self._source.samples
            found = await self._source.look_up(open_units)
        else:
            most = self._search(len({unit.query for unit in open_units.units}))
        return [
            answer if answer.passages else self.found(self._passages(unit, most))
            for unit, answer in zip(open_units.units, found, strict=True)
        ]

    def _search(self, queries: int) -> int:
        """Count the searches and pages of these queries; return how many passages each may have."""
        pages = int(getattr(self._source, "pages", _PASSAGES))
        per_page = int(getattr(self._source, "passages_per_page", 1))
        batch = getattr(self._source, "queries_a_request", 0)
        if batch and not self._counter.least:
            self._counter.add(("search", self.name, ""), ceil(queries / batch))
            self._counter.add(("page", self.name, ""), queries * pages if per_page else 0)
        return pages * max(per_page, 1)

    def _passages(self, unit: FactUnit, most: int) -> list[Passage]:
        if self._counter.least:
            return [Passage(unit.claim)]
        filler = " ".join(["word"] * PASSAGE)
        return [Passage(f"{unit.unit_id} {number} {filler}") for number in range(most)]
