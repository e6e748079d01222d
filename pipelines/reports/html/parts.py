"""Give the sections of the report what they share: the rows of views, and how they are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from matplotlib.figure import Figure

from ufo.pipelines.reports.drawing import Bar, draw_bars, svg_of
from ufo.pipelines.reports.overview import Row
from ufo.pipelines.reports.tabular import OF_UNUSABLE
from ufo.schemas.results import Results
from ufo.transforms.votes import main_mode

MOST_ROWS = 100
_WORDS = {
    "refuted": "contradicted",
    "noans": "no answer",
    "unit": "claim",
    "units": "claims",
    "credibility": "evidence support",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Rows under a title, of `total` where they are not all, and what is drawn of them: an SVG
    within its view box, and what it shows in words."""

    title: str
    rows: Sequence[Row]
    total: int = 0
    note: str = ""
    box: str = ""
    svg: Markup | None = None
    said: str = ""


class Asked:
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


def bars_of(
    title: str, rows: Sequence[Row], bars: Sequence[Bar], axis: str, note: str = "", **options: Any
) -> Part:
    """Return rows with their bars; without bars nothing is shown."""
    said = "; ".join(
        f"{bar.name} " + ("has no score" if bar.value is None else f"{bar.value:.3f}")
        for bar in bars
    )
    if not bars:
        return Part(title, ())
    return drawn(title, rows, draw_bars(bars, axis, **options), said, note)


def drawn(title: str, rows: Sequence[Row], figure: Figure, said: str, note: str) -> Part:
    """Return rows with a figure of them, which shows what is `said`."""
    box, svg = svg_of(figure, title)
    # Made by matplotlib, which escapes what it is given.
    return Part(title, rows, note=note, box=box, svg=Markup(svg), said=said)  # noqa: S704
