"""Draw plots of a run: which source decided how much, and how factual each model is.

Drawn with matplotlib's objects alone: no global state, no window, usable from any thread.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pipelines.reports.tabular import one_line
from pipelines.reports.unusable import beside
from schemas.errors import UsageError, unknown_value
from schemas.records import NO_SOURCE
from schemas.results import Results
from transforms.votes import main_mode

_ENDINGS = (".png", ".svg")
_BY = {
    "model": "scores_by_model",
    "dataset": "scores_by_dataset",
    "response": "scores",
}
# Okabe and Ito (2008): eight colours that people with any colour vision can tell apart.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
UNDECIDED = "#B8B8B8"
_INK = "#333333"
_MOST_BARS = 40
_SMALLEST_LABEL = 0.06
WHOLES = {
    "seq": "share of fact units decided",
    "mv": "share of valid votes",
    "single": "share of fact units decided",
}


def plot_contributions(data: Results | pa.Table, path: str | Path | None = None) -> Figure:
    """Draw the contribution of each source as a pie, what nobody decided as a grey wedge.

    Args:
        data: results, of which the newest run is drawn, or rows of `source_contributions` of one
            run and mode.
        path: where to save it as well, a name that ends in .png or .svg.

    Raises:
        UsageError: another ending, a file that cannot be written, or rows of several runs.
    """
    ending = _ending(path)
    if isinstance(data, Results):
        data = _of_newest(data, "source_contributions", "position")
    rows = _of_one_mode(data)
    parts = wedges(rows)
    figure = _figure(6.4, 3.8)
    axes = figure.add_subplot()
    axes.set_title("Source contributions", loc="left", fontweight="bold")
    if sum(n for _, n, _ in parts):
        _pie(axes, parts)
        whole = WHOLES.get(rows[0]["mode"], "share")
        axes.set_xlabel(f"{whole}, n = {sum(n for _, n, _ in parts):,}", color=_INK)
    else:
        _say(axes, "nothing decided: no fact units or no votes")
    return _saved(figure, path, ending)


def plot_scores(
    data: Results | pa.Table, path: str | Path | None = None, by: str | None = None
) -> Figure:
    """Draw factuality scores as horizontal bars, with those of people where there are any.

    Args:
        data: results, of which the newest run is drawn, or rows of `scores_by_model`,
            `scores_by_dataset` or `scores` of one run and mode.
        path: where to save it as well, a name that ends in .png or .svg.
        by: one bar for each `model`, `dataset` or `response`; default: `model`, and for a table
            whatever its rows are. Of more than 40 the lowest are drawn.

    Raises:
        UsageError: another ending or `by`, a file that cannot be written, or rows of several runs.
    """
    ending = _ending(path)
    if isinstance(data, Results):
        by = by or "model"
        if by not in _BY:
            raise UsageError(unknown_value("by", by, _BY))
        data = _of_newest(data, _BY[by], "response_id" if by == "response" else by)
    rows = _of_one_mode(data)
    key = next((k for k in ("response_id", "model", "dataset") if k in data.column_names), "run")
    bars = [
        (
            "\n".join(filter(None, (_named(row[key], key), beside(row)))),
            row["factuality_score"] if row.get("coverage", 1) else None,
            row.get("human_score"),
        )
        for row in rows
    ]
    # The best on top; without a score at the bottom.
    bars.sort(key=lambda bar: (bar[1] is not None, bar[1] or 0.0), reverse=True)
    title = f"Factuality score by {key.removesuffix('_id').replace('dataset', 'data set')}"
    if len(bars) > _MOST_BARS:
        title += f" (the {_MOST_BARS} lowest of {len(bars):,})"
        bars = bars[-_MOST_BARS:]
    figure = _figure(7.0, 1.5 + 0.36 * max(len(bars), 1))
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontweight="bold")
    if bars:
        _bars(axes, bars)
    else:
        _say(axes, "no responses")
    return _saved(figure, path, ending)


# --- the rows ------------------------------------------------------------------------------------


def _of_newest(results: Results, view: str, order: str) -> pa.Table:
    run = results.runs[-1]
    # The names are ours, and a name cannot be a parameter.
    sql = f"SELECT * FROM {view} WHERE run = ? AND mode = ? ORDER BY {order}"  # noqa: S608
    return results.query(sql, [run.name, main_mode(run.mode)])


def _named(name: object, key: str) -> str:
    return f"(no {key})" if name is None else one_line(str(name), 36)


def _of_one_mode(data: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = data.to_pylist()
    several = [name for name in ("run", "mode") if len({row.get(name) for row in rows}) > 1]
    if several:
        raise UsageError(f"rows of more than one {several[0]} cannot be one plot; select one.")
    return rows


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


# --- drawing -------------------------------------------------------------------------------------


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def _say(axes: Axes, text: str) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center", color=_INK)


def _pie(axes: Axes, parts: Sequence[tuple[str, int, str]]) -> None:
    total = sum(n for _, n, _ in parts)
    shown = [part for part in parts if part[1]]
    axes.pie(
        [n for _, n, _ in shown],
        colors=[color for _, _, color in shown],
        startangle=90,
        counterclock=False,
        wedgeprops={"edgecolor": "white", "linewidth": 1.5},
        radius=1.2,
    )
    angle = 90.0
    for _, n, color in shown:
        share = n / total
        middle = math.radians(angle - 180 * share)
        angle -= 360 * share
        if share >= _SMALLEST_LABEL:
            red, green, blue = to_rgb(color)
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            axes.text(
                0.8 * math.cos(middle),
                0.8 * math.sin(middle),
                f"{share:.0%}",
                ha="center",
                va="center",
                color="white" if dark else "black",
            )
    figure = axes.get_figure(root=True)
    assert figure is not None
    legend = figure.legend(
        handles=[
            Patch(facecolor=color, label=f"{label}  {n / total:.1%}  (n = {n:,})")
            for label, n, color in parts
        ],
        loc="outside right center",
        frameon=False,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _bars(axes: Axes, bars: Sequence[tuple[str, float | None, float | None]]) -> None:
    places = range(len(bars))
    axes.barh(places, [score or 0.0 for _, score, _ in bars], color=COLORS[0], height=0.62)
    for place, (_, score, _) in zip(places, bars, strict=True):
        # In a column of their own, where neither bars nor marks can cover them.
        known = score is not None
        axes.text(
            1.03,
            place,
            f"{score:.3f}" if known else "no score",
            va="center",
            color=_INK if known else "#777777",
            style="normal" if known else "italic",
        )
    people = [(score, place) for place, (_, _, score) in enumerate(bars) if score is not None]
    if people:
        axes.scatter(
            [score for score, _ in people],
            [place for _, place in people],
            marker="D",
            s=34,
            color=COLORS[1],
            edgecolor="white",
            zorder=3,
            clip_on=False,
            label="score by people",
        )
        figure = axes.get_figure(root=True)
        assert figure is not None
        figure.legend(loc="outside lower right", frameon=False)
    axes.set_yticks(places, [label for label, _, _ in bars])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("share of fact units supported; undecided ones count 0", color=_INK)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _ending(path: str | Path | None) -> str:
    ending = "" if path is None else Path(path).suffix.lower()
    if path is not None and ending not in _ENDINGS:
        raise UsageError(unknown_value("ending of a plot's file", ending, _ENDINGS))
    return ending


def _saved(figure: Figure, path: str | Path | None, ending: str) -> Figure:
    if path is None:
        return figure
    # Equal results give equal files: no date, no random ids. Text stays text in an SVG.
    options = {"svg.hashsalt": "ufo", "svg.fonttype": "none"}
    metadata = {"Date": None} if ending == ".svg" else None
    try:
        with matplotlib.rc_context(options), warnings.catch_warnings():
            # A name in a script that the font lacks is drawn as boxes, not worth a warning each.
            warnings.filterwarnings("ignore", message="Glyph")
            figure.savefig(path, format=ending[1:], dpi=150, metadata=metadata)
    except OSError as error:
        raise UsageError(f"cannot write the plot {str(path)!r}: {error}.") from error
    return figure
