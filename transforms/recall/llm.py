"""The recaller that asks a language model, one call for the facts and one for each answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ufo.schemas.functions import TF
from ufo.schemas.parameters import facts_parameters
from ufo.schemas.recall import (
    RecallAnswer,
    RecallInput,
)
from ufo.schemas.records import TRUNCATED, Passage
from ufo.transforms.judges.llm.asking import SHORT_REPLY, Asker, Askers, Reply
from ufo.transforms.judges.llm.formulation import (
    Case,
    Finding,
    Formulation,
    trouble,
    worth_keeping,
    worth_repairing,
)
from ufo.transforms.judges.llm.judge import formulation
from ufo.transforms.judges.llm.packing import tokens_of
from ufo.transforms.judges.llm.parsing import arguments_of, reason_of
from ufo.transforms.judges.llm.settings import FUNCTION, XML, LlmSettings
from ufo.transforms.judges.llm.settings import PROMPT as PROMPT_FORMULATION
from ufo.transforms.llm.base import EXTRACTOR, VERIFIER, Choice, Client, Function
from ufo.transforms.prompts import Prompts, load_prompts
from ufo.transforms.prompts.data import element, read, storable
from ufo.transforms.recall.base import Generated, Recaller, Verified, fact_units, open_units
from ufo.transforms.recall.formulations import CITATION, PROMPT
from ufo.transforms.recall.function_object import FunctionObject
from ufo.transforms.sentences import segment

NAME: Final = "generate_facts"
FACTS: Final = "facts"
VERIFY: Final = "verify"
_LONGER: Final = 2  # the length of the facts as a multiple of the ground truth's
_EXAMPLE: Final = {"facts": ["The Alma Bridge was opened in 1932."]}
PROMPTS: Final = (
    "generate_facts_system",
    "generate_facts_user",
    "function_facts",
    "argument_fact",
    "argument_facts",
    "repair",
)


class LlmRecaller(Recaller):
    """Generates facts and verifies answers by asking a language model.

    Unlike `ufo evaluate` it uses no cache of judgements, since the failures of first replies and
    the cost of each formulation are measured. Equal requests are still cached. `client_factory` is
    called on the event loop that the client is used on.

    Raises:
        UsageError: a prompt in `settings.prompts_dir` is invalid.
    """

    name = "llm"
    remote = True

    def __init__(
        self,
        settings: LlmSettings,
        formulations: Sequence[str],
        client_factory: Callable[[], Client],
    ) -> None:
        self.model = settings.model
        self._settings = settings
        self._prompts = load_prompts(settings.prompts_dir)
        self._askers = Askers(settings, self._prompts, client_factory)
        self._formulations: Mapping[str, Formulation] = {
            name: formulation_of(name, settings, self._prompts) for name in formulations
        }

    @property
    def generation_version(self) -> str:
        """The version of the prompts that generated facts depend on."""
        return self._prompts.version(PROMPTS)

    def prompt_version(self, formulation: str) -> str:
        """Return the version of the prompts that the findings of a formulation depend on."""
        return self._prompts.version(self._formulations[formulation].names)

    async def generate(self, record: RecallInput) -> Generated:
        """Return the facts; ask once more where the reply has no complete list of them."""
        asker = self._askers.asker(EXTRACTOR, FACTS, record.record_id)
        reply = await self._ask_facts(record, asker)
        facts = read_facts(reply.choice)
        if not _complete(facts, reply.choice) and self._settings.repairs and worth_repairing(reply):
            wrong = trouble(reply, "it had no JSON object with a list of facts")
            reply = await self._ask_facts(record, asker, wrong)
            lists = [some for some in (facts, read_facts(reply.choice)) if some is not None]
            facts = max(lists, key=len, default=None)
        if not _complete(facts, reply.choice):
            asker.failed(reply, "the facts" if facts is None else "the last of the facts")
        return Generated(facts or [], failures=asker.failures, usage=asker.usage)

    async def verify(
        self, record: RecallInput, answer: RecallAnswer, facts: Sequence[str], formulation: str
    ) -> Verified:
        """Return a finding for each fact, by one call; with `prompt` by one call for each fact."""
        asker = self._askers.asker(VERIFIER, VERIFY, record.record_id, formulation)
        units = fact_units(record.record_id, facts)
        case = Case(
            open_units(record, answer, units),
            [Passage(answer.text)],
            {place: [0] for place in range(len(units))},
        )
        findings = await self._formulations[formulation].judge(case, asker)
        key = f"{record.record_id}/{answer.variant}/{formulation}"
        failures = [replace(failure, key=key) for failure in asker.failures]
        rows = [_storable(findings[place, 0]) for place in range(len(units))]
        return Verified(rows, failures=failures, usage=asker.usage)

    async def _ask_facts(self, record: RecallInput, asker: Asker, wrong: str = "") -> Reply:
        prompts = self._prompts
        descriptions = {name: prompts[f"argument_{name}"] for name in ("fact", "facts")}
        parameters = facts_parameters(descriptions, max(1, len(segment(record.ground_truth))))
        function = Function(NAME, prompts["function_facts"], parameters, _EXAMPLE)
        user = prompts.render(
            "generate_facts_user",
            question=element("question", record.question),
            answer=element("answer", record.ground_truth),
        )

        def keep(choice: Choice) -> bool:
            complete = _complete(read_facts(choice), choice)
            return worth_keeping(complete, 1, bool(wrong), self._settings.repairs)

        expects = _LONGER * tokens_of(record.ground_truth) + SHORT_REPLY
        system = prompts["generate_facts_system"]
        return await asker.ask(system, user, function, wrong, keep, expects)


def _complete(facts: list[str] | None, choice: Choice) -> bool:
    """Return whether a reply has a list of facts that is not cut off."""
    return facts is not None and reason_of(choice, asked_json=True) != TRUNCATED


def formulation_of(name: str, base: LlmSettings, prompts: Prompts) -> Formulation:
    """Return the formulation with the canonical name `name`."""
    if name == PROMPT:
        return formulation(
            replace(base, formulation=PROMPT_FORMULATION, verdict_labels=TF), prompts
        )
    options, *modifiers = name.split("+")
    citation = CITATION in modifiers
    if XML not in modifiers:
        return FunctionObject(prompts, options, citation, base.repairs, base.facts_per_call)
    packed = replace(
        base, formulation=FUNCTION, verdict_labels=options, citation=citation, format=XML
    )
    return formulation(packed, prompts)


def read_facts(choice: Choice) -> list[str] | None:
    """Parse the facts in a reply, each once; None where it has no list of strings. Never raises."""
    facts = arguments_of(choice, (FACTS,)).get(FACTS)
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        return None
    texts = [(storable(read(fact)) or "").strip() for fact in facts]
    return list(dict.fromkeys(text for text in texts if text))


def _storable(finding: Finding) -> Finding:
    return replace(
        finding,
        answer=storable(finding.answer),
        rationale=storable(finding.rationale),
        citation=storable(finding.citation),
        raw_verdict=storable(finding.raw_verdict),
    )
