"""Formulation `function`: all facts of a response against a source's passages in one function call.

FaaF (Katranidis & Barany, 2024), for several passages at once: they are numbered once and shared
by the facts that retrieved them. A reply in tags instead of a call is the same function.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from schemas.functions import (
    ANSWER,
    CITATION,
    NOANS_LIST,
    PASSAGE,
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
from schemas.records import FILTERED, REFUSED, TRUNCATED
from transforms.judges.llm.asking import Asker, Reply, together
from transforms.judges.llm.context import spans_of, surroundings
from transforms.judges.llm.formulation import (
    Case,
    Finding,
    Pair,
    outcome_of,
    unknown,
    worth_keeping,
    worth_repairing,
)
from transforms.judges.llm.packing import (
    Limits,
    Packed,
    by_fact,
    pack,
    reply_tokens,
    tokens_of,
)
from transforms.judges.llm.parsing import arguments_of, xml_arguments
from transforms.llm.base import Choice, Function
from transforms.prompts import Prompts
from transforms.prompts.data import block, element, plain, wrapped

NAME = "verify_facts"
_CONTEXT = 1500  # tokens, at most, of the text that the facts of a call stand in
_SURROUNDINGS = 4  # the part of a small context that is for it
_NEIGHBOURS = 60  # tokens of the sentences around those of the facts
_TOO_MUCH = (TRUNCATED, FILTERED, REFUSED)


class FunctionFormulation:
    """Verification through a generated function, as JSON or (`xml`) as tags."""

    def __init__(
        self, prompts: Prompts, control: Control, xml: bool, limits: Limits, repairs: int
    ) -> None:
        self._prompts = prompts
        self._control = control
        self._xml = xml
        self._limits = replace(limits, reply=reply_tokens(control.fields))
        self._repairs = repairs
        self._system = self._xml_system() if xml else prompts["verify_facts_system"]

    @property
    def names(self) -> Sequence[str]:
        """The prompts that its judgements depend on."""
        arguments = [self._argument(name) for name in self._described()]
        if self._xml:
            return ["verify_xml_system", self._example, "verify_user", "repair", *arguments]
        return ["verify_facts_system", "verify_user", "repair", "function_verify", *arguments]

    async def judge(self, case: Case, asker: Asker) -> dict[Pair, Finding]:
        """Ask for all pairs, and once more for those that the replies lack."""
        found: dict[Pair, Finding] = {}
        calls = self._pack(case, case.pairs, self._limits_now(asker))
        for attempt in range(self._repairs + 1):
            replies = await self._answered(case, calls, asker, attempt > 0)
            lacking: list[Pair] = []
            too_much: list[Pair] = []
            largest = Packed()
            for call, reply, findings in replies:
                missing = [pair for pair in call.pairs if pair not in findings]
                now = findings | {pair: unknown(reply) for pair in missing}
                found |= {pair: _after(found.get(pair), finding) for pair, finding in now.items()}
                if not missing:
                    continue
                if attempt == self._repairs or not worth_repairing(reply):
                    asker.failed(reply, f"{len(missing)} of {len(call.pairs)} judgements")
                elif reply.reason in _TOO_MUCH:
                    too_much += missing
                    largest = max(largest, call, key=lambda packed: len(packed.pairs))
                else:
                    lacking += missing
            limits = self._limits_now(asker)
            calls = self._pack(case, lacking, limits)
            calls += self._pack(case, too_much, limits.below(largest))
        return found

    def _limits_now(self, asker: Asker) -> Limits:
        """Return the limits of a call by what is known of the model's context."""
        room = self._room(asker)
        return self._limits.within(None if room is None else room - _NEIGHBOURS)

    def _room(self, asker: Asker) -> int | None:
        """Return how many tokens there are for facts, passages, context and reply."""
        smallest = FactFunction([Fact("", "", [1, 2])], self._control)
        return asker.room(self._system, self._object(smallest))

    async def _answered(
        self, case: Case, calls: Iterable[Packed], asker: Asker, again: bool
    ) -> list[tuple[Packed, Reply, dict[Pair, Finding]]]:
        """Make the calls; one that the model's context does not hold in halves, until they fit."""

        async def answers(call: Packed) -> list[tuple[Packed, Reply, dict[Pair, Finding]]]:
            reply, findings = await self._call(case, call, asker, again)
            missing = [pair for pair in call.pairs if pair not in findings]
            if not (reply.too_long and missing and len(call.pairs) > 1):
                return [(call, reply, findings)]
            pieces = self._pack(case, missing, self._limits_now(asker).below(call))
            settled = call.without(missing)
            return [
                (settled, reply, findings),
                *await self._answered(case, pieces, asker, again),
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
        self, case: Case, call: Packed, asker: Asker, again: bool
    ) -> tuple[Reply, dict[Pair, Finding]]:
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

        def checks(choice: Choice) -> Mapping[tuple[int, int], Check]:
            if self._xml:
                return function.invoke(xml_arguments(choice, function))
            names = [argument(number) for number in range(1, len(units) + 1)]
            return function.invoke(arguments_of(choice, names))

        def keep(choice: Choice) -> bool:
            return worth_keeping(len(checks(choice)), len(call.pairs), again, self._repairs)

        room = self._room(asker)
        context = _CONTEXT if room is None else min(_CONTEXT, room // _SURROUNDINGS)
        reply = await asker.ask(
            self._system,
            self._user(case, call, function, context),
            self._object(function),
            again,
            keep,
            self._limits.reply * len(call.pairs),
        )
        passages = list(call.passages)
        return reply, {
            (units[fact - 1], passages[passage - 1]): _finding(check, reply)
            for (fact, passage), check in checks(reply.choice).items()
        }

    def _user(self, case: Case, call: Packed, function: FactFunction, tokens: int) -> str:
        """Return the data of a call, with up to `tokens` tokens of what its facts stand in."""
        passages = [
            block(f"p{number}", case.passages[at].text, title=case.passages[at].title)
            for number, at in enumerate(call.passages, 1)
        ]
        facts = [
            element(
                argument(number),
                fact.claim,
                query=fact.query,
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

    def _object(self, function: FactFunction) -> Function | None:
        if self._xml:
            return None
        descriptions = {name: self._prompts[self._argument(name)] for name in self._described()}
        parameters = function.parameters(descriptions)
        return Function(NAME, self._prompts["function_verify"], parameters)

    def _described(self) -> list[str]:
        """What has a description: the fields, and what stands beside them."""
        beside = [] if self._xml else [PASSAGE if self._control.citation else PASSAGES]
        noans = [NOANS_LIST] if self._control.options == TFN else []
        return [*self._control.fields, *beside, *noans]

    def _argument(self, name: str) -> str:
        suffix = f"_{self._control.options}" if name == VERDICT else ""
        return f"argument_{name}{suffix}"

    @property
    def _example(self) -> str:
        return f"verify_xml_example_{self._control.options}"

    def _xml_system(self) -> str:
        described = [
            f"<{name}>: {self._prompts[self._argument(name)]}" for name in self._control.fields
        ]
        if self._control.options == TFN:
            text = self._prompts[self._argument(NOANS_LIST)]
            described.append(f"After the passages, <{NOANS_LIST}>: {text}")
        unused = {ANSWER, CITATION, RATIONALE}.difference(self._control.fields)
        example = "\n".join(
            line
            for line in self._prompts[self._example].splitlines()
            if not any(line.startswith(f"<{name}>") for name in unused)
        )
        return self._prompts.render(
            "verify_xml_system", fields="\n".join(described), example=example
        )


def _after(earlier: Finding | None, finding: Finding) -> Finding:
    return replace(finding, first_reason=earlier.first_reason) if earlier else finding


def _finding(check: Check, reply: Reply) -> Finding:
    return Finding(
        outcome_of(check.verdict),
        answer=plain(check.answer),
        rationale=plain(check.rationale),
        citation=plain(check.citation),
        raw_verdict=check.raw_verdict,
        request_id=reply.request_id,
    )


def ranges(numbers: Sequence[int]) -> str:
    """Return sorted numbers as people write them: "1-3 5"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
