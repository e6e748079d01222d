"""Check a response for a tool that shows one score or verdict for each sample."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ufo
from ufo.pipelines.reports.terminal import shortfall
from ufo.transforms.gate_score import BLANK, gate_score


@dataclass(frozen=True, slots=True)
class Gated:
    """The result of a response for a tool: the score to show, and the value for its gates.

    `score` is None where there is none. `gate` is None also where no source knew any claim: the
    score is then 0, as in the mean of a run, and passes no gate. `problem` is the reason that
    nothing could be judged, or "". `words` is the whole in words, with the claims that are not
    supported.
    """

    score: float | None
    gate: float | None
    problem: str
    words: str
    n_claims: int = 0
    coverage: float | None = None


async def check_response(
    text: str, references: Iterable[str], question: str | None, no_claim: str, **options: Any
) -> Gated:
    """Return the check of a response by `ufo.check`; a blank response has no claim.

    Raises:
        UsageError: an option or a source is wrong, or `no_claim` is.
        RunError: a model cannot be asked.
    """
    if not text.strip():
        score = gate_score(BLANK, no_claim)
        return Gated(score, score, "", "the response is empty")
    texts = [one for one in references if one.strip()]
    asked = {"question": question, "references": texts, **options}
    checked = await ufo.check(text, **asked)
    gate = checked.gate_score(no_claim)
    return Gated(
        checked.score if gate is None else gate,
        gate,
        checked.lost.sentence if checked.lost.all else "",
        shortfall(checked, no_claim),
        len(checked.fact_units),
        checked.coverage,
    )
