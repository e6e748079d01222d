"""Render reports as HTML: the overview of a run, its file, comparisons, notebooks.

What is rendered runs no script and loads nothing, whatever a response smuggled in.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ufo.pipelines.reports import charts
from ufo.pipelines.reports.overview import Row, overview
from ufo.pipelines.reports.responses import lowest_responses
from ufo.pipelines.reports.tabular import OF_UNUSABLE, text_output
from ufo.pipelines.reports.templates import filled, rendered
from ufo.schemas.errors import UsageError
from ufo.schemas.views import GROUPS
from ufo.transforms.votes import main_mode

if TYPE_CHECKING:
    from ufo.pipelines.reports.evaluation import Check
    from ufo.schemas.results import Results

Link = Callable[[str, str], str | None]
"""From a run and the id of a response to the address of its page; None where there is none."""

_STYLES = ("base", "parts", "result", "report")
_MOST_ROWS = 100
_TOTAL = "rows_in_all"


def write_html(results: "Results", path: str) -> None:
    """Write the report of the newest of the runs to a file, which takes its place when all is
    there.

    Raises:
        UsageError: a file that cannot be written, or a run of `ufo recall`.
    """
    with text_output(path, "--html") as out:
        out.write(render_html(results))


def render_html(results: "Results") -> str:
    """Return the report of the newest of the runs as a page. Equal runs give equal reports.

    Reports without a row are left out. Of many rows or responses the page has some and says of how
    many, so that its size is bounded.

    Raises:
        UsageError: a run of `ufo recall`.
    """
    run = results.runs[-1]
    if run.mode == "recall":
        raise UsageError(
            f"--html: run {run.name!r} is of 'ufo recall', which has no page; name a run of "
            "'ufo evaluate' with --run."
        )
    found = overview(results)
    responses = lowest_responses(results)
    own = files(__package__).joinpath("templates", "report.css").read_text(encoding="utf-8")
    places = {row["response_id"]: f"#r{at}" for at, row in enumerate(responses, 1)}
    return rendered(
        "report.html",
        style=Markup(_style(*_STYLES) + own),  # noqa: S704 - files of this package
        found=found,
        overview=_overview(found, lambda _, response: places.get(response)),
        groups=_reports(results),
        csv=None,
        responses=responses,
    )


def reports_html(results: "Results", csv: Callable[[str], str]) -> str:
    """Return the reports of the newest of the runs that have rows, to be shown within a page; `csv`
    is the address of all rows of one."""
    return rendered("reports.html", groups=_reports(results), csv=csv)


def overview_html(results: "Results", link: Link = lambda run, response: None) -> str:
    """Return the overview of the newest of the runs, to be shown within a page."""
    return _overview(overview(results), link)


def comparison_html(found: Mapping[str, Any], link: Link) -> str:
    """Return what `shown_runs` or `shown_models` found, to be shown within a page."""
    sides = [(found["a"], found["score_a"]), (found["b"], found["score_b"])]
    chart = charts.draw_dots([charts.Bar(*side) for side in sides], "factuality score")
    return filled("comparison.html", "comparison", found, chart, link)


def notebook_html(results: "Results") -> str:
    """Return the overview of the newest of the runs for the ground of a notebook, light or dark."""
    return filled("notebook.html", "framed", Markup(overview_html(results)), _style("report"))  # noqa: S704


def check_html(found: "Check", wrong: Sequence[Row]) -> str:
    """Return a checked text for a notebook, each sentence in its state, below the headline; `wrong`
    are the contradicted claims with what contradicts them."""
    pieces: list[tuple[str, str | None]] = []
    at = 0
    for one, state in zip(found.sentences, found.states, strict=True):
        pieces += [(found.text[at : one.start], None), (found.text[one.start : one.end], state)]
        at = one.end
    pieces.append((found.text[at:], None))
    return filled("notebook.html", "check", found.headline, found.judged_by, pieces, wrong)


def _overview(found: Row, link: Link) -> str:
    used = [row["source"] for row in found["sources"] if row["status"] == "used"]
    names = (", then " if found["mode"] == "seq" else ", ").join(used) or "no source"
    of_run = found["run"]
    return filled(
        "overview.html",
        "overview",
        found,
        list(_charts(found)),
        lambda response: link(of_run, response),
        names,
    )


def _charts(found: Row) -> Iterable[tuple[str, Markup]]:
    """Give each plot of the overview with its title; none where there is nothing to compare."""
    if found["score"] is None:
        return
    several = len(found["models"]) > 1
    yield (
        ("Models, the most factual first" if several else "Score"),
        charts.draw_scores(found["models"], "model"),
    )
    own = [row for row in found["contributions"] if row["mode"] == main_mode(found["mode"])]
    pie = charts.draw_contributions(own)
    if pie is not None:
        yield "Who decided", pie
        if several:
            ranks = [row["model"] for row in found["models"]]
            rows = sorted(
                found["contributions_by_model"], key=lambda row: ranks.index(row["model"])
            )
            yield "Who decided, by model", charts.draw_contributions_by(rows, "model")
    if len(found["datasets"]) > 1:
        yield "Outcomes by data set", charts.draw_outcomes(found["datasets"], "dataset")


def _reports(results: "Results") -> list[tuple[str, list[Row]]]:
    """Return the reports that have rows, by their groups, each with its first rows."""
    groups: dict[str, list[Row]] = {group: [] for group in GROUPS}
    run = results.runs[-1].name
    for view in results.filled_views():
        of_run = "run" in results.query(f'SELECT * FROM "{view.name}" LIMIT 0').column_names  # noqa: S608
        where, given = (" WHERE run = ?", [run]) if of_run else ("", [])
        order = f" ORDER BY {view.order}" if view.order else ""
        select = f'SELECT *, count(*) OVER () AS {_TOTAL} FROM "{view.name}"'  # noqa: S608
        rows = results.query(f"{select}{where}{order} LIMIT {_MOST_ROWS}", given).to_pylist()
        if rows:
            more = {"rows": rows, "columns": _columns(rows), "total": rows[0][_TOTAL]}
            groups[view.group].append(asdict(view) | more)
    return [(GROUPS[group], found) for group, found in groups.items() if found]


def _columns(rows: Sequence[Row]) -> dict[str, bool]:
    """Return the columns that are shown, and whether they hold texts: those with a value, without
    the counts of unusable judgements, which are shown beside the scores."""
    return {
        name: any(isinstance(row.get(name), str | list | dict) for row in rows)
        for name in rows[0]
        if name not in ("run", _TOTAL, *OF_UNUSABLE)
        and any(row.get(name) is not None for row in rows)
    }


def _style(*names: str) -> str:
    folder = files("ufo.webapp").joinpath("page", "style")
    return "".join(folder.joinpath(f"{name}.css").read_text(encoding="utf-8") for name in names)
