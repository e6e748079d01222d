"""Formulation `function`: all facts of a response against a source's passages in one function call.

FaaF (Katranidis & Barany, 2024), extended to several passages, which are numbered and shared by the
facts that retrieved them. The reply may be in tags instead of a call; repairs always ask for a
call, since an endpoint that enforces a schema gets valid arguments from weak models too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from ufo.schemas.functions import (
    ANSWER,
    CITATION,
    NOANS_LIST,
    PASSAGES,
    RATIONALE,
    TFN,
    VERDICT,
    Check,
    Control,
    Fact,
    FactFunction,
    argument,
)
from ufo.schemas.records import ERROR, FILTERED, REFUSED, TRUNCATED
from ufo.transforms.judges.llm.asking import Asker, Reply, together
from ufo.transforms.judges.llm.excerpts import spans_of, surroundings
from ufo.transforms.judges.llm.formulation import (
    Case,
    Finding,
    Pair,
    explained,
    outcome_of,
    ranges,
    repeats,
    trouble,
    unknown,
    worth_keeping,
    worth_repairing,
)
from ufo.transforms.judges.llm.packing import Limits, Packed, by_fact, pack, reply_tokens, tokens_of
from ufo.transforms.judges.llm.parsing import arguments_of, xml_arguments
from ufo.transforms.llm.base import Choice, Function
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import block, element, escape, plain, wrapped

NAME = "verify_facts"
_CONTEXT = 1500  # tokens, at most, of the response's text around the facts of a call
_SURROUNDINGS = 4  # a small context window divided by this is the limit of that text
_NEIGHBOURS = 60  # tokens of the sentences around those of the facts
_SHOWN = 40  # characters of a wrong verdict
_COPIED = "it repeated the example in place of judging the facts"
_TOO_MUCH = (TRUNCATED, FILTERED, REFUSED)

Answered = tuple[Packed, Reply, dict[Pair, Finding], str]
"""A call, its reply, the findings in it, and an error text for the repair if any are missing."""


class FunctionFormulation:
    """Verification by a generated function, called with JSON or (`xml`) written as tags."""

    def __init__(
        self, prompts: Prompts, control: Control, xml: bool, limits: Limits, repairs: int
    ) -> None:
        self._prompts = prompts
        self._control = control
        self._explains = RATIONALE in control.fields
        self._xml = xml
        self._limits = replace(limits, reply=reply_tokens(control.fields))
        self._repairs = repairs
        self._systems = {tags: _system(prompts, control, tags) for tags in {xml, False}}

    @property
    def names(self) -> Sequence[str]:
        """The names of the prompts that its judgements depend on."""
        options = self._control.options
        arguments = [f"argument_{name}" for name in _described(self._control)]
        tags = ["verify_xml_system", f"verify_xml_example_{options}"] if self._xml else []
        names = ["verify_facts_system", "function_verify", "verify_user", "repair"]
        return [*tags, *names, f"verdicts_{options}", *arguments]

    async def judge(self, case: Case, asker: Asker) -> dict[Pair, Finding]:
        """Return the findings of all pairs; request those that the replies lack once more."""
        found: dict[Pair, Finding] = {}
        calls = self._pack(case, case.pairs, self._limits_now(asker))
        wrong = ""
        for attempt in range(self._repairs + 1):
            wrongs: dict[str, None] = {}
            lacking: list[Pair] = []
            too_much: list[Pair] = []
            largest = Packed()
            for call, reply, findings, why in await self._answered(case, calls, asker, wrong):
                lost = [pair for pair in call.pairs if pair not in findings]
                now = findings | {pair: unknown(reply) for pair in lost}
                found |= {pair: _after(found.get(pair), finding) for pair, finding in now.items()}
                missing = [pair for pair in call.pairs if not explained(now[pair], self._explains)]
                if not missing:
                    continue
                if attempt == self._repairs or not worth_repairing(reply):
                    if lost:
                        asker.failed(reply, f"{len(lost)} of {len(call.pairs)} judgements")
                    continue
                wrongs[trouble(reply, why)] = None
                if reply.reason in _TOO_MUCH:
                    too_much += missing
                    largest = max(largest, call, key=lambda packed: len(packed.pairs))
                else:
                    lacking += missing
            wrong = "; ".join(wrongs)
            limits = self._limits_now(asker)
            calls = self._pack(case, lacking, limits)
            calls += self._pack(case, too_much, limits.below(largest))
        return found

    def _limits_now(self, asker: Asker) -> Limits:
        """Return the limits of a call, given what is known of the model's context."""
        room = self._room(asker)
        return self._limits.within(None if room is None else room - _NEIGHBOURS)

    def _room(self, asker: Asker) -> int | None:
        """Return the tokens left for facts, passages, context and reply, None if unknown."""
        smallest = FactFunction([Fact("", "", [1, 2])], self._control)
        function = self._object(smallest)
        rooms = (
            asker.room(self._systems[tags], None if tags else function) for tags in self._systems
        )
        return min((room for room in rooms if room is not None), default=None)

    async def _answered(
        self, case: Case, calls: Iterable[Packed], asker: Asker, wrong: str
    ) -> list[Answered]:
        """Make the calls; halve each one that is too long for the model's context."""

        async def answers(call: Packed) -> list[Answered]:
            reply, findings, why = await self._call(case, call, asker, wrong)
            missing = [pair for pair in call.pairs if pair not in findings]
            if not (reply.too_long and missing and len(call.pairs) > 1):
                return [(call, reply, findings, why)]
            pieces = self._pack(case, missing, self._limits_now(asker).below(call))
            return [
                (call.without(missing), reply, findings, why),
                *await self._answered(case, pieces, asker, wrong),
            ]

        return [*chain.from_iterable(await together(answers(call) for call in calls))]

    def _pack(self, case: Case, pairs: Iterable[Pair], limits: Limits) -> list[Packed]:
        wanted = by_fact(pairs)
        if not wanted:
            return []
        units, passages = case.units, case.passages
        facts = {
            at: sum(map(tokens_of, (units[at].claim, units[at].query, case.sentence(at))))
            for at in wanted
        }
        used = set(chain.from_iterable(wanted.values()))
        return pack(wanted, facts, {at: tokens_of(passages[at].text) for at in used}, limits)

    async def _call(
        self, case: Case, call: Packed, asker: Asker, wrong: str
    ) -> tuple[Reply, dict[Pair, Finding], str]:
        """Return the reply, the findings in it, and an error text where some are missing."""
        numbers = {passage: number for number, passage in enumerate(call.passages, 1)}
        units = list(call.facts)
        function = FactFunction(
            [
                Fact(
                    case.units[unit].claim,
                    case.units[unit].query,
                    [numbers[passage] for passage in call.facts[unit]],
                )
                for unit in units
            ],
            self._control,
        )

        tags = self._xml and not wrong

        def arguments(choice: Choice) -> Mapping[str, Any]:
            if tags:
                return xml_arguments(choice, function)
            return arguments_of(choice, [argument(at) for at in range(1, len(units) + 1)])

        def keep(choice: Choice) -> bool:
            checks = function.invoke(arguments(choice)).values()
            settled = sum(explained(_finding(check), self._explains) for check in checks)
            return worth_keeping(settled, len(call.pairs), bool(wrong), self._repairs)

        # Weak models copy an example; after a reply in tags an example did not help.
        example = not self._xml and _COPIED not in wrong
        room = self._room(asker)
        context = _CONTEXT if room is None else min(_CONTEXT, room // _SURROUNDINGS)
        reply = await asker.ask(
            self._systems[tags],
            self._user(case, call, function, context),
            None if tags else self._object(function, example),
            wrong,
            keep,
            self._limits.reply * len(call.pairs),
        )
        given = arguments(reply.choice)
        passages = list(call.passages)
        findings = {
            (units[fact - 1], passages[passage - 1]): _finding(check, reply.request_id)
            for (fact, passage), check in function.invoke(given).items()
        }
        if len(findings) == len(call.pairs):
            return reply, findings, "it had no rationale of some verdicts; give one with each"
        return reply, findings, self._wrong(function, given)

    def _wrong(self, function: FactFunction, given: Mapping[str, Any]) -> str:
        if not given:
            return "it had no argument of a fact, such as f1"
        if function.repeats_example(given):
            return _COPIED
        verdict = function.wrong_verdict(given)
        if verdict is not None:
            allowed = ", ".join(self._control.verdicts)
            return f'the verdict "{escape(verdict[:_SHOWN])}" is none of {allowed}'
        return "it had no check of some facts or passages"

    def _user(self, case: Case, call: Packed, function: FactFunction, tokens: int) -> str:
        """Return the user message of a call, with up to `tokens` tokens of the response's text."""
        passages = [
            block(f"p{number}", case.passages[at].text, title=case.passages[at].title)
            for number, at in enumerate(call.passages, 1)
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
        context = surroundings(
            case.open_units.text,
            spans_of(case.open_units),
            [case.units[unit].sentence_index for unit in call.facts],
            tokens,
        )
        return self._prompts.render(
            "verify_user",
            passages=wrapped("passages", "\n" + "\n".join(passages) + "\n"),
            context=element("context", context) if context else "",
            facts=wrapped("facts", "\n" + "\n".join(facts) + "\n"),
        )

    def _object(self, function: FactFunction, example: bool = True) -> Function:
        texts = {name: self._prompts[f"argument_{name}"] for name in _described(self._control)}
        sample = function.example() if example else None
        return Function(NAME, self._prompts["function_verify"], function.parameters(texts), sample)


def _after(earlier: Finding | None, finding: Finding) -> Finding:
    if earlier and finding.outcome == ERROR != earlier.outcome:
        return earlier  # keep a verdict without rationale rather than an error
    return replace(finding, first_reason=earlier.first_reason) if earlier else finding


def _finding(check: Check, request_id: str | None = None) -> Finding:
    return Finding(
        outcome_of(check.verdict),
        answer=plain(check.answer),
        rationale=plain(check.rationale),
        citation=plain(check.citation),
        raw_verdict=check.raw_verdict,
        request_id=request_id,
    )


def _described(control: Control) -> list[str]:
    """Return the names of the arguments that have a description: all but the verdict."""
    beside = [] if control.citation else [PASSAGES]
    noans = [NOANS_LIST] if control.options == TFN else []
    return [*(name for name in control.fields if name != VERDICT), *beside, *noans]


def _system(prompts: Prompts, control: Control, xml: bool) -> str:
    """Return the system message."""
    verdicts = prompts[f"verdicts_{control.options}"]
    if not xml:
        return prompts.render("verify_facts_system", verdicts=verdicts)
    grounds = [name for name in control.fields if name != VERDICT]
    fields = [f"<{name}>: {prompts[f'argument_{name}']}" for name in grounds]
    fields.append(f"<{VERDICT}>: {', '.join(control.verdicts)}")
    if control.options == TFN:
        fields.append(f"After the passages, <{NOANS_LIST}>: {prompts[f'argument_{NOANS_LIST}']}")
    unused = {ANSWER, CITATION, RATIONALE}.difference(control.fields)
    lines = prompts[f"verify_xml_example_{control.options}"].splitlines()
    starts = tuple(f"<{name}>" for name in unused)
    example = "\n".join(line for line in lines if not line.startswith(starts))
    return prompts.render(
        "verify_xml_system", verdicts=verdicts, fields="\n".join(fields), example=example
    )
