"""Score samples of Inspect by their claims (extra `inspect`)."""

from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from ufo.pipelines.integrations.gated import check_response
from ufo.transforms.gate_score import LEFT_OUT, check_no_claim


@scorer(metrics=[mean(), stderr()])
def factuality(references: str = "target", no_claim: str = LEFT_OUT, **options: Any) -> Scorer:
    """Return a scorer whose score is the share of a completion's claims that are supported.

    Args:
        references: where a sample has its reference texts: `target`, or a key of its metadata.
        no_claim: what a completion without a claim means: `left_out` (the sample is unscored, and
            metrics leave it out), `pass` (1) or `fail` (0).
        options: those of `ufo.check`, such as `judge`, `model` and `sources`.
    """
    check_no_claim(no_claim)  # before any model is asked

    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        references_given = list(target) if references == "target" else state.metadata[references]
        texts = [references_given] if isinstance(references_given, str) else references_given
        result = await check_response(text, texts, state.input_text, no_claim, **options)
        fields: dict[str, Any] = {"answer": text, "explanation": result.words}
        fields["metadata"] = {"claims": result.n_claims, "coverage": result.coverage}
        if result.score is None:
            return Score.unscored(
                reason="grader_failed" if result.problem else "no_claim", **fields
            )
        return Score(value=result.score, **fields)

    return score
