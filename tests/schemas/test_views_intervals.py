"""Intervals of scores and comparisons of models, against scipy and statsmodels on the same rows."""

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import statsmodels.api as sm
from scipy import stats

from schemas.results import Results, open_results

MODELS = ("alder", "birch", "cedar")


@pytest.fixture(name="results", scope="module")
def _results(tmp_path_factory, rows_of, write_run) -> Iterator[Results]:
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


def scores(results, **where):
    conditions = " AND ".join(f"{key} = '{value}'" for key, value in where.items()) or "true"
    found = results.query(
        f"SELECT factuality_score AS x FROM scores WHERE {conditions} ORDER BY response_id"
    )
    return found.column("x").to_numpy()


@pytest.mark.parametrize("model", [None, *MODELS])
def test_the_bootstrap_is_that_of_the_responses(results, model):
    x = scores(results, **({"model": model} if model else {}))
    drawn = stats.bootstrap(
        (x,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    )
    view = "scores_by_model" if model else "scores_by_run"
    where = f"WHERE model = '{model}'" if model else ""
    (row,) = results.query(f"SELECT * FROM {view} {where}").to_pylist()
    assert row["factuality_score"] == pytest.approx(x.mean())
    assert row["interval_method"] == "bootstrap"
    # A thousand replicates place a percentile to about a tenth of the standard error.
    error = x.std(ddof=1) / np.sqrt(len(x))
    assert row["low"] == pytest.approx(drawn.confidence_interval.low, abs=0.25 * error)
    assert row["high"] == pytest.approx(drawn.confidence_interval.high, abs=0.25 * error)


def test_intervals_are_the_same_at_each_reading(results):
    first, second = (
        results.query("FROM score_intervals ORDER BY run, mode, source, level, name").to_pylist()
        for _ in range(2)
    )
    assert len(first) == 5  # the run, its one data set (none), three models
    for one, other in zip(first, second, strict=True):
        # Threads add in another order each time, which the last of sixteen digits shows.
        assert one == {
            name: pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
            for name, value in other.items()
        }


def test_weights_are_poisson(results):
    """Their share is that of the distribution, and replicates do not resemble one another."""
    found = results.query(
        "SELECT poisson_weight(bits & 65535) AS a, poisson_weight(bits >> 48) AS b, "
        "poisson_weight(hash(xor(seed, hash(draw + 1))) & 65535) AS c FROM "
        "(SELECT hash(xor(seed, hash(draw))) AS bits, seed, draw FROM "
        "(SELECT hash('r' || range) AS seed FROM range(2000)), "
        "(SELECT range AS draw FROM range(40)))"
    )
    a, b, c = (found.column(name).to_numpy().astype(float) for name in "abc")
    shares = np.bincount(a.astype(int), minlength=8)[:5] / len(a)
    assert shares == pytest.approx(stats.poisson.pmf(range(5), 1), abs=0.006)
    assert np.abs(np.corrcoef([a, b, c])[np.triu_indices(3, 1)]).max() < 0.02


def test_above_100_000_responses_it_is_the_cluster_robust_normal(tmp_path, rows_of, write_run):
    n = 100_001
    folder = write_run(tmp_path, rows_of({"r": {"u": {"ref": "s"}}}))
    names = pa.array([f"r{i}" for i in range(n)])
    wanted = np.random.default_rng(2).integers(0, 2, n)

    def refill(table, **columns):
        path = folder / table / "part-00000.parquet"
        one = pq.read_table(path)
        rows = {
            field.name: columns.get(field.name, pa.repeat(one[field.name][0], n))
            for field in one.schema
        }
        pq.write_table(pa.table(rows, schema=one.schema), path)

    refill("responses", response_id=names)
    refill("verdicts", response_id=names, label=pa.array(wanted))
    fit = sm.OLS(wanted, np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": np.arange(n)})
    low, high = fit.conf_int()[0]
    with open_results(tmp_path) as results:
        (row,) = results.query("FROM scores_by_run").to_pylist()
    assert row["interval_method"] == "cluster-robust normal"
    assert (row["factuality_score"], row["low"], row["high"]) == pytest.approx(
        (wanted.mean(), low, high), rel=1e-9
    )


def test_a_response_has_wilsons_interval(results):
    from statsmodels.stats.proportion import proportion_confint

    rows = results.query("SELECT n_supported, n_units, low, high FROM scores").to_pylist()
    for row in rows:
        bounds = proportion_confint(row["n_supported"], row["n_units"], method="wilson")
        assert (row["low"], row["high"]) == pytest.approx(bounds, abs=1e-7)


def test_models_are_compared_by_question_where_they_share_them(results):
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


def compared(tmp_path, rows_of, write_run, units, questions):
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


def test_equal_differences_are_no_proof_though_floats_differ(tmp_path, rows_of, write_run):
    thirds = ["srr", "ssr", "ssr", "sss"]
    (row,) = compared(tmp_path, rows_of, write_run, thirds, ["q1", "q1", "q2", "q2"])
    assert (row["comparison"], row["difference"]) == ("paired", pytest.approx(-1 / 3))
    assert (row["low"], row["p"]) == (None, None)
    assert row["interval_method"] == "none: all differences are equal"


def test_a_blank_question_is_none_and_space_around_one_is_no_difference(
    tmp_path, rows_of, write_run
):
    questions = ["q1", "q1 ", " q2", "q2", " ", " "]
    (row,) = compared(tmp_path, rows_of, write_run, ["s", "r", "s", "r", "r", "s"], questions)
    assert (row["comparison"], row["n"], row["difference"]) == ("paired", 2, 1.0)


@pytest.mark.parametrize("df", [1.0, 1.3, 2.0, 3.7, 10.0, 99.5, 5e3, 1e6])
def test_students_t_is_that_of_scipy(results, df):
    (row,) = results.query("SELECT t_bound(?) AS t", [df]).to_pylist()
    assert row["t"] == pytest.approx(stats.t.ppf(0.975, df), rel=1e-9)
    for t in (0.0, 1e-3, 0.7, 1.0, 1.96, 5.0, -30.0):
        (row,) = results.query("SELECT t_probability(?, ?) AS p", [t, df]).to_pylist()
        assert row["p"] == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-7, abs=1e-14)
