"""Make the report of a checked text as one page, from a temporary run."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response as Answer

from ufo.schemas.errors import UsageError
from ufo.schemas.records import (
    Evidence,
    FactUnit,
    Failure,
    Passage,
    Response,
    Sentence,
    SourceStatus,
    Usage,
)
from ufo.schemas.results import Results
from ufo.schemas.runs import Run
from ufo.schemas.tables import OF_EVALUATE, SCHEMA_VERSION, to_arrow
from ufo.transforms.extract import EXTRACT
from ufo.transforms.scores import score
from ufo.webapp.desk import AtDesk
from ufo.webapp.models import MAX_ITEMS, Given, Mode, Name, Tie
from ufo.webapp.problems import NotFound

router = APIRouter(tags=["check"])
_NAME = "checked-text"


class ReportedText(Given):
    """A checked text, from the events of `/check`."""

    response: Response
    sentences: list[Sentence] = Field(max_length=MAX_ITEMS)
    fact_units: list[FactUnit] = Field(max_length=MAX_ITEMS)
    evidence: list[Evidence] = Field(max_length=50_000)
    passages: list[Passage] = Field(max_length=50_000)
    failures: list[Failure] = Field([], max_length=50_000)
    usage: list[Usage] = Field([], max_length=50_000)
    sources: list[Name] = Field(max_length=20, description="in the order they are asked")
    mode: Mode
    tie: Tie


@router.post(
    "/check/report.html",
    response_class=Answer,
    responses={200: {"content": {"text/html": {}}, "description": "The report as one page"}},
)
def report_text(asked: ReportedText, desk: AtDesk) -> Answer:
    """Return the report of a checked text as a file: one page with its claims and evidence."""
    if desk.setup.pages is None:
        raise NotFound("the service was started without reports as pages")
    with TemporaryDirectory(prefix="ufo-") as folder:
        results = Results([_run(Path(folder), asked, desk.setup.version)])
        try:
            page = desk.setup.pages.report(results)
        finally:
            results.close()
    headers = {"Content-Disposition": 'attachment; filename="checked.html"'}
    return Answer(page, media_type="text/html", headers=headers)


def _run(folder: Path, asked: ReportedText, version: str) -> Run:
    """Write the rows to a folder and return them as a run.

    Raises:
        UsageError: what no table can hold.
    """
    try:
        rows = _rows(asked)
        files: dict[str, tuple[Path, ...]] = {
            name: (folder / f"{name}.parquet",) for name in OF_EVALUATE
        }
        for name, paths in files.items():
            pq.write_table(to_arrow(name, rows[name]), paths[0])
    except (ValueError, OverflowError, pa.ArrowException) as error:
        raise UsageError(f"the rows are not those of a checked text: {error}") from error
    return Run(
        name=_NAME,
        folder=folder,
        schema_version=SCHEMA_VERSION,
        ufo_version=version,
        mode=asked.mode,
        tie=asked.tie,
        judge=next((row.judge for row in asked.evidence), ""),
        sources=tuple(asked.sources),
        finished_at=datetime.now(UTC),
        counts={
            "responses": 1,
            "units": len(asked.fact_units),
            "failures": len(asked.failures),
        },
        files=files,
        title="A checked text",
    )


def _rows(asked: ReportedText) -> Mapping[str, Sequence[Any]]:
    found = score(
        asked.fact_units,
        asked.evidence,
        {one.passage_id: one for one in asked.passages},
        asked.sources,
        len(asked.sentences),
        asked.mode,
        asked.tie,
        response_id=asked.response.response_id,
        extraction_failed=any(one.step == EXTRACT for one in asked.failures),
    )
    return {
        "responses": [asked.response],
        "sentences": asked.sentences,
        "fact_units": asked.fact_units,
        "evidence": asked.evidence,
        "passages": asked.passages,
        "verdicts": found.verdicts,
        "sources": [
            SourceStatus(at, name, name, "used", None, "{}")
            for at, name in enumerate(asked.sources)
        ],
        "failures": asked.failures,
        "usage": asked.usage,
    }
