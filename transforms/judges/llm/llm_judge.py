"""The LLM judge: extracts and verifies claims by asking a language model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ufo.schemas.records import InputRecord, OpenUnits, Passage
from ufo.transforms.judges.judge import Drafts, Judge, Judged, Queries, evidence_row
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm import extraction, function, pairwise
from ufo.transforms.judges.llm.asking import Asker
from ufo.transforms.judges.llm.judgements import Case, Finding, Formulation, Pair
from ufo.transforms.judges.llm.llm_settings import FUNCTION, GROUNDING, LlmSettings
from ufo.transforms.llm.request import EXTRACTOR, VERIFIER, Request
from ufo.transforms.prompts import Prompts, load_prompts
from ufo.transforms.sentences import Span
from ufo.transforms.sources.fact_source import Found


class LlmJudge(Judge):
    """Asks a language model for the claims of a text and for each verdict.

    The client belongs to the run and is not closed by the judge. A model that only judges
    (`llm_settings.GROUNDING`) is asked for no claims: the rules of the offline judge find them,
    unless another model extracts.

    Raises:
        UsageError: a prompt in `context.settings.prompts_dir` is invalid, or settings conflict.
    """

    name = "llm"
    needs_endpoint = True
    asks_llm_judge = True
    prompt_version: str

    def __init__(self, context: JudgeContext) -> None:
        self._settings = settings = context.settings
        self.model = settings.model
        self._client = cache(context.client)
        self._cache = context.judgement_cache and cache(context.judgement_cache)
        self.prompts = load_prompts(settings.prompts_dir)
        self._formulation = formulation(settings, self.prompts)
        judges_only = settings.formulation in GROUNDING
        self._by_rules = judges_only and settings.extractor_model in ("", settings.model)
        self.prompt_version = self.prompts.version(self._formulation.names)

    def fingerprint(self) -> str:
        """Return the versions of the prompts that results depend on."""
        names = (extraction.CLAIMS, extraction.SENTENCES)
        extractions = (extraction.prompt_names(name, self._settings) for name in names)
        return " ".join((self.prompt_version, *map(self.prompts.version, extractions)))

    def asker(
        self, role: str, step: str, response_id: str | None = None, source: str | None = None
    ) -> Asker:
        """Return an `Asker` for the model of `role` and one step of one response."""
        model = (role == EXTRACTOR and self._settings.extractor_model) or self._settings.model
        of = Request(role, model, (), step=step, source=source, response_id=response_id)
        return Asker(self._client(), self.prompts, of, self._settings.repairs)

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the claims of the response, by one call, or by several for a long text."""
        if self._by_rules:
            return await super().extract(record, sentences)
        return await self._extract(extraction.CLAIMS, record, sentences)

    async def extract_sentences(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return one claim for each sentence with a checkable claim."""
        if self._by_rules:
            return await super().extract_sentences(record, sentences)
        return await self._extract(extraction.SENTENCES, record, sentences)

    async def queries(self, claims: Sequence[str], response_id: str | None = None) -> Queries:
        """Return a query for each claim, in order."""
        if not claims or self._by_rules:
            return await super().queries(claims, response_id)
        asker = self.asker(EXTRACTOR, "query", response_id)
        written = await extraction.write_queries(claims, asker, self._settings)
        return Queries(written, failures=asker.failures, usage=asker.usage)

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return the evidence rows of each unit, in order."""
        case = case_of(open_units, found)
        asker = self.asker(VERIFIER, "verify", open_units.response_id, source)
        findings = await self.findings(case, asker)
        judged = Judged(failures=asker.failures, usage=asker.usage)
        numbers = {_content(passage): at for at, passage in enumerate(case.passages)}
        by: dict[str, Any] = {"judge": self.name, "model": self.model}
        by["prompt_version"] = self.prompt_version
        for at, (unit, answer) in enumerate(zip(open_units.units, found, strict=True)):
            if not answer.passages:
                judged.evidence.append(self.without_passages(unit, source, answer))
                judged.first_reasons.append(None)
            for rank, hit in enumerate(answer.passages, 1):
                finding = findings[at, numbers[_content(hit.passage)]]
                row = evidence_row(unit, source, rank=rank, hit=hit, **by, **finding.columns())
                judged.evidence.append(row)
                judged.first_reasons.append(finding.first_reason)
        return judged

    async def findings(self, case: Case, asker: Asker) -> Mapping[Pair, Finding]:
        """Return a finding for every pair of the case."""
        if not case.pairs:
            return {}
        if self._cache is None:
            return await self._formulation.judge(case, asker)
        return await self._cache().judge(case, asker, self._formulation, self.prompt_version)

    async def _extract(self, name: str, record: InputRecord, spans: Sequence[Span]) -> Drafts:
        if not spans:
            return Drafts()
        asker = self.asker(EXTRACTOR, "extract", record.response_id)
        drafts = await extraction.extract(name, record, spans, asker, self._settings)
        without_query = [draft.claim for draft in drafts if not draft.query]
        written = await self.queries(without_query, record.response_id)
        left = iter(written.queries)
        return Drafts(
            [draft if draft.query else replace(draft, query=next(left)) for draft in drafts],
            failures=asker.failures + written.failures,
            usage=asker.usage + written.usage,
        )


def formulation(settings: LlmSettings, prompts: Prompts) -> Formulation:
    """Return the formulation that the settings name.

    Raises:
        UsageError: it cannot be asked with these settings.
    """
    if settings.formulation == FUNCTION:
        return function.formulation(prompts, settings)
    return pairwise.formulation(prompts, settings)


def case_of(open_units: OpenUnits, answers: Sequence[Found]) -> Case:
    """Return the case of these units and their passages; passages of equal text are merged."""
    distinct: dict[tuple[str, str], Passage] = {}
    numbers: dict[tuple[str, str], int] = {}
    pairs: dict[Pair, None] = {}
    for at, answer in enumerate(answers):
        for hit in answer.passages:
            content = _content(hit.passage)
            distinct.setdefault(content, hit.passage)
            pairs[at, numbers.setdefault(content, len(numbers))] = None
    return Case(open_units, [*distinct.values()], [*pairs])


def _content(passage: Passage) -> tuple[str, str]:
    return passage.title or "", passage.text
