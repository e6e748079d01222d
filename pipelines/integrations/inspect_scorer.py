"""Score samples of Inspect by their claims (extra `inspect`)."""

from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from ufo.pipelines.integrations.gated import gated
from ufo.transforms.gate_score import LEFT_OUT, check_no_claim


@scorer(metrics=[mean(), stderr()])
def factuality(references: str = "target", no_claim: str = LEFT_OUT, **options: Any) -> Scorer:
    """Return a scorer of the share of a completion's claims that are supported.

    Args:
        references: where a sample has its reference texts: `target`, or a key of its metadata.
        no_claim: what a completion without a claim means: `left_out` (the sample is unscored, and
            metrics leave it out), `pass` (1) or `fail` (0).
        options: those of `ufo.check`, such as `judge`, `model` and `sources`.
    """
    check_no_claim(no_claim)  # before any model is asked

    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        given = list(target) if references == "target" else state.metadata[references]
        texts = [given] if isinstance(given, str) else given
        found = await gated(text, texts, state.input_text, no_claim, **options)
        told: dict[str, Any] = {"answer": text, "explanation": found.words}
        told["metadata"] = {"claims": found.n_claims, "coverage": found.coverage}
        if found.score is None:
            return Score.unscored(reason="grader_failed" if found.problem else "no_claim", **told)
        return Score(value=found.score, **told)

    return score
