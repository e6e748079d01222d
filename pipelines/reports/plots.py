"""Draw plots of a run: which source decided how much, and how factual each model is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from ufo.pipelines.reports.drawing import (
    COLORS,
    UNDECIDED,
    Bar,
    draw_bars,
    draw_pie,
    draw_words,
    save,
)
from ufo.pipelines.reports.tabular import one_line
from ufo.pipelines.reports.unusable import beside
from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import NO_SOURCE
from ufo.schemas.results import Results
from ufo.transforms.votes import main_mode

_ENDINGS = (".png", ".svg")
_BY = {
    "model": "scores_by_model",
    "dataset": "scores_by_dataset",
    "response": "scores",
}
_MOST_BARS = 40
_WHOLES = {
    "seq": "share of claims decided",
    "mv": "share of valid votes",
    "single": "share of claims decided",
}
BY_PEOPLE = "score by people"


def plot_contributions(results: Results, path: str | Path | None = None) -> Figure:
    """Draw the contribution of each source to the newest run as a pie, what nobody decided grey.

    `path` is where to save it as well, a name that ends in .png or .svg.

    Raises:
        UsageError: another ending, or a file that cannot be written.
    """
    rows = _of_newest(results, "source_contributions", "position")
    figure = contributions(rows) or draw_words("nothing decided: no claims or no votes")
    return _saved(figure, "Source contributions", path)


def plot_scores(results: Results, path: str | Path | None = None, by: str = "model") -> Figure:
    """Draw factuality scores of the newest run as bars, with those of people where there are any.

    One bar for each `model`, `dataset` or `response`, as `by` says; of more than 40 the lowest are
    drawn. `path` is where to save it as well, a name that ends in .png or .svg.

    Raises:
        UsageError: another ending or `by`, or a file that cannot be written.
    """
    if by not in _BY:
        raise UsageError(unknown_value("by", by, _BY))
    key = "response_id" if by == "response" else by
    # The best on top; without a score at the bottom.
    bars = sorted(
        (
            score_bar(row, f"(no {by})" if row[key] is None else one_line(str(row[key]), 36))
            for row in _of_newest(results, _BY[by], key)
        ),
        key=lambda bar: (bar.value is None, -(bar.value or 0.0)),
    )
    title = f"Factuality score by {by.replace('dataset', 'data set')}"
    if len(bars) > _MOST_BARS:
        title += f" (the {_MOST_BARS} lowest of {len(bars):,})"
        bars = bars[-_MOST_BARS:]
    axis = "share of claims supported, with 95 % interval"
    figure = draw_bars(bars, axis, mark=BY_PEOPLE) if bars else draw_words("no responses")
    return _saved(figure, title, path)


def score_bar(row: Mapping[str, Any], name: str, note: str = "") -> Bar:
    """Return the bar of a row of a view with scores."""
    notes = ", ".join(filter(None, (note, beside(row))))
    return Bar(
        name,
        row["factuality_score"],
        row.get("low"),
        row.get("high"),
        row.get("human_score"),
        notes,
    )


def contributions(rows: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Draw rows of `source_contributions`, or of one model, as a pie; None where there is nothing
    to share."""
    parts = wedges(rows)
    if not sum(n for _, n, _ in parts):
        return None
    return draw_pie(parts, _WHOLES.get(rows[0]["mode"], "share"))


def _of_newest(results: Results, view: str, order: str) -> list[dict[str, Any]]:
    run = results.runs[-1]
    # The names are ours, and a name cannot be a parameter.
    sql = f"SELECT * FROM {view} WHERE run = ? AND mode = ? ORDER BY {order}"  # noqa: S608
    found: list[dict[str, Any]] = results.query(sql, [run.name, main_mode(run.mode)]).to_pylist()
    return found


def wedges(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, str]]:
    """Return (label, n, colour) of each source, and of what stayed undecided last."""
    found: list[tuple[str, int, str]] = []
    for row in rows:
        if row["source"] != NO_SOURCE:
            n = row["n_votes"] if row["mode"] == "mv" else row["n_decided"]
            found.append((one_line(row["source"], 24), n, COLORS[len(found) % len(COLORS)]))
    undecided = [row["n_decided"] for row in rows if row["source"] == NO_SOURCE]
    if [row["mode"] for row in rows] == ["single"]:
        undecided = [rows[0]["n_units"] - rows[0]["n_decided"]]
    return found + [("undecided", n, UNDECIDED) for n in undecided]


def _saved(figure: Figure, title: str, path: str | Path | None) -> Figure:
    figure.axes[0].set_title(title, loc="left", fontweight="bold")
    if path is not None:
        ending = Path(path).suffix.lower()
        if ending not in _ENDINGS:
            raise UsageError(unknown_value("ending of a plot's file", ending, _ENDINGS))
        try:
            save(figure, path, ending[1:])
        except OSError as error:
            raise UsageError(f"cannot write the plot {str(path)!r}: {error}.") from error
    return figure
