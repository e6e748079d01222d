"""Compare two finished runs, or two models of one run, with a test of their difference."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ufo.pipelines.reports.main_score import main_scores
from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.results import Results
from ufo.schemas.text import quantity
from ufo.transforms.score_words import (
    LEAST_COVERAGE,
    beside,
    score_in_words,
    why_no_score,
    without_score,
)
from ufo.transforms.votes import main_mode

Row = dict[str, Any]
Noun = tuple[str, str]
"""A word and its plural."""

QUESTION: Noun = ("question", "questions")
RESPONSE: Noun = ("response", "responses")
_EITHER: Noun = ("question or response", "questions and responses")

LEAST_SHARED = 0.5
"""The least share of each run's questions that must be in both, or nothing is decided."""

CANNOT = "cannot be decided"
"""The beginning of every sentence on two sides that have too little in common."""

_SIGN_TEST = "sign test, one-sided"
_EQUAL = (_SIGN_TEST, "none: all differences are equal")
"""The names of methods in the views where nothing varies."""

_LEAST_PAIRS = 2  # with one, nothing says how far differences vary

MOST_SHOWN = 20
"""The number of questions and turned claims that are shown; JSON and CSV have all claims."""

# The questions on which the sides differ most; a response without a question counts as one.
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
HAVING round(difference, 3) != 0
ORDER BY abs(difference) DESC, question, dataset
LIMIT $most
"""


class NothingToCompare(UsageError):
    """The error that one of two runs or models has no score to compare; a gate then fails."""


def compare_runs(results: Results, titled: bool = False, least_shared: float = LEAST_SHARED) -> Row:
    """Return the comparison of the second of two runs with the first.

    Runs are shown by name, or by title if `titled`. The result is the row of the macro
    `run_comparison` with these additions:

    - `headline` and `basis`: the difference in words.
    - `decided`: whether it can be taken for a difference of the runs. It cannot where the share of
      a run's questions that are in both with a score (`shared_a`, `shared_b`) is below
      `least_shared`, or where there are too few pairs; `undecided` says so.
    - `questions`: the questions that changed most.
    - `turned`: the rows of `turned_claims`; `lost` and `won` count them.
    - `notes`: what both scores leave out; `counts`: their responses with and without a score.
    - `own`: in words the score, claims and responses of each side as a whole.

    Raises:
        NothingToCompare: they share neither a question nor a response, or one decided nothing.
    """
    names = [run.name for run in results.runs]
    called = [run.title if titled else run.name for run in results.runs]
    scored = main_scores(results)
    _check_scores("run", {name: scored[name] for name in names})
    (comparison,) = results.query("FROM run_comparison(?, ?)", names).to_pylist()
    of = {"n": comparison["n_pairs"], "n_a": comparison["n_baseline"], "n_b": comparison["n_run"]}
    noun = _noun(comparison["n_asked"], comparison["n_places"])
    if not comparison["n_pairs"]:
        raise NothingToCompare(
            f"runs {names[0]!r} and {names[1]!r} share no question and no response with a score, "
            f"so there is nothing to compare: {_in_both(of, noun)}; choose runs over the same "
            "questions."
        )
    turned = results.query("SELECT * EXCLUDE (run) FROM turned_claims(?, ?)", names).to_pylist()
    lost = sum(row["before"] == "supported" for row in turned)
    paired = {
        f"{value}_{side}": comparison[f"{run}_{value}"]
        for value in ("score", "coverage")
        for side, run in (("a", "baseline"), ("b", "run"))
    }
    sides = {"run_a": names[0], "run_b": names[1], "model_a": None, "model_b": None}
    undecided = _undecided(of, noun, least_shared)
    left_out = _left_out(called, [scored[name] for name in names], paired)
    if undecided:
        left_out["notes"].insert(0, f"{CANNOT}: {undecided}")
    return {
        **comparison,
        **_headline_fields(called, comparison | paired | of, noun, "one-sided p"),
        "basis": _basis(comparison),
        "decided": not undecided,
        "undecided": undecided or None,
        "shared_a": of["n"] / of["n_a"],
        "shared_b": of["n"] / of["n_b"],
        **sides,
        **left_out,
        "questions": _changed_questions(results, sides),
        "turned": turned,
        "lost": lost,
        "won": len(turned) - lost,
    }


def compare_models(results: Results, model: str, other: str) -> Row:
    """Return the comparison of the model `other` with `model` in the newest of the runs.

    `difference` is the score of `other` minus the score of `model`, with its 95 % interval, as in
    the view `model_comparison`: over the questions that both answered if it is paired. `questions`
    are those on which they differ most; `notes`, `counts` and `own` are as in `compare_runs`.

    Raises:
        UsageError: a model has no response with a score in the run, or both are the same model.
    """
    run = results.runs[-1]
    mode = main_mode(run.mode)
    rows = results.query(
        "FROM scores_by_model WHERE run = ? AND mode = ? AND model IS NOT NULL ORDER BY model",
        [run.name, mode],
    ).to_pylist()
    scored = {row["model"]: row for row in rows}
    for name in (model, other):
        if name not in scored:
            raise UsageError(unknown_value("model", name, list(scored)))
    _check_scores("model", {name: scored[name] for name in (model, other)})
    # The view has each pair once, in either order.
    pairs = results.query(
        """
        SELECT score_b AS score_a, score_a AS score_b, coverage_b AS coverage_a,
            coverage_a AS coverage_b, difference, low, high, p, n, n_b AS n_a, n_a AS n_b,
            comparison, interval_method AS method
        FROM model_comparison
        WHERE run = $run AND mode = $mode AND model_a = $other AND model_b = $one
        UNION ALL
        SELECT score_a, score_b, coverage_a, coverage_b, -difference, -high, -low, p, n, n_a, n_b,
            comparison, interval_method
        FROM model_comparison
        WHERE run = $run AND mode = $mode AND model_a = $one AND model_b = $other
        """,
        {"run": run.name, "mode": mode, "one": model, "other": other},
    ).to_pylist()
    if not pairs:
        raise UsageError(f"{model!r} is compared with itself; name two models")
    (comparison,) = pairs
    paired = comparison["comparison"] == "paired"
    noun = QUESTION if paired else RESPONSE
    both = f"Paired by {quantity(comparison['n'], *QUESTION)} that both answered"
    apart = f"Over {quantity(comparison['n'], *RESPONSE)}; they answered no two questions in common"
    left_out = _left_out((model, other), [scored[model], scored[other]], comparison)
    undecided = _undecided(comparison, noun, LEAST_SHARED) if paired else ""
    if undecided:
        left_out["notes"].insert(0, f"{CANNOT}: {undecided}")
    sides = {"run_a": run.name, "run_b": run.name, "model_a": model, "model_b": other}
    return {
        "run": run.name,
        **sides,
        **comparison,
        **_headline_fields((model, other), comparison, noun, "p"),
        **left_out,
        "basis": f"{both if paired else apart}, in {run.title}",
        "questions": _changed_questions(results, sides),
    }


def _check_scores(what: str, rows: Mapping[str, Row]) -> None:
    """Raise a NothingToCompare if one of the sides has no score to show."""
    for name, row in rows.items():
        if why := why_no_score(row):
            raise NothingToCompare(
                f"{what} {name!r} has no score: {why}, so there is nothing to compare"
            )


def _in_both(of: Row, noun: Noun) -> str:
    """Return in words how many questions of the larger side are in both."""
    verb = "is" if of["n"] == 1 else "are"
    return (
        f"{of['n']:,} of {quantity(max(of['n_a'], of['n_b']), *noun)} {verb} in both with a score"
    )


def _undecided(of: Row, noun: Noun, least_shared: float) -> str:
    """Return the reason that two sides share too little for any test, "" if they share enough."""
    if of["n"] / max(of["n_a"], of["n_b"]) < least_shared:
        return f"{_in_both(of, noun)}, less than --least_shared {least_shared:g}"
    if of["n"] < _LEAST_PAIRS:
        return f"{_in_both(of, noun)}, and a test takes {_LEAST_PAIRS}"
    return ""


def _over(names: Sequence[str], comparison: Row, noun: Noun) -> str:
    """Return the population of the two scores in words."""
    older, newer = names
    n, n_a, n_b = comparison["n"], comparison["n_a"], comparison["n_b"]
    if comparison.get("comparison") == "unpaired":
        return f"over the responses of each ({n_b:,} of {newer}, {n_a:,} of {older})"
    of = "" if n == n_a == n_b else f" (of {n_b:,} in {newer} and {n_a:,} in {older})"
    return f"over the {quantity(n, *noun)} that both have{of}"


def _basis(comparison: Row) -> str:
    """Return the basis of a comparison of runs in words: the pairs, and what is left out."""
    counts = ((comparison["n_questions"], QUESTION), (comparison["n_responses"], RESPONSE))
    pairs = " and ".join(quantity(n, *noun) for n, noun in counts if n)
    alone = comparison["only_baseline"] + comparison["only_run"]
    sentence = f"Paired by {pairs}" + (f"; {alone:,} without a pair left out" if alone else "")
    if max(comparison["n_scored_baseline"], comparison["n_scored_run"]) > comparison["n_pairs"]:
        # Otherwise a reader would take one of two correct numbers for an error.
        sentence += (
            "; a question counts once, by the mean of its responses, and the score of a run is "
            "the mean of all its responses"
        )
    return sentence


def _headline_fields(
    names: Sequence[str], comparison: Row, noun: Noun, test: str
) -> dict[str, Any]:
    """Return the two sides, and a `headline` on their difference and its significance.

    The headline names the questions that are compared. `test` is the name of its p value.
    """
    older, newer = names
    for side, name in zip("ab", names, strict=True):
        if not comparison[f"coverage_{side}"]:
            raise NothingToCompare(
                f"{name!r} has no score to compare: no source knew any of its claims in the "
                "responses that the comparison is made of"
            )
    scores = f"{comparison['score_b']:.3f} against {comparison['score_a']:.3f}"
    difference, low, high, p = (comparison[name] for name in ("difference", "low", "high", "p"))
    size = f"{abs(difference):.3f}"
    if float(size) == 0:
        sentence = f"no significant difference between {newer} and {older}"
    else:
        sentence = f"{newer} scores {size} {'higher' if difference > 0 else 'lower'} than {older}"
    sentence = f"{sentence} {_over(names, comparison, noun)}"
    few = "responses" if comparison.get("comparison") == "unpaired" else "pairs"
    note = f", too few {few} to say whether by chance"
    if low is None and comparison["method"] in _EQUAL:
        chance = "" if p is None else f"; by a sign test {test} = {p:.2g}"
        note = f" (no interval, since all differences are equal{chance})"
    if low is not None and p is not None:
        note = f" (95 % interval {_signed(low)} to {_signed(high)}, {test} = {p:.2g})"
        note += ", no significant difference" if low <= 0 <= high and float(size) else ""
    sides = {
        "a": older,
        "b": newer,
        "score_a": comparison["score_a"],
        "score_b": comparison["score_b"],
    }
    return {**sides, "headline": f"{sentence}, {scores}{note}"}


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"  # -0.0 + 0.0 is 0.0


_COUNTS = ("n_responses", "n_scored", "n_without_units", "n_without_references", "coverage")


def _noun(n_asked: int, n_places: int) -> Noun:
    """Return the noun for what is compared: questions, responses without one, or both."""
    return {n_places: QUESTION, 0: RESPONSE}.get(n_asked, _EITHER)


def _left_out(names: Sequence[str], rows: Sequence[Row], paired: Row) -> dict[str, Any]:
    """Return the counts of both sides, notes on what their scores leave out, and whole scores.

    `paired` has the coverage of the rows that are compared.
    """
    notes = []
    for side, name, row in zip("ab", names, rows, strict=True):
        share = paired[f"coverage_{side}"]
        coverage = f"coverage {share:.3f} in what is compared" if share < LEAST_COVERAGE else ""
        note = "; ".join(filter(None, (coverage, beside(row), without_score(row))))
        if note:
            notes.append(f"{name}: {note}")
    counts = [{name: row[name] for name in _COUNTS} for row in rows]
    own = map(_as_a_whole, rows)
    return {
        "notes": notes,
        "counts": dict(zip("ab", counts, strict=True)),
        "own": dict(zip("ab", own, strict=True)),
    }


def _as_a_whole(row: Row) -> str:
    """Return the score of a side over all of its responses, compared or not, in words."""
    claims, n = quantity(row["n_units"], "claim"), row["n_refuted"]
    contradicted = f" ({n:,} contradicted)" if n else ""
    responses = quantity(row["n_responses"], "response")
    return f"{score_in_words(row)}; {claims}{contradicted} in {responses}"


def _changed_questions(results: Results, sides: Mapping[str, str | None]) -> list[Row]:
    rows: list[Row] = results.query(_CHANGED, {**sides, "most": MOST_SHOWN}).to_pylist()
    return rows


def add_verdict(comparison: Row, level: float) -> Row:
    """Return a comparison of runs with the verdict of a gate at this level of p.

    `worse` says whether the drop is significant, None where nothing is `decided`.
    """
    undecided = comparison["undecided"] or _too_few_equal(comparison, level) or None
    worse = None if undecided else bool(comparison["p"] < level)
    return comparison | {"decided": not undecided, "undecided": undecided, "worse": worse}


def _too_few_equal(comparison: Row, level: float) -> str:
    """Return the reason that too few equal drops decide nothing, "" if they decide.

    A sign test of so few pairs can never be significant at this level.
    """
    n = comparison["n_pairs"]
    all_drop_alike = comparison["method"] == _SIGN_TEST and comparison["difference"] < 0
    if not all_drop_alike or level == 0 or comparison["p"] < level:
        return ""
    needed = math.floor(-math.log2(level)) + 1
    drops = "its only pair drops" if n == 1 else f"all {n:,} pairs drop"
    drop = f"{drops} by {-comparison['difference']:.3f}"
    return f"{drop}, and a sign test at p < {level:g} takes {quantity(needed, 'pair')}"


def empty_comparison(error: NothingToCompare) -> Row:
    """Return the JSON in place of a comparison where there is nothing to compare."""
    return {"decided": False, "undecided": error.message, "worse": None}


def undecided_gate(why: str) -> str:
    """Return the message of a gate that fails since nothing can be decided."""
    return f"Whether it is worse {CANNOT}: {why}"
