"""The formulations that ask about one claim and one passage at a time.

`stepwise` (UFO, Huang et al., 2026): the passage's answer to the query, then whether the claim
agrees with the answer, in two calls; one call where the passage does not answer. `rationale`
(Facts&Evidence, 2025): the claim, its paragraph and one passage; the rationale comes before the
verdict, and evidence that is off the topic or contradicts itself refutes nothing, nor is a
subjective claim refuted. `prompt` (the baseline of FaaF, Katranidis & Barany, 2024): the verdict
alone, matched by word.

Each asks for a text, as published. Where the text has no verdict, the repair asks for a function
call with the verdict as an enum: an endpoint that enforces the schema gets one even from a weak
model.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, TypeVar

from ufo.schemas.functions import NOANS, RATIONALE, TFN, VERDICT, is_noans
from ufo.schemas.parameters import closed
from ufo.schemas.records import NOANS as NOANS_OUTCOME
from ufo.schemas.records import UNPARSABLE
from ufo.transforms.judges.llm.asking import SHORT_REPLY, Asker, Reply, together
from ufo.transforms.judges.llm.excerpts import paragraph, spans_of
from ufo.transforms.judges.llm.formulation import (
    Case,
    Finding,
    Pair,
    outcome_of,
    repeats,
    trouble,
    unknown,
    worth_repairing,
)
from ufo.transforms.judges.llm.parsing import (
    arguments_of,
    rationale_reader,
    reason_of,
    verdict_reader,
    wrong_rationale,
    wrong_word,
)
from ufo.transforms.llm.base import Choice, Function
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import block, element, plain, read

_VERDICT_TOKENS = 8
_RATIONALE_TOKENS = 80

T = TypeVar("T")


class PairFormulation:
    """Base class: asks about each pair separately.

    `prompts_used` are the names of prompts; `{}` in them is replaced by the options (tfn or tf).
    """

    prompts_used: ClassVar[Sequence[str]] = ()

    def __init__(self, prompts: Prompts, options: str = TFN, repairs: int = 1) -> None:
        self._prompts = prompts
        self._options = options
        self._repairs = repairs

    @property
    def names(self) -> Sequence[str]:
        """The names of the prompts that its judgements depend on."""
        names = (name.format(self._options) for name in self.prompts_used)
        return (*names, "repair", "function_verdict")

    async def judge(self, case: Case, asker: Asker) -> dict[Pair, Finding]:
        """Return a finding for every pair."""
        pairs = case.pairs
        findings = await together(self.finding(case, pair, asker) for pair in pairs)
        return dict(zip(pairs, findings, strict=True))

    async def finding(self, case: Case, pair: Pair, asker: Asker) -> Finding:
        """Return the finding of one pair."""
        raise NotImplementedError

    async def ask(
        self,
        asker: Asker,
        system: str,
        user: str,
        read: Callable[[str], T | None],
        why: Callable[[str], str],
        expects: int,
        lacks: str = "a verdict",
        form: Function | None = None,
        **parts: str,
    ) -> tuple[Reply, T | None]:
        """Ask for a text; return the reply and the value that `read` parses from it.

        Where `read` returns None the question is asked once more, as a call of `form` where given;
        after that the failure is recorded. `system` and `user` are names of prompts, `parts` the
        variables of the latter; `why` returns what is wrong with a text. A reply that was withheld
        or cut off is not parsed.
        """

        messages = (
            self._prompts[system.format(self._options)],
            self._prompts.render(user, **parts),
        )
        function: Function | None = None
        first_reason, wrong = None, ""

        def value_of(choice: Choice) -> T | None:
            incomplete = reason_of(choice) != UNPARSABLE
            return None if incomplete else read(_as_text(choice, function).text)

        def keep(choice: Choice) -> bool:
            return value_of(choice) is not None

        for _ in range(self._repairs + 1):
            reply = await asker.ask(*messages, function, wrong=wrong, keep=keep, expects=expects)
            reply = replace(reply, first_reason=first_reason)
            value = None if reply.error else value_of(reply.choice)
            choice = _as_text(reply.choice, function)
            if value is not None:
                return replace(reply, choice=choice), value
            if not worth_repairing(reply):
                break
            function, first_reason, wrong = form, reply.reason, trouble(reply, why(choice.text))
        asker.failed(reply, lacks)
        return reply, None

    def form(self, *before: str) -> Function:
        """Return the function for repairs: texts of the names in `before`, then the verdict."""
        fields: dict[str, Any] = {name: {"type": "string"} for name in before}
        words = ("True", "False", "Unclear") if self._options == TFN else ("True", "False")
        fields[VERDICT] = {"type": "string", "enum": words}
        return Function("hand_over", self._prompts["function_verdict"], closed(fields))


class StepwiseFormulation(PairFormulation):
    """Formulation `stepwise`: two calls for a pair, one where the passage does not answer."""

    prompts_used = (
        *("stepwise_answer_system", "stepwise_answer_user"),
        *("stepwise_consistency_{}_system", "stepwise_consistency_user"),
    )

    async def finding(self, case: Case, pair: Pair, asker: Asker) -> Finding:
        """Return the finding of one pair."""
        answer_system, answer_user, system, user = self.prompts_used
        unit = case.units[pair[0]]
        query = element("query", unit.query)
        reply, answer = await self.ask(
            asker,
            answer_system,
            answer_user,
            lambda text: read(text).strip() or None,
            lambda _: "it was empty",
            SHORT_REPLY,
            "an answer",
            passage=_passage(case, pair),
            query=query,
        )
        if answer is None:
            return unknown(reply)
        if is_noans(answer):
            return _finding(reply, NOANS_OUTCOME, raw_verdict=NOANS)
        reply, verdict = await self.ask(
            asker,
            system,
            user,
            verdict_reader(self._options),
            partial(wrong_word, options=self._options),
            _VERDICT_TOKENS,
            form=self.form(),
            query="" if repeats(unit.query, unit.claim) else query,
            claim=element("claim", unit.claim),
            answer=element("answer", answer),
        )
        if verdict is None:
            return unknown(reply)
        raw = reply.choice.text.strip()
        return _finding(reply, outcome_of(verdict), answer=answer, raw_verdict=raw)


class RationaleFormulation(PairFormulation):
    """Formulation `rationale`: one call for a pair, with the paragraph of the claim."""

    prompts_used = ("rationale_{}_system", "rationale_user")

    async def finding(self, case: Case, pair: Pair, asker: Asker) -> Finding:
        """Return the finding of one pair."""
        unit, response = case.units[pair[0]], case.open_units
        context = paragraph(response.text, spans_of(response), unit.sentence_index)
        reply, check = await self.ask(
            asker,
            *self.prompts_used,
            rationale_reader(self._options),
            partial(wrong_rationale, options=self._options),
            _RATIONALE_TOKENS,
            form=self.form(RATIONALE),
            passage=_passage(case, pair),
            context=element("context", context) if context else "",
            claim=element("claim", unit.claim),
        )
        if check is None:
            return unknown(reply)
        return _finding(
            reply,
            outcome_of(check.verdict),
            rationale=plain(check.rationale),
            raw_verdict=check.raw_verdict,
        )


class PromptFormulation(PairFormulation):
    """Formulation `prompt`: one call for a pair, with the verdict alone."""

    prompts_used = ("prompt_{}_system", "prompt_user")

    async def finding(self, case: Case, pair: Pair, asker: Asker) -> Finding:
        """Return the finding of one pair."""
        reply, verdict = await self.ask(
            asker,
            *self.prompts_used,
            verdict_reader(self._options),
            partial(wrong_word, options=self._options),
            _VERDICT_TOKENS,
            form=self.form(),
            passage=_passage(case, pair),
            claim=element("claim", case.units[pair[0]].claim),
        )
        if verdict is None:
            return unknown(reply)
        return _finding(reply, outcome_of(verdict), raw_verdict=reply.choice.text.strip())


def _finding(reply: Reply, outcome: str, **columns: str | None) -> Finding:
    ids = {"request_id": reply.request_id, "first_reason": reply.first_reason}
    return Finding(outcome, **columns, **ids)


def _as_text(choice: Choice, function: Function | None) -> Choice:
    """Return a call of the repair function as the equivalent text, any other reply unchanged."""
    given = arguments_of(choice, function.parameters["properties"]) if function else {}
    verdict, rationale = given.get(VERDICT), given.get(RATIONALE)
    if not isinstance(verdict, str):
        return choice
    if isinstance(rationale, str):
        verdict = f"Rationale: {' '.join(rationale.split())}\nVerdict: {verdict}"
    return replace(choice, text=verdict, arguments=None)


def _passage(case: Case, pair: Pair) -> str:
    passage = case.passages[pair[1]]
    return block("passage", passage.text, title=passage.title)
