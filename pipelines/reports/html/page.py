"""Write the report of a run: one file that opens offline, and loads nothing else."""

from collections.abc import Callable, Iterable
from importlib.resources import files
from urllib.parse import urlsplit

from markupsafe import Markup

from ufo.pipelines.reports.html import sections
from ufo.pipelines.reports.html.doubtful import disagreements, doubtful_responses
from ufo.pipelines.reports.html.sections import MOST_ROWS, RunRows, Section, columns, in_words
from ufo.pipelines.reports.overview import Row, contradicted, overview
from ufo.pipelines.reports.tabular import cell, text_output
from ufo.pipelines.reports.templates import environment
from ufo.pipelines.reports.terminal import MODES
from ufo.pipelines.reports.unusable import beside, no_score, without_score
from ufo.schemas.errors import UsageError
from ufo.schemas.results import Results
from ufo.schemas.text import quantity

# Those of the page, and what a report has beside them.
_STYLES = ("base", "parts", "result", "message", "evidence")
_SHORT_CELL, _LONGEST_CELL = 28, 300
# Columns whose values are names that ufo defines.
_NAMED = {"measure", "metric", "reason", "tag"}
_SECTIONS: dict[str, tuple[str, str, Callable[[RunRows], Iterable[Section]]]] = {
    "scores": (
        "Factuality scores",
        "The mean share of a response's claims that are supported; those not found count 0.",
        sections.scores,
    ),
    "corrected-scores": (
        "Corrected by people",
        "What the scores would be had people judged every claim, by prediction-powered inference "
        "from the labels that there are.",
        sections.corrected,
    ),
    "contributions": (
        "Who decided",
        "Which sources decided the claims, how many stayed open, and what the evidence was.",
        sections.decided,
    ),
    "orders": (
        "Order of the sources",
        "What another order of the same sources would have given, without another call.",
        sections.orders,
    ),
    "agreement": (
        "Agreement with people",
        "How far the judge can be taken at its word, measured on what people labelled.",
        sections.agreement,
    ),
    "doubtful": (
        "Most doubtful responses",
        "The lowest scores, the worst disagreements and the most errors. Beside the "
        "state of a sentence stands its evidence support: the share of its evidence that supports "
        "it.",
        disagreements,
    ),
    "cost": (
        "Cost",
        "Requests that were sent, with their tokens; those that were cached were not.",
        sections.cost,
    ),
    "failures": (
        "Failures and errors",
        "None of this is a vote. The reason of each is in the tables of the run.",
        sections.failures,
    ),
    "own": ("Reports of your own", "What your own .sql files ask.", sections.own),
}


def write_html(results: Results, path: str) -> None:
    """Write the report of the newest of the runs to a file, which takes its place when all is
    there.

    Raises:
        UsageError: a file that cannot be written, or a run of `ufo recall`.
    """
    with text_output(path, "--html") as out:
        out.write(render_html(results))


def render_html(results: Results) -> str:
    """Return the report of the newest of the runs. Equal runs give equal reports.

    What the run does not have (labels, categories, a comparison of orders) is left out. Of many
    rows or responses the report has some and says of how many, so that its size is bounded.

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
    asked = RunRows(results, found)
    responses = doubtful_responses(asked)
    gathered = []
    for key, (title, lead, gather) in _SECTIONS.items():
        parts = [part for part in gather(asked) if part.rows]
        if parts or (key == "doubtful" and responses):
            gathered.append({"key": key, "title": title, "lead": lead, "parts": parts})
    own = next((row for row in found["scores"] if row["mode"] == asked.mode), None)
    scored = own is not None and own["factuality_score"] is not None
    corrected: Row = next((row for row in found["corrected"] if row["level"] == "run"), {})
    return (
        environment()
        .get_template("report.html")
        .render(
            style=Markup(_style()),  # noqa: S704 - files of this package
            found=found,
            own=own if scored else None,
            no_score=no_score(own),
            corrected=corrected,
            left_out=without_score(own) if scored and own else "",
            beside=beside(own) if scored and own else "",
            contradicted=contradicted(results),
            sections=gathered,
            responses=responses,
            mode=MODES.get(found["mode"], "unknown mode"),
            columns=columns,
            in_words=in_words,
            shown=_shown,
            many=quantity,
            web_address=_web_address,
            MOST_ROWS=MOST_ROWS,
            SHORT_CELL=_SHORT_CELL,
        )
    )


def _style() -> str:
    page = files("ufo.webapp").joinpath("page", "style")
    paths = [page.joinpath(f"{name}.css") for name in _STYLES]
    paths.append(files(__package__).joinpath("report.css"))
    return "".join(path.read_text(encoding="utf-8") for path in paths)


def _shown(name: str, value: object) -> str:
    """Return a cell of a table as it is shown."""
    shown = f"{value:,}" if type(value) is int else cell(value)
    if name in _NAMED:
        shown = in_words(shown)
    return shown if len(shown) <= _LONGEST_CELL else shown[: _LONGEST_CELL - 1].rstrip() + "…"


def _web_address(address: str | None) -> str | None:
    """Return an address of the web, None for any other: one may run code."""
    try:
        known = address is not None and urlsplit(address).scheme in ("http", "https")
    except ValueError:
        return None
    return address if known else None
