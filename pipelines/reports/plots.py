"""Draw plots of a run: which source decided how much, and how factual each model is.

Bars and pies are drawn with matplotlib's objects alone: no global state, no window, any thread.

In the report a drawing takes the colours of the style sheet, so that it reads well on light and on
dark.
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.transforms import blended_transform_factory

from ufo.pipelines.reports.tabular import one_line
from ufo.pipelines.reports.unusable import beside
from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import NO_SOURCE
from ufo.schemas.results import Results
from ufo.transforms.votes import main_mode

# Okabe and Ito (2008): colours that people with any colour vision can tell apart.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
UNDECIDED = "#9e9e9e"
_INK, _MUTED, _LINE, _CARD = "#1c2024", "#565e66", "#d5dade", "#ffffff"
_ACCENT, _PEOPLE = "#0a5f86", "#7d4a00"
_VARIABLES = {
    _INK: "ink",
    _MUTED: "muted",
    _LINE: "line",
    _CARD: "card",
    _ACCENT: "accent",
    _PEOPLE: "mixed",
}
_SMALL = 9
_ROW = 0.52  # inches
_MOST_LETTERS = 54
_MOST_BESIDE = 40  # where a note stands at the end of the line
_MOST_IN_KEY = 20
_SMALLEST_SHARE = 6  # per cent
_ROOT = re.compile(r'<svg [^>]*?viewBox="([^"]+)"[^>]*>')
_UNUSED = re.compile(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", re.DOTALL)
_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r"(?:url\(|href=\")#([^)\"]+)")
_FONT = re.compile(r"(font: [^;\"]*?\d+px) [^;\"]+")
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


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a plot: a value with its 95 % interval, and another to compare it with.

    Attributes:
        mark: drawn as a diamond; what it is, the plot's `mark` says.
        note: a few words at the end of the name's line.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    mark: float | None = None
    note: str = ""


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


def draw_bars(
    bars: Sequence[Bar], axis: str, *, filled: bool = True, low: float = 0.0, mark: str = ""
) -> Figure:
    """Draw a row a value: bars from 0 where `filled`, else points; whiskers are intervals.

    Names stand above what they name, so that a plot is narrow and no name is too long.
    """
    figure = _figure(6.0, 0.8 + _ROW * len(bars))
    axes = figure.add_subplot()
    for place, bar in enumerate(bars):
        most = _MOST_BESIDE if bar.note else _MOST_LETTERS
        _text(axes, 0, place - 0.28, _shortened(bar.name, most, 2 * most // 3), "left")
        _text(axes, 1.16, place - 0.28, bar.note, "right", color=_MUTED, fontsize=_SMALL)
        _text(axes, 1.16, place + 0.12, signed(bar.value), "right")
        if bar.value is None:
            continue
        if filled:
            axes.barh(place + 0.12, bar.value, height=0.3, color=_ACCENT)
        else:
            axes.plot([bar.value], [place + 0.12], "o", color=_ACCENT, clip_on=False)
        if bar.low is not None and bar.high is not None:
            ends = [[max(bar.value - bar.low, 0)], [max(bar.high - bar.value, 0)]]
            axes.errorbar(
                [bar.value], [place + 0.12], xerr=ends, ecolor=_MUTED, capsize=3, fmt="none"
            )
    marks = [(bar.mark, place + 0.12) for place, bar in enumerate(bars) if bar.mark is not None]
    if marks:
        axes.scatter(
            [value for value, _ in marks],
            [place for _, place in marks],
            marker="D",
            s=46,
            facecolor="none",
            edgecolor=_PEOPLE,
            linewidth=1.6,
            zorder=3,
            clip_on=False,
            label=mark,
        )
        figure.legend(loc="outside lower right", frameon=False, labelcolor=_INK, fontsize=_SMALL)
    if low < 0:
        axes.axvline(0, color=_MUTED, linewidth=1)
    axes.set_xlim(low, 1)
    axes.set_ylim(len(bars) - 0.5, -0.6)
    axes.set_yticks([])
    axes.set_xlabel(axis, color=_MUTED, fontsize=_SMALL)
    axes.grid(axis="x", color=_LINE)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=_SMALL, labelcolor=_MUTED)
    return figure


def draw_pie(parts: Sequence[tuple[str, int, str]], whole: str) -> Figure:
    """Draw (name, n, colour) as a pie with its key; `whole` says what the parts are of."""
    total = sum(n for _, n, _ in parts)
    shown = [part for part in parts if part[1]]
    figure = _figure(6.0, 3.4)
    axes = figure.add_subplot()
    _, _, shares = axes.pie(
        [n for _, n, _ in shown],
        colors=[color for _, _, color in shown],
        autopct=lambda share: f"{share:.0f}%" if share >= _SMALLEST_SHARE else "",
        pctdistance=0.67,
        startangle=90,
        counterclock=False,
        wedgeprops={"edgecolor": _CARD, "linewidth": 1.5},
        radius=1.2,
    )
    for share, (_, _, color) in zip(shares, shown, strict=True):
        red, green, blue = to_rgb(color)
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        share.set_color("#fefefe" if dark else "black")
    legend = figure.legend(
        handles=[
            Patch(facecolor=color, label=f"{_in_key(name)}  {n / total:.1%}  (n = {n:,})")
            for name, n, color in parts
        ],
        loc="outside right center",
        frameon=False,
        labelcolor=_INK,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    axes.set_xlabel(f"{whole}, n = {total:,}", color=_MUTED)
    return figure


def draw_words(said: str) -> Figure:
    """Draw words where there is nothing else to draw."""
    figure = _figure(6.0, 1.5)
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.text(0.5, 0.5, said, ha="center", va="center", color=_INK)
    return figure


def signed(value: float | None) -> str:
    """Return a number with a real minus sign."""
    return "no score" if value is None else f"{value:.3f}".replace("-", "−")


def difference_of(one: str, other: str) -> str:
    """Return "one − other"; of names that are too long the ends, where those of models of a family
    differ."""
    most = _MOST_BESIDE // 2 - 2
    return " − ".join(_shortened(name, most, most - 1) for name in (one, other))


def _in_key(name: str) -> str:
    # A key that is too wide leaves no room for the pie, and matplotlib draws it without a layout.
    return _shortened(name, _MOST_IN_KEY, _MOST_IN_KEY // 2)


def _shortened(name: str, most: int, end: int) -> str:
    """Return a name on one line; of one that is too long a beginning and so much of its end.

    `most` is in letters of usual width: Chinese ones have twice that.
    """
    whole = one_line(name)
    width = sum(1 + (east_asian_width(one) in "WF") for one in whole)
    if width <= most:
        return whole
    most, end = most * len(whole) // width, end * len(whole) // width
    return f"{whole[: most - 1 - end].rstrip()}…{whole[-end:].lstrip()}"


def save(figure: Figure, path: str | Path | StringIO, ending: str, salt: str = "ufo") -> None:
    """Save a figure as png or svg. Equal figures give equal files: no date, no random ids."""
    # Text stays text in an SVG.
    options = {"svg.hashsalt": salt, "svg.fonttype": "none"}
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type")) if ending == "svg" else None
    with matplotlib.rc_context(options), warnings.catch_warnings():
        # A name in a script that the font lacks is drawn as boxes, not worth a warning each.
        warnings.filterwarnings("ignore", message="Glyph")
        # One of letters that are very wide is drawn beyond the figure.
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        figure.savefig(path, format=ending, dpi=150, metadata=nothing)


def svg_of(figure: Figure, name: str) -> tuple[str, str]:
    """Return the view box of a figure and the SVG within it, for an `<svg>` of the report; `name`
    is its own there, so that no id is twice."""
    out = StringIO()
    figure.patch.set_visible(False)
    for axes in figure.axes:
        axes.patch.set_visible(False)
    save(figure, out, "svg", name)
    drawn = _UNUSED.sub("", out.getvalue())
    drawn = drawn[drawn.index("<svg") :].strip().removesuffix("</svg>")
    # Those that nothing refers to are the same in every figure.
    used = set(_REFERENCE.findall(drawn))
    drawn = _ID.sub(lambda found: found[0] if found[1] in used else "", drawn)
    drawn = _FONT.sub(r"\1 system-ui, sans-serif", drawn)
    for color, variable in _VARIABLES.items():
        drawn = drawn.replace(color, f"var(--{variable})")
    root = _ROOT.search(drawn)
    assert root is not None
    return root[1], drawn[root.end() :]


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained", facecolor=_CARD)


def _text(
    axes: Axes, x: float, y: float, said: str, ha: str, color: str = _INK, fontsize: int = 10
) -> None:
    place = blended_transform_factory(axes.transAxes, axes.transData)
    label = axes.text(
        x, y, said, transform=place, ha=ha, va="center", color=color, fontsize=fontsize
    )
    label.set_parse_math(False)
