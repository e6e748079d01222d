"""Gather the overview of a run as plain values, for terminal, HTML, notebook and page.

Every number is a shipped view's.
"""

from typing import Any

from ufo.pipelines.reports.unusable import beside, no_score, unusable, without_score
from ufo.schemas.records import UNSUPPORTED_LANGUAGE
from ufo.schemas.results import Results
from ufo.transforms.judges.offline import NAME, trust
from ufo.transforms.scores import run_headline
from ufo.transforms.votes import main_mode

Row = dict[str, Any]

_MOST_CONTRADICTED = 10


def overview(results: Results, directory: str | None = None) -> Row:
    """Return the overview of the newest of the runs: plain values, lists and rows by name.

    `score` is the row of `scores_by_run` that stands for the run, `models` are ranked, the best
    first, and `failures` has what failed by step or source and by reason, the most frequent first.
    """
    run = results.runs[-1]
    mode = main_mode(run.mode)

    def rows(select: str, **params: object) -> list[Row]:
        given = {"run": run.name, **params}
        found: list[Row] = results.query(select, given).to_pylist()
        return [{name: value for name, value in row.items() if name != "run"} for row in found]

    scores = rows(
        "SELECT * FROM scores_by_run WHERE run = $run "
        "ORDER BY list_position(['seq', 'mv', 'single'], mode), source"
    )
    own = next((row for row in scores if row["mode"] == mode), None)
    scored = own is not None and own["factuality_score"] is not None
    return {
        "run": run.name,
        "title": run.title,
        "directory": directory or str(run.folder.parent),
        "finished_at": run.finished_at.isoformat(),
        "ufo_version": run.ufo_version,
        "mode": run.mode,
        "tie": run.tie,
        "judge": run.judge,
        "trust": _trust(results),
        "sources": rows("SELECT * FROM sources WHERE run = $run ORDER BY position"),
        "counts": run.counts,
        "headline": run_headline(results),
        "score": own if scored else None,
        "no_score": "" if scored else no_score(own),
        "left_out": without_score(own) if scored and own else "",
        "beside": beside(own) if scored and own else "",
        "problem": unusable(results).sentence or None,
        "evidence_support": rows(_SUPPORT)[0]["support"],
        "corrected": next(iter(rows(_CORRECTED, mode=mode)), None),
        "scores": scores,
        "models": rows(
            "SELECT * FROM scores_by_model WHERE run = $run AND mode = $mode "
            "ORDER BY factuality_score DESC NULLS LAST, n_responses DESC, model",
            mode=mode,
        ),
        "contributions": rows(
            "SELECT * FROM source_contributions WHERE run = $run "
            "ORDER BY list_position(['seq', 'mv', 'single'], mode), position"
        ),
        "contributions_by_model": rows(
            "SELECT * FROM source_contributions_by_model WHERE run = $run AND mode = $mode "
            "ORDER BY model, position",
            mode=mode,
        ),
        "datasets": rows(
            "SELECT * FROM scores_by_dataset WHERE run = $run AND mode = $mode ORDER BY dataset",
            mode=mode,
        ),
        "contradicted": rows(_CONTRADICTED, mode=mode, most=_MOST_CONTRADICTED),
        "failures": rows(_FAILURES),
        "cost": rows(_COST),
    }


def _trust(results: Results) -> str:
    """Return how far the verifiers that judged can be trusted on the evidence there was."""
    found = results.query(_VERIFIERS, [results.runs[-1].name, NAME]).to_pylist()
    models = dict.fromkeys(row["model"] for row in found)
    return trust(models, dict.fromkeys(row["type"] for row in found))


_VERIFIERS = """
SELECT DISTINCT e.model, s.type, s.position
FROM evidence AS e
INNER JOIN sources AS s ON s.run = e.run AND s.source = e.source
WHERE e.run = ? AND e.judge = ? AND e.model IS NOT NULL
ORDER BY s.position, e.model
"""
_SUPPORT = """
SELECT sum(n_supported) / nullif(sum(n_supported + n_refuted + n_noans), 0) AS support
FROM passage_credibility
WHERE run = $run
"""
_CORRECTED = """
SELECT * FROM corrected_scores
WHERE run = $run AND mode = $mode AND level = 'run' AND corrected_score IS NOT NULL
"""
# Inputs and steps that failed, and judgements without a usable answer.
_FAILURES = f"""
SELECT step AS place, error_type AS reason, n FROM failures_by_step
WHERE run = $run AND step != 'verify' AND NOT starts_with(step, 'source:')
UNION ALL
SELECT source AS place, coalesce(reason, 'unknown') AS reason, count(*) AS n FROM evidence
WHERE run = $run AND (outcome = 'error' OR reason = '{UNSUPPORTED_LANGUAGE}')
GROUP BY ALL
ORDER BY n DESC, place, reason
"""  # noqa: S608
_COST = """
SELECT
    model,
    CAST(sum(n_requests) AS BIGINT) AS n_requests,
    CAST(sum(n_failed) AS BIGINT) AS n_failed,
    CAST(sum(n_cached + n_coalesced) AS BIGINT) AS n_saved,
    CAST(sum(prompt_tokens + completion_tokens) AS BIGINT) AS tokens,
    sum(cost_usd) AS cost_usd,
    CAST(sum(n_unpriced) AS BIGINT) AS n_unpriced
FROM cost
WHERE run = $run
GROUP BY model
ORDER BY n_requests DESC, model
"""
# The contradicted claims with the most votes against them, one of each question, with the passage
# that says most: one that contradicts it, with a citation, and ranked high.
_CONTRADICTED = """
WITH picked AS (
    SELECT v.*
    FROM verdicts AS v
    INNER JOIN responses AS r ON r.run = v.run AND r.response_id = v.response_id
    WHERE v.run = $run AND v.mode = $mode AND v.label = 0
    QUALIFY row_number() OVER (
        PARTITION BY coalesce(r.question, r.response_id)
        ORDER BY tied, n_refuted - n_supported DESC, n_refuted DESC, v.response_id, unit_id
    ) = 1
    ORDER BY tied, n_refuted - n_supported DESC, n_refuted DESC, v.response_id, unit_id
    LIMIT $most
)

SELECT
    v.response_id, r.model, u.claim, v.label, v.source, v.tied, v.past_error, v.n_supported,
    v.n_refuted, v.n_error, e.source AS evidence_source, e.outcome, e.reason, e.citation,
    e.rationale, e.title, e.url, r.dataset, coalesce(r.question, left(r.text, 80)) AS question,
    coalesce(e.citation, left(e.text, 300)) AS quote, 'contradicted' AS state
FROM picked AS v
INNER JOIN responses AS r ON r.run = v.run AND r.response_id = v.response_id
INNER JOIN fact_units AS u
    ON u.run = v.run AND u.response_id = v.response_id AND u.unit_id = v.unit_id
LEFT JOIN evidence_full AS e
    ON e.run = v.run AND e.response_id = v.response_id AND e.unit_id = v.unit_id
    AND (v.source IN ('none', 'multi') OR e.source = v.source)
QUALIFY row_number() OVER (
    PARTITION BY v.response_id, v.unit_id
    ORDER BY
        e.label IS DISTINCT FROM v.label, e.citation IS NULL, e.passage_id IS NULL, e.rank, e.source
) = 1
ORDER BY v.tied, v.n_refuted - v.n_supported DESC, v.n_refuted DESC, v.response_id, v.unit_id
"""
