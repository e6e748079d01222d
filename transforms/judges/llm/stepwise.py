"""Formulation `stepwise`: what a passage answers to the query, then whether the claim agrees.

UFO (Huang et al., 2026): each its own call, and no second one where the passage does not answer.
"""

from collections.abc import Sequence
from functools import partial

from schemas.functions import TFN, is_noans
from transforms.judges.llm.asking import Asker
from transforms.judges.llm.formulation import (
    VERDICT_WORDS,
    Case,
    Finding,
    Pair,
    ask_until,
    no_answer,
    one_by_one,
    outcome_of,
    passage_block,
    repeats,
    unknown,
)
from transforms.judges.llm.parsing import verdict_reader, wrong_word
from transforms.prompts import Prompts
from transforms.prompts.data import element, read


class StepwiseFormulation:
    """Two calls a pair, one for NOANS."""

    def __init__(self, prompts: Prompts, options: str = TFN, repairs: int = 1) -> None:
        self._prompts = prompts
        self._consistency = f"stepwise_consistency_{options}_system"
        self._read = verdict_reader(options)
        self._wrong = partial(wrong_word, options=options)
        self._repairs = repairs

    @property
    def names(self) -> Sequence[str]:
        """The prompts that its judgements depend on."""
        steps = ("stepwise_answer_system", "stepwise_answer_user", "stepwise_consistency_user")
        return (*steps, self._consistency, "repair")

    async def judge(self, case: Case, asker: Asker) -> dict[Pair, Finding]:
        """Return a finding for every pair."""

        async def finding(pair: Pair) -> Finding:
            unit = case.units[pair[0]]
            query = element("query", unit.query)
            reply, answer = await ask_until(
                asker,
                self._prompts["stepwise_answer_system"],
                self._prompts.render(
                    "stepwise_answer_user",
                    passage=passage_block(case.passages[pair[1]]),
                    query=query,
                ),
                lambda text: read(text).strip() or None,
                "an answer",
                self._repairs,
            )
            if answer is None:
                return unknown(reply)
            if is_noans(answer):
                return no_answer(reply)
            reply, verdict = await ask_until(
                asker,
                self._prompts[self._consistency],
                self._prompts.render(
                    "stepwise_consistency_user",
                    query="" if repeats(unit.query, unit.claim) else query,
                    claim=element("claim", unit.claim),
                    answer=element("answer", answer),
                ),
                self._read,
                "a verdict",
                self._repairs,
                VERDICT_WORDS,
                self._wrong,
            )
            if verdict is None:
                return unknown(reply)
            return Finding(
                outcome_of(verdict),
                answer=answer,
                raw_verdict=reply.choice.text.strip(),
                request_id=reply.request_id,
                first_reason=reply.first_reason,
            )

        return await one_by_one(case, finding)
