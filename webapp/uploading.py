"""Serve `/upload`: files of responses, evaluated in the background with progress and cancel."""

import os
import tempfile
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from ufo.schemas.tables import MANIFEST, Run
from ufo.transforms.read import named_columns
from ufo.transforms.recognise import PART_BYTES, Recognised, recognise
from ufo.webapp import models
from ufo.webapp.browsing import RunName
from ufo.webapp.desk import AtDesk
from ufo.webapp.models import flags_of, job_of
from ufo.webapp.problems import Conflict
from ufo.webapp.uploads import Upload, UploadStatus

router = APIRouter(tags=["uploads"])
UploadId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
_ZIP: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/zip": {}}, "description": "The run's folder, zipped"}
}


def _body(description: str, required: bool = True) -> dict[str, Any]:
    content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return {"requestBody": {"required": required, "description": description, "content": content}}


@router.post(
    "/upload",
    status_code=202,
    openapi_extra=_body("A file as for `ufo evaluate --input`; its format is detected"),
)
async def upload(
    request: Request, asked: Annotated[models.UploadOptions, Query()], desk: AtDesk
) -> UploadStatus:
    """Upload a file of responses, which is evaluated in the background as an ordinary run."""
    named_columns(asked.map or "")
    job_of(desk, asked, asked.sources)  # reports wrong options now
    flags = flags_of(desk, asked, asked.sources)
    if sources := asked.sources or desk.setup.sources:
        flags["sources"] = ",".join(map(str, sources))
    flags["index"] = os.path.abspath(desk.setup.index)
    if asked.map:
        flags["map"] = asked.map
    flags.setdefault("judge", desk.settings.judge.name)
    most = desk.setup.limits.upload_bytes
    return (await desk.uploads.take(asked.name, request.stream(), flags, most)).status


@router.post(
    "/columns",
    # An empty file is one, too.
    openapi_extra=_body(f"A file, or its first and last {PART_BYTES:,} bytes", required=False),
)
async def columns(request: Request, size: Annotated[int, Query(ge=0)] = 0) -> Recognised:
    """Return what a file of `size` bytes is, and the key that each column is read as."""
    sent = bytearray()
    async for chunk in request.stream():
        sent += chunk
        if len(sent) > 2 * PART_BYTES:
            break
    ends = bytes(sent[: 2 * PART_BYTES])
    return recognise(ends[:PART_BYTES], ends[PART_BYTES:], max(size, len(sent)))


@router.get("/upload")
async def list_uploads(desk: AtDesk) -> list[UploadStatus]:
    """Return the uploads, the newest first."""
    return [one.status for one in desk.uploads.listed()]


@router.get("/upload/{upload_id}")
async def show_upload(upload_id: UploadId, desk: AtDesk) -> UploadStatus:
    """Return the state of an upload."""
    return desk.uploads.one(upload_id).status


async def found(upload_id: UploadId, desk: AtDesk) -> Upload:
    """Return the upload; an unknown one is reported before a stream begins."""
    return desk.uploads.one(upload_id)


@router.get("/upload/{upload_id}/events", response_class=EventSourceResponse)
async def follow_upload(
    one: Annotated[Upload, Depends(found)], desk: AtDesk
) -> AsyncIterator[ServerSentEvent]:
    """Stream the state of an upload, at each change and as often as that of a check, to its end."""
    async for status in one.states(desk.setup.limits.pulse_seconds):
        yield ServerSentEvent(event="status", data=status)


@router.delete("/upload/{upload_id}")
async def cancel_upload(upload_id: UploadId, desk: AtDesk) -> UploadStatus:
    """Stop an upload that is under way, which can then be resumed; delete one that is over, but
    keep its finished run."""
    return (await desk.uploads.cancel(upload_id)).status


@router.post("/upload/{upload_id}/restore")
async def restore_upload(upload_id: UploadId, desk: AtDesk) -> UploadStatus:
    """Bring back an upload that was deleted within the last hour."""
    return desk.uploads.restore(upload_id).status


@router.post("/upload/{upload_id}/resume", status_code=202)
async def resume_upload(upload_id: UploadId, desk: AtDesk) -> UploadStatus:
    """Resume an upload that stopped or failed, or whose service ended."""
    return (await desk.uploads.resume(upload_id)).status


@router.get("/upload/{upload_id}/parquet", response_class=FileResponse, responses=_ZIP)
def download_upload(upload_id: UploadId, desk: AtDesk) -> FileResponse:
    """Return the Parquet files of a finished upload as a zip."""
    one = desk.uploads.one(upload_id)
    if one.status.run is None:
        raise Conflict(f"the upload is {one.status.state}, so there is nothing to download")
    return _zipped(desk.runs.named(one.status.run))


@router.get("/runs/{run}/parquet", response_class=FileResponse, responses=_ZIP)
def download_run(run: RunName, desk: AtDesk) -> FileResponse:
    """Return the Parquet files of a run as a zip, as its manifest lists them."""
    return _zipped(desk.runs.named(run))


def _zipped(run: Run) -> FileResponse:
    descriptor, path = tempfile.mkstemp(prefix="ufo-", suffix=".zip")
    # Parquet is already compressed.
    with os.fdopen(descriptor, "wb") as out, zipfile.ZipFile(out, "w") as archive:
        archive.write(run.folder / MANIFEST, f"run={run.name}/{MANIFEST}")
        for files in run.files.values():
            for file in files:
                inside = f"run={run.name}/{file.relative_to(run.folder).as_posix()}"
                archive.write(file, inside)
    # A run's name may have characters that no header can; the file's name is ours.
    return FileResponse(
        path,
        media_type="application/zip",
        filename="run.zip",
        background=BackgroundTask(FilePath(path).unlink),
    )
