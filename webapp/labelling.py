"""Labels given on the page: saved beside the runs, in the form of an `ufo label import` sheet."""

import csv
import io

from fastapi import APIRouter
from starlette.responses import Response

from ufo.schemas.runs import RUN_PREFIX
from ufo.schemas.tables import LABELS, PAGE_SHEET, Label, from_arrow
from ufo.schemas.text import without_formula
from ufo.transforms.votes import main_mode
from ufo.webapp import models
from ufo.webapp.browsing import RunName
from ufo.webapp.desk import AtDesk
from ufo.webapp.problems import NotFound

router = APIRouter(tags=["labels"])

_SHEET = """
SELECT
    u.response_id, u.unit_id, r.question, s.text AS sentence, u.claim,
    CASE v.label WHEN 1 THEN 'supported' WHEN 0 THEN 'refuted' ELSE 'undecided' END AS verdict,
    l.label, l.tag, l.note
FROM labels AS l
INNER JOIN fact_units AS u ON u.response_id = l.response_id AND u.unit_id = l.unit_id
INNER JOIN responses AS r ON r.run = u.run AND r.response_id = u.response_id
LEFT JOIN sentences AS s
    ON s.run = u.run AND s.response_id = u.response_id AND s.sentence_index = u.sentence_index
LEFT JOIN verdicts AS v
    ON v.run = u.run AND v.response_id = u.response_id AND v.unit_id = u.unit_id AND v.mode = $mode
WHERE l.sheet = $sheet
ORDER BY u.response_id, u.sentence_index, u.unit_id
"""


@router.post("/runs/{run}/labels")
def label(run: RunName, asked: models.LabelRequest, desk: AtDesk) -> list[Label]:
    """Save the label of a fact unit, and return all labels of its response."""
    found = desk.runs.named(run)
    of = [asked.response_id, asked.unit_id]
    known = "SELECT 1 FROM fact_units WHERE response_id = ? AND unit_id = ?"
    if not desk.runs.results(run).query(known, of).num_rows:
        raise NotFound("the run has no unit of that id in that response")
    if desk.setup.keep_label is None:
        raise NotFound("the service was started without a place for labels")
    name = found.folder.name.removeprefix(RUN_PREFIX)
    said = Label(
        name,
        **asked.model_dump(),
        stratum=None,
        weight=None,
        annotator=PAGE_SHEET,
        sheet=PAGE_SHEET,
    )
    desk.setup.keep_label(found.folder.parent, said)
    mine = "SELECT * FROM labels WHERE response_id = ? AND sheet = ?"
    rows = desk.runs.results(run).query(mine, [asked.response_id, PAGE_SHEET])
    return from_arrow(LABELS, rows)


@router.get(
    "/runs/{run}/labels.csv",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}, "description": "The sheet"}},
)
def download_labels(run: RunName, desk: AtDesk) -> Response:
    """Return the labels of a run that were given on the page, as a sheet for `ufo label import`."""
    mode = main_mode(desk.runs.named(run).mode)
    found = desk.runs.results(run).query(_SHEET, {"mode": mode, "sheet": PAGE_SHEET})
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(found.column_names)
    for row in found.to_pylist():
        writer.writerow("" if one is None else without_formula(str(one)) for one in row.values())
    headers = {"Content-Disposition": 'attachment; filename="labels.csv"'}
    return Response(out.getvalue(), media_type="text/csv", headers=headers)
