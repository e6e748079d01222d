"""Formulation `function`: all facts of a response against a source's passages in one function call.

FaaF (Katranidis & Barany, 2024), in two forms. `CallForm` is extended to several passages, which
are numbered and shared by the facts that retrieved them. The reply may be in tags instead of a
call; repairs always ask for a call, since an endpoint that enforces a schema gets valid arguments
from weak models too.

`ObjectForm` is the function object of the paper and its code: one argument for each fact, described
by the fact, whose values are the verdicts in words; with citations another argument before it takes
the supporting text. There is one passage, in one short user message, and no system message; in tags
the function is described in the system message, with one example of a call. A value that is not
allowed makes the whole call invalid. Unlike in FaaF's code, arguments are numbered from 1 and are
not inside a list: https://arxiv.org/abs/2403.03888 and https://github.com/vasiliskatr/faaf
(faaf_verification.py, claude_utils.py).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ufo.schemas.functions import (
    CITATION,
    FALSE,
    NOANS_LIST,
    NONE,
    NOT_CLEAR,
    PASSAGES,
    RATIONALE,
    TFN,
    TRUE,
    VERDICT,
    Check,
    Control,
    Fact,
    FactFunction,
    argument,
)
from ufo.schemas.parameters import closed
from ufo.transforms.judges.llm import packing
from ufo.transforms.judges.llm.asking import Asker, Form, Parsed, Question, ask_for_items
from ufo.transforms.judges.llm.excerpts import Text, tokens_of
from ufo.transforms.judges.llm.formulation import (
    OUTCOMES,
    Case,
    Finding,
    Formulation,
    Pair,
    by_fact,
    explained,
    finding_of,
    repeats,
)
from ufo.transforms.judges.llm.parsing import arguments_of, ranges, tagged, xml_arguments
from ufo.transforms.judges.llm.settings import XML, LlmSettings
from ufo.transforms.llm.base import Choice, Function
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import block, element, escape, read, wrapped

_CONTEXT: Final = 1500  # tokens, at most, of the response's text around the facts of a call
_SURROUNDINGS: Final = 4  # a small context window divided by this is the limit of that text
_NEIGHBOURS: Final = 60  # tokens of the sentences around those of the facts
_SHOWN: Final = 40  # characters of a wrong verdict
_COPIED: Final = "it repeated the example in place of judging the facts"
_WORDS: Final = {"True": TRUE, "False": FALSE, "Not clear from the given passage": NOT_CLEAR}
_EVIDENCE: Final = "_text_evidence"
_ARGUMENT: Final = 10  # tokens of the name of an argument of the function object
_CITED: Final = {"anyOf": [{"type": "string"}, {"type": "null"}]}


def formulation(prompts: Prompts, settings: LlmSettings) -> Formulation:
    """Return the formulation `function` with these settings."""
    kind: type[CallForm] | type[ObjectForm] = CallForm
    if settings.as_published:
        kind, settings = ObjectForm, replace(settings, explain=NONE)

    async def judge(case: Case, asker: Asker) -> dict[Pair, Finding]:
        form = kind(prompts, settings, case, asker)
        answers = await ask_for_items(case.pairs, form, asker)
        return {pair: finding_of(answer) for pair, answer in answers.items()}

    return Formulation(kind.names(settings), judge)


@dataclass(slots=True)
class _PairForm(Form[Pair, Finding]):
    """Base class: asks about pairs of a case, many in a call."""

    prompts: Prompts
    settings: LlmSettings
    case: Case
    asker: Asker

    @property
    def reply(self) -> int:
        """An estimate of the tokens of one judgement in a reply."""
        fields = _control(self.settings).fields
        return (40 if RATIONALE in fields else 12) + (30 if CITATION in fields else 0)


@dataclass(slots=True)
class CallForm(_PairForm):
    """Asks about the facts of a response and all their passages by one generated function."""

    context: int = _CONTEXT

    @staticmethod
    def names(settings: LlmSettings) -> list[str]:
        """Return the names of the prompts that its judgements depend on."""
        labels = settings.verdict_labels
        arguments = [f"argument_{name}" for name in _described(_control(settings))]
        tags = ["verify_xml_system", f"verify_xml_example_{labels}"]
        names = ["verify_facts_system", "function_verify", "verify_user", "repair"]
        return [
            *(tags if settings.format == XML else []),
            *(*names, f"verdicts_{labels}", *arguments),
        ]

    def pack(self, items: Sequence[Pair]) -> list[list[Pair]]:
        """Return the pairs of each call, given what is known of the model's context."""
        case, told, text = self.case, self.settings, Text.of(self.case.open_units)
        function = self._object(FactFunction([Fact("", "", [1, 2])], _control(told)))
        room = self.asker.room(Question(self._system(False), "", function))
        tokens = told.call_tokens
        if room is not None:
            tokens = max(1, min(tokens, room - _NEIGHBOURS))
            self.context = min(_CONTEXT, room // _SURROUNDINGS)
        wanted = by_fact(sorted(items))
        facts = {}
        for at in wanted:
            unit = case.units[at]
            texts = (unit.claim, unit.query, text.sentence(unit.sentence_index))
            facts[at] = sum(map(tokens_of, texts))
        passages = {at: tokens_of(case.passages[at].text) for _, at in items}
        limits = packing.Limits(told.passages_per_call, told.facts_per_call, tokens, self.reply)
        calls = packing.pack(wanted, facts, passages, limits)
        return [[(at, one) for at, found in call.items() for one in found] for call in calls]

    def halves(self, items: Sequence[Pair]) -> list[list[Pair]]:
        """Return half of the facts each, or half of the passages where there is one fact."""
        facts = [*by_fact(items)]
        half = (len(facts) + 1) // 2 if len(facts) > 1 else (len(items) + 1) // 2
        first = [pair for pair in items if pair[0] in facts[:half]]
        first = first if len(facts) > 1 else [*items[:half]]
        return [first, [pair for pair in items if pair not in first]]

    def question(self, items: Sequence[Pair], wrong: str) -> Question:
        """Return the question about these pairs: in tags, unless it is asked again."""
        tags = self.settings.format == XML and not wrong
        # Weak models copy an example; after a reply in tags an example did not help.
        example = self.settings.format != XML and _COPIED not in wrong
        function = self._function(items, exact=bool(wrong))
        asked = None if tags else self._object(function, example)
        user = self._user(items, function)
        return Question(self._system(tags), user, asked, self.reply * len(items))

    def parse(
        self, choice: Choice, items: Sequence[Pair], function: Function | None
    ) -> Parsed[Pair, Finding]:
        """Return the findings of a reply; those without a rationale asked for are poor."""
        facts = self._function(items)
        names = [argument(at) for at in range(1, len(facts.facts) + 1)]
        given = arguments_of(choice, names) if function else xml_arguments(choice, facts)
        units, passages = [*by_fact(items)], _passages(items)
        findings = {
            (units[fact - 1], passages[passage - 1]): _finding(check)
            for (fact, passage), check in facts.invoke(given).items()
        }
        poor = [pair for pair in findings if not explained(findings[pair], self.settings)]
        wrong = "it had no rationale of some verdicts; give one with each"
        if len(findings) < len(items):
            wrong = self._wrong(facts, given)
        return Parsed(findings, wrong, poor)

    def lacks(self, lost: Sequence[Pair], items: Sequence[Pair]) -> str:
        """Return how many judgements are missing."""
        return f"{len(lost)} of {len(items)} judgements" if lost else ""

    def _function(self, items: Sequence[Pair], exact: bool = False) -> FactFunction:
        numbers = {passage: number for number, passage in enumerate(_passages(items), 1)}
        facts = [
            Fact(
                self.case.units[unit].claim,
                self.case.units[unit].query,
                [numbers[passage] for passage in found],
            )
            for unit, found in by_fact(items).items()
        ]
        return FactFunction(facts, _control(self.settings), exact)

    def _wrong(self, function: FactFunction, given: Mapping[str, Any]) -> str:
        if not given:
            return "it had no argument of a fact, such as f1"
        if function.repeats_example(given):
            return _COPIED
        verdict = function.wrong_verdict(given)
        if verdict is not None:
            allowed = ", ".join(function.control.verdicts)
            return f'the verdict "{escape(verdict[:_SHOWN])}" is none of {allowed}'
        return "it had no check of some facts or passages"

    def _user(self, items: Sequence[Pair], function: FactFunction) -> str:
        case = self.case
        passages = [
            block(f"p{number}", case.passages[at].text, title=case.passages[at].title)
            for number, at in enumerate(_passages(items), 1)
        ]
        facts = [
            element(
                argument(number),
                fact.claim,
                query=None if repeats(fact.query, fact.claim) else fact.query,
                passages=None if function.single else ranges(fact.passages),
            )
            for number, fact in enumerate(function.facts, 1)
        ]
        sentences = [case.units[unit].sentence_index for unit in by_fact(items)]
        context = Text.of(case.open_units).surroundings(sentences, self.context)
        return self.prompts.render(
            "verify_user",
            passages=wrapped("passages", "\n" + "\n".join(passages) + "\n"),
            context=element("context", context) if context else "",
            facts=wrapped("facts", "\n" + "\n".join(facts) + "\n"),
        )

    def _object(self, function: FactFunction, example: bool = True) -> Function:
        prompts = self.prompts
        texts = {name: prompts[f"argument_{name}"] for name in _described(function.control)}
        sample = function.example() if example else None
        schema = function.parameters(texts)
        return Function("verify_facts", prompts["function_verify"], schema, sample)

    def _system(self, tags: bool) -> str:
        prompts, control = self.prompts, _control(self.settings)
        verdicts = prompts[f"verdicts_{control.options}"]
        if not tags:
            return prompts.render("verify_facts_system", verdicts=verdicts)
        grounds = [name for name in control.fields if name != VERDICT]
        fields = [f"<{name}>: {prompts[f'argument_{name}']}" for name in grounds]
        fields.append(f"<{VERDICT}>: {', '.join(control.verdicts)}")
        if control.options == TFN:
            listed = prompts[f"argument_{NOANS_LIST}"]
            fields.append(f"After the passages, <{NOANS_LIST}>: {listed}")
        unused = {
            f"<{name}>" for name in Control(citation=True).fields if name not in control.fields
        }
        lines = prompts[f"verify_xml_example_{control.options}"].splitlines()
        example = [line for line in lines if not line.startswith(tuple(unused))]
        return prompts.render(
            "verify_xml_system",
            verdicts=verdicts,
            fields="\n".join(fields),
            example="\n".join(example),
        )


@dataclass(slots=True)
class ObjectForm(_PairForm):
    """Asks about the facts of one passage by the function object of FaaF's paper."""

    @staticmethod
    def names(settings: LlmSettings) -> list[str]:
        """Return the names of the prompts that its judgements depend on."""
        cited = ["argument_faaf_citation"] if settings.citation else []
        tags = ["faaf_xml"] if settings.format == XML else []
        return [*tags, "faaf_user", "function_faaf", "argument_faaf_fact", "repair", *cited]

    @property
    def verdicts(self) -> list[str]:
        """The values of an argument."""
        return [*_WORDS][: 3 if self.settings.verdict_labels == TFN else 2]

    def pack(self, items: Sequence[Pair]) -> list[list[Pair]]:
        """Return the facts of each passage, up to `facts_per_call` in a call."""
        calls, most = [], self.settings.facts_per_call
        for passage in _passages(items):
            facts = [pair for pair in items if pair[1] == passage]
            calls += [facts[at : at + most] for at in range(0, len(facts), most)]
        return calls

    def question(self, items: Sequence[Pair], wrong: str) -> Question:
        """Return the question about the facts of these pairs and their passage."""
        prompts = self.prompts
        properties: dict[str, Any] = {}
        for name, (unit, _) in zip(_arguments(items), items, strict=True):
            fact = self.case.units[unit].claim
            if self.settings.citation:
                text = prompts.render("argument_faaf_citation", fact=fact)
                properties[name + _EVIDENCE] = {**_CITED, "description": text}
            text = prompts.render("argument_faaf_fact", fact=fact)
            described = {"type": "string", "enum": self.verdicts, "description": text}
            properties[name] = described
        user = prompts.render("faaf_user", passage=self.case.passages[items[0][1]].text)
        expects = (_ARGUMENT + self.reply) * len(items)
        if self.settings.format != XML:
            function = Function("fact_checker", prompts["function_faaf"], closed(properties))
            return Question("", user, function, expects)
        told = "\n".join(
            f"<parameter>\n<name>{name}</name>\n<values>{' | '.join(value.get('enum', ['text']))}"
            f"</values>\n<description>{value['description']}</description>\n</parameter>"
            for name, value in properties.items()
        )
        about = prompts["function_faaf"]
        system = prompts.render("faaf_xml", parameters=told, description=about)
        return Question(system, user, None, expects)

    def parse(
        self, choice: Choice, items: Sequence[Pair], function: Function | None
    ) -> Parsed[Pair, Finding]:
        """Return the findings of a call whose values are all allowed, else none."""
        names = _arguments(items)
        cited = [name + _EVIDENCE for name in names] if self.settings.citation else []
        given: Mapping[str, Any]
        if self.settings.format == XML:
            told = tagged(choice, [*names, *cited])
            given = {**dict.fromkeys(cited), **{name: told[name].strip() for name in told}}
        else:
            given = arguments_of(choice, [*names, *cited])
        allowed = [name for name in names if given.get(name) in self.verdicts]
        texts = [name for name in cited if isinstance(given.get(name, 0), str | None)]
        if (allowed, texts) != (names, cited):
            return Parsed({}, "it lacked a value of the allowed ones for an argument")
        findings = {}
        for pair, name in zip(items, names, strict=True):
            quote = read(given.get(name + _EVIDENCE) or "") or None
            outcome = OUTCOMES[_WORDS[given[name]]]
            findings[pair] = Finding(outcome, citation=quote, raw_verdict=given[name])
        return Parsed(findings)

    def lacks(self, lost: Sequence[Pair], items: Sequence[Pair]) -> str:
        """Return that the whole call is invalid."""
        count = len(items) * (2 if self.settings.citation else 1)
        return f"a call whose {count} values are all allowed"


def _control(settings: LlmSettings) -> Control:
    return Control(settings.verdict_labels, settings.explain, settings.citation)


def _described(control: Control) -> list[str]:
    """Return the names of the arguments that have a description: all but the verdict."""
    beside = [] if control.citation else [PASSAGES]
    noans = [NOANS_LIST] if control.options == TFN else []
    return [*(name for name in control.fields if name != VERDICT), *beside, *noans]


def _passages(items: Collection[Pair]) -> list[int]:
    return [*dict.fromkeys(passage for _, passage in items)]


def _arguments(items: Collection[Pair]) -> list[str]:
    return [f"fact_{number}" for number in range(1, len(items) + 1)]


def _finding(check: Check) -> Finding:
    texts = (check.answer, check.rationale, check.citation)
    answer, rationale, citation = (None if text is None else read(text) for text in texts)
    return Finding(OUTCOMES[check.verdict], None, answer, rationale, citation, check.raw_verdict)
