"""Agreement with people and between sources, against scikit-learn, scipy and statsmodels."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from sklearn import metrics
from statsmodels.stats.proportion import proportion_confint

from ufo.schemas.results import Results, open_results

NOBODY = -1  # an unanswered claim, a third kind of answer to scikit-learn


@pytest.fixture(name="results", scope="module")
def _results(
    tmp_path_factory: pytest.TempPathFactory,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
) -> Iterator[Results]:
    """60 responses of two models, with labels of claims, sentences and responses that some verdicts
    follow; a few responses have one unit each, so that nothing is clustered evenly."""
    draw = random.Random(11)
    votes, truth = {}, {}
    for n in range(60):
        units = {}
        for u in range(draw.randrange(1, 6)):
            label = int(draw.random() < 0.7)
            truth[f"{n}-{u}"] = label if draw.random() < 0.9 else None
            right, wrong = ("s", "r") if label else ("r", "s")
            units[f"{n}-{u}"] = {
                "ref": draw.choice([right, right * 2, wrong, "n", "-"]),
                "wiki": draw.choice([right * 3, wrong + right, wrong, "n", right + "n"]),
            }
        votes[f"r{n:02d}"] = units
    rows = rows_of(votes, mode="all", models={name: f"m{i % 2}" for i, name in enumerate(votes)})
    rows["fact_units"] = [
        replace(row, human_label=truth[row.unit_id]) for row in rows["fact_units"]
    ]
    rows["sentences"] = [
        replace(row, human_label=truth[row.text.removeprefix("S ").removesuffix(".")])
        for row in rows["sentences"]
    ]
    rows["responses"] = [
        replace(row, human_score=round(draw.random(), 1) if n % 7 else None)
        for n, row in enumerate(rows["responses"])
    ]
    folder = tmp_path_factory.mktemp("agreement")
    write_run(folder, rows, mode="all")
    with open_results(folder) as opened:
        yield opened


def claims(
    results: Results, mode: str = "seq", source: str | None = None, model: str | None = None
) -> tuple[Any, ...]:
    """Return responses, labels and verdicts of the labelled units, NOBODY where undecided."""
    found = results.query(
        "SELECT v.response_id, h.label AS human, v.label FROM verdicts AS v "
        "JOIN human_labels AS h USING (response_id, unit_id) JOIN responses USING (response_id) "
        "WHERE v.mode = $mode AND ($source IS NULL OR v.source = $source) "
        "AND ($model IS NULL OR model = $model) ORDER BY ALL",
        {"mode": mode, "source": source, "model": model},
    )
    verdicts = [NOBODY if label is None else label for label in found["label"].to_pylist()]
    return found["response_id"].to_pylist(), found["human"].to_numpy(), np.array(verdicts)


def values(
    results: Results,
    level: str,
    mode: str | None = "seq",
    source: str | None = None,
    model: str | None = None,
) -> dict[str, Any]:
    found = results.query(
        "SELECT metric, value, low, high, n, interval_method FROM agreement WHERE level = ? "
        "AND mode IS NOT DISTINCT FROM ? AND source IS NOT DISTINCT FROM ? "
        "AND model IS NOT DISTINCT FROM ? AND part = ?",
        [level, mode, source, model, "model" if model else "all"],
    )
    return {row.pop("metric"): row for row in found.to_pylist()}


@pytest.mark.parametrize(
    ("mode", "source", "model"),
    [("seq", None, None), ("mv", None, "m1"), ("single", "ref", None), ("single", "wiki", "m0")],
)
def test_claims_are_measured_as_scikit_learn_does(
    results: Results, mode: str, source: str | None, model: str | None
) -> None:
    _, human, found = claims(results, mode, source, model)
    row = values(results, "claim", mode, source, model)
    answered = found != NOBODY
    assert not answered.all()
    right = human[answered], found[answered]
    everything = human, np.where(answered, found, 0)
    expected = {
        f"{name}{suffix}": measure(*pair)
        for suffix, pair in (("", right), ("_all", everything))
        for name, measure in (
            ("accuracy", metrics.accuracy_score),
            ("balanced_accuracy", metrics.balanced_accuracy_score),
            ("f1_true", metrics.f1_score),
            ("f1_false", partial(metrics.f1_score, pos_label=0)),
        )
    }
    expected |= {
        "coverage": answered.mean(),
        "faaf_error_rate": 1 - metrics.accuracy_score(*right),
        "faaf_f1_false": metrics.f1_score(*right, pos_label=0),
    }
    assert {name: one["value"] for name, one in row.items()} == pytest.approx(expected)
    assert row["accuracy_all"]["n"] == row["coverage"]["n"] == len(human)
    assert row["accuracy"]["n"] == row["faaf_error_rate"]["n"] == answered.sum()


def test_the_interval_of_accuracy_is_clustered_by_response(results: Results) -> None:
    responses, human, found = claims(results)
    groups = np.unique(responses, return_inverse=True)[1]
    right = (human == np.maximum(found, 0)).astype(float)
    fit = sm.OLS(right, np.ones(len(human))).fit(cov_type="cluster", cov_kwds={"groups": groups})
    row = values(results, "claim")["accuracy_all"]
    z, t = stats.norm.ppf(0.975), stats.t.ppf(0.975, groups.max())
    effective = right.mean() * (1 - right.mean()) / fit.bse[0] ** 2 * (z / t) ** 2
    bounds = proportion_confint(right.mean() * effective, effective, method="wilson")
    assert (row["low"], row["high"]) == pytest.approx(bounds, rel=1e-9)
    assert row["interval_method"] == "clustered Wilson"


@pytest.mark.parametrize(
    ("metric", "measure"),
    [
        ("balanced_accuracy_all", metrics.balanced_accuracy_score),
        ("f1_true_all", metrics.f1_score),
        ("f1_false_all", partial(metrics.f1_score, pos_label=0)),
    ],
)
def test_other_intervals_are_near_the_bootstrap_over_responses(
    results: Results, metric: str, measure: Callable[..., float]
) -> None:
    responses, human, found = claims(results)
    of = [np.flatnonzero(np.array(responses) == name) for name in sorted(set(responses))]
    said = np.maximum(found, 0)
    draws = np.random.default_rng(3).integers(0, len(of), (400, len(of)))
    rows = (np.concatenate([of[one] for one in drawn]) for drawn in draws)
    values_drawn = [measure(human[row], said[row]) for row in rows]
    row = values(results, "claim")[metric]
    assert (row["high"] - row["low"]) / 2 == pytest.approx(1.96 * np.std(values_drawn), rel=0.1)


@pytest.mark.parametrize("model", [None, "m0"])
def test_scores_are_correlated_as_scipy_does(results: Results, model: str | None) -> None:
    found = results.query(
        "SELECT factuality_score AS x, human_score AS y FROM scores WHERE mode = 'mv' "
        "AND human_score IS NOT NULL AND (? IS NULL OR model = ?)",
        [model, model],
    )
    x, y = found["x"].to_numpy(), found["y"].to_numpy()
    rows = values(results, "response", "mv", None, model)
    pearson = stats.pearsonr(x, y)
    bounds = pearson.confidence_interval()
    assert rows["pearson"]["value"] == pytest.approx(pearson.statistic)
    assert (rows["pearson"]["low"], rows["pearson"]["high"]) == pytest.approx(
        (bounds.low, bounds.high), rel=1e-9
    )
    spearman, kendall = stats.spearmanr(x, y).statistic, stats.kendalltau(x, y).statistic
    assert rows["spearman"]["value"] == pytest.approx(spearman)
    assert rows["kendall"]["value"] == pytest.approx(kendall)
    for name, variance in (
        ("spearman", (1 + spearman**2 / 2) / (len(x) - 3)),
        ("kendall", 0.437 / (len(x) - 4)),
    ):
        z = np.arctanh(rows[name]["value"])
        half = 1.959963984540054 * np.sqrt(variance)
        assert (rows[name]["low"], rows[name]["high"]) == pytest.approx(
            tuple(np.tanh([z - half, z + half]))
        )


def test_sentences_below_the_threshold_are_called_not_factual(results: Results) -> None:
    found = results.query(
        "SELECT human_label AS human, coalesce(credibility < 0.3, false) AS flagged "
        "FROM sentence_scores WHERE human_label IS NOT NULL"
    )
    human, flagged = (found[name].to_numpy(zero_copy_only=False) for name in ("human", "flagged"))
    called = (~flagged.astype(bool)).astype(int)
    rows = values(results, "sentence", None)
    assert rows["f1_not_factual"]["value"] == pytest.approx(
        metrics.f1_score(human, called, pos_label=0)
    )
    assert rows["precision_not_factual"]["value"] == pytest.approx(
        metrics.precision_score(human, called, pos_label=0)
    )
    assert rows["recall_not_factual"]["value"] == pytest.approx(
        metrics.recall_score(human, called, pos_label=0)
    )
    assert rows["f1_not_factual"]["n"] == len(human)
    assert 0 < rows["f1_not_factual"]["low"] < rows["f1_not_factual"]["high"] < 1
