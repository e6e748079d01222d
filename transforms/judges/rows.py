"""Make the evidence row of a judgement, and search its citation in the passage."""

from typing import Any

from ufo.schemas.records import REFUTED, SUPPORTED, Evidence, FactUnit
from ufo.transforms.sources.base import Retrieved

_LABELS = {SUPPORTED: 1, REFUTED: 0}
_QUOTES = " \"'“”‘’«»"
_ABSENT = ("answer", "reason", "raw_verdict", "probability", "rationale", "citation")


def evidence_row(
    unit: FactUnit, source: str, rank: int, hit: Retrieved, outcome: str, **columns: Any
) -> Evidence:
    """Return the evidence row of a judgement on `unit` by the passage of `hit`, of rank `rank`.

    `columns` are further ones by their names, `judge` among them. Unless `citation_found` is given,
    the citation is searched in the passage. `request_id` defaults to that of the request that wrote
    the passage.
    """
    columns = dict.fromkeys(_ABSENT) | columns
    if columns["citation"] is not None:
        columns.setdefault("citation_found", citation_found(columns["citation"], hit.passage.text))
    columns["request_id"] = columns.get("request_id") or hit.request_id
    return Evidence(
        response_id=unit.response_id,
        unit_id=unit.unit_id,
        source=source,
        passage_id=hit.passage.passage_id,
        rank=rank,
        retrieval_score=hit.score,
        outcome=outcome,
        label=_LABELS.get(outcome),
        sample_index=hit.sample_index,
        logprob_mean=hit.logprob_mean,
        **{"citation_found": None, **columns},
    )


def citation_found(citation: str, passage: str) -> bool:
    """Return whether the passage contains the citation, ignoring outer quotes and white space."""
    text = _normalised(passage)
    candidates = (citation, citation.strip(_QUOTES))
    return any(quote and quote in text for quote in map(_normalised, candidates))


def _normalised(text: str) -> str:
    return " ".join(text.split())
