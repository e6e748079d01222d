"""Draw the pies, the heat map and the reliability plot of the page."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pipelines.reports.html.charts import SMALL, centred, figure_of, key, name_of, quiet, shortened
from pipelines.reports.html.svg import ACCENT, GRID, INK, MUTED, SURFACE

_PIES_A_ROW = 3
_SMALLEST_SHARE = 0.09


def draw_pies(
    pies: Sequence[tuple[str, Sequence[float]]], parts: Sequence[tuple[str, str]]
) -> Figure:
    """Draw a small pie for each name, of the same parts in the same colours."""
    across = min(len(pies), _PIES_A_ROW)
    down = -(-len(pies) // across)
    lines = 1 if len(parts) == 3 else -(-len(parts) // 2)
    each = 1.62
    above = 0.22 * lines + 0.1
    height = above + (each + 0.2) * down
    figure = figure_of(height)
    for place, (name, shares) in enumerate(pies):
        left = (place % across + (_PIES_A_ROW - across) / 2) / _PIES_A_ROW
        top = 1 - (above + (each + 0.2) * (place // across)) / height
        axes = figure.add_axes(
            (left + 0.01, top - (each + 0.2) / height, 1 / _PIES_A_ROW - 0.02, each / height)
        )
        _pie(axes, shares, [color for _, color in parts])
        title = axes.set_title(shortened(name, 17), fontsize=SMALL + 0.5, color=INK, pad=2)
        title.set_parse_math(False)
    key(figure, [(color, label, "s") for label, color in parts])
    return figure


def _pie(axes: Axes, shares: Sequence[float], colors: Sequence[str]) -> None:
    if not sum(shares):
        axes.pie([1], colors=[GRID], radius=1, wedgeprops={"width": 0.05})
        axes.text(0, 0, "nothing", ha="center", va="center", fontsize=SMALL, color=MUTED)
        return
    shown = [pair for pair in zip(shares, colors, strict=True) if pair[0] > 0]
    wedges, *_ = axes.pie(
        [share for share, _ in shown],
        colors=[color for _, color in shown],
        startangle=90,
        counterclock=False,
        normalize=True,
        wedgeprops={"edgecolor": SURFACE, "linewidth": 1.5},
        radius=1.2,
    )
    for wedge, (share, color) in zip(wedges, shown, strict=True):
        portion = share / sum(shares)
        if portion < _SMALLEST_SHARE:
            continue
        middle = math.radians((wedge.theta1 + wedge.theta2) / 2)
        far = 0.0 if portion == 1 else 0.75
        red, green, blue = to_rgb(color)
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.36
        axes.text(
            far * math.cos(middle),
            far * math.sin(middle),
            f"{portion:.0%}",
            ha="center",
            va="center",
            fontsize=SMALL,
            color="white" if dark else "black",
        )


def draw_heat(rows: Sequence[tuple[str, Sequence[float | None]]], columns: Sequence[str]) -> Figure:
    """Draw values of 0 to 1 as a grid: the deeper the colour, the higher."""
    step = 0.66
    top = 0.34
    height = top + step * len(rows) + 0.05
    figure = figure_of(height)
    axes = figure.add_axes((0, 0, 1, 1 - top / height))
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    axes.set_axis_off()
    for place, (name, values) in enumerate(rows):
        name_of(axes, place + 0.5, name, left=0.0)
        for column, value in enumerate(values):
            axes.add_patch(_cell(column, place, value))
            shown = "–" if value is None else f"{value:.3f}"
            axes.text(column + 0.5, place + 0.66, shown, **centred(INK))
    for column, name in enumerate(columns):
        figure.text((column + 0.5) / len(columns), 1 - 0.14 / height, name, **centred(MUTED))
    return figure


def _cell(column: int, place: int, value: float | None) -> Rectangle:
    # Never so deep that the ink on it could not be read, in either theme.
    depth = 0.0 if value is None else 0.04 + 0.5 * min(max(value, 0.0), 1.0)
    return Rectangle((column + 0.02, place + 0.42), 0.96, 0.48, facecolor=ACCENT, alpha=depth)


def draw_reliability(
    points: Sequence[tuple[float, float, float, float, int]], across: str, up: str
) -> Figure:
    """Draw (measured, people, low, high, n) as points, the larger the more, beside the diagonal."""
    figure = figure_of(3.9)
    axes = figure.add_axes((0.13, 0.15, 0.83, 0.81))
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (4, 4)))
    most = max(n for *_, n in points)
    for measured, people, low, high, n in points:
        axes.errorbar(
            [measured],
            [people],
            yerr=[[max(people - low, 0)], [max(high - people, 0)]],
            ecolor=ACCENT,
            elinewidth=1.3,
            alpha=0.55,
            fmt="none",
        )
        axes.scatter(
            [measured],
            [people],
            s=24 + 150 * n / most,
            color=ACCENT,
            edgecolor=SURFACE,
            zorder=3,
            clip_on=False,
        )
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    axes.set_xticks(ticks)
    axes.set_yticks(ticks)
    axes.set_xlabel(across, fontsize=SMALL, color=MUTED)
    axes.set_ylabel(up, fontsize=SMALL, color=MUTED)
    axes.grid(color=GRID, linewidth=0.8)
    quiet(axes)
    return figure
