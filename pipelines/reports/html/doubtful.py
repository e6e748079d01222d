"""Choose the responses that deserve a look first, and show their rows."""

from collections.abc import Sequence

from pipelines.reports.html.markup import MOST_ROWS, Html, Row, join
from pipelines.reports.html.parts import Asked, Section, many, tabled
from pipelines.reports.html.response import MOST_EVIDENCE, legend, response_card

_RESPONSES = 20
_WORST = "kind, severity DESC, n_supported + n_refuted DESC, response_id, unit_id"
_BY_SCORE = 12  # the others are for disagreements and errors

_LOWEST = """
SELECT response_id FROM scores WHERE run = $run AND mode = $mode AND n_units > 0
ORDER BY factuality_score, n_refuted DESC, response_id LIMIT $most
"""
_DIFFERING = """
SELECT response_id FROM disagreements WHERE run = $run GROUP BY response_id
ORDER BY max(severity) DESC, count(*) DESC, response_id LIMIT $most
"""
_FAILED = """
SELECT response_id FROM evidence WHERE run = $run AND outcome = 'error' GROUP BY response_id
ORDER BY count(*) DESC, response_id LIMIT $most
"""
_RESPONSE = """
SELECT r.response_id, r.model, r.dataset, r.question, r.text, r.human_score, s.factuality_score,
    s.coverage, s.n_units, d.n AS n_disagreements, e.n AS n_errors
FROM responses AS r
INNER JOIN scores AS s ON s.run = r.run AND s.response_id = r.response_id AND s.mode = $mode
LEFT JOIN (
    SELECT response_id, count(DISTINCT unit_id) AS n FROM disagreements
    WHERE run = $run GROUP BY response_id
) AS d ON d.response_id = r.response_id
LEFT JOIN (
    SELECT response_id, count(*) AS n FROM evidence
    WHERE run = $run AND outcome = 'error' GROUP BY response_id
) AS e ON e.response_id = r.response_id
WHERE r.run = $run AND list_contains($ids, r.response_id)
"""
_SENTENCES = """
SELECT c.* EXCLUDE (run), s.start, s."end"
FROM sentence_scores AS c
INNER JOIN sentences AS s
    ON s.run = c.run AND s.response_id = c.response_id AND s.sentence_index = c.sentence_index
WHERE c.run = $run AND list_contains($ids, c.response_id)
ORDER BY c.response_id, s.start
"""
_CLAIMS = """
SELECT u.response_id, u.unit_id, u.sentence_index, u.claim, u.query, v.label, v.source, v.tied,
    v.past_error, v.n_supported, v.n_refuted, h.label AS human_label
FROM fact_units AS u
INNER JOIN verdicts AS v
    ON v.run = u.run AND v.response_id = u.response_id AND v.unit_id = u.unit_id AND v.mode = $mode
LEFT JOIN human_labels AS h
    ON h.run = u.run AND h.response_id = u.response_id AND h.unit_id = u.unit_id
WHERE u.run = $run AND list_contains($ids, u.response_id)
ORDER BY u.response_id, u.sentence_index NULLS LAST, u.unit_id, v.source
"""
# What agrees or differs says more than what does not answer.
_EVIDENCE = """
SELECT response_id, unit_id, source, outcome, reason, rationale, citation, citation_found, title,
    url, source_category, left(text, 1000) AS text,
    count(*) OVER (PARTITION BY response_id, unit_id) AS n
FROM evidence_full
WHERE run = $run AND list_contains($ids, response_id)
QUALIFY row_number() OVER (
    PARTITION BY response_id, unit_id
    ORDER BY label IS NULL, outcome != 'error', source, rank, passage_id, sample_index
) <= $most
ORDER BY response_id, unit_id, label IS NULL, outcome != 'error', source, rank, passage_id,
    sample_index
"""


def doubtful_section(asked: Asked) -> Section | None:
    """The responses with the lowest scores, the worst disagreements and the most errors."""
    run = {"run": asked.found["run"]}
    mode = run | {"mode": asked.mode}
    ids = [row["response_id"] for row in asked.query(_LOWEST, mode | {"most": _RESPONSES})]
    others = [
        row["response_id"]
        for sql in (_DIFFERING, _FAILED)
        for row in asked.query(sql, run | {"most": _RESPONSES})
    ]
    ids = list(dict.fromkeys([*ids[:_BY_SCORE], *others, *ids[_BY_SCORE:]]))[:_RESPONSES]
    if not ids:
        return None
    run["ids"] = mode["ids"] = ids
    rows = {row["response_id"]: row for row in asked.query(_RESPONSE, mode)}
    sentences = _grouped(asked.query(_SENTENCES, run))
    claims = _grouped(asked.query(_CLAIMS, mode))
    evidence = _grouped(asked.query(_EVIDENCE, run | {"most": MOST_EVIDENCE}))
    shown = sorted(ids, key=lambda one: _doubt(rows[one]))
    total = asked.found["counts"].get("responses", len(ids))
    articles = [
        response_card(
            number, rows[one], sentences.get(one, []), claims.get(one, []), evidence.get(one, [])
        )
        for number, one in enumerate(shown, start=1)
    ]
    lead = (
        f"{len(ids):,} of {many(total, 'response')}: the lowest scores, the worst disagreements "
        "and the most errors. A sentence's number is the share of its evidence that supports it."
    )
    body = join([legend(), *articles, _disagreements(asked)])
    return Section("doubtful", "Most doubtful responses", lead, body)


def _disagreements(asked: Asked) -> Html | None:
    (counted,) = asked.query(
        "SELECT count(*) AS n FROM disagreements WHERE run = $run", {"run": asked.found["run"]}
    )
    if not counted["n"]:
        return None
    rows = asked.rows("disagreements", order=f"{_WORST} LIMIT {MOST_ROWS}")
    return tabled("Where sources, or judge and people, differ", rows, counted["n"])


def _doubt(row: Row) -> tuple[float, str]:
    score = row["factuality_score"]
    return (2.0 if score is None else score), row["response_id"]


def _grouped(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["response_id"], []).append(row)
    return found
