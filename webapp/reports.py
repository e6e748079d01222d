"""Serve reports: those of `ufo report` as CSV, that of one checked text as a page."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow.parquet as pq
from fastapi import APIRouter, Query
from fastapi import Path as InPath
from starlette.responses import HTMLResponse, StreamingResponse

from ufo.pipelines.reports.checked import CheckedResponse, selected_evidence
from ufo.pipelines.reports.html_report import render_html
from ufo.pipelines.reports.tabular import csv_line, rows_of
from ufo.schemas.records import SourceStatus
from ufo.schemas.results import Results
from ufo.schemas.tables import OF_EVALUATE, SCHEMA_VERSION, Run, to_arrow
from ufo.schemas.temporary import temporary_folder
from ufo.schemas.views import GROUPS
from ufo.transforms.scores import Selection
from ufo.webapp import response_models
from ufo.webapp.problems import NotFound
from ufo.webapp.service import ServiceDep

_AT_ONCE = 1_000  # rows
router = APIRouter(tags=["reports"])
RunName = Annotated[str | None, Query(max_length=300, description="default: the newest run")]


@router.get("/reports")
def list_reports(service: ServiceDep, run: RunName = None) -> list[response_models.ReportInfo]:
    """Return the reports of a run that have rows, by their groups."""
    views = service.runs.results(run).filled_views()
    return [
        response_models.ReportInfo(
            name=view.name, title=view.title, help=view.summary, group=GROUPS[view.group]
        )
        for view in views
    ]


@router.get("/reports/{name}", response_class=StreamingResponse, responses=response_models.CSV)
def report(
    name: Annotated[str, InPath(max_length=100)],
    service: ServiceDep,
    run: RunName = None,
    format: Literal["csv"] = "csv",
) -> StreamingResponse:
    """Return the rows of a report or a table, in its order."""
    results = service.runs.results(run)
    view = results.report(name)
    if view is None:
        raise NotFound(f"no report of that name; there are: {', '.join(sorted(results.names))}")
    return csv_answer(f"{name}.csv", results, view.select())


def csv_answer(
    name: str, results: Results, sql: str, params: Mapping[str, object] | None = None
) -> StreamingResponse:
    """Return the rows of a SELECT as a CSV file in which no spreadsheet runs a formula."""

    def lines() -> Iterator[str]:
        with results.stream(sql, dict(params or {})) as reader:
            rows = map(csv_line, chain([reader.schema.names], rows_of(reader)))
            yield from iter(lambda: "".join(islice(rows, _AT_ONCE)), "")

    headers = response_models.attachment(name)
    return StreamingResponse(lines(), media_type="text/csv", headers=headers)


def report_answer(
    whole: CheckedResponse, selection: Selection | None, version: str
) -> HTMLResponse:
    """Return the report of one response as an HTML file, from the selected evidence."""
    with (
        temporary_folder() as folder,
        Results([_run_of(Path(folder), whole, selection or Selection(), version)]) as results,
    ):
        page = render_html(results, whole.left_out.words)
    return HTMLResponse(page, headers=response_models.attachment("checked.html"))


def _run_of(folder: Path, whole: CheckedResponse, selection: Selection, version: str) -> Run:
    """Write the rows of a response to a folder, and return them as a run."""
    used = [
        SourceStatus(position, name, name, "used", None, "{}")
        for position, name in enumerate(whole.sources, 1)
    ]
    rows: dict[str, list[Any]] = {
        **{name: getattr(whole, name) for name in OF_EVALUATE if hasattr(whole, name)},
        "responses": [whole.response],
        "evidence": selected_evidence(whole, selection),
        "verdicts": whole.scores.verdicts,
        "sources": used,
    }
    paths = {name: folder / f"{name}.parquet" for name in OF_EVALUATE}
    for name, path in paths.items():
        pq.write_table(to_arrow(name, rows[name]), path)
    return Run(
        name="checked-text",
        folder=folder,
        schema_version=SCHEMA_VERSION,
        ufo_version=version,
        mode=whole.mode,
        tie=whole.tie,
        judge=whole.judge,
        sources=tuple(whole.sources),
        finished_at=datetime.now(UTC),
        counts={
            "responses": 1,
            "units": len(whole.fact_units),
            "failures": len(whole.failures),
        },
        files={name: (path,) for name, path in paths.items()},
        title="A checked text",
    )
