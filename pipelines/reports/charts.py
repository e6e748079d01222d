"""Draw the plots of a report as SVG: dots with intervals, a pie, and stacked bars.

They take their colours from the style sheet around them, so that they read well on light and on
dark, and say in words what they show.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import east_asian_width

from markupsafe import Markup

from ufo.pipelines.reports.tabular import one_line
from ufo.pipelines.reports.templates import filled
from ufo.pipelines.reports.unusable import beside
from ufo.schemas.records import NO_SOURCE
from ufo.schemas.text import quantity

# Okabe and Ito (2008): colours that people with any colour vision can tell apart.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
UNDECIDED = "#9e9e9e"
_OUTCOMES = {
    "supported": ("n_supported", COLORS[2]),
    "contradicted": ("n_refuted", COLORS[5]),
    "not decided": ("n_undecided", UNDECIDED),
}
_MOST_LETTERS = 26
_MOST_ROWS = 24

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its 95 % interval; `mark` is another to compare it with, and `doubtful` one that
    many judgements are missing of."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    mark: float | None = None
    doubtful: bool = False

    @property
    def short(self) -> str:
        """The name as there is room for it."""
        return shortened(self.name)

    @property
    def said(self) -> str:
        """The value in words."""
        said = "no score" if self.value is None else f"{self.value:.3f}"
        if self.low is not None and self.high is not None:
            said += f" ({self.low:.3f} to {self.high:.3f})"
        return f"⚠ {said}" if self.doubtful else said


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a whole: how many, in which colour, and where it begins, in per cent."""

    name: str
    n: int
    color: str
    share: float
    start: float
    said: str


def score_bar(row: Row, name: str) -> Bar:
    """Return the bar of a row of a view with scores."""
    ends = row.get("low"), row.get("high")
    return Bar(name, row["factuality_score"], *ends, row.get("human_score"), bool(beside(row)))


def draw_scores(rows: Sequence[Row], key: str) -> Markup:
    """Draw the factuality scores of models or data sets, in the order of the rows."""
    bars = [score_bar(row, row[key] or f"(no {key})") for row in rows]
    return draw_dots(bars, "factuality score with its 95 % interval", mark="score by people")


def draw_dots(bars: Sequence[Bar], axis: str, mark: str = "") -> Markup:
    """Draw a row a value, on a scale from 0 to 1; `mark` says what the diamonds are."""
    marked = mark if any(bar.mark is not None for bar in bars) else ""
    said = f"{axis}: " + "; ".join(f"{bar.name} {bar.said}" for bar in bars)
    return filled("charts.html", "dots", bars[:_MOST_ROWS], axis, marked, said)


def draw_contributions(rows: Sequence[Row]) -> Markup | None:
    """Draw who decided as a pie, what nobody decided grey; None where there is nothing to share."""
    parts = _decided(rows)
    if not sum(part.n for part in parts):
        return None
    said = ", ".join(f"{part.name} {part.said}" for part in parts)
    return filled("charts.html", "pie", parts, f"who decided: {said}")


def draw_contributions_by(rows: Sequence[Row], key: str) -> Markup:
    """Draw who decided for each model: rows of `source_contributions_by_model`."""
    return _stacks(rows, key, _decided, "who decided")


def draw_outcomes(rows: Sequence[Row], key: str) -> Markup:
    """Draw how many claims were supported, contradicted or not decided, for each data set."""

    def outcomes(one: Sequence[Row]) -> list[Part]:
        return _parts([(name, one[0][n] or 0, color) for name, (n, color) in _OUTCOMES.items()])

    return _stacks(rows, key, outcomes, "outcomes")


def _stacks(
    rows: Sequence[Row], key: str, parts_of: Callable[[Sequence[Row]], list[Part]], what: str
) -> Markup:
    """Draw the parts of the rows of each `key` side by side."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key] or f"(no {key})", []).append(row)
    stacks, said = [], []
    colors: dict[str, Part] = {}
    for name, group in list(groups.items())[:_MOST_ROWS]:
        parts = parts_of(group)
        colors |= {part.name: part for part in parts}
        size = quantity(sum(part.n for part in parts), "claim")
        stacks.append({"name": shortened(name), "said": size, "parts": parts})
        said.append(f"{name}: " + ", ".join(f"{part.name} {part.said}" for part in parts))
    of_all = f"{what}: {'; '.join(said)}"
    return filled("charts.html", "stacks", stacks, list(colors.values()), of_all)


def _decided(rows: Sequence[Row]) -> list[Part]:
    """Return the part of each source, by its position, and of what stayed undecided last."""
    found = []
    for row in rows:
        if row["source"] != NO_SOURCE:
            n = row["n_votes"] if row["mode"] == "mv" else row["n_decided"]
            color = COLORS[((row["position"] or 1) - 1) % len(COLORS)]
            found.append((shortened(row["source"], 20), n, color))
    undecided = [row["n_decided"] for row in rows if row["source"] == NO_SOURCE]
    if [row["mode"] for row in rows] == ["single"]:
        undecided = [rows[0]["n_units"] - rows[0]["n_decided"]]
    return _parts(found + [("undecided", n, UNDECIDED) for n in undecided])


def _parts(counted: Sequence[tuple[str, int, str]]) -> list[Part]:
    total = sum(n for _, n, _ in counted)
    found, start = [], 0.0
    for name, n, color in counted:
        share = 100 * n / total if total else 0.0
        found.append(Part(name, n, color, share, start, f"{share:.0f} % ({n:,})"))
        start += share
    return found


def shortened(name: str, most: int = _MOST_LETTERS) -> str:
    """Return a name on one line; of one that is too long its beginning and its end, where the names
    of models of a family differ. `most` is in letters of usual width: Chinese ones have twice that.
    """
    whole = one_line(name)
    width = sum(1 + (east_asian_width(one) in "WF") for one in whole)
    if width <= most:
        return whole
    most = most * len(whole) // width
    end = most // 2
    return f"{whole[: most - 1 - end].rstrip()}…{whole[-end:].lstrip()}"
