"""FaaF's function object, as in its paper and code (Katranidis & Barany, 2024).

The function has one argument for each fact, described by the fact, whose values are the verdicts in
words; with citations another argument before it takes the supporting text. There is one short user
message and no system message. A value that is not allowed makes the whole call invalid. Unlike in
FaaF's code, arguments are numbered from 1 and are not inside a list:
https://arxiv.org/abs/2403.03888 and https://github.com/vasiliskatr/faaf (faaf_verification.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from ufo.schemas.functions import CITATION, FALSE, NOT_CLEAR, TFN, TRUE
from ufo.schemas.parameters import closed
from ufo.transforms.judges.llm.asking import Asker, Reply, together
from ufo.transforms.judges.llm.formulation import (
    Case,
    Finding,
    Pair,
    outcome_of,
    trouble,
    unknown,
    worth_repairing,
)
from ufo.transforms.judges.llm.packing import reply_tokens
from ufo.transforms.judges.llm.parsing import arguments_of
from ufo.transforms.llm.base import Choice, Function
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import storable

NAME: Final = "fact_checker"
_VERDICTS: Final = {"True": TRUE, "False": FALSE, "Not clear from the given passage": NOT_CLEAR}
_WRONG: Final = "it lacked a value of the allowed ones for an argument"
_EVIDENCE: Final = "_text_evidence"
_ARGUMENT: Final = 10  # tokens of an argument's name
_CITED: Final = {"anyOf": [{"type": "string"}, {"type": "null"}]}


class FunctionObject:
    """A formulation for cases with a single passage, the answer to be verified."""

    def __init__(
        self, prompts: Prompts, options: str, citation: bool, repairs: int, most: int
    ) -> None:
        self._prompts = prompts
        self._most = most
        self._verdicts = list(_VERDICTS)[: 3 if options == TFN else 2]
        self._citation = citation
        self._repairs = repairs
        self._reply = _ARGUMENT + reply_tokens([CITATION] if citation else [])

    @property
    def names(self) -> Sequence[str]:
        """The names of the prompts that its judgements depend on."""
        cited = ["argument_faaf_citation"] if self._citation else []
        return ["faaf_user", "function_faaf", "argument_faaf_fact", "repair", *cited]

    async def judge(self, case: Case, asker: Asker) -> Mapping[Pair, Finding]:
        """Return the findings of all facts, by one call for each `most` facts."""
        facts = [unit.claim for unit in case.units]
        text = case.passages[0].text
        findings = await together(
            self._call(facts[at : at + self._most], text, asker)
            for at in range(0, len(facts), self._most)
        )
        return {(at, 0): finding for at, finding in enumerate(chain.from_iterable(findings))}

    async def _call(self, facts: Sequence[str], text: str, asker: Asker) -> list[Finding]:
        """Ask about these facts, once more where the call is invalid; in halves where it is too
        long for the model's context."""
        function = Function(NAME, self._prompts["function_faaf"], self._parameters(facts))
        user = self._prompts.render("faaf_user", passage=storable(text) or "")
        names = list(function.parameters["properties"])
        expects = self._reply * len(facts)

        async def halves() -> list[Finding]:
            half = len(facts) // 2
            pieces = (facts[:half], facts[half:])
            findings = await together(self._call(piece, text, asker) for piece in pieces)
            return [*chain.from_iterable(findings)]

        room = asker.room("", function, user)
        if room is not None and room < expects and len(facts) > 1:
            return await halves()

        def valid_values(choice: Choice) -> Mapping[str, Any] | None:
            values = arguments_of(choice, names)
            return values if all(self._is_valid(name, values) for name in names) else None

        def keep(choice: Choice) -> bool:
            return valid_values(choice) is not None

        reply = await asker.ask("", user, function, keep=keep, expects=expects)
        values, first = valid_values(reply.choice), None
        if values is None and reply.too_long and len(facts) > 1:
            return await halves()
        if values is None and self._repairs and worth_repairing(reply):
            first = reply.reason
            reply = await asker.ask("", user, function, trouble(reply, _WRONG), keep, expects)
            values = valid_values(reply.choice)
        if values is None:
            asker.failed(reply, f"a call whose {len(names)} values are all allowed")
            return [replace(unknown(reply), first_reason=first or reply.reason) for _ in facts]
        return [self._finding(at, values, reply, first) for at in range(len(facts))]

    def _parameters(self, facts: Sequence[str]) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        for at, fact in enumerate(facts):
            if self._citation:
                text = self._prompts.render("argument_faaf_citation", fact=fact)
                properties[_evidence(at)] = {**_CITED, "description": text}
            text = self._prompts.render("argument_faaf_fact", fact=fact)
            properties[_fact(at)] = {
                "type": "string",
                "enum": self._verdicts,
                "description": text,
            }
        return closed(properties)

    def _is_valid(self, name: str, values: Mapping[str, Any]) -> bool:
        if name not in values:
            return False
        value = values[name]
        if name.endswith(_EVIDENCE):
            return value is None or isinstance(value, str)
        return isinstance(value, str) and value in self._verdicts

    def _finding(
        self, at: int, values: Mapping[str, Any], reply: Reply, first: str | None
    ) -> Finding:
        verdict = values[_fact(at)]
        return Finding(
            outcome_of(_VERDICTS[verdict]),
            citation=values.get(_evidence(at)) or None,
            raw_verdict=verdict,
            request_id=reply.request_id,
            first_reason=first,
        )


def _fact(at: int) -> str:
    return f"fact_{at + 1}"


def _evidence(at: int) -> str:
    return f"{_fact(at)}{_EVIDENCE}"
