"""Give the score of each run, in the mode that stands for it."""

from collections.abc import Mapping
from typing import Any

from ufo.pipelines.reports.unusable import beside, no_score
from ufo.schemas.results import Results

Row = dict[str, Any]


# As scores_by_run has them, without the intervals, which take time.
_MEANS = """
SELECT
    r.run,
    CASE WHEN count(s.decided_score) > 0 THEN avg(s.factuality_score) END AS factuality_score,
    avg(s.decided_score) AS decided_score,
    avg(s.coverage) AS coverage,
    CAST(coalesce(sum(s.n_units), 0) AS BIGINT) AS n_units,
    CAST(coalesce(sum(s.n_judgements), 0) AS BIGINT) AS n_judgements,
    CAST(coalesce(sum(s.n_unusable), 0) AS BIGINT) AS n_unusable
FROM runs AS r
LEFT JOIN scores AS s
    ON s.run = r.run AND s.mode = CASE r.mode WHEN 'all' THEN 'seq' ELSE r.mode END
GROUP BY r.run
"""


def means(results: Results) -> dict[str, Row]:
    """Return the mean scores of each run by its name, with the counts that they rest on."""
    return {row.pop("run"): row for row in results.query(_MEANS).to_pylist()}


def score_in_words(row: Mapping[str, Any]) -> str:
    """Return a run's score, or the reason if there is none, and the note on unusable judgements."""
    if row["factuality_score"] is None:
        return no_score(row)
    note = beside(row)
    return (
        f"factuality score {row['factuality_score']:.3f}, {row['coverage']:.0%} of claims decided"
        + (f"; {note}" if note else "")
    )
