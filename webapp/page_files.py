"""Serve the files of the page, which are package data."""

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from ufo.webapp.problems import NotFound

router = APIRouter(include_in_schema=False)
_FILES = StaticFiles(packages=[("ufo.webapp", "page")])


@router.get("/")
async def index(request: Request) -> Response:
    """Return the page."""
    return await file("index.html", request)


@router.get("/page/{name:path}")
async def file(name: str, request: Request) -> Response:
    """Return a file of the page, or 304 if the browser's copy is current."""
    try:
        response = await _FILES.get_response(name, request.scope)
    except HTTPException as error:
        raise NotFound("the page has no file of that name") from error
    response.headers["Cache-Control"] = "no-cache"
    return response
