"""Measure how often the 95 % intervals of the reports cover the truth, by simulation.

Runs are drawn whose truth is known: questions of unequal difficulty, responses of one or of ten
models to each, fact units of a response, people's labels of some. The functions are those that the
views call (`schemas/statistics.py`). An interval that a draw does not have is not counted; `exists`
is the share of draws that have one, `width` the mean width. The last line is JSON.

Corrected scores are also simulated over nights, through the views. Each night adds responses to
what the night before had evaluated. From night to night the truth falls and the judge errs
otherwise. Sheets are drawn on some nights, of all claims or of those that no sheet covers.

    python benchmarks/accuracy/intervals.py [--quick]
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import duckdb
import numpy as np
import pyarrow as pa

from ufo.schemas.statistics import (
    Clusters,
    Floats,
    add_statistics,
    corrected,
    correlations,
    mean_interval,
    paired_t,
    ratio_interval,
    unpaired_t,
    wilson,
)
from ufo.schemas.views import views_with_needs

UNITS = 5
SPREAD = 2.0  # a + b of the beta distribution of questions' difficulty
JUDGES = {
    "that is never wrong": (0.0, 0.0),
    "too kind": (0.3, 0.1),
    "too strict": (0.1, 0.3),
}
"""How often a judge supports false claims, and refutes true ones."""


@dataclass
class Tally:
    """What became of the draws of one interval."""

    hits: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    draws: int = 0

    def add(self, low: float, high: float, truth: float) -> None:
        """Count an interval; NaN bounds are none."""
        self.draws += 1
        if not np.isnan(low):
            self.hits.append(bool(low - 1e-9 <= truth <= high + 1e-9))
            self.widths.append(high - low)

    def row(self) -> dict[str, float]:
        """Return the figures."""
        return {
            "coverage": round(float(np.mean(self.hits)), 3),
            "width": round(float(np.mean(self.widths)), 3),
            "exists": round(len(self.hits) / self.draws, 3),
        }


Interval = tuple[str, float, float, float]
Draw = Callable[[np.random.Generator], Iterator[Interval]]
Draws = Callable[[np.random.Generator, int], Iterator[Interval]]


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    help = "250 draws of each, and 60 of nights, not 4,000"
    parser.add_argument("--quick", action="store_true", help=help)
    draws, of_nights = (250, 60) if parser.parse_args().quick else (4000, 4000)
    rows: dict[str, dict[str, float]] = {}
    repeated = [(draw, draws) for draw in map(_repeated, cases())]
    for draw, number in (*repeated, *((draw, of_nights) for draw in nights())):
        tallies: dict[str, Tally] = {}
        for name, low, high, truth in draw(np.random.default_rng(1), number):
            tallies.setdefault(name, Tally()).add(low, high, truth)
        for name, tally in tallies.items():
            if not tally.hits:
                print(f"{name:66} no interval")
                continue
            rows[name] = tally.row()
            row = rows[name]
            print(f"{name:66} {row['coverage']:.3f}  width {row['width']:.3f}  {row['exists']:.3f}")
    lowest = min(rows, key=lambda name: rows[name]["coverage"])
    counts = {"draws": draws, "draws_of_nights": of_nights}
    print(json.dumps({**counts, "lowest": {lowest: rows[lowest]}, "intervals": rows}))


def _repeated(draw: Draw) -> Draws:
    """Return what draws as often as it is told."""

    def drawn(random: np.random.Generator, draws: int) -> Iterator[Interval]:
        for _ in range(draws):
            yield from draw(random)

    return drawn


def cases() -> Iterator[Draw]:
    """Give what is drawn."""
    for questions in (5, 10, 30, 100):
        for models in (1, 10):
            yield partial(_scores, questions=questions, models=models)
    for questions in (10, 30, 100):
        yield partial(_compared, questions=questions)
    for questions in (30, 100):
        for models in (1, 3):
            yield partial(_correlated, questions=questions, models=models)
    for labels in (5, 10, 20, 50):
        for name, errors in JUDGES.items():
            yield partial(_corrected, labels=labels, judge=name, errors=errors)


TRUTH = (1.0, 0.9, 0.7, 0.5)
"""Of 0.85, how much is true of what each night adds."""
ERRORS = ((0.3, 0.1), (0.2, 0.2), (0.1, 0.3), (0.4, 0.05))
"""How often the judge of each night supports false claims, and refutes true ones."""
EACH = 30  # responses of a night
_AT_ONCE = 250  # runs in one database
# The columns of a unit, of a label, and of a unit that a sheet could have drawn.
_Unit = tuple[str, str, str, float]
_Label = tuple[str, str, str, str, float, float]
_Covered = tuple[str, str, str, str]
Sheets = Mapping[int, tuple[int, bool]]
SHEETS: Mapping[str, Sheets] = {
    "each night, of the rest": dict.fromkeys(range(4), (25, True)),
    "few each night, of the rest": dict.fromkeys(range(4), (8, True)),
    "many on the first, few on the last": {0: (75, True), 3: (15, True)},
    "on the first three nights": {0: (50, True), 2: (50, True)},
    "on the first two nights": {0: (50, True), 1: (25, True)},
    "on the first night": {0: (50, True)},
    "of all claims, on two nights": {1: (50, False), 3: (50, False)},
    "of all claims on the second, then of the rest": {1: (50, False), 3: (50, True)},
}
"""By night, the number of claims of a sheet, and whether it is of those that no sheet covers."""
TABLES = """
CREATE TABLE fact_units AS SELECT run, response_id, unit_id, NULL::DOUBLE AS human_label FROM units;
CREATE TABLE verdicts AS SELECT run, response_id, unit_id, 'seq' AS mode, verdict AS label,
  'wiki' AS source FROM units;
CREATE TABLE responses AS SELECT DISTINCT run, response_id, 'm' AS model, 'd' AS dataset, question,
  NULL::DOUBLE AS human_score, 0 AS n_references FROM units;
CREATE TABLE runs AS SELECT DISTINCT run, 'seq' AS mode FROM units;
CREATE TABLE sources AS SELECT run, 'wiki' AS source, 'used' AS status FROM runs;
CREATE TABLE evidence AS SELECT '' AS run, '' AS response_id, '' AS unit_id, '' AS source,
  '' AS passage_id, '' AS outcome, '' AS reason WHERE false;
"""


def nights() -> Iterator[Draws]:
    """Give what is drawn of runs of nights."""
    for name, sheets in SHEETS.items():
        for same in (True, False):
            yield partial(_nightly, of=name, sheets=sheets, same=same)


def _nightly(
    random: np.random.Generator, draws: int, of: str, sheets: Sheets, same: bool
) -> Iterator[Interval]:
    """Corrected scores of the last night's run, in which each night's responses are, of all claims
    and of those that sheets cover.

    `same`: the same questions are asked every night.
    """
    covered = max(night for night in sheets) + 1
    means = 0.85 * np.array(TRUTH)
    truth = {"run": means.mean(), "sampled": means[:covered].mean()}
    asked = "the same questions" if same else "other questions"
    for at in range(0, draws, _AT_ONCE):
        drawn = [_night_rows(random, sheets, same) for _ in range(min(_AT_ONCE, draws - at))]
        for level, low, high in _corrected_by_view(drawn):
            yield f"corrected_scores, nights, {of}, {asked}: {level}", low, high, truth[level]


def _night_rows(
    random: np.random.Generator, sheets: Sheets, same: bool
) -> tuple[list[_Unit], list[_Label], list[_Covered]]:
    """Draw the units of a run of all nights, the labels of its sheets, and what these cover."""
    own = random.beta(0.85 * SPREAD, 0.15 * SPREAD, (1 if same else len(TRUTH), EACH, 1))
    chance = np.array(TRUTH)[:, None, None] * own
    true = (random.random((len(TRUTH), EACH, UNITS)) < chance).astype(float)
    verdict = np.stack(
        [_judged(random, one, errors) for one, errors in zip(true, ERRORS, strict=True)]
    )
    places = list(np.ndindex(true.shape))
    units = []
    for place in places:
        night, response, _ = place
        question = f"{response}-{0 if same else night}"
        units.append((_ids(place)[0], question, _ids(place)[1], float(verdict[place])))
    labels: list[_Label] = []
    populations: list[_Covered] = []
    known: set[tuple[int, ...]] = set()
    for night, (n, of_rest) in sheets.items():
        size = (night + 1) * EACH * UNITS
        population = [one for one in places[:size] if not (of_rest and one in known)]
        known.update(population)
        picked = random.permutation(len(population))[:n]
        sheet, weight = f"s{night}", len(population) / len(picked)
        for place in (population[one] for one in picked):
            labels.append((*_ids(place), sheet, f"n{night}", true[place], weight))
        populations += [(*_ids(place), sheet, f"n{night}") for place in population]
    return units, labels, populations


def _ids(place: tuple[int, ...]) -> tuple[str, str]:
    return f"{place[0]}-{place[1]}", str(place[2])


def _corrected_by_view(
    drawn: Sequence[tuple[list[_Unit], list[_Label], list[_Covered]]],
) -> Iterator[tuple[str, float, float]]:
    """Return level, low and high of the view's rows over runs; a bound that is none is NaN."""
    tables = {
        "units": ("response_id", "question", "unit_id", "verdict"),
        "labels": ("response_id", "unit_id", "sheet", "run", "label", "weight"),
        "label_populations": ("response_id", "unit_id", "sheet", "run"),
    }
    with duckdb.connect(config={"threads": 1}) as connection:
        add_statistics(connection)
        for at, (table, names) in enumerate(tables.items()):
            # Units, sheets and runs of different draws have different names.
            columns: dict[str, list[object]] = {name: [] for name in (*names, "draw")}
            for draw, rows in enumerate(drawn):
                for row in rows[at]:
                    for name, value in zip(columns, (*row, draw), strict=True):
                        columns[name].append(value)
            connection.register(f"{table}_given", pa.table(columns))
            own = "'run-' || draw AS run," if table == "units" else "draw || '-' || run AS run,"
            sheet = "" if table == "units" else "draw || '-' || sheet AS sheet,"
            left_out = "draw, response_id" if table == "units" else "draw, response_id, run, sheet"
            more = ", 'all' AS stratum, '' AS annotator" if table == "labels" else ""
            connection.execute(
                f"CREATE TABLE {table} AS SELECT {own} {sheet} draw || '-' || response_id AS "
                f"response_id, * EXCLUDE ({left_out}){more} FROM {table}_given"
            )
        connection.execute(TABLES)
        for view in views_with_needs({"corrected_scores"}):
            connection.execute(view.definition)
        intervals = connection.sql(
            "SELECT level, low, high FROM corrected_scores WHERE level IN ('run', 'sampled')"
        ).fetchall()
    for level, low, high in intervals:
        yield level, np.nan if low is None else low, np.nan if high is None else high


def _truth(random: np.random.Generator, questions: int, models: int, mean: float = 0.7) -> Floats:
    """Draw whether each unit is true: one row a response, models of a question side by side."""
    own = random.beta(mean * SPREAD, (1 - mean) * SPREAD, (questions, 1))
    return (random.random((questions * models, UNITS)) < np.repeat(own, models, 0)).astype(float)


def _judged(random: np.random.Generator, truth: Floats, errors: tuple[float, float]) -> Floats:
    wrong = random.random(truth.shape) < np.where(truth == 1, errors[1], errors[0])
    return np.where(wrong, 1 - truth, truth)


def _clusters(questions: int, models: int = 1) -> Clusters:
    return np.repeat(np.arange(questions, dtype=np.uint64), models)


def _scores(random: np.random.Generator, questions: int, models: int) -> Iterator[Interval]:
    """Mean scores, a response's share, agreement with labels."""
    of = f"{questions} questions, {models} model{'s' * (models > 1)}"
    cluster = _clusters(questions, models)
    truth = _truth(random, questions, models)
    score = truth.mean(1)
    mean = mean_interval(score, np.ones_like(score), cluster)
    yield f"scores_by_run: {of}", mean.low, mean.high, 0.7
    if questions == 5:
        yield "scores: a response of its chance .7", *_share(random, 0.7)
        yield "scores: a response of its chance .95", *_share(random, 0.95)
    kind = _judged(random, truth, JUDGES["too kind"])
    right = [((truth == label) & (kind == label)).sum(1).astype(float) for label in (1, 0)]
    n_true, n_false = truth.sum(1), UNITS - truth.sum(1)
    called = UNITS - kind.sum(1)
    ratios = (
        ("accuracy", sum(right), UNITS + 0 * score, sum(right), UNITS + 0 * score, 0.84),
        ("balanced_accuracy", right[0], n_true, right[1], n_false, 0.8),
        ("f1_false", 2 * right[1], n_false + called, 2 * right[1], n_false + called, 0.42 / 0.58),
    )
    for name, above, below, above_2, below_2, value in ratios:
        interval = ratio_interval(above, below, above_2, below_2, cluster)
        yield f"agreement, {name}: {of}", interval.low, interval.high, value


def _share(random: np.random.Generator, chance: float) -> tuple[float, float, float]:
    low, high = wilson(random.binomial(UNITS, chance, 1).astype(float), np.array([float(UNITS)]))
    return float(low[0]), float(high[0]), chance


def _compared(random: np.random.Generator, questions: int) -> Iterator[Interval]:
    """Differences of models: one is right .7, the other .8 of the time on the same questions."""
    chance = random.beta(0.7 * SPREAD, 0.3 * SPREAD, (questions, 1))
    a = (random.random((questions, UNITS)) < chance).mean(1)
    b = (random.random((questions, UNITS)) < (1 + 2 * chance) / 3).mean(1)
    interval = paired_t(a - b)
    yield f"model_comparison, paired: {questions} questions", interval.low, interval.high, -0.1
    a, b = (_truth(random, questions, 3, mean).mean(1) for mean in (0.7, 0.8))
    cluster = _clusters(questions, 3)
    interval = unpaired_t(a, cluster, b, cluster)
    of = f"{questions} questions each, 3 responses a question"
    yield f"model_comparison, unpaired: {of}", interval.low, interval.high, -0.1


def _correlated(random: np.random.Generator, questions: int, models: int) -> Iterator[Interval]:
    """Correlations of normal scores of known truth; half the variance is a question's."""
    rho = 0.5
    shape = np.linalg.cholesky(np.array([[1, rho], [rho, 1]]))
    own = np.repeat(random.normal(size=(questions, 2)), models, 0)
    both = (own + random.normal(size=(questions * models, 2))) / np.sqrt(2) @ shape.T
    truth = {
        "pearson": rho,
        "spearman": 6 / np.pi * np.arcsin(rho / 2),
        "kendall": 2 / np.pi * np.arcsin(rho),
    }
    of = f"{questions} questions, {models} model{'s' * (models > 1)}"
    intervals = correlations(both[:, 0], both[:, 1], _clusters(questions, models))
    for (metric, value), interval in zip(truth.items(), intervals, strict=True):
        yield f"agreement, {metric}: {of}", interval.low, interval.high, value


def _corrected(
    random: np.random.Generator, labels: int, judge: str, errors: tuple[float, float]
) -> Iterator[Interval]:
    """Corrected scores of 60 responses, of whose units some are labelled at random."""
    for mean in (0.7, 0.95):
        truth = _truth(random, 60, 1, mean)
        verdict = _judged(random, truth, errors)
        picked = random.permutation(truth.size)[:labels]
        weight = np.full(labels, truth.size / labels)
        interval = corrected(
            verdict.mean(1),
            _clusters(60),
            truth.ravel()[picked],
            verdict.ravel()[picked],
            weight / UNITS,
            weight,
            np.zeros(labels, np.uint64),
            (picked // UNITS).astype(np.uint64),
        )
        of = f"{labels} labels, truth {mean}, judge {judge}"
        yield f"corrected_scores: {of}", interval.low, interval.high, mean


if __name__ == "__main__":
    main()
