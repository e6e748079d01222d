"""Intervals of scores and comparisons of models, against scipy and statsmodels on the same rows."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ufo.schemas.results import Results, open_results

MODELS = ("alder", "birch", "cedar")


@pytest.fixture(name="results", scope="module")
def _results(
    tmp_path_factory: pytest.TempPathFactory,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
) -> Iterator[Results]:
    """90 responses of three models to 40 questions; cedar has questions of its own."""
    draw = random.Random(5)
    votes, models, questions = {}, {}, {}
    for n in range(90):
        model = MODELS[n % 3]
        name = f"r{n:02d}"
        models[name] = model
        questions[name] = f"own {n}" if model == "cedar" else f"q{n // 3}"
        bias = {"alder": 8, "birch": 6, "cedar": 5}[model]
        votes[name] = {
            f"{name}-{u}": {"ref": "s" if draw.randrange(10) < bias else draw.choice("rn")}
            for u in range(draw.randrange(1, 7))
        }
    rows = rows_of(votes, models=models)
    rows["responses"] = [
        replace(row, question=questions[row.response_id]) for row in rows["responses"]
    ]
    folder = tmp_path_factory.mktemp("intervals")
    write_run(folder, rows)
    with open_results(folder) as opened:
        yield opened


def scores(results: Results, **where: str) -> Any:
    conditions = " AND ".join(f"{key} = '{value}'" for key, value in where.items()) or "true"
    found = results.query(
        f"SELECT factuality_score AS x FROM scores WHERE {conditions} ORDER BY response_id"
    )
    return found.column("x").to_numpy()


@pytest.mark.parametrize("model", [None, *MODELS])
def test_the_interval_of_a_mean_is_clustered_by_question(
    results: Results, model: str | None
) -> None:
    """Wilson's at the effective number of responses, by the variance that statsmodels has."""
    where = f"WHERE model = '{model}'" if model else ""
    found = results.query(f"SELECT factuality_score AS x, question FROM scores {where}")
    x = found["x"].to_numpy()
    groups = np.unique(found["question"].to_pylist(), return_inverse=True)[1]
    fit = sm.OLS(x, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": groups})
    # statsmodels corrects for n as well: (n - 1) / (n - 1) for one parameter.
    z, t = stats.norm.ppf(0.975), stats.t.ppf(0.975, groups.max())
    effective = x.mean() * (1 - x.mean()) / fit.bse[0] ** 2 * (z / t) ** 2
    bounds = proportion_confint(x.mean() * effective, effective, method="wilson")
    view = "scores_by_model" if model else "scores_by_run"
    (row,) = results.query(f"SELECT * FROM {view} {where}").to_pylist()
    assert row["factuality_score"] == pytest.approx(x.mean())
    assert (row["low"], row["high"]) == pytest.approx(bounds, rel=1e-9)
    assert row["interval_method"] == "clustered Wilson"


def test_more_models_over_the_same_questions_narrow_no_interval(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    def interval(n_models: int) -> list[list[float]]:
        votes = {
            f"m{m}-{q}": {"u": {"ref": "ssrs"[q % 4]}, "v": {"ref": "rs"[q % 2]}}
            for m in range(n_models)
            for q in range(12)
        }
        rows = rows_of(votes, models={name: name.split("-")[0] for name in votes})
        rows["responses"] = [
            replace(row, question=row.response_id.split("-")[1]) for row in rows["responses"]
        ]
        rows["responses"] = [
            replace(row, human_score=int(row.question) % 5 / 4) for row in rows["responses"]
        ]
        rows["fact_units"] = [
            replace(row, human_label=int(int(row.response_id[-1]) % 3 > 0))
            for row in rows["fact_units"]
        ]
        write_run(tmp_path / str(n_models), rows)
        with open_results(tmp_path / str(n_models)) as opened:
            mean = opened.query("SELECT low, high FROM scores_by_run").to_pylist()
            agreed = opened.query(
                "SELECT low, high FROM agreement WHERE part = 'all' ORDER BY level, metric"
            ).to_pylist()
        return [[row["low"], row["high"]] for row in mean + agreed]

    once, tenfold = interval(1), interval(10)
    assert len(once) == 15
    assert np.array(tenfold) == pytest.approx(np.array(once))


def test_a_response_has_wilsons_interval(results: Results) -> None:
    rows = results.query("SELECT n_supported, n_units, low, high FROM scores").to_pylist()
    for row in rows:
        bounds = proportion_confint(row["n_supported"], row["n_units"], method="wilson")
        assert (row["low"], row["high"]) == pytest.approx(bounds, abs=1e-7)


def test_models_are_compared_by_question_where_they_share_them(results: Results) -> None:
    rows = results.query("FROM model_comparison ORDER BY model_a, model_b").to_pylist()
    assert [(row["model_a"], row["model_b"], row["comparison"], row["n"]) for row in rows] == [
        ("alder", "birch", "paired", 30),
        ("alder", "cedar", "unpaired", 60),
        ("birch", "cedar", "unpaired", 60),
    ]
    x = {model: scores(results, model=model) for model in MODELS}
    for row in rows:
        a, b = x[row["model_a"]], x[row["model_b"]]
        if row["comparison"] == "paired":
            test = stats.ttest_rel(a, b)
        else:
            test = stats.ttest_ind(a, b, equal_var=False)
        bounds = test.confidence_interval()
        assert row["difference"] == pytest.approx(a.mean() - b.mean())
        assert row["p"] == pytest.approx(test.pvalue, rel=1e-9)
        assert (row["low"], row["high"]) == pytest.approx((bounds.low, bounds.high), rel=1e-9)


def compared(
    tmp_path: Path,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
    units: list[str],
    questions: list[str],
) -> list[Any]:
    """Rows of model_comparison; response i, of `alder` and `birch` in turn, has these votes."""
    votes = {
        f"r{i}": {f"u{i}-{j}": {"ref": v} for j, v in enumerate(u)} for i, u in enumerate(units)
    }
    rows = rows_of(votes, models={f"r{i}": MODELS[i % 2] for i in range(len(units))})
    rows["responses"] = [
        replace(row, question=question)
        for row, question in zip(rows["responses"], questions, strict=True)
    ]
    write_run(tmp_path, rows)
    with open_results(tmp_path) as opened:
        return opened.query("FROM model_comparison").to_pylist()


def test_equal_differences_are_no_proof_though_floats_differ(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    thirds = ["srr", "ssr", "ssr", "sss"]
    (row,) = compared(tmp_path, rows_of, write_run, thirds, ["q1", "q1", "q2", "q2"])
    assert (row["comparison"], row["difference"]) == ("paired", pytest.approx(-1 / 3))
    assert (row["low"], row["p"]) == (None, None)
    assert row["interval_method"] == "none: all differences are equal"


def test_a_blank_question_is_none_and_space_around_one_is_no_difference(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    questions = ["q1", "q1 ", " q2", "q2", " ", " "]
    (row,) = compared(tmp_path, rows_of, write_run, ["s", "r", "s", "r", "r", "s"], questions)
    assert (row["comparison"], row["n"], row["difference"]) == ("paired", 2, 1.0)


def test_means_of_models_that_share_no_question_are_clustered_by_it(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    """Three responses to a question that say the same count as one."""
    units = ["ss", "sr", "rr", "sr", "rr", "ss"]
    (once,) = compared(tmp_path / "1", rows_of, write_run, units, [f"q{i}" for i in range(6)])
    (thrice,) = compared(
        tmp_path / "3", rows_of, write_run,
        [units[i % 2 + 2 * (i // 6)] for i in range(18)],
        [f"q{i % 2 + 2 * (i // 6)}" for i in range(18)],
    )  # fmt: skip
    assert (once["comparison"], once["n"], thrice["n"]) == ("unpaired", 6, 18)
    names = ("difference", "low", "high", "p")
    assert [thrice[name] for name in names] == pytest.approx([once[name] for name in names])
