"""Compare two finished runs, or two models of one run: is the later one significantly worse?"""

from collections.abc import Mapping
from typing import Any

from ufo.pipelines.reports.unusable import beside, no_score
from ufo.pipelines.runs.remote_results import choose_runs
from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.results import Results
from ufo.schemas.text import quantity
from ufo.transforms.votes import main_mode

Row = dict[str, Any]

MOST_SHOWN = 20
"""Questions, and claims that turned, which are shown; JSON and CSV have all claims."""

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
# The questions on which the sides differ most; a response without a question stands for itself.
_CHANGED = """
WITH sides AS (
    SELECT
        coalesce(nullif(trim(s.question), ''), s.response_id) AS question,
        s.dataset,
        s.response_id,
        s.factuality_score AS score,
        s.run = $run_b AND coalesce(s.model = $model_b, $model_b IS NULL) AS is_b
    FROM scores AS s
    INNER JOIN runs AS r ON r.run = s.run
    WHERE
        s.mode = CASE r.mode WHEN 'all' THEN 'seq' ELSE r.mode END
        AND s.factuality_score IS NOT NULL
        AND (
            (s.run = $run_a AND coalesce(s.model = $model_a, $model_a IS NULL))
            OR (s.run = $run_b AND coalesce(s.model = $model_b, $model_b IS NULL))
        )
)

SELECT
    question,
    dataset,
    avg(score) FILTER (WHERE NOT is_b) AS score_a,
    avg(score) FILTER (WHERE is_b) AS score_b,
    score_b - score_a AS difference,
    min(response_id) FILTER (WHERE NOT is_b) AS response_a,
    min(response_id) FILTER (WHERE is_b) AS response_b
FROM sides
GROUP BY question, dataset
HAVING difference != 0
ORDER BY abs(difference) DESC, question, dataset
LIMIT $most
"""


def compare(directory: str, baseline: str, run: str) -> Row:
    """Return how `run` differs from `baseline`, as `compare_runs` does.

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
        return compare_runs(results)


def compare_runs(results: Results) -> Row:
    """Return how the second of two runs differs from the first.

    It is the row of the macro `run_comparison`, with `questions`, those that changed most,
    `turned`, the rows of `turned_claims`, and `unusable`, warnings about the judgements of both.

    Raises:
        UsageError: they share neither a question nor a response, or one decided nothing.
    """
    names = [run.name for run in results.runs]
    many = [_judged(results, name) for name in names]
    (found,) = results.query("FROM run_comparison(?, ?)", names).to_pylist()
    if not found["n_pairs"]:
        raise UsageError(
            f"runs {names[0]!r} and {names[1]!r} share no question and no response with a score, "
            "so there is nothing to compare; they are to be runs over the same questions."
        )
    turned = results.query("SELECT * EXCLUDE (run) FROM turned_claims(?, ?)", names).to_pylist()
    sides = {"run_a": names[0], "run_b": names[1], "model_a": None, "model_b": None}
    return {
        **found,
        "unusable": [note for note in many if note],
        "questions": _changed(results, sides),
        "turned": turned,
    }


def compare_models(results: Results, one: str, other: str) -> Row:
    """Return how the model `other` differs from `one` in the newest of the runs.

    `difference` is the score of `other` less that of `one` with its 95 % interval, as in the view
    `model_comparison`, and `questions` are those on which they differ most.

    Raises:
        UsageError: a model that has no response with a score there, or the same model twice.
    """
    run = results.runs[-1]
    mode = main_mode(run.mode)
    rows = results.query(
        "SELECT model, factuality_score FROM scores_by_model WHERE run = ? AND mode = ? "
        "AND factuality_score IS NOT NULL AND model IS NOT NULL ORDER BY model",
        [run.name, mode],
    ).to_pylist()
    scores = {row["model"]: row["factuality_score"] for row in rows}
    for name in (one, other):
        if name not in scores:
            raise UsageError(unknown_value("model", name, list(scores)))
    pairs = results.query(
        "SELECT * FROM model_comparison WHERE run = ? AND mode = ? "
        "AND list_sort([model_a, model_b]) = list_sort([?, ?])",
        [run.name, mode, one, other],
    ).to_pylist()
    if not pairs:
        raise UsageError(f"{one!r} is compared with itself; name two models")
    (pair,) = pairs
    turn = 1 if pair["model_a"] == other else -1
    ends = [None if pair[end] is None else turn * pair[end] for end in ("low", "high")]
    low, high = ends if turn > 0 else ends[::-1]
    sides = {"run_a": run.name, "run_b": run.name, "model_a": one, "model_b": other}
    return {
        "run": run.name,
        "model_a": one,
        "model_b": other,
        "score_a": scores[one],
        "score_b": scores[other],
        "difference": turn * pair["difference"],
        "low": low,
        "high": high,
        "p": pair["p"],
        "n": pair["n"],
        "comparison": pair["comparison"],
        "questions": _changed(results, sides),
    }


def shown_runs(results: Results) -> Row:
    """Return what is shown of two runs: `compare_runs`, with names and the headline in words."""
    found = compare_runs(results)
    before, after = results.runs
    pairs = _count(found["n_questions"], "question", found["n_responses"], "response")
    alone = found["only_baseline"] + found["only_run"]
    lost = sum(row["before"] == "supported" for row in found["turned"])
    return {
        **found,
        **_sides(before.title, after.title, found["baseline_score"], found["run_score"]),
        **_headline(after.title, before.title, found),
        "run_a": before.name,
        "run_b": after.name,
        "basis": f"Paired by {pairs}" + (f"; {alone:,} without a pair left out" if alone else ""),
        "lost": lost,
        "won": len(found["turned"]) - lost,
    }


def shown_models(results: Results, one: str, other: str) -> Row:
    """Return what is shown of two models: `compare_models`, with the headline in words."""
    found = compare_models(results, one, other)
    of = (
        f"Paired by {quantity(found['n'], 'question')} that both answered"
        if found["comparison"] == "paired"
        else f"Over {quantity(found['n'], 'response')}; they answered no two questions in common"
    )
    return {
        **found,
        **_sides(one, other, found["score_a"], found["score_b"]),
        **_headline(other, one, found),
        "run_a": found["run"],
        "run_b": found["run"],
        "basis": f"{of}, in {results.runs[-1].title}",
        "unusable": [],
        "turned": [],
    }


def _sides(one: str, other: str, score_one: float, score_other: float) -> Row:
    return {
        "a": one,
        "b": other,
        "score_a": score_one,
        "score_b": score_other,
        "changed": "Questions that differ most",
        "most": MOST_SHOWN,
    }


def _headline(newer: str, older: str, found: Mapping[str, Any]) -> Row:
    """Return the difference as a sentence, which says so where it may be chance."""
    low, high = found["low"], found["high"]
    more = "higher" if found["difference"] >= 0 else "lower"
    said = f"{newer} scores {abs(found['difference']):.3f} {more} than {older}"
    if low is None or found["p"] is None:
        return {"headline": f"{said}, too few pairs to say whether by chance"}
    said += f" (95 % interval of the difference {low:+.3f} to {high:+.3f})".replace("-", "−")
    return {"headline": f"{said}, which may be chance" if low <= 0 <= high else said}


def _changed(results: Results, sides: Mapping[str, str | None]) -> list[Row]:
    found: list[Row] = results.query(_CHANGED, {**sides, "most": MOST_SHOWN}).to_pylist()
    return found


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


def models_in_words(found: Row) -> str:
    """Return how two models of a run differ as a sentence."""
    note = "(no interval)"
    if found["low"] is not None:
        note = f"({found['low']:+.3f} to {found['high']:+.3f}), p = {found['p']:.2g}"
    of = "question" if found["comparison"] == "paired" else "response"
    return (
        f"{found['model_b']} {found['score_b']:.3f} against {found['score_a']:.3f} of "
        f"{found['model_a']}: {found['difference']:+.3f} {note}, {found['comparison']} over "
        f"{quantity(found['n'], of)}"
    )


def _count(questions: int, one: str, responses: int, other: str) -> str:
    counts = ((questions, one), (responses, other))
    return " and ".join(quantity(n, what) for n, what in counts if n)
