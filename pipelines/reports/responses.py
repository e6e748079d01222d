"""Choose the responses to look at first, and gather what is shown of them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from ufo.schemas.records import UNSUPPORTED_LANGUAGE
from ufo.schemas.results import Results
from ufo.transforms.scores import state_of
from ufo.transforms.votes import main_mode

_MOST_EVIDENCE = 5  # judgements of a claim
_MOST_RESPONSES = 20
_MOST_CLAIMS = 40
_LONGEST_TEXT = 12_000

Row = dict[str, Any]

_RESPONSES = """
SELECT r.response_id, r.model, r.dataset, r.question, r.text, r.human_score, s.factuality_score,
    s.coverage, s.n_units, s.n_unusable
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
_CLAIMS = """
SELECT u.response_id, u.unit_id, u.sentence_index, u.claim, u.query, v.label, v.source, v.tied,
    v.past_error, v.n_supported, v.n_refuted, v.n_error, h.label AS human_label
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


def lowest_responses(results: Results) -> list[Row]:
    """Return the responses of the newest run with the lowest scores: each with the `pieces` of its
    text, and with its claims and their evidence by `sentences`."""
    newest = results.runs[-1]
    run: dict[str, object] = {"run": newest.name}
    mode = run | {"mode": main_mode(newest.mode)}

    def grouped(sql: str, given: dict[str, object]) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in results.query(sql, given).to_pylist():
            found.setdefault(row["response_id"], []).append(row)
        return found

    responses = results.query(_RESPONSES, mode | {"most": _MOST_RESPONSES}).to_pylist()
    run["ids"] = mode["ids"] = [row["response_id"] for row in responses]
    sentences = grouped(_SENTENCES, run)
    claims = grouped(_CLAIMS, mode)
    evidence = grouped(_EVIDENCE, run | {"most": _MOST_EVIDENCE})
    return [
        {
            **row,
            "pieces": list(_pieces(row["text"] or "", sentences.get(row["response_id"], []))),
            "unshown": max(len(row["text"] or "") - _LONGEST_TEXT, 0),
            "sentences": _by_sentence(
                claims.get(row["response_id"], [])[:_MOST_CLAIMS],
                {one["sentence_index"]: one for one in sentences.get(row["response_id"], [])},
                evidence.get(row["response_id"], []),
            ),
            "n_shown": _MOST_CLAIMS,
            "n_claims": len(claims.get(row["response_id"], [])),
        }
        for row in responses
    ]


def _pieces(whole: str, sentences: Sequence[Row]) -> Iterator[tuple[str, Row | None]]:
    """Give the text in pieces with their sentences; offsets count code points, as in Python."""
    place, end = 0, min(len(whole), _LONGEST_TEXT)
    for row in sentences:
        if row["start"] is not None and place <= row["start"] < row["end"] <= end:
            yield whole[place : row["start"]], None
            yield whole[row["start"] : row["end"]], row
            place = row["end"]
    yield whole[place:end], None


def _by_sentence(
    claims: Sequence[Row], sentences: dict[int, Row], evidence: Sequence[Row]
) -> list[tuple[Row | None, list[Row]]]:
    """Return (sentence, claims) in the order of the text, each claim with its `evidence`."""
    found = []
    for index, rows in groupby(claims, key=lambda row: row["sentence_index"]):
        shown = []
        for row in rows:
            own = [one for one in evidence if one["unit_id"] == row["unit_id"]]
            failed = row["n_error"] > 0 or any(one["reason"] == UNSUPPORTED_LANGUAGE for one in own)
            shown.append({**row, "evidence": own, "state": state_of([row["label"]], failed)})
        found.append((sentences.get(index), shown))
    return found
