"""Intervals, comparisons of models, agreement with people and correlations, against scipy,
scikit-learn and statsmodels on the same rows."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special, stats
from sklearn import metrics
from statsmodels.stats.proportion import proportion_confint

from tests.conftest import rows_of, write_run
from ufo.schemas.results import Results, open_results
from ufo.schemas.statistics import (
    MOST_PAIRED,
    annotators_agreement,
    clustered_wilson,
    cohens_kappa,
    corrected,
    correlations,
    mean_interval,
    paired_t,
    ratio_interval,
    t_bound,
    t_share,
    unpaired_t,
    wilson,
)

NOBODY = -1  # an unanswered claim, a third kind of answer to scikit-learn
MODELS = ("alder", "birch", "cedar")
_PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=60)
false = {"pos_label": 0}
MEASURES: dict[str, Callable[..., float]] = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1_true": metrics.f1_score,
    "f1_false": partial(metrics.f1_score, **false),
}


@pytest.fixture(name="results", scope="module")
def _results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """90 responses of three models to 40 questions, with labels of claims, sentences and responses
    that some verdicts follow; cedar has questions of its own, and clusters differ in size."""
    draw = random.Random(11)
    votes: dict[str, dict[str, Any]] = {f"r{n:02d}": {} for n in range(90)}
    models = {name: MODELS[n % 3] for n, name in enumerate(votes)}
    truth, questions = {}, {}
    for n, (name, units) in enumerate(votes.items()):
        model = models[name]
        questions[name] = f"own {n}" if model == "cedar" else f"q{n // 3}"
        for u in range(draw.randrange(1, 6)):
            label = int(draw.random() < {"alder": 0.8, "birch": 0.6, "cedar": 0.5}[model])
            truth[f"{n}-{u}"] = label if draw.random() < 0.9 else None
            right, wrong = ("s", "r") if label else ("r", "s")
            units[f"{n}-{u}"] = {
                "ref": draw.choice([right, right * 2, wrong, "n", "-"]),
                "wiki": draw.choice([right * 3, wrong + right, wrong, "n", right + "n"]),
            }
    scores = {name: round(draw.random(), 1) if n % 7 else None for n, name in enumerate(votes)}
    of_people: dict[str, Any] = {"questions": questions, "scores": scores, "labels": truth}
    rows = rows_of(votes, mode="all", models=models, **of_people)
    rows["sentences"] = [
        replace(row, human_label=truth[row.text.removeprefix("S ").removesuffix(".")])
        for row in rows["sentences"]
    ]
    folder = tmp_path_factory.mktemp("statistics")
    write_run(folder, rows, mode="all")
    with open_results(folder) as opened:
        yield opened


def clustered(x: Any, clusters: list[str]) -> Any:
    """Wilson's bounds at the effective number, by the variance that statsmodels has."""
    groups = np.unique(clusters, return_inverse=True)[1]
    fit = sm.OLS(x, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": groups})
    z, t = stats.norm.ppf(0.975), stats.t.ppf(0.975, groups.max())
    effective = x.mean() * (1 - x.mean()) / fit.bse[0] ** 2 * (z / t) ** 2
    return pytest.approx(
        proportion_confint(x.mean() * effective, effective, method="wilson"), rel=1e-9
    )


@pytest.mark.parametrize("model", [None, *MODELS])
def test_intervals_of_means_are_clustered_by_question(results: Results, model: str | None) -> None:
    where = "WHERE mode = 'seq'" + (f" AND model = '{model}'" if model else "")
    scores = results.query(f"SELECT factuality_score AS x, question FROM scores {where}")
    x = scores["x"].to_numpy()
    view = "scores_by_model" if model else "scores_by_run"
    (row,) = results.query(f"SELECT * FROM {view} {where}").to_pylist()
    assert row["factuality_score"] == pytest.approx(x.mean())
    assert (row["low"], row["high"]) == clustered(x, scores["question"].to_pylist())
    assert row["interval_method"] == "clustered Wilson"


def test_a_response_has_wilsons_interval(results: Results) -> None:
    for row in results.query("SELECT n_supported, n_units, low, high FROM scores").to_pylist():
        bounds = proportion_confint(row["n_supported"], row["n_units"], method="wilson")
        assert (row["low"], row["high"]) == pytest.approx(bounds, abs=1e-7)


def test_models_are_compared_by_question_where_they_share_them(results: Results) -> None:
    sql = "FROM model_comparison WHERE mode = 'seq' ORDER BY model_a, model_b"
    rows = results.query(sql).to_pylist()
    assert [(row["model_a"], row["model_b"], row["comparison"], row["n"]) for row in rows] == [
        ("alder", "birch", "paired", 30),
        ("alder", "cedar", "unpaired", 60),
        ("birch", "cedar", "unpaired", 60),
    ]
    where = "WHERE mode = 'seq' AND model = ? ORDER BY response_id"
    sql = f"SELECT factuality_score AS x FROM scores {where}"
    x = {model: results.query(sql, [model])["x"].to_numpy() for model in MODELS}
    for row in rows:
        a, b = x[row["model_a"]], x[row["model_b"]]
        paired = row["comparison"] == "paired"
        test = stats.ttest_rel(a, b) if paired else stats.ttest_ind(a, b, equal_var=False)
        bounds = test.confidence_interval()
        assert row["difference"] == pytest.approx(a.mean() - b.mean())
        assert row["p"] == pytest.approx(test.pvalue, rel=1e-9)
        assert (row["low"], row["high"]) == pytest.approx((bounds.low, bounds.high), rel=1e-9)


def compared(folder: Path, units: list[str], questions: list[str]) -> Any:
    """The row of model_comparison; response i, of two models in turn, has these votes."""
    votes = {
        f"r{i}": {f"u{i}-{j}": {"ref": v} for j, v in enumerate(u)} for i, u in enumerate(units)
    }
    models = {name: MODELS[i % 2] for i, name in enumerate(votes)}
    asked = dict(zip(votes, questions, strict=True))
    write_run(folder, rows_of(votes, models=models, questions=asked))
    with open_results(folder) as opened:
        (row,) = opened.query("FROM model_comparison").to_pylist()
    return row


def test_a_blank_question_is_none_and_space_around_one_is_no_difference(tmp_path: Path) -> None:
    questions = ["q1", "q1 ", " q2", "q2", " ", " "]
    row = compared(tmp_path, ["s", "r", "s", "r", "r", "s"], questions)
    assert row["comparison"] == "paired"
    assert row["n"] == 2
    assert (row["n_a"], row["n_b"]) == (2, 2)
    assert row["difference"] == 1.0


def test_a_comparison_of_models_has_the_questions_of_each(tmp_path: Path) -> None:
    questions = ["q1", "q1", "q2", "q2", "q3", "q4", "q5", "q4"]
    row = compared(tmp_path, ["s", "r", "s", "r", "s", "r", "r", "r"], questions)
    assert (row["n"], row["n_a"], row["n_b"]) == (2, 4, 3)
    assert (row["difference"], row["low"], row["high"], row["p"]) == (1.0, None, None, None)


def test_three_responses_to_a_question_that_say_the_same_count_as_one() -> None:
    a, b = floats(1, 0, 0.5), floats(0.5, 0.5, 1)
    once = unpaired_t(a, clusters(1, 2, 3), b, clusters(4, 5, 6))
    of = clusters(*(n for n in (1, 2, 3) for _ in range(3)))
    comparison = unpaired_t(np.repeat(a, 3), of, np.repeat(b, 3), of)
    assert comparison[:5] == pytest.approx(once[:5])


def claims(
    results: Results, mode: str = "seq", source: str | None = None, model: str | None = None
) -> tuple[Any, ...]:
    """Return questions, labels and verdicts of the labelled units, NOBODY where undecided."""
    rows = results.query(
        "SELECT question, h.label AS human, v.label FROM verdicts AS v "
        "JOIN human_labels AS h USING (response_id, unit_id) JOIN responses USING (response_id) "
        "WHERE v.mode = $mode AND ($source IS NULL OR v.source = $source) "
        "AND ($model IS NULL OR model = $model) ORDER BY ALL",
        {"mode": mode, "source": source, "model": model},
    )
    verdicts = [NOBODY if label is None else label for label in rows["label"].to_pylist()]
    return rows["question"].to_pylist(), rows["human"].to_numpy(), np.array(verdicts)


def values(
    results: Results, level: str, mode: Any = "seq", source: Any = None, model: Any = None
) -> dict[str, Any]:
    rows = results.query(
        "SELECT metric, value, low, high, n, interval_method FROM agreement WHERE level = ? "
        "AND mode IS NOT DISTINCT FROM ? AND source IS NOT DISTINCT FROM ? "
        "AND model IS NOT DISTINCT FROM ? AND part = ?",
        [level, mode, source, model, "model" if model else "all"],
    )
    return {row.pop("metric"): row for row in rows.to_pylist()}


# A mode, a source and a model.
PARTS = [("seq", None, None), ("mv", None, "birch"), ("single", "ref", None)]


@pytest.mark.parametrize("part", PARTS, ids=["all", "a model", "a source"])
def test_claims_are_measured_as_scikit_learn_does(results: Results, part: Any) -> None:
    _, human, verdicts = claims(results, *part)
    row = values(results, "claim", *part)
    answered = verdicts != NOBODY
    assert not answered.all()
    right = human[answered], verdicts[answered]
    everything = human, np.where(answered, verdicts, 0)
    expected = {name: measure(*right) for name, measure in MEASURES.items()}
    expected |= {f"{name}_all": measure(*everything) for name, measure in MEASURES.items()}
    expected |= {
        "coverage": answered.mean(),
        "faaf_error_rate": 1 - metrics.accuracy_score(*right),
        "faaf_f1_false": metrics.f1_score(*right, **false),
    }
    assert {name: one["value"] for name, one in row.items()} == pytest.approx(expected)
    assert row["accuracy_all"]["n"] == row["coverage"]["n"] == len(human)
    assert row["accuracy"]["n"] == row["faaf_error_rate"]["n"] == answered.sum()


def f1(human: Any, verdicts: Any, of: int = 1) -> Any:
    """As scikit-learn's, which takes milliseconds for it."""
    return (
        2
        * ((human == of) & (verdicts == of)).sum()
        / ((human == of).sum() + (verdicts == of).sum())
    )


def balanced(human: Any, verdicts: Any) -> Any:
    return (verdicts[human == 1].mean() + 1 - verdicts[human == 0].mean()) / 2


def test_intervals_of_agreement_are_clustered_by_question(results: Results) -> None:
    """That of accuracy is exact; the others are near the bootstrap over questions."""
    questions, human, verdicts = claims(results)
    rows, counted = values(results, "claim"), np.maximum(verdicts, 0)
    exact = rows["accuracy_all"]
    assert (exact["low"], exact["high"]) == clustered((human == counted).astype(float), questions)
    assert exact["interval_method"] == "clustered Wilson"
    of = [np.flatnonzero(np.array(questions) == name) for name in sorted(set(questions))]
    draws = np.random.default_rng(3).integers(0, len(of), (400, len(of)))
    drawn = [np.concatenate([of[one] for one in draw]) for draw in draws]
    measures: dict[str, Callable[..., Any]] = {"balanced_accuracy": balanced, "f1_true": f1}
    measures["f1_false"] = partial(f1, of=0)
    for name, measure in measures.items():
        deviation = np.std([measure(human[row], counted[row]) for row in drawn])
        row = rows[f"{name}_all"]
        assert (row["high"] - row["low"]) / 2 == pytest.approx(1.96 * deviation, rel=0.1)


@pytest.mark.parametrize("model", [None, "cedar"])
def test_scores_are_correlated_as_scipy_does(results: Results, model: str | None) -> None:
    scores = results.query(
        "SELECT factuality_score AS x, human_score AS y FROM scores WHERE mode = 'mv' "
        "AND human_score IS NOT NULL AND (? IS NULL OR model = ?)",
        [model, model],
    )
    x, y = scores["x"].to_numpy(), scores["y"].to_numpy()
    rows = values(results, "response", "mv", None, model)
    tests = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    r = {name: test(x, y).statistic for name, test in tests.items()}
    assert {name: rows[name]["value"] for name in r} == pytest.approx(r)
    if model is None:  # by question; cedar has one response to each
        return
    variances = {
        "pearson": 1 / (len(x) - 3),
        "spearman": (1 + r["spearman"] ** 2 / 2) / (len(x) - 3),
        "kendall": 0.437 / (len(x) - 4),
    }
    for name, variance in variances.items():
        half = stats.norm.ppf(0.975) * np.sqrt(variance)
        bounds = np.tanh([np.arctanh(r[name]) - half, np.arctanh(r[name]) + half])
        assert (rows[name]["low"], rows[name]["high"]) == pytest.approx(tuple(bounds))


def test_sentences_below_the_threshold_are_called_not_factual(results: Results) -> None:
    scores = results.query(
        "SELECT human_label AS human, CAST(coalesce(credibility >= 0.3, true) AS INT) AS called "
        "FROM sentence_scores WHERE human_label IS NOT NULL"
    )
    human, called = (scores[name].to_numpy() for name in ("human", "called"))
    rows = values(results, "sentence", None)
    for name in ("f1", "precision", "recall"):
        measured = getattr(metrics, f"{name}_score")(human, called, **false)
        assert rows[f"{name}_not_factual"]["value"] == pytest.approx(measured)
    f1 = rows["f1_not_factual"]
    assert f1["n"] == len(human)
    assert 0 < f1["low"] < f1["high"] < 1


@given(df=st.floats(1, 1e6), t=st.floats(-50, 50))
@example(df=5.0, t=0.0)
def test_shares_and_bounds_of_t(df: float, t: float) -> None:
    assert t_share(t, df) == pytest.approx(special.stdtr(df, t), rel=1e-7, abs=1e-14)
    assert t_bound(df) == pytest.approx(special.stdtrit(df, 0.975), rel=1e-9)


@given(pairs=_PAIRS)
def test_correlations_of_values_with_ties(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=np.float64).T
    coefficients = [one.value for one in correlations(x, y, np.arange(len(x), dtype=np.uint64))]
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(coefficients).all()
        return
    theirs = (stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y))
    assert coefficients == pytest.approx([one.statistic for one in theirs], abs=1e-9)


@pytest.mark.parametrize(
    ("x", "y"),
    [((), ()), ((1,), (2,)), ((1, 1, 1), (1, 2, 3)), ((1, 2, 3), (1, 1, 1))],
    ids=["of nothing", "of one pair", "with a constant", "of a constant"],
)
def test_a_correlation_of_a_constant_is_none(x: tuple[int, ...], y: tuple[int, ...]) -> None:
    coefficients = correlations(floats(*x), floats(*y), np.arange(len(x), dtype=np.uint64))
    assert np.isnan([one.value for one in coefficients]).tolist() == [True] * 3


def test_a_correlation_is_as_certain_as_its_clusters_are() -> None:
    draw = np.random.default_rng(2)
    x = np.repeat(draw.random(10), 2) + draw.random(20) / 4
    y = x + np.repeat(draw.random(10), 2) / 2 + draw.random(20) / 4
    coefficients = correlations(x, y, clusters(*(np.arange(20) // 2)))
    assert [one[:3] for one in coefficients] == [  # a plain loop's
        pytest.approx((0.870537849962, 0.591041572278, 0.963409703591)),
        pytest.approx((0.878195488722, 0.601977881891, 0.966708416971)),
        pytest.approx((0.715789473684, 0.465829888659, 0.859957657771)),
    ]


def test_clusters_whose_errors_cancel_out_count_for_no_more_than_their_rows() -> None:
    x, y = floats(1, 2, 3, 4, 5, 6, 7, 8), floats(2, 1, 4, 3, 7, 8, 5, 6)
    alone = correlations(x, y, np.arange(8, dtype=np.uint64))
    # The rows of a pair pull the correlation to opposite sides.
    assert correlations(x, y, clusters(2, 1, 4, 3, 2, 4, 1, 3)) == alone


# --- the limits of each ---

WELCH = "none: a model has one question or response"
EQUAL = "none: all differences are equal"


def floats(*values: float) -> Any:
    return np.array(values, np.float64)


def clusters(*values: int) -> Any:
    return np.array(values, np.uint64)


@given(n=st.integers(1, 500), k=st.integers(0, 500))
def test_wilsons_interval_lies_within_0_and_1(n: int, k: int) -> None:
    k = min(k, n)
    intervals = [float(one[0]) for one in wilson(floats(k), floats(n))]
    assert intervals == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-9)
    assert 0 <= intervals[0] < intervals[1] <= 1


def test_nothing_has_no_interval() -> None:
    assert np.isnan(wilson(floats(0), floats(0))).all()
    assert np.isnan(mean_interval(floats(), floats(), clusters()).value)
    weightless = mean_interval(floats(1, 1), floats(0, 0), clusters(1, 2))
    assert np.isnan(weightless.value)
    assert weightless.method is None


@pytest.mark.parametrize(
    ("values", "of", "bounds"),
    [
        pytest.param((0.0, 1.0), (1, 1), None, id="one cluster"),
        pytest.param((0.5, 0.5), (1, 2), (1.0, 2.0), id="two that are equal"),
        pytest.param((1.0, 1.0, 1.0), (1, 2, 3), (3.0, 3.0), id="three of ones"),
        pytest.param((0.0, 0.0, 0.0, 0.0), (1, 2, 3, 3), (0.0, 3.0), id="three clusters of zeros"),
    ],
)
def test_where_nothing_varies_the_clusters_are_counted(
    values: tuple[float, ...], of: tuple[int, ...], bounds: tuple[float, float] | None
) -> None:
    interval = mean_interval(floats(*values), np.ones(len(values)), clusters(*of))
    assert interval.value == np.mean(values)
    if bounds is None:
        assert np.isnan(interval.low)
        assert interval.method is None
        return
    assert (interval.low, interval.high) == pytest.approx(
        proportion_confint(*bounds, method="wilson")
    )


def test_the_mean_of_two_ratios_is_as_certain_as_both() -> None:
    of, ones = clusters(1, 2, 3, 4), floats(1, 1, 1, 1)
    first, second = floats(1, 0, 1, 1), floats(0, 0, 1, 0)
    interval = ratio_interval(first, ones, second, ones, of)
    assert interval.value == 0.5
    influence = (first - 0.75 + second - 0.25) / 8
    assert interval == clustered_wilson(0.5, influence, of)


@pytest.mark.parametrize(
    ("differences", "mean", "p_drop", "method"),
    [
        pytest.param((), np.nan, np.nan, "none: one pair", id="none"),
        pytest.param((0.5,), 0.5, np.nan, "none: one pair", id="one"),
        pytest.param((-0.5, -0.5), -0.5, 0.25, EQUAL, id="two equal drops"),
        pytest.param((-0.5,) * 5, -0.5, 1 / 32, EQUAL, id="five equal drops"),
        pytest.param((0.5, 0.5), 0.5, 1.0, EQUAL, id="equal gains"),
        pytest.param((0.0, 0.0), 0.0, 1.0, EQUAL, id="no difference"),
        pytest.param((-1e-17,) * 9, -1e-17, 1.0, EQUAL, id="no difference but rounding"),
    ],
)
def test_pairs_that_do_not_vary_have_no_interval(
    differences: tuple[float, ...], mean: float, p_drop: float, method: str
) -> None:
    comparison = paired_t(floats(*differences))
    assert comparison.difference == pytest.approx(mean, nan_ok=True)
    assert comparison.p_drop == pytest.approx(p_drop, nan_ok=True)
    assert comparison.method == method
    assert np.isnan([comparison.low, comparison.high, comparison.p]).all()


def test_the_share_of_a_drop_is_one_sided() -> None:
    x = floats(-0.5, -0.1, 0.2, -0.4)
    expected = stats.ttest_1samp(x, 0, alternative="less").pvalue
    assert paired_t(x).p_drop == pytest.approx(expected)
    assert paired_t(-x).p_drop == pytest.approx(1 - expected)
    assert paired_t(-x).p == pytest.approx(2 * expected)


@pytest.mark.parametrize(
    ("of_a", "of_b", "b", "method"),
    [
        pytest.param((1, 1), (2, 3), (0.0, 1.0), WELCH, id="one cluster of a"),
        pytest.param((1, 2), (3, 3), (0.0, 1.0), WELCH, id="one cluster of b"),
        pytest.param((1, 2), (3, 4), (0.0, 0.0), EQUAL, id="nothing varies"),
        pytest.param((1, 2), (3, 4), (0.0, 1.0), "Welch t", id="b varies"),
    ],
)
def test_two_models_need_two_clusters_each(
    of_a: tuple[int, int], of_b: tuple[int, int], b: tuple[float, float], method: str
) -> None:
    comparison = unpaired_t(floats(1, 1), clusters(*of_a), floats(*b), clusters(*of_b))
    assert comparison.method == method
    assert comparison.difference == 1 - np.mean(b)


@pytest.mark.parametrize(
    ("n", "bounded"),
    [(3, (False, False)), (4, (True, False)), (5, (True, True))],
    ids=["three pairs", "four pairs", "five pairs"],
)
def test_a_correlation_of_few_has_no_interval(n: int, bounded: tuple[bool, bool]) -> None:
    x, y = floats(1, 2, 3, 4, 5)[:n], floats(2, 1, 3, 5, 4)[:n]
    pearson, spearman, kendall = correlations(x, y, np.arange(n, dtype=np.uint64))
    assert np.isfinite([pearson.low, spearman.low, kendall.low]).tolist() == [
        bounded[0],
        bounded[0],
        bounded[1],
    ]


def test_a_perfect_correlation_is_its_own_interval() -> None:
    for n, sign in ((2, 1.0), (3, 1.0), (3, -1.0)):
        x = floats(1, 2, 3)[:n]
        for coefficient in correlations(x, sign * x, clusters(1, 2, 3)[:n]):
            assert coefficient[:3] == pytest.approx((sign, sign, sign))
            assert coefficient.method


def correction(labels: Any, verdicts: Any, scores: Any, of: Any = (1, 2, 3)) -> Any:
    n = len(labels)
    ones, at = np.ones(n), clusters(*of[:n])
    return corrected(
        scores, clusters(1, 2, 3)[: len(scores)], labels, verdicts, ones, ones, ones.astype(int), at
    )


def test_a_score_is_corrected_by_labels_of_two_clusters_at_least() -> None:
    scores, labels = floats(0.5, 1.0, 0.0), floats(1, 0, 1)
    assert np.isnan(correction(floats(), floats(), scores).corrected_score)
    assert np.isnan(correction(labels, labels, floats()).corrected_score)
    for few in (
        correction(labels[:1], labels[:1], scores),
        correction(labels, labels, scores[:1], (1, 1, 1)),
    ):
        assert few.method is None
        assert few.power == 1.0
        assert np.isnan(few.low)
        assert 0 <= few.corrected_score <= 1
    assert correction(labels[:2], labels[:2], scores).method == "prediction-powered, clustered"


def test_a_correction_is_the_formula() -> None:
    """Strata of many, of two and of one label, weights around 1, clusters of both samples."""
    draw = np.random.default_rng(5)
    labels = draw.integers(0, 2, 40)
    verdicts = np.where(draw.random(40) < 0.2, 1 - labels, labels)
    share, weight = draw.uniform(0.2, 1, 40), draw.choice([0.5, 1.0, 3.0], 40)
    strata, of = np.repeat([0, 1, 2, 3, 4], [14, 14, 9, 2, 1]), np.arange(40) // 2
    scores = (draw.random(30), clusters(*(np.arange(30) // 2)))
    result = corrected(
        *scores, floats(*labels), floats(*verdicts), share, weight, strata, of.astype(np.uint64)
    )
    known = (0.464912964829, 0.269583404506, 0.660242525151, 0.713198283810)  # a plain loop's
    assert result[:4] == pytest.approx(known, abs=1e-9)


def test_a_correction_knows_the_cells_that_were_sampled() -> None:
    """Equal weights of responses change nothing; a cell with few labels widens the interval."""
    draw = np.random.default_rng(6)
    labels, verdicts = (draw.integers(0, 2, 60).astype(float) for _ in range(2))
    score, of = draw.random(60), np.arange(60, dtype=np.uint64)
    share = np.repeat([1.0, 20.0], [57, 3])  # three labels for half of all
    rows = (score, of, labels, verdicts, share, share)
    plain = corrected(*rows, np.zeros(60, np.uint64), of)
    weight = np.full(60, 0.25)
    assert corrected(*rows, np.zeros(60, np.uint64), of, response_weight=weight) == plain
    cells = (share > 1).astype(np.uint64)
    two = corrected(*rows, cells, of, cell=cells)
    assert two.corrected_score == plain.corrected_score
    assert two.high - two.low > 1.2 * (plain.high - plain.low)


# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section C: 12 units
OBSERVERS = {
    "A": "123321412...",
    "B": "1233224125.3",
    "C": ".3332342251.",
    "D": "12332441251.",
}


def test_alpha_with_gaps_is_that_of_the_published_example() -> None:
    rows = [
        (unit, name, float(mark))
        for name, line in OBSERVERS.items()
        for unit, mark in enumerate(line)
        if mark != "."
    ]
    units, names, labels = zip(*rows, strict=True)
    agreements = annotators_agreement(
        np.array(units, np.uint64), np.array(names, object), np.array(labels)
    )
    whole, *pairs = agreements
    assert whole.alpha == pytest.approx(0.743, abs=5e-4)
    assert np.isnan(whole.kappa)
    assert (whole.n_units, whole.annotator_a) == (11, None)  # the last unit has one label
    assert [(one.annotator_a, one.annotator_b) for one in pairs] == [
        ("A", "B"),
        ("A", "C"),
        ("A", "D"),
        ("B", "C"),
        ("B", "D"),
        ("C", "D"),
    ]
    assert [one.n_units for one in pairs] == [9, 8, 9, 9, 10, 10]


def test_kappa_is_that_of_the_textbook() -> None:
    # 20 both yes, 5 the first alone, 10 the second alone, 15 both no
    first, second = (
        np.repeat([1, 1, 0, 0], [20, 5, 10, 15]),
        np.repeat([1, 0, 1, 0], [20, 5, 10, 15]),
    )
    assert cohens_kappa(first, second) == pytest.approx(0.4)
    assert np.isnan(cohens_kappa(first[:0], second[:0]))
    assert np.isnan(cohens_kappa(np.ones(3, int), np.ones(3, int)))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=40))
def test_kappa_and_the_share_are_those_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array(one) for one in zip(*pairs, strict=True))
    n = len(pairs)
    units, names = np.tile(np.arange(n, dtype=np.uint64), 2), np.repeat(["x", "y"], n)
    whole, pair = annotators_agreement(units, names, np.concatenate([first, second]).astype(float))
    assert whole[2:7] == pytest.approx(pair[2:7], nan_ok=True)
    assert pair.share_equal == metrics.accuracy_score(first, second)
    if len(set(first) | set(second)) > 1:
        assert pair.kappa == pytest.approx(metrics.cohen_kappa_score(first, second), nan_ok=True)
        # Without gaps alpha is Scott's pi, corrected for the number of labels.
        shares = np.bincount(np.concatenate([first, second])) / (2 * n)
        chance = float(shares @ shares)
        scott = (pair.share_equal - chance) / (1 - chance)
        assert pair.alpha == pytest.approx(scott + (1 - scott) / (2 * n))
    else:
        assert np.isnan(pair.alpha)


def test_of_a_crowd_there_is_the_whole_and_no_pair() -> None:
    for n, rows in ((MOST_PAIRED, 1 + MOST_PAIRED * (MOST_PAIRED - 1) // 2), (MOST_PAIRED + 1, 1)):
        names = np.array([f"a{at}" for at in range(n)])
        agreements = annotators_agreement(np.zeros(n, np.uint64), names, np.ones(n))
        assert len(agreements) == rows


@pytest.mark.parametrize(("verdict", "score"), [(0.0, 1.0), (1.0, 0.0)])
def test_a_corrected_score_is_from_0_to_1(verdict: float, score: float) -> None:
    # To the judge the labelled units are all the same, and all others the contrary.
    result = correction(floats(1, 1, 0), np.full(3, verdict), np.full(3, score))
    assert result.corrected_score == score
    assert (result.low, result.high)[int(score)] == score


@pytest.mark.parametrize(
    ("verdicts", "power"),
    [((1, 0, 1), 1.0), ((0, 1, 0), 0.0), ((1, 1, 1), 1.0), ((1, 0, 0), 0.5)],
    ids=["always right", "always wrong", "always the same", "right and wrong"],
)
def test_a_judge_counts_as_far_as_it_agrees_with_people(
    verdicts: tuple[int, ...], power: float
) -> None:
    result = correction(floats(1, 0, 1), floats(*verdicts), floats(0.5, 1.0, 0.0))
    assert result.power == pytest.approx(power)
