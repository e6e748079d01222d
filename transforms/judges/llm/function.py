"""Formulation `function`: all facts of a response against a source's passages in one function call.

The method is FaaF (Katranidis & Barany, 2024), in two forms. Our form (`_Calls`) takes several
passages. They are numbered, and facts that retrieved the same passage share it. The reply may be in
tags instead of a call. Repairs always ask for a call: an endpoint that enforces a schema gets valid
arguments from weak models, too.

The published form (`_objects`, with `as_published`) is the function object of the paper and its
code. Each fact has an argument, described by the fact; the values are the verdicts in words. With
citations, another argument before it takes the supporting text. There is one passage, in one short
user message, and no system message. In tags, the system message describes the function with one
example of a call. A value that is not allowed makes the whole call invalid. Unlike in FaaF's code,
arguments are numbered from 1 and are not inside a list. See https://arxiv.org/abs/2403.03888 and
https://github.com/vasiliskatr/faaf (faaf_verification.py, claude_utils.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from ufo.schemas.records import NOANS, REFUTED, SUPPORTED
from ufo.transforms.judges.llm import fact_function as schema
from ufo.transforms.judges.llm import packing
from ufo.transforms.judges.llm.asking import Asker, Form, Parsed, Question, ask_for_items
from ufo.transforms.judges.llm.excerpts import Text, ranges, repeats, tokens_of
from ufo.transforms.judges.llm.fact_function import FactFunction, argument
from ufo.transforms.judges.llm.formulation import Case, Finding, Formulation, Pair
from ufo.transforms.judges.llm.llm_settings import XML, LlmSettings
from ufo.transforms.judges.llm.packing import by_fact
from ufo.transforms.judges.llm.parsing import arguments_of, tagged, xml_arguments
from ufo.transforms.llm.request import Choice, Function, closed
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import block, element, escape, read, wrapped

_CONTEXT: Final = 1500  # tokens, at most, of the response's text around the facts of a call
_SURROUNDINGS: Final = 4  # a small context window divided by this is the limit of that text
_NEIGHBOURS: Final = 60  # tokens of the sentences around the sentences of the facts
_FEW: Final = 4  # judgements requested at once after a reply without any
_SHOWN: Final = 40  # characters of a wrong verdict
_COPIED: Final = "it repeated the example in place of judging the facts"
_OUTCOMES: Final = {schema.TRUE: SUPPORTED, schema.FALSE: REFUTED, schema.NOT_CLEAR: NOANS}
_WORDS: Final = {"True": SUPPORTED, "False": REFUTED, "Not clear from the given passage": NOANS}
_EVIDENCE: Final = "_text_evidence"
_CITED: Final = {"anyOf": [{"type": "string"}, {"type": "null"}]}
# Tokens of one judgement in a reply: of its verdict, with its rationale, of its citation.
_VERDICT, _EXPLAINED, _CITATION = 12, 40, 30
_ARGUMENT: Final = 10  # tokens of the name of an argument of the function object


def formulation(prompts: Prompts, settings: LlmSettings) -> Formulation:
    """Return the formulation `function` with these settings."""

    async def judge(case: Case, asker: Asker) -> dict[Pair, Finding]:
        calls = _Calls(prompts, settings, case, asker, Text.of(case.open_units))
        form = Form(calls.question, calls.parse, calls.pack, few=_FEW)
        if settings.as_published:
            form = _objects(prompts, settings, case)
        answers = await ask_for_items(case.pairs, form, asker)
        return {pair: Finding.of(answer) for pair, answer in answers.items()}

    labels, tags = settings.verdict_labels, settings.format == XML
    if settings.as_published:
        cited = ["argument_faaf_citation"] if settings.citation else []
        names = ["faaf_user", "function_faaf", "argument_faaf_fact", *cited]
        names += ["faaf_xml"] if tags else []
    else:
        arguments = [f"argument_{name}" for name in _described(_control(settings))]
        names = ["verify_facts_system", "function_verify", "verify_user", f"verdicts_{labels}"]
        names += [*arguments, *(["verify_xml_system", f"verify_xml_example_{labels}"] * tags)]
    return Formulation([*names, "repair"], judge)


def _control(settings: LlmSettings) -> schema.Control:
    return schema.Control(settings.verdict_labels, settings.explain, settings.citation)


def _described(control: schema.Control) -> list[str]:
    """Return the names of the arguments that have a description: all but the verdict."""
    beside = [] if control.citation else [schema.PASSAGES]
    noans = [schema.NOANS_LIST] if control.options == schema.TFN else []
    return [*control.fields[:-1], *beside, *noans]


def _passages(items: Sequence[Pair]) -> list[int]:
    return [*dict.fromkeys(passage for _, passage in items)]


@dataclass(slots=True)
class _Calls:
    """The functions of our form; `context` is the limit of the response's text in a call."""

    prompts: Prompts
    settings: LlmSettings
    case: Case
    asker: Asker
    text: Text
    context: int = _CONTEXT

    def reply(self) -> int:
        """Estimate the tokens of one judgement in a reply."""
        explained = _EXPLAINED if self.settings.explain == schema.SHORT else _VERDICT
        return explained + _CITATION * self.settings.citation

    def pack(self, items: Sequence[Pair]) -> list[list[Pair]]:
        """Return the pairs of each call, within the known size of the model's context."""
        units, told = self.case.units, self.settings
        function = self.function(FactFunction([schema.Fact("", "", [1, 2])], _control(told)))
        room = self.asker.room(Question(self.system(tags=False), "", function))
        tokens = told.call_tokens
        if room is not None:
            tokens = max(1, min(tokens, room - _NEIGHBOURS))
            self.context = min(_CONTEXT, room // _SURROUNDINGS)
        most = packing.CallLimits(told.passages_per_call, told.facts_per_call, tokens, self.reply())

        def of_fact(at: int) -> int:
            texts = (units[at].claim, units[at].query, self.text.sentence(units[at].sentence_index))
            return sum(map(tokens_of, texts))

        passages = self.case.passages
        return packing.pack(items, most, of_fact, lambda at: tokens_of(passages[at].text))

    def question(self, items: Sequence[Pair], wrong: str) -> Question:
        """Return the question about these pairs: in tags, unless it is a repair."""
        tags = self.settings.format == XML and not wrong
        facts = self.facts(items, exact=bool(wrong))
        # Weak models copy an example, so a repair has none.
        asked = None if tags else self.function(facts, example=not wrong)
        return Question(
            self.system(tags), self.user(items, facts), asked, self.reply() * len(items)
        )

    def parse(self, choice: Choice, items: Sequence[Pair], call: bool) -> Parsed[Pair, Finding]:
        """Return the findings of a reply; findings that lack a requested rationale are poor."""
        facts = self.facts(items)
        names = [argument(at) for at in range(1, len(facts.facts) + 1)]
        given = arguments_of(choice, names) if call else xml_arguments(choice, facts)
        units, passages = [*by_fact(items)], _passages(items)
        findings = {}
        for (fact, passage), check in facts.invoke(given).items():
            said = {"answer": check.answer, "rationale": check.rationale}
            said["citation"] = check.citation
            texts = {name: read(text) for name, text in said.items() if text is not None}
            found = Finding(_OUTCOMES[check.verdict], raw_verdict=check.raw_verdict, **texts)
            findings[units[fact - 1], passages[passage - 1]] = found
        poor = [pair for pair in findings if not findings[pair].explained(self.settings)]
        wrong = "it had no rationale of some verdicts; give one with each"
        if len(findings) < len(items):
            wrong = self.wrong(facts, given)
        return Parsed(findings, wrong, poor)

    def facts(self, items: Sequence[Pair], exact: bool = False) -> FactFunction:
        """Return the facts of these pairs, with the numbers of their passages."""
        numbers = {passage: number for number, passage in enumerate(_passages(items), 1)}
        facts = []
        for at, found in by_fact(items).items():
            unit = self.case.units[at]
            facts.append(schema.Fact(unit.claim, unit.query, [numbers[one] for one in found]))
        return FactFunction(facts, _control(self.settings), exact)

    def wrong(self, function: FactFunction, given: Mapping[str, Any]) -> str:
        """Return what is wrong with a reply, for the repair prompt."""
        if not given:
            return "it had no argument of a fact, such as f1"
        if function.repeats_example(given):
            return _COPIED
        verdict = function.wrong_verdict(given)
        if verdict is None:
            return "it had no check of some facts or passages"
        allowed = ", ".join(function.control.verdicts)
        return f'the verdict "{escape(verdict[:_SHOWN])}" is none of {allowed}'

    def user(self, items: Sequence[Pair], function: FactFunction) -> str:
        """Return the user message: passages, context and facts."""
        passages, facts = [""], [""]
        for number, at in enumerate(_passages(items), 1):
            passage = self.case.passages[at]
            passages.append(block(f"p{number}", passage.text, title=passage.title))
        for number, fact in enumerate(function.facts, 1):
            query = None if repeats(fact.query, fact.claim) else fact.query
            listed = None if function.single else ranges(fact.passages)
            facts.append(element(argument(number), fact.claim, query=query, passages=listed))
        sentences = (self.case.units[unit].sentence_index for unit in by_fact(items))
        context = self.text.surroundings(sentences, self.context)
        return self.prompts.render(
            "verify_user",
            passages=wrapped("passages", "\n".join([*passages, ""])),
            context=element("context", context) if context else "",
            facts=wrapped("facts", "\n".join([*facts, ""])),
        )

    def function(self, facts: FactFunction, example: bool = True) -> Function:
        """Return the function that is called."""
        texts = {name: self.prompts[f"argument_{name}"] for name in _described(facts.control)}
        sample = facts.example() if example else None
        about = self.prompts["function_verify"]
        return Function("verify_facts", about, facts.parameters(texts), sample)

    def system(self, tags: bool) -> str:
        """Return the system message; for a reply in tags it describes them."""
        prompts, control = self.prompts, _control(self.settings)
        verdicts = prompts[f"verdicts_{control.options}"]
        if not tags:
            return prompts.render("verify_facts_system", verdicts=verdicts)
        fields = [f"<{name}>: {prompts[f'argument_{name}']}" for name in control.fields[:-1]]
        fields.append(f"<{schema.VERDICT}>: {', '.join(control.verdicts)}")
        if control.options == schema.TFN:
            listed = prompts[f"argument_{schema.NOANS_LIST}"]
            fields.append(f"After the passages, <{schema.NOANS_LIST}>: {listed}")
        grounds = {schema.ANSWER, schema.CITATION, schema.RATIONALE}
        unused = tuple(f"<{name}>" for name in grounds.difference(control.fields))
        lines = prompts[f"verify_xml_example_{control.options}"].splitlines()
        example = "\n".join(line for line in lines if not line.startswith(unused))
        told = {"verdicts": verdicts, "fields": "\n".join(fields), "example": example}
        return prompts.render("verify_xml_system", **told)


def _objects(prompts: Prompts, settings: LlmSettings, case: Case) -> Form[Pair, Finding]:
    """Return the paper's form: its function object for the facts of one passage."""
    words = [*_WORDS][: 3 if settings.verdict_labels == schema.TFN else 2]
    tags = settings.format == XML

    def pack(items: Sequence[Pair]) -> list[list[Pair]]:
        of_passage = packing.CallLimits(1, settings.facts_per_call, inf)
        return packing.pack(items, of_passage, lambda _: 0, lambda _: 0)

    def question(items: Sequence[Pair], wrong: str) -> Question:
        about, arguments = prompts["function_faaf"], dict[str, Any]()
        for number, (unit, _) in enumerate(items, 1):
            name, fact = f"fact_{number}", case.units[unit].claim
            if settings.citation:
                text = prompts.render("argument_faaf_citation", fact=fact)
                arguments[name + _EVIDENCE] = {**_CITED, "description": text}
            text = prompts.render("argument_faaf_fact", fact=fact)
            arguments[name] = {"type": "string", "enum": words, "description": text}
        user = prompts.render("faaf_user", passage=case.passages[items[0][1]].text)
        expects = (_ARGUMENT + _VERDICT + _CITATION * settings.citation) * len(items)
        if not tags:
            return Question("", user, Function("fact_checker", about, closed(arguments)), expects)
        told = "\n".join(
            f"<parameter>\n<name>{name}</name>\n<values>{' | '.join(value.get('enum', ['text']))}"
            f"</values>\n<description>{value['description']}</description>\n</parameter>"
            for name, value in arguments.items()
        )
        system = prompts.render("faaf_xml", parameters=told, description=about)
        return Question(system, user, None, expects)

    def parse(choice: Choice, items: Sequence[Pair], call: bool) -> Parsed[Pair, Finding]:
        names = [f"fact_{number}" for number in range(1, len(items) + 1)]
        cited = [name + _EVIDENCE for name in names] if settings.citation else []
        given: dict[str, Any] = arguments_of(choice, [*names, *cited])
        if tags:
            texts = tagged(choice, [*names, *cited]).items()
            given = {**dict.fromkeys(cited), **{name: text.strip() for name, text in texts}}
        allowed = all(given.get(name) in words for name in names)
        if not allowed or not all(isinstance(given.get(name, 0), str | None) for name in cited):
            return Parsed({}, "it lacked a value of the allowed ones for an argument")
        quotes = [read(given.get(name + _EVIDENCE) or "") or None for name in names]
        said = [given[name] for name in names]
        return Parsed(
            {
                pair: Finding(_WORDS[word], citation=quote, raw_verdict=word)
                for pair, word, quote in zip(items, said, quotes, strict=True)
            }
        )

    return Form(question, parse, pack)
