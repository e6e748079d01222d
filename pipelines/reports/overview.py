"""Gather the overview of a run as plain values. Every number is a shipped view's."""

from typing import Any

from ufo.pipelines.reports.unusable import unusable
from ufo.schemas.records import UNSUPPORTED_LANGUAGE
from ufo.schemas.results import Results
from ufo.transforms.judges.offline import NAME, judged_as
from ufo.transforms.states import run_headline, state_of
from ufo.transforms.votes import main_mode

Row = dict[str, Any]

_RESPONSES = 40  # of more, those with the lowest scores
ERRORS_IN_WORDS = {
    "false_supported": "supported, but false",
    "false_refuted": "contradicted, but true",
    "undecided": "not found",
}
"""What the view `judge_errors` counts, as it is shown to people."""
_CONTRADICTED = 10  # claims beside what contradicts them
_EXAMPLES = (
    (0, 2),
    (1, 1),
    (None, 1),
)  # (label, count): contradicted claims are the most informative


def overview(results: Results, directory: str | None = None) -> Row:
    """Return the overview of the newest of the runs: plain values, lists and rows by name."""
    run = results.runs[-1]
    mode = main_mode(run.mode)

    def rows(select: str, *params: object) -> list[Row]:
        found: list[Row] = results.query(select, [run.name, *params]).to_pylist()
        return [{name: value for name, value in row.items() if name != "run"} for row in found]

    return {
        "run": run.name,
        "directory": directory or str(run.folder.parent),
        "finished_at": run.finished_at.isoformat(),
        "ufo_version": run.ufo_version,
        "mode": run.mode,
        "tie": run.tie,
        "judge": run.judge,
        "judged_by": judged_by(results),
        "sources": rows("SELECT * FROM sources WHERE run = ? ORDER BY position"),
        "counts": run.counts,
        "headline": run_headline(results),
        "evidence_support": rows(_SUPPORT)[0]["support"],
        "scores": rows(
            "SELECT * FROM scores_by_run WHERE run = ? "
            "ORDER BY list_position(['seq', 'mv', 'single'], mode), source"
        ),
        "models": rows(
            "SELECT * FROM scores_by_model WHERE run = ? AND mode = ? ORDER BY model", mode
        ),
        "datasets": rows(
            "SELECT * FROM scores_by_dataset WHERE run = ? AND mode = ? ORDER BY dataset", mode
        ),
        "corrected": rows(
            "SELECT * FROM corrected_scores WHERE run = ? AND mode = ? "
            "ORDER BY list_position(['run', 'model', 'dataset'], level), name",
            mode,
        ),
        "judge_errors": rows(
            "SELECT * FROM judge_errors WHERE run = ? AND mode = ? "
            "AND (source = 'all' OR mode != 'seq') AND error != 'wrong' "
            "ORDER BY source, model, error",
            mode,
        ),
        "contributions": rows(
            "SELECT * FROM source_contributions WHERE run = ? "
            "ORDER BY list_position(['seq', 'mv', 'single'], mode), position"
        ),
        "responses": rows(
            "SELECT response_id, model, factuality_score, decided_score, coverage, n_units, "
            "n_judgements, n_unusable, question FROM scores WHERE run = ? AND mode = ? "
            "ORDER BY factuality_score NULLS LAST, n_refuted DESC, response_id LIMIT ?",
            mode,
            _RESPONSES,
        ),
        "problem": unusable(results).sentence or None,
        "failures": rows("SELECT * FROM failures_by_step WHERE run = ? ORDER BY n DESC, step"),
        "errors": rows(
            "SELECT source, reason, count(*) AS n FROM evidence "
            "WHERE run = ? AND outcome = 'error' GROUP BY ALL ORDER BY n DESC, source"
        ),
        "examples": [
            {"state": state_of([label], _failed(row)), **row}
            for label, n in _EXAMPLES
            for row in rows(_EXAMPLE, mode, label, n)
        ],
    }


def judged_by(results: Results) -> str:
    """Return which verifiers judged the newest run and how often they are right, "" where none."""
    found = results.query(_VERIFIERS, [results.runs[-1].name, NAME]).to_pylist()
    return judged_as(row["model"] for row in found)


def contradicted(results: Results) -> list[Row]:
    """Return claims of the newest run that are contradicted, each with the response that makes it
    and a `quote` of a `title` or `evidence_source`; those with the most votes first."""
    run = results.runs[-1]
    found: list[Row] = results.query(
        _EXAMPLE, [run.name, main_mode(run.mode), 0, _CONTRADICTED]
    ).to_pylist()
    return found


def _failed(row: Row) -> bool:
    return bool(row["n_error"]) or row["reason"] == UNSUPPORTED_LANGUAGE


_VERIFIERS = """
SELECT DISTINCT model FROM evidence
WHERE run = ? AND judge = ? AND model IS NOT NULL
ORDER BY model
"""
_SUPPORT = """
SELECT sum(n_supported) / nullif(sum(n_supported + n_refuted + n_noans), 0) AS support
FROM passage_credibility
WHERE run = ?
"""
# The units of one label with the most votes, each with the passage that says most: one that agrees
# with the verdict, with a citation, and ranked high.
_EXAMPLE = """
WITH picked AS (
    SELECT * FROM verdicts
    WHERE run = ? AND mode = ? AND label IS NOT DISTINCT FROM ?
    ORDER BY tied, n_supported + n_refuted DESC, n_noans DESC, response_id, unit_id
    LIMIT ?
)
SELECT
    v.response_id, r.model, u.claim, v.label, v.source, v.tied, v.past_error, v.n_supported,
    v.n_refuted, v.n_error, e.source AS evidence_source,
    e.outcome, e.reason, e.citation, e.rationale,
    e.title, e.url, r.question, coalesce(e.citation, left(e.text, 300)) AS quote
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
ORDER BY v.tied, v.n_supported + v.n_refuted DESC, v.n_noans DESC, v.response_id, v.unit_id
"""
