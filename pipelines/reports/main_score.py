"""Summarise the score of a run in its main mode."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ufo.pipelines.reports.unusable import unusable
from ufo.schemas.text import quantity
from ufo.transforms.extract import EXTRACT
from ufo.transforms.extraction.clause import abstains
from ufo.transforms.judges.offline import NAME
from ufo.transforms.judges.trust import trust_figures, trust_line
from ufo.transforms.score_words import beside, score_in_words, why_no_score, without_score
from ufo.transforms.scores import run_headline

if TYPE_CHECKING:
    from ufo.schemas.results import Results

_MEANS = """
SELECT r.run, s.* EXCLUDE (run)
FROM runs AS r
LEFT JOIN scores_by_run AS s
    ON s.run = r.run AND s.mode = CASE r.mode WHEN 'all' THEN 'seq' ELSE r.mode END
"""
_JUDGED = """
SELECT DISTINCT e.judge, e.model, s.type, s.position
FROM evidence AS e
INNER JOIN sources AS s ON s.run = e.run AND s.source = e.source
WHERE e.run = ? AND e.judge IS NOT NULL AND e.passage_id IS NOT NULL AND e.outcome != 'error'
ORDER BY s.position, e.model
"""
_SILENT = """
SELECT s.response_id, s.text
FROM sentences AS s
ANTI JOIN fact_units AS u ON u.run = s.run AND u.response_id = s.response_id
WHERE s.run = $run
"""
_NOT_EXTRACTED = """
SELECT count(DISTINCT f.key) AS n
FROM failures AS f
ANTI JOIN verdicts AS v ON v.run = f.run AND v.response_id = f.key
WHERE f.run = $run AND f.step = $step
"""
_OF_REFERENCES = """
SELECT 1 FROM sources WHERE run = $run AND type = 'reference' AND status = 'used'
"""


def main_scores(results: "Results") -> dict[str, dict[str, Any]]:
    """Return the rows of `scores_by_run` in the main mode of each run, by the run's name."""
    scores: dict[str, dict[str, Any]] = {}
    for row in results.query(_MEANS).to_pylist():
        # A run without a response has no row in the view.
        counts = {name: n or 0 for name, n in row.items() if name.startswith("n_")}
        scores[row.pop("run")] = row | counts
    return scores


def score_summary(results: "Results", counts_abstentions: bool = True) -> dict[str, Any]:
    """Return the score of the newest run, in numbers and in words, and what it leaves out.

    Every display shows it. `score` is the row of `scores_by_run` for the run's main mode, `words`
    the same in words, and `shown` is whether these have a number. `n_not_extracted` is the number
    of responses without a claim because the extraction failed. `counts_abstentions` reads the
    sentences.
    """
    row = main_scores(results)[results.runs[-1].name]
    n_abstained = count_abstentions(results) if counts_abstentions else None
    return {
        "headline": run_headline(results),
        "score": row,
        "words": score_in_words(row),
        "shown": not why_no_score(row),
        "left_out": left_out(results, row, n_abstained or 0),
        "n_abstained": n_abstained,
        "n_not_extracted": _not_extracted(results),
        "beside": beside(row),
        "problem": unusable(results).sentence or None,
        **_trust(results),
    }


def _trust(results: "Results") -> dict[str, str]:
    """Return how far to trust the judge on the evidence of the run.

    `trust` says it in one line, `judged_by` in figures, which exist for verifiers only.
    """
    run = results.runs[-1]
    judged = results.query(_JUDGED, [run.name]).to_pylist()
    verified = [row for row in judged if row["judge"] == NAME and row["model"]]
    models = [row["model"] for row in verified]
    return {
        "trust": trust_line(
            [row["judge"] for row in judged],
            models,
            [row["type"] for row in verified or judged],
            run.accuracy,
        ),
        "judged_by": trust_figures(models, [row["type"] for row in verified], run.accuracy),
    }


def count_abstentions(results: "Results") -> int:
    """Return the number of the newest run's responses without a claim that say "I do not know"."""
    rows = results.query(_SILENT, {"run": results.runs[-1].name}).to_pylist()
    return len({row["response_id"] for row in rows if abstains(row["text"], english=False)})


def _not_extracted(results: "Results") -> int:
    """Return the number of the newest run's responses whose extraction failed."""
    named: dict[str, object] = {"run": results.runs[-1].name, "step": EXTRACT}
    return int(results.query(_NOT_EXTRACTED, named).to_pylist()[0]["n"])


def left_out(results: "Results", row: Mapping[str, Any], n_abstained: int) -> str:
    """Return in words how many responses of the newest run have no score, "" if all have one.

    If references are a source, the number of responses without any is added.
    """
    parts = [without_score(row, n_abstained)]
    n, of = row["n_without_references"], row["n_responses"]
    if n and results.query(_OF_REFERENCES, {"run": results.runs[-1].name}).num_rows:
        parts.append(f"{n:,} of {quantity(of, 'response')} without a reference")
    return "; ".join(filter(None, parts))
