"""Scores corrected by labels: how often intervals are right, by the formula and at the limits."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from ufo.schemas.statistics import add_statistics
from ufo.schemas.tables import to_arrow
from ufo.schemas.views import load_views

NEEDED = (
    "cluster_of",
    "run_modes",
    "scores",
    "human_labels",
    "sheet_populations",
    "label_cells",
    "corrected_scores",
)
# A label holds for its unit in every run, so units of different runs have different ids.
TABLES = """
CREATE TABLE units AS SELECT 'run-' || run AS run, run || '-' || response AS response_id,
  'u' || unit AS unit_id, run || '-' || stratum AS stratum, * EXCLUDE (run, stratum) FROM given;
CREATE TABLE fact_units AS SELECT run, response_id, unit_id, NULL::BIGINT AS human_label FROM units;
CREATE TABLE verdicts AS SELECT run, response_id, unit_id, 'seq' AS mode, verdict AS label,
  if(verdict IS NULL, 'none', 'wiki') AS source FROM units;
CREATE TABLE responses AS SELECT run, response_id, 'm' || response % 2 AS model, 'd' AS dataset,
  '' AS question, NULL::DOUBLE AS human_score, 0 AS n_references FROM units WHERE unit = 0;
CREATE TABLE labels AS SELECT run, response_id, unit_id, label, stratum, weight, 'sheet' AS sheet,
  'sheet' AS annotator FROM units WHERE label IS NOT NULL;
CREATE TABLE label_populations AS SELECT 'sheet' AS sheet, run, response_id, unit_id FROM units;
CREATE TABLE runs AS SELECT DISTINCT run, 'seq' AS mode FROM units;
CREATE TABLE sources AS SELECT 'run-0' AS run, 'wiki' AS source, 'used' AS status;
"""


class Population:
    """Runs of responses with fact units, what people would say of each, and what a judge said.

    People find a response's units true with a probability of its own, so that labels cluster. The
    judge is wrong or undecided with fixed probabilities.
    """

    def __init__(
        self, seed: int, runs: int, responses: int, units: int, errors: tuple[float, ...]
    ) -> None:
        random = np.random.default_rng(seed)
        false_supported, false_refuted, undecided = errors
        shape = (runs, responses, units)
        own = random.beta(1.4, 0.6, size=(runs, responses, 1))
        self.truth = (random.random(shape) < own).astype(int)
        wrong = random.random(shape) < np.where(self.truth == 1, false_refuted, false_supported)
        self.verdict = np.where(wrong, 1 - self.truth, self.truth).astype(float)
        self.verdict[random.random(shape) < undecided] = np.nan
        self.random = random
        self.label, self.weight = np.full(shape, np.nan), np.full(shape, np.nan)
        self.stratum = np.zeros(shape, dtype=int)

    def sample(self, n: int) -> None:
        """Label n units of each run, in strata by verdict and model."""
        kind = np.where(np.isnan(self.verdict), 2, self.verdict).astype(int)
        self.stratum = kind * 2 + np.arange(self.truth.shape[1])[:, None] % 2
        for run in range(len(self.truth)):
            strata = self.stratum[run].ravel()
            sizes = np.bincount(strata, minlength=6)
            ends = np.rint(n * np.cumsum(sizes) / sizes.sum()).astype(int)
            for stratum, take in enumerate(np.diff(ends, prepend=0)):
                chosen = self.random.permutation(np.flatnonzero(strata == stratum))[:take]
                self.label[run].ravel()[chosen] = self.truth[run].ravel()[chosen]
                self.weight[run].ravel()[chosen] = sizes[stratum] / max(take, 1)

    def corrected(self, level: str = "run") -> list[Any]:
        """The rows of corrected_scores, by run."""
        columns = dict(zip(("run", "response", "unit"), np.indices(self.truth.shape), strict=True))
        columns |= {name: getattr(self, name) for name in ("verdict", "label", "weight", "stratum")}
        table = pa.table(
            {name: pa.array(of.ravel(), from_pandas=True) for name, of in columns.items()}
        )
        evidence = to_arrow("evidence", []).append_column("run", pa.array([], pa.string()))
        with duckdb.connect() as connection:
            add_statistics(connection)
            connection.register("given", table)
            connection.execute(TABLES)
            connection.register("none", evidence)
            connection.execute("CREATE TABLE evidence AS FROM none")
            for view in load_views():
                if view.name in NEEDED:
                    connection.execute(view.definition)
            scores = connection.sql(
                "FROM corrected_scores WHERE level = $level "
                "ORDER BY CAST(split_part(run, '-', 2) AS INTEGER), name",
                params={"level": level},
            )
            return scores.to_arrow_table().to_pylist()


@pytest.mark.parametrize(
    ("n", "runs", "responses", "errors"),
    [
        pytest.param(60, 1000, 60, (0.3, 0.1, 0.1), id="a judge that is too kind"),
        pytest.param(100, 1000, 40, (0.1, 0.3, 0.2), id="half of the units are labelled"),
        *(pytest.param(n, 200, 60, (0.1, 0.3, 0.1), id=f"{n} labels") for n in (5, 10, 20, 50)),
        *(
            pytest.param(n, 200, 60, (0.0, 0.0, 0.0), id=f"{n} labels, none differs")
            for n in (5, 10, 20, 50)
        ),
    ],
)
def test_intervals_cover_the_truth_in_93_of_100_simulations(
    n: int, runs: int, responses: int, errors: tuple[float, ...]
) -> None:
    population = Population(n, runs, responses, 5, errors)
    population.sample(n)
    rows = population.corrected()
    low, high = (np.array([row[name] for row in rows], float) for name in ("low", "high"))
    known = ~np.isnan(low)  # of five labels all may be of one response
    assert known.all() or n == 5
    assert np.all(low[known] < high[known])
    assert np.mean(((low <= 0.7) & (high >= 0.7))[known]) >= 0.93
    if runs < 1000:
        return
    ours = population.truth.mean(axis=(1, 2))  # what people would say of these responses
    assert np.mean((low <= ours) & (ours <= high)) >= 0.93
    # The judge's own mean is off; what corrects it is not. And it says something.
    assert abs(np.mean([row["judge_score"] for row in rows]) - 0.7) > 0.03
    assert abs(np.mean([row["corrected_score"] for row in rows]) - 0.7) < 0.01
    assert np.mean(high - low) < 0.3


def test_the_view_is_the_formula() -> None:
    population = Population(1, 1, 30, 4, (0.3, 0.1, 0.1))
    population.sample(40)
    (row,) = population.corrected()
    names = ("judge_score", "corrected_score", "low", "high", "power")
    known = (0.683333, 0.752437, 0.600658, 0.904216, 0.316684)  # from a plain loop over the labels
    assert [row[name] for name in names] == pytest.approx(known, abs=1e-6)
    assert row["n_responses"] == 30
    assert row["n_units"] == 120
    assert row["n_labelled"] == 40


def test_all_labels_few_and_labels_of_one_kind() -> None:
    # Where people labelled everything it is their mean.
    population = Population(7, 1, 40, 5, (0.3, 0.1, 0.1))
    population.label = population.truth.astype(float)
    population.weight[:] = 1.0
    (row,) = population.corrected()
    assert row["corrected_score"] == pytest.approx(population.truth.mean())
    assert row["n_labelled"] == 200
    assert row["strata_without_label"] is None

    population = Population(17, 1, 3, 2, (0.0, 0.0, 0.0))
    population.label[0, 1, 0] = population.truth[0, 1, 0]
    (single,) = population.corrected()
    assert single["n_labelled"] == 1
    assert single["low"] is None
    assert single["high"] is None
    assert single["corrected_score"] is not None

    population = Population(3, 1, 20, 3, (0.0, 0.0, 1.0))
    population.sample(30)
    (undecided,) = population.corrected()
    assert undecided["judge_score"] == 0.0
    assert undecided["n_labelled"] == 30
    assert 0 < undecided["low"] < undecided["corrected_score"] < undecided["high"] <= 1

    # Labels without weights are taken for a random sample.
    population = Population(11, 1, 30, 4, (0.3, 0.1, 0.0))
    chosen = population.random.permutation(120)[:40]
    population.label.ravel()[chosen] = population.truth.ravel()[chosen]
    without = population.corrected("model")
    population.weight.ravel()[chosen] = 3.0
    assert without == [pytest.approx(row) for row in population.corrected("model")]
    assert [row["name"] for row in without] == ["m0", "m1"]
    assert sum(row["n_labelled"] for row in without) == 40
