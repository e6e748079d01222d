"""Formulation `rationale`: claim, its paragraph and one piece of evidence; why before whether.

Facts&Evidence (2025): few-shot, one call a pair, and evidence that is off the topic or contradicts
itself refutes nothing, nor is a subjective claim refuted.
"""

from transforms.judges.llm.asking import Asker
from transforms.judges.llm.context import paragraph, spans_of
from transforms.judges.llm.formulation import (
    Case,
    Finding,
    OneCallAPair,
    Pair,
    outcome_of,
    passage_block,
    unknown,
)
from transforms.judges.llm.parsing import rationale_reader, wrong_rationale
from transforms.prompts.data import element, plain


class RationaleFormulation(OneCallAPair):
    """One call a pair."""

    name = "rationale"
    reply_tokens = 80
    wrong = staticmethod(wrong_rationale)

    async def finding(self, case: Case, pair: Pair, asker: Asker) -> Finding:
        """Return the finding of one pair."""
        unit, response = case.units[pair[0]], case.open_units
        context = paragraph(response.text, spans_of(response), unit.sentence_index)
        reply, found = await self.ask(
            asker,
            rationale_reader(self._options),
            passage=passage_block(case.passages[pair[1]]),
            context=element("context", context) if context else "",
            claim=element("claim", unit.claim),
        )
        if found is None:
            return unknown(reply)
        return Finding(
            outcome_of(found.verdict),
            rationale=plain(found.rationale),
            raw_verdict=found.raw_verdict,
            request_id=reply.request_id,
            first_reason=reply.first_reason,
        )
