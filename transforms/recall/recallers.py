"""Verify the answers of a record against its facts, with any judge.

A judge is asked as for `ufo evaluate`: the facts are the claims that it extracts from the ground
truth, and an answer is the one passage of each fact. The LLM judge is asked by the prompts of FaaF
(`FactJudge`), by a judge for each formulation. The step `recall` makes the rows of a record.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Final

from ufo.schemas import records
from ufo.schemas.records import (
    NOANS,
    Evidence,
    FactUnit,
    Failure,
    InputRecord,
    RecallAnswer,
    RecallInput,
    RecallVerdict,
)
from ufo.transforms.concurrently import together
from ufo.transforms.extract import answer_of, drafts_of
from ufo.transforms.extraction.by_rules import only_abstains
from ufo.transforms.job import Job
from ufo.transforms.judges.by_name import JudgeSpec, asks_llm_judge, make_judge
from ufo.transforms.judges.judge import Draft, Drafts, Judge, Judged, Queries
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm.asking import SHORT_REPLY, Form, Parsed, Question, ask_for_items
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import FUNCTION, JSON, PROMPT, TF, XML, LlmSettings
from ufo.transforms.judges.llm.parsing import arguments_of, decode_json, reason_of
from ufo.transforms.llm import request
from ufo.transforms.llm.json_schema import closed_object, list_of
from ufo.transforms.llm.request import Choice, Client, Function
from ufo.transforms.llm.shared import shared_client
from ufo.transforms.llm.tokens import count
from ufo.transforms.plugin_errors import failure_of, passes
from ufo.transforms.plugin_errors import reason_of as reason_of_error
from ufo.transforms.prompts.data import element, read
from ufo.transforms.recall.formulations import CITATION, HUMAN
from ufo.transforms.sentences import Span, segment
from ufo.transforms.sources.fact_source import Found, Retrieved
from ufo.transforms.thoughts import without_thoughts

_LONGER: Final = 2  # the length of the facts as a multiple of the ground truth's
_PER_SENTENCE: Final = 8  # facts at most: far more than a sentence has
_EXAMPLE: Final = {"facts": ["The Alma Bridge was opened in 1932."]}
_DASHED: Final = re.compile(r"^[ \t]*[-–•*][ \t]*(\S.*)$", re.MULTILINE)
_PROMPTS: Final = (
    "generate_facts_system",
    "generate_facts_user",
    "function_facts",
    "argument_fact",
    "argument_facts",
    "repair",
)
_PUBLISHED: Final = ("faaf_facts_user", "repair")
_LABELS: Final = {records.SUPPORTED: 1, records.REFUTED: 0, NOANS: 0}
_EMPTY: Final = dict.fromkeys(column.name for column in fields(RecallVerdict))
_OF_EVIDENCE: Final = {column.name for column in fields(Evidence)} & _EMPTY.keys()


class FactJudge(LlmJudge):
    """The LLM judge with the prompts of FaaF: for the facts of an answer, which have no queries.

    Unlike in `ufo evaluate` it uses no cache of judgements, since recall measures the failures of
    first replies and the cost of each formulation. Equal requests are still cached.
    """

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the facts that a text states in answer to its question, by one call.

        The call is of a function, or as published for a list in text.
        """
        asker = self.asker(request.EXTRACTOR, "facts", record.response_id)
        published, prompts = self._settings.as_published, self.prompts

        def question(items: Sequence[int], wrong: str) -> Question:
            expects = _LONGER * count(record.text) + SHORT_REPLY
            texts = {"question": record.question or "", "answer": record.text}
            if published:
                return Question("", prompts.render("faaf_facts_user", **texts), None, expects)
            tagged = {name: element(name, text) for name, text in texts.items()}
            user = prompts.render("generate_facts_user", **tagged)
            most = max(1, len(sentences)) * _PER_SENTENCE
            fact = {"type": "string", "description": prompts["argument_fact"]}
            schema = closed_object({"facts": list_of(fact, most, prompts["argument_facts"])})
            function = Function("generate_facts", prompts["function_facts"], schema, _EXAMPLE)
            return Question(prompts["generate_facts_system"], user, function, expects)

        def parse(choice: Choice, items: Sequence[int]) -> Parsed[int, list[str]]:
            facts = decode_json(arguments_of(choice, ("facts",)).get("facts"))
            wrong = "it had no JSON object with a list of facts"
            cut_off = reason_of(choice, asked_json=not published) == records.TRUNCATED
            if published:
                text = "" if choice.refusal or choice.ending == request.WITHHELD else choice.text
                facts = _DASHED.findall(text)[: -1 if cut_off else None] or None
                wrong = "it had no line that begins with a dash"
            if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
                return Parsed({}, wrong)
            texts = dict.fromkeys(read(fact).strip() for fact in facts)
            return Parsed({0: [text for text in texts if text]}, wrong, items if cut_off else ())

        form = Form(
            question, parse, lacks=lambda lost: "the facts" if lost else "the last of the facts"
        )
        facts = (await ask_for_items([0], form, asker))[0].value or []
        drafts = [Draft(None, fact, "") for fact in facts]
        return Drafts(drafts, failures=asker.failures, usage=asker.usage)

    async def queries(self, claims: Sequence[str], response_id: str | None = None) -> Queries:
        """Return no query for any fact."""
        return Queries([""] * len(claims))


@dataclass(frozen=True, slots=True)
class Recaller:
    """The judges of a run: one that finds the facts, and one for each formulation by its name.

    Answers that only abstain are not asked about, unless `as_published`. `facts_version` is that of
    the prompts for facts.
    """

    extractor: Judge
    judges: Mapping[str, Judge]
    as_published: bool = False
    facts_version: str | None = None


@dataclass(frozen=True, slots=True)
class RecallJob(Job):
    """The options of the steps of `ufo recall`, sent to every worker.

    Without `formulations` only facts are generated.
    """

    formulations: tuple[str, ...] = ()


def make_recaller(spec: JudgeSpec, formulations: Sequence[str]) -> Recaller:
    """Return the judges of a run; by the prompts of FaaF where `spec` is the LLM judge."""
    if spec.llm is None or spec.client is None or not asks_llm_judge(spec):
        judge = make_judge(spec)
        return Recaller(judge, dict.fromkeys(formulations, judge))
    return llm_recaller(spec.llm, formulations, partial(shared_client, spec.client))


def llm_recaller(
    settings: LlmSettings, formulations: Sequence[str], client: Callable[[], Client]
) -> Recaller:
    """Return the LLM judges of a run. `client` is called on the event loop of the client.

    Raises:
        UsageError: a prompt in `settings.prompts_dir` is invalid.
    """

    def judge(judge_settings: LlmSettings) -> FactJudge:
        return FactJudge(JudgeContext(judge_settings, client))

    extractor, published = judge(settings), settings.as_published
    by_name = {name: judge(_settings_of(name, settings)) for name in formulations}
    version = extractor.prompts.version(_PUBLISHED if published else _PROMPTS)
    return Recaller(extractor, by_name, published, version)


def _settings_of(name: str, base: LlmSettings) -> LlmSettings:
    """Return the settings of the formulation with the canonical name `name`."""
    options, *modifiers = name.split("+")
    if options == PROMPT:
        return replace(base, formulation=PROMPT, verdict_labels=TF)
    settings = replace(base, formulation=FUNCTION, verdict_labels=options, as_published=True)
    form = XML if XML in modifiers else JSON
    return replace(settings, citation=CITATION in modifiers, format=form)


# --- the step -----------------------------------------------------------------------------------


@dataclass(slots=True)
class Recalled:
    """The rows of one record, by table."""

    record: records.RecallRecord
    answers: Sequence[RecallAnswer]
    facts: list[records.RecallFact]
    verdicts: list[RecallVerdict] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    usage: list[records.Usage] = field(default_factory=list)


async def recall(record: RecallInput, recaller: Recaller) -> Recalled:
    """Return the record's facts, and whether each of its answers states them.

    Every answer is verified against all facts by every formulation; without formulations
    (`--facts_only`) only facts are generated. Human labels are verdicts of the formulation `human`.
    An empty answer states no fact, without a call of the model. An answer that only says that it
    does not know has no label, but is asked about if the run is as published.

    Raises only errors that end the run (`ufo.schemas.errors.ends_run`).
    """
    extracted = Drafts([Draft(None, fact, "") for fact in record.facts])
    if not record.given:
        extracted = await _facts_of(record, recaller.extractor)
    facts = [draft.claim for draft in extracted.drafts]
    ids = records.unit_ids(record.record_id, [(None, fact) for fact in facts])
    units = [
        FactUnit(record.record_id, fact_id, None, fact, "", None)
        for fact_id, fact in zip(ids, facts, strict=True)
    ]
    first_columns = (record.record_id, record.question, record.ground_truth)
    rows = Recalled(
        records.RecallRecord(*first_columns, len(facts), len(record.answers), record.given),
        record.answers,
        [
            records.RecallFact(record.record_id, unit.unit_id, at, unit.claim)
            for at, unit in enumerate(units)
        ],
        failures=extracted.failures,
        usage=extracted.usage,
    )
    if recaller.judges and not record.answers:
        message = (
            "there is no answer to check: give `answers`, an object of texts by variant, or in a "
            "table a column that ends in _answer, or any with human_evaluated_facts_ of its name"
        )
        rows.failures.append(Failure("recall", record.key, "no_answers", message))
    labels = {(one.variant, ids[one.fact_index]): one.label for one in record.labels}

    def add(variant: str, fact_id: str, formulation: str, columns: Mapping[str, Any]) -> None:
        known = {
            "record_id": record.record_id,
            "variant": variant,
            "fact_id": fact_id,
            "formulation": formulation,
            "human_label": labels.get((variant, fact_id)),
            "label": _label_of(columns["outcome"], columns.get("reason")),
        }
        rows.verdicts.append(RecallVerdict(**{**_EMPTY, **columns, **known}))

    for (variant, fact_id), label in labels.items():
        outcome = records.SUPPORTED if label else records.REFUTED
        add(variant, fact_id, HUMAN, {"outcome": outcome, "judge": HUMAN})
    asked = [(answer, name) for answer in record.answers for name in recaller.judges if units]
    verifying = [_verify(record, answer, units, name, recaller) for answer, name in asked]
    # A judge that computes in this process never suspends, and is run without an event loop.
    remote = recaller.extractor.remote
    judgements = await together(verifying) if remote else [await one for one in verifying]
    for (answer, name), judged in zip(asked, judgements, strict=True):
        rows.failures += judged.failures
        rows.usage += judged.usage
        judge = recaller.judges[name]
        by = {"judge": judge.name, "model": judge.model, "prompt_version": judge.prompt_version}
        reasons = judged.first_reasons or [None] * len(judged.evidence)
        for row, first_reason in zip(judged.evidence, reasons, strict=True):
            columns = {column: getattr(row, column) for column in _OF_EVIDENCE}
            columns |= {"first_reason": first_reason, **by}
            add(answer.variant, row.unit_id, name, columns)
    return rows


async def _facts_of(record: RecallInput, judge: Judge) -> Drafts:
    """Return the claims of the record's ground truth."""
    text = record.ground_truth
    response = InputRecord(record.key, record.record_id, text, question=record.question)
    try:
        return await drafts_of(*answer_of(response, segment(text)), judge)
    except BaseException as error:
        if passes(error):
            raise
        plugin = f"judge {judge.name}"
        return Drafts(failures=[failure_of("facts", record.record_id, plugin, error)])


async def _verify(
    record: RecallInput,
    answer: RecallAnswer,
    units: Sequence[FactUnit],
    formulation: str,
    recaller: Recaller,
) -> Judged:
    """Return an evidence row for each fact: whether the answer states it."""
    judge, text = recaller.judges[formulation], without_thoughts(answer.text)

    def unasked(result: Found) -> list[Evidence]:
        return [judge.without_passages(unit, formulation, result) for unit in units]

    if not text.strip():
        return Judged(unasked(Found()))
    if not recaller.as_published and only_abstains(text):
        return Judged(unasked(Found(reason=records.ABSTAINED)))
    key = f"{record.record_id}/{answer.variant}/{formulation}"
    try:
        written = await judge.queries([unit.claim for unit in units])
        pairs = zip(units, written.queries, strict=True)
        asked = [replace(unit, query=query) for unit, query in pairs]
        open_units = records.OpenUnits(record.record_id, text, record.question, None, [], [], asked)
        passages = [Found([Retrieved(records.Passage(text))]) for _ in units]
        judged = await judge.verify(open_units, formulation, passages)
    except BaseException as error:
        if passes(error):
            raise
        failures = [failure_of("verify", key, f"judge {judge.name}", error)]
        reason = reason_of_error(error)
        lost = Found(outcome=records.ERROR, reason=reason)
        return Judged(unasked(lost), [reason for _ in units], failures=failures)
    failures = [
        replace(failure, key=key) if failure.key == record.record_id else failure
        for failure in (*written.failures, *judged.failures)
    ]
    usage = [*written.usage, *judged.usage]
    return replace(judged, failures=failures, usage=usage)


def _label_of(outcome: str, reason: str | None) -> int | None:
    """Return 1 if the answer states the fact, 0 if not, None without a judgement.

    An answer that is not clear does not state it, as in FaaF.
    """
    silent = outcome == NOANS and reason not in (None, records.NO_PASSAGES)
    return None if silent else _LABELS.get(outcome)
