"""Compare two finished runs: is the later one significantly worse?"""

from typing import Any

from ufo.pipelines.reports.unusable import beside, no_score
from ufo.pipelines.runs.remote_results import choose_runs
from ufo.schemas.errors import UsageError
from ufo.schemas.results import Results
from ufo.schemas.text import quantity

Row = dict[str, Any]

_JUDGED = """
SELECT
    count(s.decided_score) AS n_decided,
    coalesce(sum(s.n_units), 0) AS n_units,
    coalesce(sum(s.n_judgements), 0) AS n_judgements,
    coalesce(sum(s.n_unusable), 0) AS n_unusable
FROM scores AS s
INNER JOIN runs AS r ON r.run = s.run
WHERE s.run = ? AND s.mode = CASE r.mode WHEN 'all' THEN 'seq' ELSE r.mode END
"""


def compare(directory: str, baseline: str, run: str) -> tuple[Row, list[Row]]:
    """Return how `run` differs from `baseline`, and the claims whose verdict turned.

    The first is the row of the macro `run_comparison`, with `unusable`, the warning about the
    judgements of both; the second are the rows of `turned_claims`.

    Raises:
        UsageError: a run that there is not, the same run twice, or runs that share neither a
            question nor a response, or one that decided nothing.
    """
    check_baseline(directory, baseline, run)
    runs = [
        *choose_runs(directory, baseline, tables=None),
        *choose_runs(directory, run, tables=None),
    ]
    with Results(runs) as results:
        names = [baseline, run]
        many = [_judged(results, name) for name in (baseline, run)]
        (found,) = results.query("FROM run_comparison(?, ?)", names).to_pylist()
        turned = results.query("SELECT * EXCLUDE (run) FROM turned_claims(?, ?)", names).to_pylist()
    if not found["n_pairs"]:
        raise UsageError(
            f"runs {baseline!r} and {run!r} share no question and no response with a score, so "
            "there is nothing to compare; they are to be runs over the same questions."
        )
    return {**found, "unusable": [note for note in many if note]}, turned


def _judged(results: Results, run: str) -> str:
    """Return the warning about a run of which many judgements are unusable.

    Raises:
        UsageError: the run has decided nothing, so that it has no score.
    """
    (row,) = results.query(_JUDGED, [run]).to_pylist()
    if not row["n_decided"]:
        raise UsageError(f"run {run!r}: {no_score(row)}, and nothing to compare")
    note = beside(row)
    return f"{note} in run {run}" if note else ""


def check_baseline(directory: str, baseline: str, run: str | None = None, remedy: str = "") -> None:
    """Raise a UsageError unless `baseline` is a finished run in the folder, other than `run`;
    `remedy` says what to do where it is none."""
    try:
        choose_runs(directory, baseline)
    except UsageError as error:
        raise UsageError(f"{error.message}{remedy}") from error
    if baseline == run:
        raise UsageError(
            f"run {run!r} is the baseline itself; compare two runs, or give this one another --run."
        )


def is_worse(found: Row, p: float) -> bool:
    """Return whether the drop is significant at level `p`."""
    return found["p"] is not None and bool(found["p"] < p)


def in_words(found: Row) -> str:
    """Return what was found as a sentence or two."""
    pairs = _count(found["n_questions"], "question", found["n_responses"], "response")
    alone = found["only_baseline"] + found["only_run"]
    left = f"; {alone:,} without a pair left out" if alone else ""
    note = "(one pair only: no interval, no p)"
    if found["p"] is not None:
        note = f"({found['low']:+.3f} to {found['high']:+.3f}), one-sided p = {found['p']:.2g}"
    return (
        f"{found['run_score']:.3f} against {found['baseline_score']:.3f} of {found['baseline']}: "
        f"{found['difference']:+.3f} {note}, paired by {pairs}{left}"
        + "".join(f"; {unusable}" for unusable in found["unusable"])
    )


def _count(questions: int, one: str, responses: int, other: str) -> str:
    counts = ((questions, one), (responses, other))
    return " and ".join(quantity(n, what) for n, what in counts if n)
