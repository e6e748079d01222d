"""Formulation `function`: all facts of a response against a source's passages in one function call.

The method is FaaF (Katranidis & Barany, 2024), in two forms. Our form (`_Calls`) takes several
passages. They are numbered, and facts that retrieved the same passage share it. The reply may be in
tags instead of a call. Repairs always ask for a call: an endpoint that enforces a schema gets valid
arguments from weak models, too.

The published form (`_Objects`, with `as_published`) is the function object of the paper and its
code. Each fact has an argument, described by the fact; the values are the verdicts in words. With
citations, another argument before it takes the supporting text. There is one passage, in one short
user message, and no system message. In tags, the system message describes the function with one
example of a call. A value that is not allowed makes the whole call invalid. Unlike in FaaF's code,
arguments are numbered from 1 and are not inside a list. See https://arxiv.org/abs/2403.03888 and
https://github.com/vasiliskatr/faaf (faaf_verification.py, claude_utils.py).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf
from typing import Any, Final

from ufo.schemas.records import NOANS
from ufo.transforms.judges.llm import fact_function as schema
from ufo.transforms.judges.llm.asking import Asker, Form, Parsed, Question, ask_for_items
from ufo.transforms.judges.llm.excerpts import ranges, repeats
from ufo.transforms.judges.llm.fact_function import FactFunction, described_arguments, fields_of
from ufo.transforms.judges.llm.judgements import Case, Finding, Formulation, Pair, by_fact
from ufo.transforms.judges.llm.llm_settings import SHORT, TFN, XML, LlmSettings
from ufo.transforms.judges.llm.parsing import (
    arguments_of,
    numbers_of,
    outcome_of,
    tags,
    tags_in_reply,
)
from ufo.transforms.llm.json_schema import closed_object
from ufo.transforms.llm.request import Choice, Function
from ufo.transforms.llm.tokens import count
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import block, element, read, wrapped

_CONTEXT: Final = 1500  # tokens, at most, of the response's text around the facts of a call
_SURROUNDINGS: Final = 4  # a small context window divided by this is the limit of that text
_USED: Final = 0.9  # share of the room that calls are packed into: the rest is margin
_NEIGHBOURS: Final = 60  # tokens of the sentences around the sentences of the facts
_FEW: Final = 4  # judgements requested at once after a reply without any
# Tokens of one judgement in a reply: of its verdict, with its rationale, of its citation.
_VERDICT, _EXPLAINED, _CITATION = 12, 40, 30
_ARGUMENT: Final = 10  # tokens of the name of an argument of the function object
_FACT: Final = 20  # tokens of a fact's tags and of its argument
_WORDS: Final = ("True", "False", "Not clear from the given passage")
_EVIDENCE: Final = "_text_evidence"
_CITED: Final = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_PASSAGE_TAG: Final = re.compile(r"<(p[0-9]{1,6})>")


def formulation(prompts: Prompts, settings: LlmSettings) -> Formulation:
    """Return the formulation `function` with these settings."""

    async def judge(case: Case, asker: Asker) -> dict[Pair, Finding]:
        if settings.as_published:
            form = _Objects(prompts, settings, case).form()
        else:
            form = _Calls(prompts, settings, case, asker).form()
        answers = await ask_for_items(case.pairs, form, asker)
        return {pair: Finding.of(answer) for pair, answer in answers.items()}

    def context(case: Case, unit: int) -> str:
        return case.text.surroundings([case.units[unit].sentence_index], _CONTEXT)

    labels, in_tags = settings.verdict_labels, settings.format == XML
    if settings.as_published:
        names = ["faaf_user", "function_faaf", "argument_faaf_fact", "repair"]
        names += ["argument_faaf_citation"] if settings.citation else []
        return Formulation(names + (["faaf_xml"] if in_tags else []), judge)
    names = ["verify_facts_system", "function_verify", "verify_user", f"verdicts_{labels}"]
    names += ["repair", *(f"argument_{name}" for name in described_arguments(settings))]
    names += ["verify_xml_system", f"verify_xml_example_{labels}"] if in_tags else []
    return Formulation(names, judge, context)


def _passages(items: Sequence[Pair]) -> list[int]:
    return [*dict.fromkeys(passage for _, passage in items)]


# --- our form -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Calls:
    """The calls of our form; `context` is the limit of the response's text in a call."""

    prompts: Prompts
    settings: LlmSettings
    case: Case
    asker: Asker
    context: int = _CONTEXT

    def form(self) -> Form[Pair, Finding]:
        """Return the form by which the pairs of the case are asked for."""
        return Form(self.question, self.parse, self.pack, few=_FEW)

    def expected(self) -> int:
        """Estimate the tokens of one judgement in a reply."""
        explained = _EXPLAINED if self.settings.explain == SHORT else _VERDICT
        return explained + _CITATION * self.settings.citation

    def pack(self, items: Sequence[Pair]) -> list[list[Pair]]:
        """Return the pairs of each call, within the known size of the model's context."""
        units, settings, tokens = self.case.units, self.settings, self.settings.call_tokens
        function = self.function(FactFunction([[1, 2]], settings))
        room = self.asker.room(Question(self.system(), "", function))
        if room is not None:
            tokens = max(1, min(tokens, int(room * _USED) - _NEIGHBOURS))
            self.context = min(_CONTEXT, room // _SURROUNDINGS)

        def of_fact(at: int) -> int:
            sentence = self.case.text.sentence(units[at].sentence_index)
            return sum(map(count, (units[at].claim, units[at].query, sentence)))

        most = (settings.passages_per_call, settings.facts_per_call)
        limits = CallLimits(*most, tokens, self.expected())
        return pack(items, limits, of_fact, lambda at: count(self.case.passages[at].text))

    def question(self, items: Sequence[Pair], wrong: str) -> Question:
        """Return the question about these pairs: in tags, unless it is a repair."""
        facts = self.facts(items)
        user, expects = self.user(items, facts), self.expected() * len(items)
        if self.settings.format == XML and not wrong:
            return Question(self.system_for_tags(), user, None, expects)
        return Question(self.system(), user, self.function(facts, bool(wrong)), expects)

    def parse(self, choice: Choice, items: Sequence[Pair]) -> Parsed[Pair, Finding]:
        """Return the findings of a reply; findings that lack a requested rationale are poor."""
        facts = self.facts(items)
        arguments = arguments_of(choice, facts.arguments) or arguments_in_tags(choice, facts)
        units, passages = [*by_fact(items)], _passages(items)
        by_number, wrong = facts.read(arguments)
        findings = {
            (units[fact - 1], passages[passage - 1]): finding
            for (fact, passage), finding in by_number.items()
        }
        poor = [pair for pair in findings if not findings[pair].is_complete(self.settings)]
        if len(findings) < len(items):
            return Parsed(findings, wrong, poor)
        return Parsed(findings, "it had no rationale of some verdicts; give one with each", poor)

    def system(self) -> str:
        """Return the system message for a call."""
        verdicts = self.prompts[f"verdicts_{self.settings.verdict_labels}"]
        return self.prompts.render("verify_facts_system", verdicts=verdicts)

    def system_for_tags(self) -> str:
        """Return the system message for a reply in tags."""
        labels, asked = self.settings.verdict_labels, fields_of(self.settings)
        fields = [f"<{name}>: {self.prompts[f'argument_{name}']}" for name in asked[:-1]]
        fields.append(f"<{schema.VERDICT}>: {', '.join(schema.VERDICTS[labels])}")
        if labels == TFN:
            listed = self.prompts[f"argument_{schema.NOANS_LIST}"]
            fields.append(f"After the passages, <{schema.NOANS_LIST}>: {listed}")
        unused = {schema.ANSWER, schema.CITATION, schema.RATIONALE}.difference(asked)
        left_out = tuple(f"<{name}>" for name in unused)
        lines = self.prompts[f"verify_xml_example_{labels}"].splitlines()
        example = "\n".join(line for line in lines if not line.startswith(left_out))
        parts = {"verdicts": self.prompts[f"verdicts_{labels}"], "fields": "\n".join(fields)}
        return self.prompts.render("verify_xml_system", **parts, example=example)

    def function(self, facts: FactFunction, repair: bool = False) -> Function:
        """Return the function that the model calls.

        That of a repair is exact, and has no example, which weak models copy.
        """
        texts = {
            name: self.prompts[f"argument_{name}"] for name in described_arguments(self.settings)
        }
        parameters, sample = facts.parameters(texts, repair), None if repair else facts.example()
        return Function("verify_facts", self.prompts["function_verify"], parameters, sample)

    def facts(self, items: Sequence[Pair]) -> FactFunction:
        """Return the function object of these pairs, with the numbers of their passages."""
        numbers = {passage: number for number, passage in enumerate(_passages(items), 1)}
        passages = [[numbers[one] for one in found] for found in by_fact(items).values()]
        return FactFunction(passages, self.settings)

    def user(self, items: Sequence[Pair], function: FactFunction) -> str:
        """Return the user message: passages, context and facts."""
        units, passages, facts = [*by_fact(items)], [""], [""]
        for number, at in enumerate(_passages(items), 1):
            passage = self.case.passages[at]
            passages.append(block(f"p{number}", passage.text, title=passage.title))
        for name, at, numbers in zip(function.arguments, units, function.passages, strict=True):
            unit = self.case.units[at]
            query = None if repeats(unit.query, unit.claim) else unit.query
            listed = None if function.single else ranges(numbers)
            facts.append(element(name, unit.claim, query=query, passages=listed))
        sentences = (self.case.units[at].sentence_index for at in units)
        context = self.case.text.surroundings(sentences, self.context)
        return self.prompts.render(
            "verify_user",
            passages=wrapped("passages", "\n".join([*passages, ""])),
            context=element("context", context) if context else "",
            facts=wrapped("facts", "\n".join([*facts, ""])),
        )


def arguments_in_tags(choice: Choice, function: FactFunction) -> dict[str, Any]:
    """Return the arguments of a reply in tags, in the shape of the JSON reply."""
    fields = fields_of(function.settings)
    arguments: dict[str, Any] = {}
    for name, content in tags_in_reply(choice, function.arguments).items():
        passages = tags(content, _PASSAGE_TAG.findall(content))
        if function.single and not passages:
            arguments[name] = tags(content, fields)
            continue
        listed = tags(content, [schema.NOANS_LIST]).get(schema.NOANS_LIST)
        checks = [{schema.PASSAGE: tag, **tags(passages[tag], fields)} for tag in passages]
        arguments[name] = {schema.CHECKS: checks, schema.NOANS_LIST: numbers_of(listed)}
    return arguments


# --- the packing of calls -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The limits of one call: passages, facts, and estimated tokens of facts, passages and reply.

    `reply` is the estimate of one judgement in the reply.
    """

    passages: int
    facts: int
    tokens: float
    reply: int = 40


@dataclass(slots=True)
class _PackedCall:
    facts: dict[int, list[int]] = field(default_factory=dict)
    passages: set[int] = field(default_factory=set)
    tokens: int = 0

    def in_common(self, fact: int, passages: Sequence[int]) -> tuple[int, bool]:
        """Return the number of the passages that the call has, and whether it has the fact."""
        return len(self.passages.intersection(passages)), fact in self.facts


def pack(
    pairs: Sequence[Pair],
    limits: CallLimits,
    fact_tokens: Callable[[int], int],
    passage_tokens: Callable[[int], int],
) -> list[list[Pair]]:
    """Return the pairs of each call.

    A call contains each passage once, so a fact is added to the call that already has most of its
    passages. This is not always optimal (bin packing is NP-hard), but it is where facts share no
    passages or all of them. A fact with more passages than a call may contain is split over several
    calls; a passage that exceeds the limit alone gets its own call.
    """
    if len(pairs) == 1:
        return [[*pairs]]
    calls: list[_PackedCall] = []
    of_fact, of_passage = cache(fact_tokens), cache(passage_tokens)

    def added(call: _PackedCall, fact: int, piece: Sequence[int]) -> int:
        """Return the tokens that a call would have with these passages of a fact."""
        statement = 0 if fact in call.facts else of_fact(fact) + _FACT
        passages = sum(of_passage(one) for one in piece if one not in call.passages)
        return call.tokens + statement + passages + limits.reply * len(piece)

    def fits(call: _PackedCall, fact: int, piece: Sequence[int]) -> bool:
        return (
            len(call.passages.union(piece)) <= limits.passages
            and len(call.facts) + (fact not in call.facts) <= limits.facts
            and added(call, fact, piece) <= limits.tokens
        )

    for fact, passages in by_fact(sorted({*pairs})).items():
        whole = fits(_PackedCall(), fact, passages)
        for piece in [passages] if whole else [[one] for one in passages]:
            fitting = [call for call in calls if fits(call, fact, piece)]
            if not fitting:
                calls.append(_PackedCall())
                fitting = calls[-1:]
            best = max(fitting, key=lambda call: call.in_common(fact, piece))
            best.tokens = added(best, fact, piece)
            best.passages.update(piece)
            best.facts.setdefault(fact, []).extend(piece)
    return [[(fact, one) for fact in call.facts for one in call.facts[fact]] for call in calls]


# --- the published form -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Objects:
    """The functions of the published form."""

    prompts: Prompts
    settings: LlmSettings
    case: Case

    def form(self) -> Form[Pair, Finding]:
        """Return the form by which the pairs of the case are asked for."""
        return Form(self.question, self.parse, self.pack)

    @property
    def words(self) -> Sequence[str]:
        """The verdicts that may be given."""
        return _WORDS if self.settings.verdict_labels == TFN else _WORDS[:2]

    def pack(self, items: Sequence[Pair]) -> list[list[Pair]]:
        """Return the pairs of each call, which has one passage."""
        limits = CallLimits(1, self.settings.facts_per_call, inf)
        return pack(items, limits, lambda _: 0, lambda _: 0)

    def question(self, items: Sequence[Pair], wrong: str) -> Question:
        """Return the question about these pairs."""
        prompts, cites = self.prompts, self.settings.citation
        arguments: dict[str, Any] = {}
        for number, (unit, _) in enumerate(items, 1):
            name, fact = f"fact_{number}", self.case.units[unit].claim
            if cites:
                text = prompts.render("argument_faaf_citation", fact=fact)
                arguments[name + _EVIDENCE] = {**_CITED, "description": text}
            text = prompts.render("argument_faaf_fact", fact=fact)
            arguments[name] = {"type": "string", "enum": [*self.words], "description": text}
        about = prompts["function_faaf"]
        user = prompts.render("faaf_user", passage=self.case.passages[items[0][1]].text)
        expects = (_ARGUMENT + _VERDICT + _CITATION * cites) * len(items)
        if self.settings.format != XML:
            return Question(
                "", user, Function("fact_checker", about, closed_object(arguments)), expects
            )
        parameters = "\n".join(
            f"<parameter>\n<name>{name}</name>\n<values>{' | '.join(value.get('enum', ['text']))}"
            f"</values>\n<description>{value['description']}</description>\n</parameter>"
            for name, value in arguments.items()
        )
        system = prompts.render("faaf_xml", parameters=parameters, description=about)
        return Question(system, user, None, expects)

    def parse(self, choice: Choice, items: Sequence[Pair]) -> Parsed[Pair, Finding]:
        """Return the findings of a reply, none where a value is not allowed."""
        names = [f"fact_{number}" for number in range(1, len(items) + 1)]
        quotes = [name + _EVIDENCE for name in names] if self.settings.citation else []
        arguments = arguments_of(choice, [*names, *quotes])
        if self.settings.format == XML:
            texts = tags_in_reply(choice, [*names, *quotes]).items()
            arguments = {**dict.fromkeys(quotes), **{name: text.strip() for name, text in texts}}
        findings: dict[Pair, Finding] = {}
        for pair, name in zip(items, names, strict=True):
            verdict = arguments.get(name)
            quote = arguments.get(name + _EVIDENCE, "" if not quotes else 0)
            if verdict not in self.words or not isinstance(quote, str | None):
                return Parsed({}, "it lacked a value of the allowed ones for an argument")
            outcome = outcome_of(verdict, self.settings.verdict_labels) or NOANS
            quote = read(quote or "").strip() or None
            findings[pair] = Finding(outcome, citation=quote, raw_verdict=verdict)
        return Parsed(findings)
