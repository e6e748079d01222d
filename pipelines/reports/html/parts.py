"""Give the sections of the page what they share: the rows of views, and how a plot is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from pipelines.reports.html.charts import Bar
from pipelines.reports.html.markup import Html, Row, folded, table, tag
from pipelines.reports.html.svg import as_svg
from schemas.results import Results
from transforms.votes import main_mode

MOST_BARS = 24
_MOST_OPEN = 12


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: where links go, its title, one sentence under it, and what it shows."""

    key: str
    title: str
    lead: str
    body: Html


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


def plot(key: str, title: str, drawn: Figure, shown: str, rows: Html, note: str = "") -> Html:
    """Return a plot under its title, with the table that it shows behind it."""
    return tag(
        "figure",
        tag("figcaption", tag("h3", title), tag("p", note) if note else None),
        as_svg(drawn, key, f"{title}: {shown}"),
        folded("Table", rows),
        class_="card",
    )


def tabled(title: str, rows: Sequence[Row], total: int | None = None) -> Html:
    """Return a table under its title, where there is nothing to draw; a long one folded."""
    shown = table(rows, title, total=total)
    if len(rows) > _MOST_OPEN:
        shown = folded(many(max(len(rows), total or 0), "row"), shown)
    return tag("div", tag("h3", title), shown, class_="card wide")


def many(n: int, what: str) -> str:
    """Return how many there are of what, in words."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def in_words(bars: Sequence[Bar]) -> str:
    """Return what the bars show, for those who cannot see them."""
    return "; ".join(
        f"{bar.name} " + ("has no score" if bar.value is None else f"{bar.value:.3f}")
        for bar in bars
    )
