"""Serve `/results`: the results of checks that the service keeps, their reports and labels."""

from contextlib import suppress
from threading import Lock
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response

from ufo.pipelines.reports.checked import select_evidence
from ufo.schemas.errors import RunError
from ufo.schemas.labels import Label
from ufo.webapp import response_models, trash
from ufo.webapp.drafts import TextDraft, name_of
from ufo.webapp.kept import ResultId
from ufo.webapp.problems import NotFound
from ufo.webapp.reports import report_answer
from ufo.webapp.request_models import LabelRequest, LeaveOut
from ufo.webapp.response_models import RESULT, KeptResult
from ufo.webapp.service import Service, ServiceDep

router = APIRouter(prefix="/results", tags=["check"])
_LABELLING = Lock()  # to add a label, the result's file is read and written


@router.get("/{result_id}", response_model=KeptResult)
async def show_result(
    result_id: ResultId, counts: Annotated[LeaveOut, Query()], service: ServiceDep
) -> Response:
    """Return the stored result of a check."""
    await service.under_way.wait_for_end(result_id)

    def content() -> bytes:
        return RESULT.dump_json(select_evidence(_read(service, result_id), counts.selection))

    return Response(await run_in_threadpool(content), media_type="application/json")


@router.get("/{result_id}/report.html", response_class=HTMLResponse, responses=response_models.HTML)
def report_result(
    result_id: ResultId, counts: Annotated[LeaveOut, Query()], service: ServiceDep
) -> HTMLResponse:
    """Return the report of a checked text as a file: one page with its claims and evidence."""
    whole = select_evidence(_read(service, result_id), counts.selection)
    return report_answer(whole, counts.selection, service.setup.version)


@router.post("/{result_id}/labels")
def label_result(result_id: ResultId, asked: LabelRequest, service: ServiceDep) -> list[Label]:
    """Save the label of a claim, and return all labels of the result."""
    with _LABELLING:
        result = _read(service, result_id)
        known = {unit.unit_id for unit in result.fact_units}
        if asked.unit_id not in known or asked.response_id != result.response.response_id:
            raise NotFound("the result has no claim of that id")
        others = [label for label in result.labels if label.unit_id != asked.unit_id]
        label = asked.of_run("")
        result.labels = others if asked.label is None else [*others, label]
        service.kept.put(result_id, RESULT.dump_json(result))
    return result.labels


@router.delete("/{result_id}", status_code=204)
def forget_result(result_id: ResultId, service: ServiceDep) -> None:
    """Delete the result of a check and its text; for an hour they can be restored."""
    draft = None
    with suppress(RunError):  # also a damaged result can be deleted
        draft = _draft_of(_read(service, result_id))
    trash.discard(service.kept.path(result_id))
    with suppress(NotFound):  # the text was never kept, or another result has removed it
        if draft is not None:
            trash.discard(service.drafts.path(draft))


@router.post("/{result_id}/restore", status_code=204)
def restore_result(result_id: ResultId, service: ServiceDep) -> None:
    """Restore a deleted result."""
    trash.restore(service.kept.path(result_id))
    with suppress(NotFound):
        trash.restore(service.drafts.path(_draft_of(_read(service, result_id))))


def _read(service: Service, result_id: str) -> KeptResult:
    """Return a kept result.

    Raises:
        NotFound: there is none.
        RunError: its file is damaged.
    """
    content = service.kept.get(result_id)
    try:
        return RESULT.validate_json(content)
    except ValidationError:
        raise RunError(
            f"the kept result {result_id} is damaged; delete it, and check the text again"
        ) from None


def _draft_of(result: KeptResult) -> str:
    """Return the name under which the text of a result is kept for links to it."""
    request = result.request
    draft = TextDraft(
        text=request["text"],
        question=request.get("question") or "",
        references=request.get("references", []),
    )
    return name_of(draft)
