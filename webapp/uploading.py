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
from ufo.webapp import request_models
from ufo.webapp.browsing import RunName
from ufo.webapp.problems import Conflict
from ufo.webapp.request_models import flags_of, job_of
from ufo.webapp.service import ServiceDep
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
    request: Request, asked: Annotated[request_models.UploadOptions, Query()], service: ServiceDep
) -> UploadStatus:
    """Upload a file of responses, which is evaluated in the background as an ordinary run."""
    named_columns(asked.map or "")
    job_of(service, asked, asked.sources)  # reports wrong options now
    flags = flags_of(service, asked, asked.sources)
    if sources := asked.sources or service.setup.sources:
        flags["sources"] = ",".join(map(str, sources))
    flags["index"] = os.path.abspath(service.setup.index)
    if asked.map:
        flags["map"] = asked.map
    flags.setdefault("judge", service.settings.judge.name)
    most = service.setup.limits.upload_bytes
    return (await service.uploads.take(asked.name, request.stream(), flags, most)).status


@router.post(
    "/columns",
    # The body may be missing: a file may be empty.
    openapi_extra=_body(f"A file, or its first and last {PART_BYTES:,} bytes", required=False),
)
async def columns(request: Request, size: Annotated[int, Query(ge=0)] = 0) -> Recognised:
    """Return the format of a file of `size` bytes, and the key that each column is read as."""
    sent = bytearray()
    async for chunk in request.stream():
        sent += chunk
        if len(sent) > 2 * PART_BYTES:
            break
    ends = bytes(sent[: 2 * PART_BYTES])
    return recognise(ends[:PART_BYTES], ends[PART_BYTES:], max(size, len(sent)))


@router.get("/upload")
async def list_uploads(service: ServiceDep) -> list[UploadStatus]:
    """Return the uploads, the newest first."""
    return [one.status for one in service.uploads.listed()]


@router.get("/upload/{upload_id}")
async def show_upload(upload_id: UploadId, service: ServiceDep) -> UploadStatus:
    """Return the state of an upload."""
    return service.uploads.by_id(upload_id).status


async def known_upload(upload_id: UploadId, service: ServiceDep) -> Upload:
    """Return the upload; an unknown one is reported before a stream begins."""
    return service.uploads.by_id(upload_id)


@router.get("/upload/{upload_id}/events", response_class=EventSourceResponse)
async def follow_upload(
    upload: Annotated[Upload, Depends(known_upload)], service: ServiceDep
) -> AsyncIterator[ServerSentEvent]:
    """Stream the state of an upload until it ends, at each change and at regular intervals."""
    async for status in upload.states(service.setup.limits.pulse_seconds):
        yield ServerSentEvent(event="status", data=status)


@router.delete("/upload/{upload_id}")
async def cancel_upload(upload_id: UploadId, service: ServiceDep) -> UploadStatus:
    """Stop an upload that is under way, which can then be resumed; delete one that is over, but
    keep its finished run."""
    return (await service.uploads.cancel(upload_id)).status


@router.post("/upload/{upload_id}/restore")
async def restore_upload(upload_id: UploadId, service: ServiceDep) -> UploadStatus:
    """Bring back an upload that was deleted within the last hour."""
    return service.uploads.restore(upload_id).status


@router.post("/upload/{upload_id}/resume", status_code=202)
async def resume_upload(upload_id: UploadId, service: ServiceDep) -> UploadStatus:
    """Resume an upload that stopped or failed, or whose service ended."""
    return (await service.uploads.resume(upload_id)).status


@router.get("/upload/{upload_id}/parquet", response_class=FileResponse, responses=_ZIP)
def download_upload(upload_id: UploadId, service: ServiceDep) -> FileResponse:
    """Return the Parquet files of a finished upload as a zip."""
    upload = service.uploads.by_id(upload_id)
    if upload.status.run is None:
        raise Conflict(f"the upload is {upload.status.state}, so there is nothing to download")
    return _zip(service.runs.by_name(upload.status.run))


@router.get("/runs/{run}/parquet", response_class=FileResponse, responses=_ZIP)
def download_run(run: RunName, service: ServiceDep) -> FileResponse:
    """Return the Parquet files of a run as a zip, as its manifest lists them."""
    return _zip(service.runs.by_name(run))


def _zip(run: Run) -> FileResponse:
    descriptor, path = tempfile.mkstemp(prefix="ufo-", suffix=".zip")
    # Parquet is already compressed.
    with os.fdopen(descriptor, "wb") as out, zipfile.ZipFile(out, "w") as archive:
        archive.write(run.folder / MANIFEST, f"run={run.name}/{MANIFEST}")
        for files in run.files.values():
            for file in files:
                inside = f"run={run.name}/{file.relative_to(run.folder).as_posix()}"
                archive.write(file, inside)
    # The name is fixed: that of a run may have characters that a header cannot have.
    return FileResponse(
        path,
        media_type="application/zip",
        filename="run.zip",
        background=BackgroundTask(FilePath(path).unlink),
    )
