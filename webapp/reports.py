"""Serve the reports of `ufo report` as CSV."""

import io
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import pyarrow as pa
import pyarrow.csv as pc
from fastapi import APIRouter, Path, Query
from starlette.responses import StreamingResponse

from ufo.schemas.results import Results
from ufo.schemas.tables import KEYS, TABLES
from ufo.schemas.text import without_formula
from ufo.schemas.views import GROUPS, load_views
from ufo.webapp import answers
from ufo.webapp.desk import AtDesk
from ufo.webapp.problems import NotFound

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
    # A macro takes parameters, and is only a part of reports.
    views = {view.name: view.order for view in load_views() if view.parameters is None}
    if name in views:
        order = views[name]
    elif name in TABLES:
        order = ", ".join(f'"{key}"' for key in KEYS[name])
    else:
        raise NotFound(f"no report of that name; there are: {', '.join(sorted(views))}")
    # The name is a known one: it was looked up.
    sql = f"SELECT * FROM {name}" + (f" ORDER BY {order}" if order else "")  # noqa: S608
    return csv_answer(f"{name}.csv", desk.runs.results(run), sql)


def csv_answer(
    name: str, results: Results, sql: str, params: Mapping[str, object] | None = None
) -> StreamingResponse:
    """Return the rows of a SELECT as a CSV file of that name, without formulas of spreadsheets."""

    def lines() -> Iterator[bytes]:
        with results.stream(sql, dict(params or {})) as batches:
            yield ",".join(f'"{column}"' for column in batches.schema.names).encode() + b"\n"
            for batch in batches:
                columns = [
                    pa.array(
                        [text and without_formula(text) for text in column.to_pylist()], column.type
                    )
                    if pa.types.is_string(column.type)
                    else column
                    for column in batch.columns
                ]
                out = io.BytesIO()
                safe = pa.RecordBatch.from_arrays(columns, schema=batch.schema)
                pc.write_csv(safe, out, pc.WriteOptions(include_header=False))
                yield out.getvalue()

    headers = answers.attached(name)
    return StreamingResponse(lines(), media_type="text/csv", headers=headers)
