"""Scores corrected by labels: against a plain implementation, and how often intervals are right."""

import math
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import statsmodels.api as sm
from scipy import stats

from ufo.schemas.statistics import add_statistics
from ufo.schemas.tables import to_arrow
from ufo.schemas.views import load_views

N_SIMULATIONS = 1000


class Population:
    """Runs of responses with fact units, what people would say of each, and what a judge said.

    People find a response's units true with a probability of its own, so that labels cluster. The
    judge is wrong or undecided with fixed probabilities.
    """

    def __init__(
        self,
        seed: int,
        runs: int,
        responses: int,
        units: int,
        errors: tuple[float, ...],
        spread: float = 2.0,
    ) -> None:
        random = np.random.default_rng(seed)
        false_supported, false_refuted, undecided = errors
        shape = (runs, responses, units)
        own = random.beta(0.7 * spread, 0.3 * spread, size=(runs, responses, 1))
        self.truth = (random.random(shape) < own).astype(int)
        wrong = random.random(shape) < np.where(self.truth == 1, false_refuted, false_supported)
        self.verdict = np.where(wrong, 1 - self.truth, self.truth).astype(float)
        self.verdict[random.random(shape) < undecided] = np.nan
        self.model = np.broadcast_to(np.arange(responses)[None, :, None] % 2, shape)
        self.random = random
        self.expected = 0.7
        self.label = np.full(shape, np.nan)
        self.weight = np.full(shape, np.nan)
        self.stratum = np.zeros(shape, dtype=int)

    def sample(self, n: int) -> None:
        """Label n units of each run, in strata by verdict and model."""
        kind = np.where(np.isnan(self.verdict), 2, self.verdict).astype(int)
        self.stratum = kind * 2 + self.model
        for run in range(len(self.truth)):
            strata = self.stratum[run].ravel()
            sizes = np.bincount(strata, minlength=6)
            ends = np.rint(n * np.cumsum(sizes) / sizes.sum()).astype(int)
            for stratum, take in enumerate(np.diff(ends, prepend=0)):
                chosen = self.random.permutation(np.flatnonzero(strata == stratum))[:take]
                self.label[run].ravel()[chosen] = self.truth[run].ravel()[chosen]
                self.weight[run].ravel()[chosen] = sizes[stratum] / max(take, 1)

    def tables(self) -> dict[str, Any]:
        """The result tables as DuckDB sees them."""
        run, response, unit = (axis.ravel() for axis in np.indices(self.truth.shape))
        # A label holds for its unit in every run, so units of different runs have different ids.
        ids = {
            "run": [f"run-{i}" for i in run],
            "response_id": [f"{i}-{r}" for i, r in zip(run, response, strict=True)],
            "unit_id": [f"u{j}" for j in unit],
        }
        labelled = ~np.isnan(self.label.ravel())
        units = pa.table({**ids, "human_label": pa.nulls(len(run), pa.int64())})
        verdicts = pa.table(
            {
                **ids,
                "mode": ["seq"] * len(run),
                "source": ["none" if math.isnan(v) else "wiki" for v in self.verdict.ravel()],
                "label": pa.array(self.verdict.ravel(), pa.float64(), from_pandas=True),
            }
        )
        first = unit == 0
        responses = units.filter(pa.array(first)).select(["run", "response_id"])
        for name, values in (
            ("model", [f"m{m}" for m in self.model.ravel()[first]]),
            ("dataset", ["d"] * first.sum()),
            ("question", [""] * first.sum()),
            ("human_score", [None] * first.sum()),
        ):
            responses = responses.append_column(name, pa.array(values))
        weights = pa.array(self.weight.ravel(), pa.float64(), from_pandas=True)
        labels = pa.table(
            {
                **ids,
                "label": pa.array(self.label.ravel(), pa.float64(), from_pandas=True),
                "stratum": [f"{i}-s{s}" for i, s in zip(run, self.stratum.ravel(), strict=True)],
                "weight": weights,
                "sheet": ["sheet"] * len(run),
            }
        ).filter(pa.array(labelled))
        runs = pa.table({"run": sorted({*ids["run"]}), "mode": ["seq"] * len(self.truth)})
        sources = pa.table({"run": ["run-0"], "source": ["wiki"], "status": ["used"]})
        return {
            "fact_units": units,
            "verdicts": verdicts,
            "responses": responses,
            "labels": labels,
            "runs": runs,
            "sources": sources,
            "evidence": to_arrow("evidence", []).append_column("run", pa.array([], pa.string())),
        }

    def corrected(self, level: str = "run") -> list[Any]:
        """The rows of corrected_scores, by run."""
        views = {view.name: view for view in load_views()}

        def needed(name: str) -> list[str]:
            return [*(n for need in views[name].needs for n in needed(need)), name]

        with duckdb.connect() as connection:
            add_statistics(connection)
            for name, table in self.tables().items():
                connection.register(f"{name}_given", table)
                connection.execute(f"CREATE TABLE {name} AS FROM {name}_given")
            for name in dict.fromkeys(needed("corrected_scores")):
                connection.execute(views[name].definition)
            found = connection.sql(
                "FROM corrected_scores WHERE level = $level "
                "ORDER BY CAST(split_part(run, '-', 2) AS INTEGER), name",
                params={"level": level},
            )
            return found.to_arrow_table().to_pylist()


@pytest.mark.parametrize(
    ("n", "responses", "units", "errors"),
    [
        (60, 60, 5, (0.3, 0.1, 0.1)),  # a judge that is too kind
        (100, 40, 5, (0.1, 0.3, 0.2)),  # half of the units are labelled
    ],
)
def test_intervals_cover_the_truth_in_93_of_100_simulations(
    n: int, responses: int, units: int, errors: tuple[float, ...]
) -> None:
    population = Population(n, N_SIMULATIONS, responses, units, errors)
    population.sample(n)
    rows = population.corrected()
    low, high = (np.array([row[name] for row in rows]) for name in ("low", "high"))
    ours = population.truth.mean(axis=(1, 2))  # what people would say of these responses
    for truth in (population.expected, ours):
        assert np.mean((low <= truth) & (truth <= high)) >= 0.93
    # The judge's own mean is off; what corrects it is not.
    assert abs(np.mean([row["judge_score"] for row in rows]) - 0.7) > 0.03
    assert abs(np.mean([row["corrected_score"] for row in rows]) - 0.7) < 0.01
    # And not because they say nothing.
    assert np.mean(high - low) < 0.3


def test_where_the_judge_decided_nothing_it_has_no_score() -> None:
    population = Population(3, 1, 20, 3, (0.0, 0.0, 1.0))
    population.sample(30)
    (row,) = population.corrected()
    assert row["judge_score"] is None
    assert row["n_labelled"] == 30
    assert 0 < row["low"] < row["corrected_score"] < row["high"] <= 1


def plain(population: Population) -> list[Any]:
    """The same for the first run, one number after another."""
    truth, weights, strata = (
        array[0] for array in (population.label, population.weight, population.stratum)
    )
    judged = np.nan_to_num(population.verdict[0])
    responses, units = judged.shape
    labelled = [(r, u) for r in range(responses) for u in range(units) if truth[r, u] >= 0]
    share = {at: weights[at] / units for at in labelled}
    total = sum(share.values())

    def mean(value: Callable[..., Any]) -> Any:
        return sum(share[at] * value(at) for at in labelled) / total

    y, f = mean(lambda at: truth[at]), mean(lambda at: judged[at])
    power = (mean(lambda at: truth[at] * judged[at]) - y * f) / (f - f * f)
    power = min(1, max(0, power))
    deviation = {
        at: share[at] * (truth[at] - power * judged[at] - (y - power * f)) / total
        for at in labelled
    }
    influence = dict.fromkeys(range(responses), 0.0)
    for stratum in {strata[at] for at in labelled}:
        inside = [at for at in labelled if strata[at] == stratum]
        centre = sum(deviation[at] for at in inside) / len(inside)
        if len(inside) == 1:
            influence[inside[0][0]] += centre
            continue
        for at in inside:
            rest = (deviation[at] - centre) * math.sqrt(len(inside) / (len(inside) - 1))
            influence[at[0]] += centre / math.sqrt(weights[at]) + rest
    clusters = len({r for r, _ in labelled})
    whole = judged.mean()
    variance = sum(
        (
            power * (judged[r].mean() - whole) / math.sqrt(responses * (responses - 1))
            + influence[r] * math.sqrt(clusters / (clusters - 1))
        )
        ** 2
        for r in range(responses)
    )
    # As if the judge were wrong on two labels more, once either way.
    variance += 2 / (len(labelled) + 2) ** 2
    margin = stats.t.ppf(0.975, clusters - 1) * math.sqrt(variance)
    estimate = power * whole + y - power * f
    return [whole, estimate, max(0, estimate - margin), min(1, estimate + margin), power]


@pytest.mark.parametrize("seed", range(5))
def test_the_view_is_the_formula(seed: int) -> None:
    population = Population(seed, 1, 30, 4, (0.3, 0.1, 0.1))
    population.sample(40)
    (row,) = population.corrected()
    names = ("judge_score", "corrected_score", "low", "high", "power")
    assert [row[name] for name in names] == pytest.approx(plain(population))
    assert row["n_labelled"] == 40
    assert row["n_responses"] == 30
    assert row["n_units"] == 120


def test_where_people_labelled_everything_it_is_their_mean_clustered_by_response() -> None:
    population = Population(7, 1, 40, 5, (0.3, 0.1, 0.1))
    population.label = population.truth.astype(float)
    population.weight[:] = 1.0
    (row,) = population.corrected()
    labels = population.truth[0]
    groups = np.repeat(np.arange(40), 5)
    model = sm.OLS(labels.ravel(), np.ones(200))
    fitted = model.fit(cov_type="cluster", cov_kwds={"groups": groups})
    margin = stats.t.ppf(0.975, 39) * fitted.bse[0]
    assert row["corrected_score"] == pytest.approx(labels.mean())
    # Ours also counts the one degree of freedom of the stratum's mean, and two labels more.
    assert (row["high"] - row["low"]) / 2 == pytest.approx(margin, rel=0.02)


def test_labels_without_weights_are_taken_for_a_random_sample() -> None:
    population = Population(11, 1, 30, 4, (0.3, 0.1, 0.0))
    chosen = population.random.permutation(120)[:40]
    population.label.ravel()[chosen] = population.truth.ravel()[chosen]
    (row,) = population.corrected()
    population.weight.ravel()[chosen] = 3.0
    assert [row["corrected_score"], row["low"], row["high"]] == pytest.approx(
        plain(population)[1:4]
    )


def test_each_model_has_its_own_row() -> None:
    population = Population(13, 1, 30, 4, (0.3, 0.1, 0.1))
    population.sample(60)
    rows = population.corrected("model")
    assert [row["name"] for row in rows] == ["m0", "m1"]
    assert sum(row["n_labelled"] for row in rows) == 60
    assert all(row["low"] < row["corrected_score"] < row["high"] for row in rows)


def test_a_single_label_gives_no_interval() -> None:
    population = Population(17, 1, 3, 2, (0.0, 0.0, 0.0))
    population.label[0, 1, 0] = population.truth[0, 1, 0]
    (row,) = population.corrected()
    assert row["n_labelled"] == 1
    assert row["corrected_score"] is not None
    assert row["low"] is row["high"] is None


@pytest.mark.parametrize("n", [5, 10, 20, 50])
@pytest.mark.parametrize("errors", [(0.0, 0.0, 0.0), (0.1, 0.3, 0.1)])
def test_few_labels_or_none_that_differs_give_an_interval_that_covers(
    n: int, errors: tuple[float, ...]
) -> None:
    population = Population(n, 200, 60, 5, errors)
    population.sample(n)
    rows = population.corrected()
    low, high = (np.array([row[name] for row in rows], float) for name in ("low", "high"))
    told = ~np.isnan(low)  # of five labels all may be of one response
    assert np.all(low[told] < high[told])
    assert np.mean(((low <= 0.7) & (high >= 0.7))[told]) >= 0.93


def test_verdicts_that_nobody_labelled_are_named() -> None:
    population = Population(19, 1, 20, 3, (0.2, 0.2, 0.2))
    decided = ~np.isnan(population.verdict)
    population.label[decided] = population.truth[decided]
    (row,) = population.corrected()
    assert row["strata_without_label"] == f"undecided ({(~decided).sum()})"
    population.label[:] = population.truth
    assert population.corrected()[0]["strata_without_label"] is None
