"""Generate facts and verify answers, by a language model or by any judge.

For a judge, facts are the claims of the ground truth, and an answer is a passage.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from ufo.schemas.records import (
    TRUNCATED,
    FactUnit,
    InputRecord,
    OpenUnits,
    Passage,
    RecallAnswer,
    RecallInput,
    unit_ids,
)
from ufo.transforms.extract import answer_of, drafts_of
from ufo.transforms.job import Job
from ufo.transforms.judges.judge import (
    Judge,
    JudgeContext,
    JudgeSpec,
    Work,
    asks_llm_judge,
    make_judge,
)
from ufo.transforms.judges.llm.asking import (
    SHORT_REPLY,
    Form,
    Parsed,
    Question,
    ask_for_items,
)
from ufo.transforms.judges.llm.excerpts import tokens_of
from ufo.transforms.judges.llm.judgements import Case, Finding
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import FUNCTION, JSON, PROMPT, TF, XML, LlmSettings
from ufo.transforms.judges.llm.parsing import arguments_of, opened, reason_of
from ufo.transforms.llm.request import (
    EXTRACTOR,
    VERIFIER,
    WITHHELD,
    Choice,
    Client,
    Function,
    closed,
    listed,
)
from ufo.transforms.llm.shared import shared_client
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import element, read
from ufo.transforms.recall.formulations import CITATION
from ufo.transforms.sentences import segment
from ufo.transforms.sources.fact_source import Found, Retrieved

_LONGER: Final = 2  # the length of the facts as a multiple of the ground truth's
_PER_SENTENCE: Final = 8  # facts at most: far more than a sentence has
_EXAMPLE: Final = {"facts": ["The Alma Bridge was opened in 1932."]}
_DASHED: Final = re.compile(r"^[ \t]*[-–•*][ \t]*(\S.*)$", re.MULTILINE)
_PROMPTS: Final = (
    *("generate_facts_system", "generate_facts_user", "function_facts"),
    *("argument_fact", "argument_facts", "repair"),
)
_PUBLISHED: Final = ("faaf_facts_user", "repair")


@dataclass(slots=True)
class Made(Work):
    """The facts generated for a record, or the findings of an answer in the order of the facts."""

    facts: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


class LlmRecaller:
    """Generates facts by one call, and verifies an answer by one call for each formulation; for
    `prompt` by one call for each fact.

    Unlike `ufo evaluate` it uses no cache of judgements, since it measures the failures of first
    replies and the cost of each formulation. Equal requests are still cached. `client` is called on
    the event loop of the client.

    Raises:
        UsageError: a prompt in `settings.prompts_dir` is invalid.
    """

    name = "llm"
    remote = True

    def __init__(
        self, settings: LlmSettings, formulations: Sequence[str], client: Callable[[], Client]
    ) -> None:
        self.model = settings.model
        self.as_published = settings.as_published
        self._generator = LlmJudge(JudgeContext(settings, client))
        self._judges = {
            name: LlmJudge(JudgeContext(_settings_of(name, settings), client))
            for name in formulations
        }

    def open(self) -> None:
        """Do nothing: the client belongs to the run."""

    def close(self) -> None:
        """Do nothing."""

    @property
    def generation_version(self) -> str:
        """The version of the prompts that generated facts depend on."""
        return self._generator.prompts.version(_PUBLISHED if self.as_published else _PROMPTS)

    def prompt_version(self, formulation: str) -> str | None:
        """Return the version of the prompts that the findings of a formulation depend on."""
        return self._judges[formulation].prompt_version

    async def generate(self, record: RecallInput) -> Made:
        """Return the facts that the record's ground truth states in answer to its question."""
        asker = self._generator.asker(EXTRACTOR, "facts", record.record_id)
        form = _facts_form(record, self.as_published, asker.prompts)
        answer = (await ask_for_items([0], form, asker))[0]
        return Made(answer.value or [], failures=asker.failures, usage=asker.usage)

    async def verify(
        self, record: RecallInput, answer: RecallAnswer, facts: Sequence[str], formulation: str
    ) -> Made:
        """Return a finding for each fact: whether the answer states it."""
        judge = self._judges[formulation]
        asker = judge.asker(VERIFIER, "verify", record.record_id, formulation)
        units, places = open_units(record, answer, facts), range(len(facts))
        case = Case(units, [Passage(answer.text)], {place: [0] for place in places})
        findings = await judge.findings(case, asker)
        key = f"{record.record_id}/{answer.variant}/{formulation}"
        failures = [replace(failure, key=key) for failure in asker.failures]
        rows = [findings[place, 0] for place in places]
        return Made(findings=rows, failures=failures, usage=asker.usage)


def _facts_form(record: RecallInput, published: bool, prompts: Prompts) -> Form[int, list[str]]:
    """Return the form of the request for a record's facts: a function, or as published a list."""

    def question(items: Sequence[int], wrong: str) -> Question:
        expects = _LONGER * tokens_of(record.ground_truth) + SHORT_REPLY
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
        cut_off = reason_of(choice, asked_json=call) == TRUNCATED
        if published:
            text = "" if choice.refusal or choice.ending == WITHHELD else choice.text
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


class JudgeRecaller:
    """Generates facts by the judge's extraction, and verifies answers by its verification."""

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
        """Return None: there are no prompts."""
        return None

    async def generate(self, record: RecallInput) -> Made:
        """Return the claims of the ground truth."""
        text = record.ground_truth
        response = InputRecord(record.key, record.record_id, text, question=record.question)
        made = await drafts_of(*answer_of(response, segment(text)), self._judge)
        facts = [draft.claim for draft in made.drafts]
        return Made(facts, failures=made.failures, usage=made.usage)

    async def verify(
        self, record: RecallInput, answer: RecallAnswer, facts: Sequence[str], formulation: str
    ) -> Made:
        """Return a finding for each fact; the judge writes the queries."""
        queries = (await self._judge.queries(facts)).queries
        passages = [Found([Retrieved(Passage(answer.text))]) for _ in facts]
        units = open_units(record, answer, facts, queries)
        judged = await self._judge.verify(units, formulation, passages)
        names = ("outcome", "reason", "answer", "rationale", "citation")
        findings = [Finding(*(getattr(row, name) for name in names)) for row in judged.evidence]
        return Made(findings=findings, failures=judged.failures, usage=judged.usage)


Recaller = LlmRecaller | JudgeRecaller


def fact_units(record_id: str, facts: Sequence[str], queries: Sequence[str] = ()) -> list[FactUnit]:
    """Return the facts as fact units for a judge, by default without queries."""
    ids = unit_ids(record_id, [(None, fact) for fact in facts])
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
    if spec.llm is None or spec.client is None or not asks_llm_judge(spec):
        return JudgeRecaller(make_judge(spec))
    return LlmRecaller(spec.llm, formulations, partial(shared_client, spec.client))
