"""Gather the sections of the report: what is drawn, and the rows behind it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from matplotlib.figure import Figure

from ufo.pipelines.reports.overview import ERRORS_IN_WORDS, Row
from ufo.pipelines.reports.plots import (
    BY_PEOPLE,
    Bar,
    contributions,
    difference_of,
    draw_bars,
    score_bar,
    svg_of,
    wedges,
)
from ufo.pipelines.reports.tabular import OF_UNUSABLE
from ufo.schemas.results import Results
from ufo.schemas.text import quantity
from ufo.schemas.views import load_views
from ufo.transforms.votes import main_mode

_MOST_BARS = 24
_MOST_ORDERS = 16
_MOST_SOURCES = 6  # of more, the view does not compare the orders
_OF_ONE = "share, 95 % interval"
_MODE_NAMES = {"seq": "one after another", "mv": "majority of all", "single": "alone"}
_METRICS = {
    "f1_true": "F1 of true",
    "f1_false": "F1 of false",
    "accuracy_all": "Accuracy, undecided not factual",
    "balanced_accuracy_all": "Balanced accuracy, undecided not factual",
    "f1_true_all": "F1 of true, undecided not factual",
    "f1_false_all": "F1 of false, undecided not factual",
    "coverage": "Coverage: share decided",
    "faaf_error_rate": "FaaF's error rate",
    "faaf_f1_false": "FaaF's F1 of false",
    "f1_not_factual": "F1",
    "precision_not_factual": "precision",
    "recall_not_factual": "recall",
    "kendall": "Kendall's τ",
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
}
_LOWER = {"faaf_error_rate", "unscored"}
MOST_ROWS = 100
_WORDS = {
    "refuted": "contradicted",
    "noans": "no answer",
    "unit": "claim",
    "units": "claims",
    "credibility": "evidence support",
}


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a title, of `total` where they are not all, and what is drawn of them: an SVG
    within its view box, and what it shows in words."""

    title: str
    rows: Sequence[Row]
    total: int = 0
    note: str = ""
    box: str = ""
    svg: Markup | None = None
    said: str = ""


class RunRows:
    """The rows of a run's views, in the mode that stands for it."""

    def __init__(self, results: Results, found: Row) -> None:
        self.found = found
        self.results = results
        self.mode = main_mode(found["mode"])

    def query(self, sql: str, params: Mapping[str, object]) -> list[Row]:
        """Return the rows of a SELECT."""
        rows: list[Row] = self.results.query(sql, dict(params)).to_pylist()
        return rows

    def rows(self, view: str, where: str = "true", order: str = "ALL") -> list[Row]:
        """Return the run's rows of one of our views; `$mode` in `where` is the run's mode."""
        sql = f"SELECT * EXCLUDE (run) FROM {view} WHERE run = $run AND ({where}) ORDER BY {order}"  # noqa: S608
        mode = {"mode": self.mode} if "$mode" in where else {}
        return self.query(sql, {"run": self.found["run"], **mode})


def in_words(name: str) -> str:
    """Return the name of a column or of a measure as people say it."""
    return " ".join(_WORDS.get(word, word) for word in name.removeprefix("n_").split("_"))


def columns(rows: Sequence[Row]) -> dict[str, bool]:
    """Return the columns that are shown, and whether they hold texts: those with a value, without
    the counts of unusable judgements, which are shown beside the scores."""
    shown = rows[:MOST_ROWS]
    return {
        name: any(isinstance(row.get(name), str | list | dict) for row in shown)
        for name in rows[0]
        if name not in ("run", *OF_UNUSABLE) and any(row.get(name) is not None for row in shown)
    }


def scores(asked: RunRows) -> Iterator[Section]:
    """Give the scores of the run, its models and data sets, and the models compared."""
    found = asked.found
    parts = []
    if len(found["scores"]) > 1:
        names = [
            row["source"] or _MODE_NAMES.get(row["mode"], row["mode"]) for row in found["scores"]
        ]
        parts.append(_scores("By way of asking the sources", found["scores"], names))
    for key, title in (("model", "By model"), ("dataset", "By data set")):
        rows = found[f"{key}s"]
        if any(row[key] is not None for row in rows):
            names = [row[key] or f"(no {title[3:]})" for row in rows]
            parts.append(_scores(title, rows, names))
    yield from parts or [
        _scores("The run", found["scores"], ["all responses"] * len(found["scores"]))
    ]
    compared = asked.rows(
        "model_comparison", "mode = $mode", "abs(difference) DESC, model_a, model_b"
    )
    bars = [
        Bar(
            difference_of(row["model_a"] or "(no model)", row["model_b"] or "(no model)"),
            row["difference"],
            row["low"],
            row["high"],
            note=_chance(row["p"]),
        )
        for row in compared[:_MOST_BARS]
    ]
    note = "Question by question where two models answered the same ones."
    axis = "difference of scores, 95 % interval"
    yield _bars("Models compared", compared, bars, axis, note, filled=False, low=-1)


def corrected(asked: RunRows) -> Iterator[Section]:
    """Give the scores as people's labels correct them, and the judge's errors."""
    rows = [row for row in asked.found["corrected"] if row["corrected_score"] is not None]
    bars = [
        Bar(
            row["name"] or ("all responses" if row["level"] == "run" else f"(no {row['level']})"),
            row["corrected_score"],
            row["low"],
            row["high"],
            row["judge_score"],
            quantity(row["n_labelled"], "label"),
        )
        for row in rows[:_MOST_BARS]
    ]
    mark = "score of the judge alone"
    yield _bars("Corrected score", rows, bars, _OF_ONE, filled=False, mark=mark)
    errors = [
        {**row, "error": ERRORS_IN_WORDS[row["error"]]} for row in asked.found["judge_errors"]
    ]
    yield Section("Errors of the judge", errors if rows else [])
    wrong = asked.rows("error_analysis", "mode = $mode AND n_tagged > 0", "share DESC, tag")
    yield Section("Why verdicts are wrong", wrong if rows else [])


def decided(asked: RunRows) -> Iterator[Section]:
    """Give what each source decided, of the run and of each model, and the kinds of evidence."""
    rows = [row for row in asked.found["contributions"] if row["mode"] == asked.mode]
    figure = contributions(rows)
    if figure is not None:
        said = ", ".join(f"{source} {n:,}" for source, n, _ in wedges(rows))
        yield _drawn("All responses", rows, figure, said, "")
    by_model = asked.rows(
        "source_contributions_by_model", "mode = $mode", "model, position NULLS LAST"
    )
    if len({row["model"] for row in by_model}) > 1:  # One model is the whole once more.
        yield Section("Who decided, by model", by_model)
    yield Section("Coverage", asked.rows("coverage", "mode = $mode", "model"))
    rows = asked.rows("category_shares", order="share DESC, source_category")
    if any(row["source_category"] != "other" for row in rows):
        yield Section("Categories of evidence", rows)


def orders(asked: RunRows) -> Iterator[Section]:
    """Give every source, order and vote of a run of mode all, and how sources agree."""
    used = [row for row in asked.found["sources"] if row["status"] == "used"]
    if asked.found["mode"] != "all" or len(used) > _MOST_SOURCES:
        return
    best = "rank_by_people NULLS LAST, factuality_score DESC, source_order"
    order = f"list_position(['single', 'mv', 'seq'], mode), {best}"
    rows = asked.rows("source_benchmark", order=order)
    bars = [
        Bar(_order(row), row["factuality_score"], mark=row["balanced_accuracy"])
        for row in rows[:_MOST_ORDERS]
    ]
    note = f"The first {_MOST_ORDERS} of {len(rows):,}." if rows[_MOST_ORDERS:] else ""
    axis, mark = "factuality score", "balanced accuracy on what people labelled, of what is decided"
    yield _bars("Alone, in every order, and voting", rows, bars, axis, note, mark=mark)


def agreement(asked: RunRows) -> Iterator[Section]:
    """Give how far verdicts and scores agree with people."""
    found = asked.rows(
        "agreement",
        "mode = $mode OR mode IS NULL",
        "list_position(['claim', 'sentence', 'response'], level), part, model, metric",
    )
    for level, title, axis, low in (
        ("claim", "Claims: verdicts and labels", _OF_ONE, 0.0),
        ("sentence", "Sentences: not factual", _OF_ONE, 0.0),
        ("response", "Responses: correlation of scores", "correlation, 95 % interval", -1.0),
    ):
        rows = [row for row in found if row["level"] == level]
        bars = [
            Bar(
                _METRICS.get(row["metric"], in_words(row["metric"])),
                row["value"],
                row["low"],
                row["high"],
                note="lower is better" if row["metric"] in _LOWER else "",
            )
            for row in rows
            if row["part"] == "all" and row["value"] is not None
        ]
        n = max((row["n"] for row in rows), default=0)
        note = f"{quantity(n, level.replace('claim', 'labelled claim'))}."
        yield _bars(title, rows, bars, axis, note, filled=False, low=low)


def cost(asked: RunRows) -> Iterator[Section]:
    """Give what was asked of models and search engines, and what that took."""
    yield Section("Cost by step, source and model", asked.rows("cost", order="step, source, model"))


def failures(asked: RunRows) -> Iterator[Section]:
    """Give what could not be read, asked or judged."""
    found = asked.found
    yield Section("Failures by step", found["failures"])
    shown = asked.rows("failures", order="step, key, error_type, message LIMIT 50")
    yield Section("What failed", shown, found["counts"].get("failures", 0))
    yield Section("Judgements without an answer", found["errors"])


def own(asked: RunRows) -> Iterator[Section]:
    """Give the user's own reports, from a folder of `.sql` files."""
    shipped = {view.name for view in load_views()}
    for view in asked.results.views:
        if view.name in shipped:
            continue
        name = f'"{view.name}"'
        known = asked.results.query(f"SELECT * FROM {name} LIMIT 0").column_names  # noqa: S608
        inner = f"FROM {name}" + (" WHERE run = $run" if "run" in known else "")
        params = {"run": asked.found["run"]} if "run" in known else {}
        (counted,) = asked.query(f"SELECT count(*) AS n {inner}", params)
        order = view.order or "ALL"
        rows = asked.query(f"SELECT * {inner} ORDER BY {order} LIMIT {MOST_ROWS}", params)
        yield Section(view.title, rows, counted["n"])


def _scores(title: str, rows: Sequence[Row], names: Sequence[str]) -> Section:
    bars = sorted(
        (
            score_bar(row, name, quantity(row["n_responses"], "response"))
            for row, name in zip(rows, names, strict=True)
        ),
        key=lambda bar: (bar.value is None, -(bar.value or 0)),
    )
    note = f"The {_MOST_BARS} lowest of {len(bars):,}." if len(bars) > _MOST_BARS else ""
    axis = "factuality score, 95 % interval"
    return _bars(title, rows, bars[-_MOST_BARS:], axis, note, mark=BY_PEOPLE)


def _chance(p: float | None) -> str:
    return "" if p is None else "p < .001" if p < 0.001 else f"p = {p:.3f}"


def _order(row: Row) -> str:
    names = row["source_order"].split(",")
    if row["mode"] == "single":
        return f"{names[0]} alone"
    if row["mode"] == "mv":
        return f"vote of all {len(names)}"
    return " → ".join(names) + (" (as run)" if row["given"] else "")


def _bars(
    title: str, rows: Sequence[Row], bars: Sequence[Bar], axis: str, note: str = "", **options: Any
) -> Section:
    """Return rows with their bars; without bars nothing is shown."""
    said = "; ".join(
        f"{bar.name} " + ("has no score" if bar.value is None else f"{bar.value:.3f}")
        for bar in bars
    )
    if not bars:
        return Section(title, ())
    return _drawn(title, rows, draw_bars(bars, axis, **options), said, note)


def _drawn(title: str, rows: Sequence[Row], figure: Figure, said: str, note: str) -> Section:
    """Return rows with a figure of them, which shows what is `said`."""
    box, svg = svg_of(figure, title)
    # Made by matplotlib, which escapes what it is given.
    return Section(title, rows, note=note, box=box, svg=Markup(svg), said=said)  # noqa: S704
