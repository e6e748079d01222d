"""A judge for estimates: asks as the LLM judge does, and answers as the offline one.

The LLM judge's own code makes the requests, a client that sends nothing counts them, and what the
model would have said is taken from the offline judge, whose claims and verdicts decide what is
asked next. What was answered before is found in the cache, as the run would find it.
"""

import json
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipelines.estimates.standins import CountingClient, Tally
from schemas.functions import NOANS as NOANS_ANSWER
from schemas.functions import SHORT, TFN
from schemas.records import NOANS, SUPPORTED, InputRecord, OpenUnits
from transforms.judges.base import Drafts, Judge, Judged, Queries
from transforms.judges.llm.asking import Asker
from transforms.judges.llm.formulation import Case, Finding, Formulation, Pair
from transforms.judges.llm.judge import LlmJudge
from transforms.judges.llm.judgement_cache import JudgementCache
from transforms.judges.llm.settings import FUNCTION, RATIONALE, STEPWISE, XML, LlmSettings
from transforms.judges.offline.judge import OfflineJudge
from transforms.llm.base import Client
from transforms.llm.tokens import count
from transforms.sentences import Span
from transforms.sources.base import Found, Retrieved

_Extract = Callable[[InputRecord, Sequence[Span]], Coroutine[Any, Any, Drafts]]

_ANSWER = "in the year 1900"
_RATIONALE = "The passage says so in its first sentence, with the same name and year."
_RATIONALE_WORDS = 12  # what the prompt allows
_SILENT = 4  # of the passages that are not fetched, every fourth does not answer


class EstimatingJudge(Judge):
    """Asks as the LLM judge does, through a client that counts, and answers as the offline one.

    `known` are the judgements there are already; `far` the sources that are not asked: they are
    taken to settle every claim, by three passages of four.
    """

    remote = True  # it packs its calls as the judge does that it stands for

    def __init__(
        self,
        settings: LlmSettings,
        client: Client,
        counting: CountingClient,
        known: JudgementCache,
        tally: Tally,
        far: Iterable[str],
    ) -> None:
        # What the first reply lacks cannot be known, and is not asked for again.
        self._settings = replace(settings, repairs=0)
        self._offline = OfflineJudge()
        self._tally = tally
        self._counting = counting
        self._known = known
        self._far = frozenset(far)
        self._llm = LlmJudge(self._settings, lambda: client, lambda: self)  # type: ignore[arg-type, return-value]

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the offline judge's claims, or those that were extracted before."""
        return await self._drafts(self._llm.extract, self._offline.extract, record, sentences)

    async def extract_sentences(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the offline judge's claims, or those that were extracted before."""
        by, instead = self._llm.extract_sentences, self._offline.extract_sentences
        return await self._drafts(by, instead, record, sentences)

    async def queries(self, claims: Sequence[str], response_id: str | None = None) -> Queries:
        """Return the offline judge's queries, or those that were written before."""
        before = self._tally.total
        found = await self._llm.queries(claims, response_id)
        if self._tally.total == before:
            return found
        found = await self._offline.queries(claims, response_id)
        said = [{"claim": number, "query": query} for number, query in enumerate(found.queries)]
        self._say("query", None, self._extractor, json.dumps({"queries": said}))
        return found

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return the offline judge's verdicts, or those that were reached before."""
        return await self._llm.verify(open_units, source, found)

    async def judge(
        self, case: Case, asker: Asker, formulation: Formulation, prompt_version: str
    ) -> dict[Pair, Finding]:
        """Stand between the LLM judge and its formulation."""
        instead = _Instead(formulation, self)
        return await self._known.judge(case, asker, instead, prompt_version)

    async def findings(self, case: Case, asker: Asker) -> dict[Pair, Finding]:
        """Return what stands in for the model's verdicts, its reply counted."""
        if asker.source in self._far:
            findings = {
                (unit, number): _far(place)
                for unit, numbers in case.wanted.items()
                for place, number in enumerate(numbers, 1)
            }
        else:
            units = [case.units[at] for at in case.wanted]
            passages = [
                Found([Retrieved(case.passages[number]) for number in numbers])
                for numbers in case.wanted.values()
            ]
            asked = replace(case.open_units, units=units)
            judged = await self._offline.verify(asked, asker.source or "", passages)
            findings = {
                pair: Finding(row.outcome, answer=row.citation, rationale=row.rationale)
                for pair, row in zip(case.pairs, judged.evidence, strict=True)
            }
        outcomes = [finding.outcome for finding in findings.values()]
        self._counting.answered = 1 - outcomes.count(NOANS) / len(outcomes)
        for reply in _replies(self._settings, case, findings):
            self._say(asker.step, asker.source, asker.model, reply)
        return findings

    @property
    def _extractor(self) -> str:
        return self._settings.extractor_model or self._settings.model

    async def _drafts(
        self, by: _Extract, instead: _Extract, record: InputRecord, sentences: Sequence[Span]
    ) -> Drafts:
        before = self._tally.total
        found = await by(record, sentences)
        if self._tally.total == before:
            return found
        found = await instead(record, sentences)
        facts = [
            {"sentence": draft.sentence_index, "claim": draft.claim, "query": draft.query}
            for draft in found.drafts
        ]
        reply = json.dumps({"facts": facts, "no_claim": []}, ensure_ascii=False)
        self._say("extract", None, self._extractor, reply)
        return found

    def _say(self, step: str, source: str | None, model: str, reply: str) -> None:
        self._tally.completion[step, source, model] += count(reply)


@dataclass(frozen=True, slots=True)
class _Instead:
    """A formulation whose requests are made, and whose findings are the offline judge's."""

    formulation: Formulation
    judges: EstimatingJudge

    @property
    def names(self) -> Sequence[str]:
        return self.formulation.names

    async def judge(self, case: Case, asker: Asker) -> dict[Pair, Finding]:
        findings = await self.judges.findings(case, asker)
        await self.formulation.judge(case, asker)
        asker.failures.clear()
        return findings


def _far(place: int) -> Finding:
    if place % _SILENT == 0:
        return Finding(NOANS)
    return Finding(SUPPORTED, answer=_ANSWER, rationale=_RATIONALE)


def _replies(settings: LlmSettings, case: Case, findings: Mapping[Pair, Finding]) -> Iterator[str]:
    """Yield what a model says where it judges so, in the form that it is asked for."""
    if settings.formulation == FUNCTION:
        for unit in case.wanted:
            mine = {pair[1]: found for pair, found in findings.items() if pair[0] == unit}
            yield _tags(settings, mine) if settings.format == XML else _arguments(settings, mine)
        return
    for finding in findings.values():
        if settings.formulation == STEPWISE:
            yield NOANS_ANSWER if finding.outcome == NOANS else f"{finding.answer} True"
        elif settings.formulation == RATIONALE:
            yield f"Rationale: {finding.rationale}\nVerdict: True"
        else:
            yield "True"


def _arguments(settings: LlmSettings, findings: Mapping[int, Finding]) -> str:
    """The argument of one fact: passages that say the same are one check (schemas.functions)."""
    checks: dict[Any, dict[str, Any]] = {}
    noans = []
    for number, finding in findings.items():
        if finding.outcome == NOANS and settings.options == TFN:
            noans.append(number)
            continue
        same = number if settings.citation else (finding.outcome, finding.answer)
        check = checks.setdefault(same, {"passages": [], **_fields(settings, finding)})
        check["passages"].append(number)
    return json.dumps({"f1": {"checks": list(checks.values()), "noans": noans}}, ensure_ascii=False)


def _tags(settings: LlmSettings, findings: Mapping[int, Finding]) -> str:
    parts = []
    for number, finding in findings.items():
        if finding.outcome == NOANS and settings.options == TFN:
            parts.append(f"{number} ")
            continue
        fields = _fields(settings, finding).items()
        inner = "".join(f"<{name}>{value}</{name}>" for name, value in fields)
        parts.append(f"<p{number}>{inner}</p{number}>")
    return f"<f1>{''.join(parts)}<noans></noans></f1>"


def _fields(settings: LlmSettings, finding: Finding) -> dict[str, str | None]:
    fields: dict[str, str | None] = {"verdict": "T"}
    if settings.explain == SHORT:
        words = (finding.rationale or "").split()[:_RATIONALE_WORDS]
        fields |= {"answer": finding.answer, "rationale": " ".join(words)}
    if settings.citation:
        fields["citation"] = finding.answer
    return fields
