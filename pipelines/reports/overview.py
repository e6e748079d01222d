"""Gather the overview of a run and its worst responses as plain values.

Terminal, HTML, notebook and page show them. Every number is from a shipped view.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from ufo.pipelines.reports.corrected import corrected_words
from ufo.pipelines.reports.main_score import score_summary
from ufo.pipelines.reports.quotes import STRONGEST_FIRST, quote_of
from ufo.schemas.records import UNSUPPORTED_LANGUAGE
from ufo.schemas.results import Results
from ufo.schemas.text import quantity
from ufo.transforms.scores import state_of
from ufo.transforms.votes import main_mode

Row = dict[str, Any]

_MOST_CONTRADICTED = 10
_ALL = 2**40  # rows
_MOST_EVIDENCE = 5  # judgements of a claim
_MOST_RESPONSES = 20
_MOST_CLAIMS = 40
_LONGEST_TEXT = 12_000


def overview(results: Results, directory: str | None = None) -> Row:
    """Return the overview of the newest run: plain values, lists and rows by name.

    It includes the result of `score_summary`. `models` are ranked, the best first.
    `failures` counts failures by step or source and by reason, the most frequent first.
    """
    run = results.runs[-1]
    mode = main_mode(run.mode)

    def rows(select: str, **params: object) -> list[Row]:
        parameters = {"run": run.name, **params}
        selected: list[Row] = results.query(select, parameters).to_pylist()
        return [{name: value for name, value in row.items() if name != "run"} for row in selected]

    summary = score_summary(results)
    corrected = corrected_words(rows(_CORRECTED, mode=mode))
    if corrected and not summary["judged_by"]:
        summary["trust"] = ""  # what people labelled says how often this judge is right
    return {
        "run": run.name,
        "title": run.title,
        "directory": directory or str(run.folder.parent),
        "finished_at": run.finished_at.isoformat(),
        "ufo_version": run.ufo_version,
        "mode": run.mode,
        "tie": run.tie,
        "judge": run.judge,
        "sources": rows("SELECT * FROM sources WHERE run = $run ORDER BY position"),
        "counts": run.counts,
        **summary,
        "evidence_support": rows(_SUPPORT)[0]["support"],
        "corrected": corrected,
        "scores": rows(
            "SELECT * FROM scores_by_run WHERE run = $run "
            "ORDER BY list_position(['seq', 'mv', 'single'], mode), source"
        ),
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
        "contradicted": contradicted_claims(results, _MOST_CONTRADICTED, by_question=True),
        "cost": _cost_words(*rows(_COST)),
        "failures": rows(_FAILURES),
    }


def contradicted_claims(
    results: Results, most: int, after: int = 0, by_question: bool = False
) -> list[Row]:
    """Return contradicted claims of the newest run, each with its strongest evidence and a quote.

    Those with the most votes against them come first. `after` claims are skipped, and at most
    `most` returned; `by_question` takes one of each question.
    """
    select, parameters = all_contradicted(results)
    parameters |= {"most": most, "after": after, "by_question": by_question}
    rows = results.query(select, parameters).to_pylist()
    return [
        {**row, "quote": quote_of(row["claim"], row["citation"], row.pop("text"))} for row in rows
    ]


def all_contradicted(results: Results) -> tuple[str, dict[str, object]]:
    """Return a SELECT of all contradicted claims of the newest run, and its parameters.

    Its columns are those of `contradicted_claims`, with the passage `text` in place of the quote.
    """
    run = results.runs[-1]
    parameters = {"run": run.name, "mode": main_mode(run.mode)}
    return _CONTRADICTED, {**parameters, "by_question": False, "most": _ALL, "after": 0}


def _cost_words(row: Row) -> str:
    """Return the number and the cost of a run's requests, in words."""
    if not row["n_requests"] and not row["n_saved"]:
        return "No request to a model or a search engine"
    dollars, unknown = row["cost_usd"], row["n_unpriced"]
    price = "no cost known" if dollars is None else f"${dollars:,.{2 if dollars >= 1 else 4}f}"
    if unknown and dollars is not None:
        price += f" and the unknown price of {quantity(unknown, 'request')}"
    spent = f"{quantity(row['n_requests'], 'request')}, {quantity(row['tokens'], 'token')}, {price}"
    return spent + (
        f"; {quantity(row['n_saved'], 'answer')} from the cache" if row["n_saved"] else ""
    )


FAILURE_COLUMNS = {"where": "place", "reason": "reason", "times": "n"}
_COST = """
SELECT
    CAST(coalesce(sum(n_requests), 0) AS BIGINT) AS n_requests,
    CAST(coalesce(sum(n_cached + n_coalesced), 0) AS BIGINT) AS n_saved,
    CAST(coalesce(sum(prompt_tokens + completion_tokens), 0) AS BIGINT) AS tokens,
    CAST(coalesce(sum(n_unpriced), 0) AS BIGINT) AS n_unpriced,
    CASE WHEN coalesce(sum(n_requests), 0) = 0 THEN 0 ELSE sum(cost_usd) END AS cost_usd
FROM cost
WHERE run = $run
"""
_SUPPORT = """
SELECT sum(n_supported) / nullif(sum(n_supported + n_refuted + n_noans), 0) AS support
FROM passage_credibility
WHERE run = $run
"""
_CORRECTED = """
SELECT * FROM corrected_scores
WHERE run = $run AND mode = $mode AND level IN ('run', 'sampled')
QUALIFY dense_rank() OVER (ORDER BY source) = 1
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
# The contradicted claims, each with its strongest passage.
_CONTRADICTED = f"""
WITH picked AS (
    SELECT v.*
    FROM verdicts AS v
    INNER JOIN responses AS r ON r.run = v.run AND r.response_id = v.response_id
    WHERE v.run = $run AND v.mode = $mode AND v.label = 0
    QUALIFY row_number() OVER (
        PARTITION BY
            if($by_question, [coalesce(r.question, r.response_id)], [v.response_id, v.unit_id])
        ORDER BY tied, n_refuted - n_supported DESC, n_refuted DESC, v.response_id, unit_id
    ) = 1
    ORDER BY tied, n_refuted - n_supported DESC, n_refuted DESC, v.response_id, unit_id
    LIMIT $most OFFSET $after
)

SELECT
    v.response_id, v.unit_id, u.sentence_index, r.model, u.claim, v.label, v.source, v.tied,
    v.past_error, v.n_supported, v.n_refuted, v.n_error, e.source AS evidence_source, e.outcome,
    e.reason, e.citation, e.rationale, e.title, e.url, r.dataset,
    coalesce(r.question, left(r.text, 80)) AS question, e.text, 'contradicted' AS state
FROM picked AS v
INNER JOIN responses AS r ON r.run = v.run AND r.response_id = v.response_id
INNER JOIN fact_units AS u
    ON u.run = v.run AND u.response_id = v.response_id AND u.unit_id = v.unit_id
LEFT JOIN evidence_full AS e
    ON e.run = v.run AND e.response_id = v.response_id AND e.unit_id = v.unit_id
    AND (v.source IN ('none', 'multi') OR e.source = v.source)
QUALIFY row_number() OVER (
    PARTITION BY v.response_id, v.unit_id
    ORDER BY e.label IS DISTINCT FROM v.label, {STRONGEST_FIRST}
) = 1
ORDER BY v.tied, v.n_refuted - v.n_supported DESC, v.n_refuted DESC, v.response_id, v.unit_id
"""  # noqa: S608


# --- the responses to look at first --------------------------------------------------------------

_RESPONSES = """
SELECT r.response_id, r.model, r.dataset, r.question, r.text, r.human_score, s.factuality_score,
    s.coverage, s.n_units, s.n_judgements, s.n_unusable
FROM responses AS r
INNER JOIN scores AS s ON s.run = r.run AND s.response_id = r.response_id AND s.mode = $mode
WHERE r.run = $run AND s.n_units > 0
ORDER BY s.factuality_score NULLS LAST, s.n_refuted DESC, s.n_unusable DESC, r.response_id
LIMIT $most
"""
_SENTENCES = """
SELECT c.* EXCLUDE (run), s.start, s."end"
FROM sentence_scores AS c
INNER JOIN sentences AS s
    ON s.run = c.run AND s.response_id = c.response_id AND s.sentence_index = c.sentence_index
WHERE c.run = $run AND list_contains($ids, c.response_id)
ORDER BY c.response_id, s.start
"""
# Passages that support or refute come first, then those that do not answer.
_CLAIMS = """
WITH judged AS (
    SELECT response_id, unit_id, count(*) AS n_judgements,
        list(
            {'source': source, 'outcome': outcome, 'reason': reason, 'rationale': rationale,
                'citation': citation, 'citation_found': citation_found, 'title': title, 'url': url,
                'source_category': source_category, 'text': left(text, 1000)}
            ORDER BY label IS NULL, outcome != 'error', source, rank, passage_id, sample_index
        )[:$most] AS evidence
    FROM evidence_full
    WHERE run = $run AND list_contains($ids, response_id)
    GROUP BY response_id, unit_id
)

SELECT u.response_id, u.sentence_index, u.claim, u.query, v.label, v.source, v.tied, v.past_error,
    v.n_supported, v.n_refuted, v.n_error, h.label AS human_label, j.evidence, j.n_judgements
FROM fact_units AS u
INNER JOIN verdicts AS v
    ON v.run = u.run AND v.response_id = u.response_id AND v.unit_id = u.unit_id AND v.mode = $mode
LEFT JOIN human_labels AS h
    ON h.run = u.run AND h.response_id = u.response_id AND h.unit_id = u.unit_id
LEFT JOIN judged AS j ON j.response_id = u.response_id AND j.unit_id = u.unit_id
WHERE u.run = $run AND list_contains($ids, u.response_id)
ORDER BY u.response_id, u.sentence_index NULLS LAST, u.unit_id, v.source
"""


def lowest_responses(results: Results) -> list[Row]:
    """Return the responses of the newest run with the lowest scores.

    Each has the `pieces` of its text, and by `sentences` its claims with their evidence.
    """
    newest = results.runs[-1]
    run: dict[str, object] = {"run": newest.name}
    mode = run | {"mode": main_mode(newest.mode)}

    def grouped(sql: str, parameters: dict[str, object]) -> dict[str, list[Row]]:
        groups: dict[str, list[Row]] = {}
        for row in results.query(sql, parameters).to_pylist():
            groups.setdefault(row["response_id"], []).append(row)
        return groups

    responses = results.query(_RESPONSES, mode | {"most": _MOST_RESPONSES}).to_pylist()
    run["ids"] = mode["ids"] = [row["response_id"] for row in responses]
    sentences = grouped(_SENTENCES, run)
    claims = grouped(_CLAIMS, mode | {"most": _MOST_EVIDENCE})
    return [
        {
            **row,
            "pieces": list(_pieces(row["text"] or "", sentences.get(row["response_id"], []))),
            "unshown": max(len(row["text"] or "") - _LONGEST_TEXT, 0),
            "sentences": _by_sentence(
                claims.get(row["response_id"], [])[:_MOST_CLAIMS],
                {one["sentence_index"]: one for one in sentences.get(row["response_id"], [])},
            ),
            "n_shown": _MOST_CLAIMS,
            "n_claims": len(claims.get(row["response_id"], [])),
        }
        for row in responses
    ]


def _pieces(whole: str, sentences: Sequence[Row]) -> Iterator[tuple[str, Row | None]]:
    """Yield the text in pieces with their sentences; offsets count code points, as in Python."""
    place, end = 0, min(len(whole), _LONGEST_TEXT)
    for row in sentences:
        if row["start"] is not None and place <= row["start"] < row["end"] <= end:
            yield whole[place : row["start"]], None
            yield whole[row["start"] : row["end"]], row
            place = row["end"]
    yield whole[place:end], None


def _by_sentence(
    claims: Sequence[Row], sentences: dict[int, Row]
) -> list[tuple[Row | None, list[Row]]]:
    """Return (sentence, claims) in the order of the text, each claim with its `state`."""
    for row in claims:
        reasons = {one["reason"] for one in row["evidence"] or ()}
        failed = row["n_error"] > 0 or UNSUPPORTED_LANGUAGE in reasons
        row["state"] = state_of([row["label"]], failed)
    groups = groupby(claims, key=lambda row: row["sentence_index"])
    return [(sentences.get(index), list(rows)) for index, rows in groups]
