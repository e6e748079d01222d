"""The LLM judge: extracts and verifies claims by asking a language model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ufo.schemas.functions import Control
from ufo.schemas.records import Evidence, FactUnit, InputRecord, OpenUnits, Passage
from ufo.transforms.judges.base import Drafts, Judge, Judged, Queries
from ufo.transforms.judges.context import JudgeContext
from ufo.transforms.judges.llm import extraction, queries
from ufo.transforms.judges.llm.asking import Asker, Askers
from ufo.transforms.judges.llm.formulation import Case, Finding, Formulation
from ufo.transforms.judges.llm.function import FunctionFormulation
from ufo.transforms.judges.llm.judgement_cache import JudgementCache
from ufo.transforms.judges.llm.packing import Limits
from ufo.transforms.judges.llm.pairwise import (
    PairFormulation,
    PromptFormulation,
    RationaleFormulation,
    StepwiseFormulation,
)
from ufo.transforms.judges.llm.settings import (
    FUNCTION,
    PROMPT,
    RATIONALE,
    STEPWISE,
    XML,
    LlmSettings,
)
from ufo.transforms.judges.rows import evidence_row
from ufo.transforms.llm.base import EXTRACTOR, VERIFIER
from ufo.transforms.prompts import Prompts, load_prompts
from ufo.transforms.prompts.data import storable
from ufo.transforms.sentences import Span
from ufo.transforms.sources.base import Found, Retrieved

_PAIRWISE: Final[Mapping[str, type[PairFormulation]]] = {
    STEPWISE: StepwiseFormulation,
    RATIONALE: RationaleFormulation,
    PROMPT: PromptFormulation,
}


class LlmJudge(Judge):
    """Extracts and verifies claims by asking a language model.

    The client belongs to the run and is not closed by the judge.

    Raises:
        UsageError: a prompt in `context.settings.prompts_dir` is invalid.
    """

    name = "llm"
    needs_endpoint = True
    asks_llm_judge = True

    def __init__(self, context: JudgeContext) -> None:
        self._settings = settings = context.settings
        self.model = settings.model
        self._make_cache = context.judgement_cache
        self._cache: JudgementCache | None = None
        self._prompts = load_prompts(settings.prompts_dir)
        self._askers = Askers(settings, self._prompts, context.client)
        self._formulation = formulation(settings, self._prompts)
        self.prompt_version = self._prompts.version(self._formulation.names)
        """The version of the prompts that verdicts depend on: 12 hex digits."""

    def fingerprint(self) -> str:
        """Return the versions of the prompts that results depend on."""
        units = (self.extraction_version(units) for units in ("claim", "sentence"))
        return " ".join((self.prompt_version, *units))

    def extraction_version(self, units: str) -> str:
        """Return the version of the prompts for claims (`units` claim or sentence) and queries."""
        name = extraction.SENTENCES if units == "sentence" else extraction.CLAIMS
        return self._prompts.version([*extraction.prompt_names(name), *queries.PROMPTS])

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the claims of the response, by one call or a few for a long text."""
        return await self._extract(extraction.CLAIMS, record, sentences)

    async def extract_sentences(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return one claim for each sentence with a checkable claim."""
        return await self._extract(extraction.SENTENCES, record, sentences)

    async def queries(self, claims: Sequence[str], response_id: str | None = None) -> Queries:
        """Return a query for each claim, in order."""
        if not claims:
            return Queries()
        asker = self._askers.asker(EXTRACTOR, "query", response_id)
        settings = self._settings
        written = await queries.write_queries(
            claims, asker, settings.extract_tokens, settings.repairs
        )
        return Queries(
            [storable(query) or "" for query in written], failures=asker.failures, usage=asker.usage
        )

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return the evidence rows of each unit, in order."""
        case = case_of(open_units, found)
        findings: dict[tuple[int, int], Finding] = {}
        judged = Judged()
        if case.wanted:
            asker = self._askers.asker(VERIFIER, "verify", open_units.response_id, source)
            findings = await self._findings(case, asker)
            judged = Judged(failures=asker.failures, usage=asker.usage)
        numbers = {_content(passage): at for at, passage in enumerate(case.passages)}
        for at, (unit, answer) in enumerate(zip(open_units.units, found, strict=True)):
            if not answer.passages:
                judged.evidence.append(self.without_passages(unit, source, answer))
            for rank, hit in enumerate(answer.passages, 1):
                finding = findings[at, numbers[_content(hit.passage)]]
                judged.evidence.append(self._row(unit, source, rank, hit, finding))
        return judged

    async def _findings(self, case: Case, asker: Asker) -> dict[tuple[int, int], Finding]:
        if self._make_cache is None:
            return dict(await self._formulation.judge(case, asker))
        if self._cache is None:
            self._cache = self._make_cache()
        return await self._cache.judge(case, asker, self._formulation, self.prompt_version)

    async def _extract(self, name: str, record: InputRecord, spans: Sequence[Span]) -> Drafts:
        if not spans:
            return Drafts()
        settings = self._settings
        asker = self._askers.asker(EXTRACTOR, "extract", record.response_id)
        extracted = await extraction.extract(
            name, record, spans, asker, settings.extract_tokens, settings.repairs
        )
        drafts = [
            replace(draft, claim=storable(draft.claim) or "", query=storable(draft.query) or "")
            for draft in extracted
        ]
        result = Drafts(drafts, failures=asker.failures, usage=asker.usage)
        without_query = [draft.claim for draft in drafts if not draft.query]
        if without_query:
            written = await self.queries(without_query, record.response_id)
            left = iter(written.queries)
            result.drafts = [
                draft if draft.query else replace(draft, query=next(left)) for draft in drafts
            ]
            result.failures += written.failures
            result.usage += written.usage
        return result

    def _row(
        self, unit: FactUnit, source: str, rank: int, hit: Retrieved, finding: Finding
    ) -> Evidence:
        return evidence_row(
            unit,
            source,
            rank,
            hit,
            finding.outcome,
            judge=self.name,
            model=self._settings.model,
            reason=finding.reason,
            answer=storable(finding.answer),
            citation=storable(finding.citation),
            rationale=storable(finding.rationale),
            raw_verdict=storable(finding.raw_verdict),
            prompt_version=self.prompt_version,
            request_id=finding.request_id,
        )


def formulation(settings: LlmSettings, prompts: Prompts) -> Formulation:
    """Return the formulation that the settings name."""
    if settings.formulation == FUNCTION:
        limits = Limits(settings.passages_per_call, settings.facts_per_call, settings.call_tokens)
        control = Control(settings.verdict_labels, settings.explain, settings.citation)
        xml = settings.format == XML
        return FunctionFormulation(prompts, control, xml, limits, settings.repairs)
    return _PAIRWISE[settings.formulation](prompts, settings.verdict_labels, settings.repairs)


def case_of(open_units: OpenUnits, found: Sequence[Found]) -> Case:
    """Return the case of these units and their passages; passages of equal text are merged."""
    passages: dict[tuple[str, str], int] = {}
    distinct: list[Passage] = []
    wanted: dict[int, list[int]] = {}
    for at, answer in enumerate(found):
        for hit in answer.passages:
            key = _content(hit.passage)
            if key not in passages:
                passages[key] = len(distinct)
                distinct.append(hit.passage)
            numbers = wanted.setdefault(at, [])
            if passages[key] not in numbers:
                numbers.append(passages[key])
    return Case(open_units, distinct, wanted)


def _content(passage: Passage) -> tuple[str, str]:
    return passage.title or "", passage.text
