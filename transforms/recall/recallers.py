"""Generate the facts of a record and verify its answers, by a language model or by any judge.

A recaller makes facts and findings. The step `recall` makes the rows of a record of them: a verdict
for each fact, answer and formulation.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from ufo.schemas import records
from ufo.schemas.errors import ends_run
from ufo.schemas.records import (
    NO_PASSAGES,
    NOANS,
    REFUTED,
    SUPPORTED,
    FactUnit,
    Failure,
    OpenUnits,
    Passage,
    RecallAnswer,
    RecallInput,
)
from ufo.transforms.extract import answer_of, drafts_of
from ufo.transforms.extraction.by_rules import only_abstains
from ufo.transforms.job import Job
from ufo.transforms.judges import judge as judges
from ufo.transforms.judges.judge import Judge, JudgeContext, JudgeSpec, citation_found
from ufo.transforms.judges.llm.asking import SHORT_REPLY, Form, Parsed, Question, ask_for_items
from ufo.transforms.judges.llm.judgements import Case, Finding
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import FUNCTION, JSON, PROMPT, TF, XML, LlmSettings
from ufo.transforms.judges.llm.parsing import arguments_of, opened, reason_of
from ufo.transforms.llm import request
from ufo.transforms.llm.request import Choice, Client, Function, closed, listed, together
from ufo.transforms.llm.shared import shared_client
from ufo.transforms.llm.tokens import count
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import element, read
from ufo.transforms.recall.formulations import CITATION, HUMAN
from ufo.transforms.sentences import segment
from ufo.transforms.sources.fact_source import Found, Retrieved, message_of
from ufo.transforms.thoughts import without_thoughts

_LONGER: Final = 2  # the length of the facts as a multiple of the ground truth's
_PER_SENTENCE: Final = 8  # facts at most: far more than a sentence has
_EXAMPLE: Final = {"facts": ["The Alma Bridge was opened in 1932."]}
_DASHED: Final = re.compile(r"^[ \t]*[-–•*][ \t]*(\S.*)$", re.MULTILINE)
_PROMPTS: Final = (
    *("generate_facts_system", "generate_facts_user", "function_facts"),
    *("argument_fact", "argument_facts", "repair"),
)
_PUBLISHED: Final = ("faaf_facts_user", "repair")
_LABELS: Final = {SUPPORTED: 1, REFUTED: 0, NOANS: 0}


@dataclass(slots=True)
class Made(judges.Work):
    """The facts generated for a record, or the findings of an answer in the order of the facts."""

    facts: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


class Recaller:
    """Generates facts and verifies answers by a judge, which also writes queries of facts.

    Facts are the claims of the ground truth, and an answer is a passage.
    """

    as_published = False

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.name = judge.name
        self.remote = judge.remote
        self.model: str | None = None

    def open(self) -> None:
        """Open the judge."""
        self._judge.open()
        self.model = self._judge.model

    def close(self) -> None:
        """Close the judge."""
        self._judge.close()

    def prompt_version(self, formulation: str) -> str | None:
        """Return the version of the prompts that findings depend on, None without prompts."""
        return None

    async def generate(self, record: RecallInput) -> Made:
        """Return the facts that the record's ground truth states."""
        text = record.ground_truth
        response = records.InputRecord(record.key, record.record_id, text, question=record.question)
        made = await drafts_of(*answer_of(response, segment(text)), self._judge)
        facts = [draft.claim for draft in made.drafts]
        return Made(facts, failures=made.failures, usage=made.usage)

    async def verify(
        self, record: RecallInput, answer: RecallAnswer, facts: Sequence[str], formulation: str
    ) -> Made:
        """Return a finding for each fact: whether the answer states it."""
        queries = (await self._judge.queries(facts)).queries
        passages = [Found([Retrieved(Passage(answer.text))]) for _ in facts]
        units = open_units(record, answer, facts, queries)
        judged = await self._judge.verify(units, formulation, passages)
        names = ("outcome", "reason", "answer", "rationale", "citation")
        findings = [Finding(*(getattr(row, name) for name in names)) for row in judged.evidence]
        return Made(findings=findings, failures=judged.failures, usage=judged.usage)


class LlmRecaller(Recaller):
    """Generates facts by one call, and verifies an answer by one call for each formulation; for
    `prompt` by one call for each fact. Facts have no queries.

    Unlike `ufo evaluate` it uses no cache of judgements, since it measures the failures of first
    replies and the cost of each formulation. Equal requests are still cached. `client` is called on
    the event loop of the client.

    Raises:
        UsageError: a prompt in `settings.prompts_dir` is invalid.
    """

    def __init__(
        self, settings: LlmSettings, formulations: Sequence[str], client: Callable[[], Client]
    ) -> None:
        self._generator = LlmJudge(JudgeContext(settings, client))
        super().__init__(self._generator)
        self.model = settings.model
        self.as_published = settings.as_published
        self._judges = {
            name: LlmJudge(JudgeContext(_settings_of(name, settings), client))
            for name in formulations
        }

    @property
    def generation_version(self) -> str:
        """The version of the prompts that generated facts depend on."""
        return self._generator.prompts.version(_PUBLISHED if self.as_published else _PROMPTS)

    def prompt_version(self, formulation: str) -> str | None:
        """Return the version of the prompts that the findings of a formulation depend on."""
        return self._judges[formulation].prompt_version

    async def generate(self, record: RecallInput) -> Made:
        """Return the facts that the record's ground truth states in answer to its question."""
        asker = self._generator.asker(request.EXTRACTOR, "facts", record.record_id)
        form = _facts_form(record, self.as_published, asker.prompts)
        answer = (await ask_for_items([0], form, asker))[0]
        return Made(answer.value or [], failures=asker.failures, usage=asker.usage)

    async def verify(
        self, record: RecallInput, answer: RecallAnswer, facts: Sequence[str], formulation: str
    ) -> Made:
        """Return a finding for each fact: whether the answer states it."""
        judge = self._judges[formulation]
        asker = judge.asker(request.VERIFIER, "verify", record.record_id, formulation)
        places = range(len(facts))
        units = open_units(record, answer, facts)
        case = Case(units, [Passage(answer.text)], {place: [0] for place in places})
        findings = await judge.findings(case, asker)
        key = f"{record.record_id}/{answer.variant}/{formulation}"
        failures = [replace(failure, key=key) for failure in asker.failures]
        rows = [findings[place, 0] for place in places]
        return Made(findings=rows, failures=failures, usage=asker.usage)


def _facts_form(record: RecallInput, published: bool, prompts: Prompts) -> Form[int, list[str]]:
    """Return the form of the request for a record's facts: a function, or as published a list."""

    def question(items: Sequence[int], wrong: str) -> Question:
        expects = _LONGER * count(record.ground_truth) + SHORT_REPLY
        told = {"question": record.question, "answer": record.ground_truth}
        if published:
            return Question("", prompts.render("faaf_facts_user", **told), None, expects)
        tagged = {name: element(name, text) for name, text in told.items()}
        user = prompts.render("generate_facts_user", **tagged)
        most = max(1, len(segment(record.ground_truth))) * _PER_SENTENCE
        fact = {"type": "string", "description": prompts["argument_fact"]}
        schema = closed({"facts": listed(fact, most, prompts["argument_facts"])})
        function = Function("generate_facts", prompts["function_facts"], schema, _EXAMPLE)
        return Question(prompts["generate_facts_system"], user, function, expects)

    def parse(choice: Choice, items: Sequence[int], call: bool) -> Parsed[int, list[str]]:
        facts = opened(arguments_of(choice, ("facts",)).get("facts"))
        wrong = "it had no JSON object with a list of facts"
        cut_off = reason_of(choice, asked_json=call) == records.TRUNCATED
        if published:
            text = "" if choice.refusal or choice.ending == request.WITHHELD else choice.text
            facts = _DASHED.findall(text)[: -1 if cut_off else None] or None
            wrong = "it had no line that begins with a dash"
        if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
            return Parsed({}, wrong)
        texts = dict.fromkeys(read(fact).strip() for fact in facts)
        return Parsed({0: [text for text in texts if text]}, wrong, items if cut_off else ())

    return Form(question, parse, lacks=lambda _: "the facts", poor="the last of the facts")


def _settings_of(name: str, base: LlmSettings) -> LlmSettings:
    """Return the settings of the formulation with the canonical name `name`."""
    options, *modifiers = name.split("+")
    if options == PROMPT:
        return replace(base, formulation=PROMPT, verdict_labels=TF)
    told = replace(base, formulation=FUNCTION, verdict_labels=options, as_published=True)
    form = XML if XML in modifiers else JSON
    return replace(told, citation=CITATION in modifiers, format=form)


def fact_units(record_id: str, facts: Sequence[str], queries: Sequence[str] = ()) -> list[FactUnit]:
    """Return the facts as fact units for a judge, by default without queries."""
    ids = records.unit_ids(record_id, [(None, fact) for fact in facts])
    asked = queries or [""] * len(facts)
    return [
        FactUnit(record_id, fact_id, None, fact, query, None)
        for fact_id, fact, query in zip(ids, facts, asked, strict=True)
    ]


def open_units(
    record: RecallInput, answer: RecallAnswer, facts: Sequence[str], queries: Sequence[str] = ()
) -> OpenUnits:
    """Return the facts to verify against an answer, without sentences and references."""
    units = fact_units(record.record_id, facts, queries)
    return OpenUnits(record.record_id, answer.text, record.question, None, [], [], units)


@dataclass(frozen=True, slots=True)
class RecallJob(Job):
    """The options of the steps of `ufo recall`, sent to every worker. Without `formulations` only
    facts are generated."""

    formulations: tuple[str, ...] = ()


def make_recaller(spec: JudgeSpec, formulations: tuple[str, ...]) -> Recaller:
    """Return the recaller for a judge: by a language model where `spec` is the LLM judge."""
    if spec.llm is None or spec.client is None or not judges.asks_llm_judge(spec):
        return Recaller(judges.make_judge(spec))
    return LlmRecaller(spec.llm, formulations, partial(shared_client, spec.client))


# --- the step -----------------------------------------------------------------------------------


@dataclass(slots=True)
class Recalled:
    """The rows of one record, by table."""

    record: records.RecallRecord
    answers: Sequence[RecallAnswer]
    facts: list[records.RecallFact]
    verdicts: list[records.RecallVerdict] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    usage: list[records.Usage] = field(default_factory=list)


async def recall(record: RecallInput, recaller: Recaller, formulations: Sequence[str]) -> Recalled:
    """Return the record's facts, and whether each of its answers states them.

    Every answer is verified against all facts by every formulation; without formulations
    (`--facts_only`) only facts are generated. Human labels are verdicts of the formulation `human`.
    An empty answer states no fact, without a call of the model. An answer that only says that it
    does not know has no label, but is asked about if the run is as published.

    Raises only errors that end the run (`ufo.schemas.errors.ends_run`).
    """
    made = Made(list(record.facts))
    if not record.given:
        made = await _or_failed(recaller.generate(record), Made(), "facts", record.record_id)
    facts = [
        records.RecallFact(record.record_id, unit.unit_id, at, unit.claim)
        for at, unit in enumerate(fact_units(record.record_id, made.facts))
    ]
    said = (record.record_id, record.question, record.ground_truth)
    row = records.RecallRecord(*said, len(facts), len(record.answers), record.given)
    rows = Recalled(row, record.answers, facts, failures=made.failures, usage=made.usage)
    if formulations and not record.answers:
        message = (
            "there is no answer to check: give `answers`, an object of texts by variant, or in a "
            "table a column that ends in _answer, or any with human_evaluated_facts_ of its name"
        )
        rows.failures.append(Failure("recall", record.key, "no_answers", message))
    labels = {(label.variant, label.fact_index): label.label for label in record.labels}

    def add(finding: Finding, place: int, answer: RecallAnswer, by: str, **judge: Any) -> None:
        quote = finding.citation
        rows.verdicts.append(
            records.RecallVerdict(
                record_id=record.record_id,
                variant=answer.variant,
                fact_id=rows.facts[place].fact_id,
                formulation=by,
                label=label_of(finding),
                human_label=labels.get((answer.variant, place)),
                citation_found=None if quote is None else citation_found(quote, answer.text),
                **finding.columns("probability"),
                **judge,
            )
        )

    answers = {answer.variant: answer for answer in record.answers}
    for (variant, place), label in labels.items():
        finding = Finding(SUPPORTED if label else REFUTED)
        add(finding, place, answers[variant], HUMAN, judge=HUMAN)
    pairs = [(answer, name) for answer in record.answers for name in formulations if made.facts]
    coroutines = [_verified(record, answer, made.facts, name, recaller) for answer, name in pairs]
    # A judge that computes in this process never suspends, and is run without an event loop.
    found = await together(coroutines) if recaller.remote else [await one for one in coroutines]
    for (answer, name), verified in zip(pairs, found, strict=True):
        rows.failures += verified.failures
        rows.usage += verified.usage
        by = {"judge": recaller.name, "model": recaller.model}
        by["prompt_version"] = recaller.prompt_version(name)
        for place, finding in enumerate(verified.findings):
            add(finding, place, answer, name, **by)
    return rows


async def _verified(
    record: RecallInput,
    answer: RecallAnswer,
    facts: Sequence[str],
    formulation: str,
    recaller: Recaller,
) -> Made:
    answer = replace(answer, text=without_thoughts(answer.text))
    if not answer.text.strip():
        return Made(findings=[Finding(NOANS, NO_PASSAGES) for _ in facts])
    if not recaller.as_published and only_abstains(answer.text):
        return Made(findings=[Finding(NOANS, records.ABSTAINED) for _ in facts])
    lost = Finding(records.ERROR, records.TRANSPORT, first_reason=records.TRANSPORT)
    instead = Made(findings=[lost for _ in facts])
    key = f"{record.record_id}/{answer.variant}/{formulation}"
    verified = recaller.verify(record, answer, facts, formulation)
    return await _or_failed(verified, instead, "verify", key)


async def _or_failed(made: Awaitable[Made], instead: Made, step: str, key: str) -> Made:
    """Return the awaited result; after an error return `instead` with the failure."""
    try:
        return await made
    except Exception as error:
        if ends_run(error):
            raise
        instead.failures.append(Failure(step, key, type(error).__name__, message_of(error)))
        return instead


def label_of(finding: Finding) -> int | None:
    """Return 1 if the answer states the fact, 0 if it does not or is not clear (as in FaaF), None
    without a judgement."""
    silent = finding.outcome == NOANS and finding.reason not in (None, NO_PASSAGES)
    return None if silent else _LABELS.get(finding.outcome)
