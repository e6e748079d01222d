"""Make the evidence row of a judgement, and search its citation in the passage."""

from ufo.schemas.records import REFUTED, SUPPORTED, Evidence, FactUnit
from ufo.transforms.sources.base import Retrieved

_LABELS = {SUPPORTED: 1, REFUTED: 0}
_QUOTES = " \"'“”‘’«»"


def evidence_row(
    unit: FactUnit,
    source: str,
    rank: int,
    hit: Retrieved,
    outcome: str,
    *,
    judge: str,
    model: str | None = None,
    reason: str | None = None,
    answer: str | None = None,
    citation: str | None = None,
    cited: bool | None = None,
    rationale: str | None = None,
    raw_verdict: str | None = None,
    probability: float | None = None,
    prompt_version: str | None = None,
    request_id: str | None = None,
) -> Evidence:
    """Return the evidence row of a judgement on `unit` by the passage of `hit`, of rank `rank`.

    `cited` says whether the passage contains the citation; None searches for it. `request_id`
    defaults to that of the request that wrote the passage.
    """
    if cited is None and citation is not None:
        cited = citation_found(citation, hit.passage.text)
    return Evidence(
        response_id=unit.response_id,
        unit_id=unit.unit_id,
        source=source,
        passage_id=hit.passage.passage_id,
        rank=rank,
        retrieval_score=hit.score,
        answer=answer,
        outcome=outcome,
        reason=reason,
        label=_LABELS.get(outcome),
        raw_verdict=raw_verdict,
        probability=probability,
        rationale=rationale,
        citation=citation,
        citation_found=cited,
        judge=judge,
        model=model,
        prompt_version=prompt_version,
        sample_index=hit.sample_index,
        logprob_mean=hit.logprob_mean,
        request_id=request_id or hit.request_id,
    )


def citation_found(citation: str, passage: str) -> bool:
    """Return whether the passage contains the citation, ignoring outer quotes and white space."""
    text = _normalised(passage)
    candidates = (citation, citation.strip(_QUOTES))
    return any(quote and quote in text for quote in map(_normalised, candidates))


def _normalised(text: str) -> str:
    return " ".join(text.split())
