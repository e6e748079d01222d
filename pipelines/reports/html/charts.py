"""Draw the bars of the page, with matplotlib's objects alone. Names stand above what they name,
so that a plot is as narrow as a phone and no name is too long."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import blended_transform_factory

from pipelines.reports.html.svg import ACCENT, GRID, INK, MUTED, PEOPLE, SURFACE
from pipelines.reports.tabular import one_line

_WIDTH = 5.4  # inches, 72 units of the drawing each
SIZE = 11.5
SMALL = 10.0
_ROW = 0.56
_MOST_LETTERS = 50
_MOST_BESIDE = 40  # where a note stands at the end of the line


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a plot: a value with its 95 % interval, and another to compare it with.

    Attributes:
        mark: drawn as a diamond; what it is, the plot's `mark` says.
        note: a few words at the end of the name's line.
        short: what stands for the name in the drawing (default: the name).
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    mark: float | None = None
    note: str = ""
    short: str = ""


def draw_bars(
    bars: Sequence[Bar],
    axis: str,
    *,
    filled: bool = True,
    low: float = 0.0,
    high: float = 1.0,
    mark: str = "",
) -> Figure:
    """Draw a row a value: bars from 0 where `filled`, else points; whiskers are intervals."""
    marked = any(bar.mark is not None for bar in bars)
    figure, axes = _rows(len(bars), axis, low, high, marked)
    if low < 0:
        axes.axvline(0, color=MUTED, linewidth=1)
    for place, bar in enumerate(bars):
        name_of(axes, place, bar.short or bar.name, bar.note)
        _right(axes, place + 0.22, "no score" if bar.value is None else signed(bar.value))
        if bar.value is None:
            continue
        if filled:
            axes.barh(place + 0.22, high, height=0.26, color=GRID, alpha=0.6)
            axes.barh(place + 0.22, bar.value, height=0.26, color=ACCENT)
        if bar.low is not None and bar.high is not None:
            ends = [[max(bar.value - bar.low, 0)], [max(bar.high - bar.value, 0)]]
            axes.errorbar(
                [bar.value],
                [place + 0.22],
                xerr=ends,
                ecolor=INK if filled else ACCENT,
                elinewidth=1.4,
                capsize=3,
                capthick=1.4,
                fmt="none",
            )
        if not filled:
            axes.scatter([bar.value], [place + 0.22], s=42, color=ACCENT, zorder=3, clip_on=False)
        if bar.mark is not None:
            axes.scatter(
                [bar.mark],
                [place + 0.22],
                marker="D",
                s=38 if filled else 62,
                # Hollow where it may lie on the value's own point.
                facecolor=PEOPLE if filled else "none",
                edgecolor=SURFACE if filled else PEOPLE,
                linewidth=1 if filled else 1.8,
                zorder=4,
                clip_on=False,
            )
    if marked:
        key(figure, [(PEOPLE, mark, "D")])
    return figure


def draw_stacks(
    stacks: Sequence[tuple[str, Sequence[float]]], parts: Sequence[tuple[str, str]], axis: str
) -> Figure:
    """Draw a bar a row, of shares that add up to 1; `parts` are (name, colour) of each share."""
    figure, axes = _rows(len(stacks), axis, 0, 1, keyed=True)
    for place, (name, shares) in enumerate(stacks):
        name_of(axes, place, name)
        left = 0.0
        for (_, color), share in zip(parts, shares, strict=True):
            axes.barh(
                place + 0.22,
                share,
                left=left,
                height=0.3,
                color=color,
                edgecolor=SURFACE,
                linewidth=1,
            )
            left += share
        _right(axes, place + 0.22, f"{shares[0]:.0%}")
    key(figure, [(color, label, "s") for label, color in parts])
    return figure


# --- what they share -----------------------------------------------------------------------------


def figure_of(height: float) -> Figure:
    """Return an empty figure of the common width, that many inches high."""
    return Figure(figsize=(_WIDTH, height))


def _rows(n: int, axis: str, low: float, high: float, keyed: bool) -> tuple[Figure, Axes]:
    """Return a figure with n rows from top to bottom, room for a key above and an axis below."""
    above, below = 0.36 if keyed else 0.02, 0.5
    height = above + _ROW * n + below
    figure = figure_of(height)
    axes = figure.add_axes((0.02, below / height, 0.82, _ROW * n / height))
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_xlim(low, high)
    ticks = [low + (high - low) * i / 4 for i in range(5)]
    axes.set_xticks(ticks, [signed(tick, "g") for tick in ticks])
    axes.set_yticks([])
    axes.set_xlabel(axis, fontsize=SMALL, color=MUTED)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    quiet(axes)
    return figure, axes


def signed(value: float, form: str = ".3f") -> str:
    """Return a number with a real minus sign."""
    return f"{value:{form}}".replace("-", "−")


def quiet(axes: Axes) -> None:
    """Leave an axis its labels and nothing else."""
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=SMALL, labelcolor=MUTED)


def shortened(name: str, most: int) -> str:
    """Return a name on one line; of one that is too long a beginning and more of its end, where
    the names of models of a family differ."""
    whole = one_line(name)
    if len(whole) <= most:
        return whole
    end = 2 * most // 3
    return f"{whole[: most - 1 - end].rstrip()}…{whole[-end:].lstrip()}"


def difference_of(one: str, other: str) -> str:
    """Return "one − other" for a row with a note, of names that are too long the ends."""
    room = _MOST_BESIDE - 3
    one = _ending(one, max(room // 2, room - len(other)))
    return f"{one} − {_ending(other, room - len(one))}"


def _ending(name: str, most: int) -> str:
    whole = one_line(name)
    return whole if len(whole) <= most else f"…{whole[1 - most :].lstrip()}"


def name_of(axes: Axes, place: float, name: str, note: str = "", left: float = 0.0) -> None:
    """Write a row's name above it, and a note at the end of the same line."""
    label = axes.text(
        left,
        place - 0.2,
        shortened(name, _MOST_BESIDE if note else _MOST_LETTERS),
        transform=blended_transform_factory(axes.transAxes, axes.transData),
        va="center",
        fontsize=SIZE,
        color=INK,
    )
    label.set_parse_math(False)
    if note:
        axes.text(
            1.19,
            place - 0.2,
            note,
            transform=label.get_transform(),
            ha="right",
            va="center",
            fontsize=SMALL,
            color=MUTED,
        )


def _right(axes: Axes, place: float, shown: str) -> None:
    axes.text(
        1.19,
        place,
        shown,
        transform=blended_transform_factory(axes.transAxes, axes.transData),
        ha="right",
        va="center",
        fontsize=SIZE,
        color=INK,
    )


def centred(color: str) -> dict[str, Any]:
    """Return how a text stands in the middle of its place."""
    return {"ha": "center", "va": "center", "fontsize": SIZE - 0.5, "color": color}


def key(figure: Figure, entries: Sequence[tuple[str, str, str]]) -> None:
    """Say above a plot what its colours are: (colour, name, marker), two a line."""
    legend = figure.legend(
        handles=[
            Line2D([], [], linestyle="", marker=marker, markersize=8, color=color, label=name)
            for color, name, marker in entries
        ],
        loc="upper left",
        ncols=2 if len(entries) != 3 else 3,
        frameon=False,
        fontsize=SMALL,
        labelcolor=INK,
        borderaxespad=0.1,
        handletextpad=0.2,
        columnspacing=1.2,
    )
    for label in legend.get_texts():
        label.set_parse_math(False)
