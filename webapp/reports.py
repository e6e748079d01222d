"""Serve the reports of `ufo report` as CSV."""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import StreamingResponse

from ufo.pipelines.reports.tabular import csv_line, rows_of
from ufo.schemas.results import Results
from ufo.schemas.views import GROUPS
from ufo.webapp import answers
from ufo.webapp.desk import AtDesk
from ufo.webapp.problems import NotFound

_AT_ONCE = 1_000  # rows
router = APIRouter(tags=["reports"])
RunName = Annotated[str | None, Query(max_length=300, description="default: the newest run")]


@router.get("/reports")
def list_reports(desk: AtDesk, run: RunName = None) -> list[answers.ReportInfo]:
    """Return the reports of a run that have rows, by their groups."""
    views = desk.runs.results(run).filled_views()
    return [
        answers.ReportInfo(
            name=view.name, title=view.title, help=view.summary, group=GROUPS[view.group]
        )
        for view in views
    ]


@router.get("/reports/{name}", response_class=StreamingResponse, responses=answers.CSV)
def report(
    name: Annotated[str, Path(max_length=100)],
    desk: AtDesk,
    run: RunName = None,
    format: Literal["csv"] = "csv",
) -> StreamingResponse:
    """Return the rows of a report or a table, in its order."""
    results = desk.runs.results(run)
    found = results.report(name)
    if found is None:
        raise NotFound(f"no report of that name; there are: {', '.join(sorted(results.names))}")
    return csv_answer(f"{name}.csv", results, found.select())


def csv_answer(
    name: str, results: Results, sql: str, params: Mapping[str, object] | None = None
) -> StreamingResponse:
    """Return the rows of a SELECT as a CSV file of that name, without formulas of spreadsheets."""

    def lines() -> Iterator[str]:
        with results.stream(sql, dict(params or {})) as reader:
            rows = map(csv_line, chain([reader.schema.names], rows_of(reader)))
            yield from iter(lambda: "".join(islice(rows, _AT_ONCE)), "")

    headers = answers.attached(name)
    return StreamingResponse(lines(), media_type="text/csv", headers=headers)
