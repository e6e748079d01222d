"""Serve the files of the page, which are package data."""

from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Request
from starlette.responses import Response

from ufo.webapp.problems import NotFound

router = APIRouter(include_in_schema=False)
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".png": "image/png",
    ".woff2": "font/woff2",
}


@router.get("/")
def index(request: Request) -> Response:
    """Return the page."""
    return _file("index.html", request)


@router.get("/page/{name:path}")
def file(name: str, request: Request) -> Response:
    """Return a file of the page."""
    return _file(name, request)


def _file(name: str, request: Request) -> Response:
    found = _files().get(name)
    if found is None:
        raise NotFound("the page has no file of that name")
    content = found.read_bytes()
    tag = f'"{sha256(content).hexdigest()[:16]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    ending = name[name.rfind(".") :]
    return Response(content, media_type=_TYPES[ending], headers=headers)


@cache
def _files() -> dict[str, Traversable]:
    """Return the files by their names below the folder."""
    found: dict[str, Traversable] = {}

    def walk(folder: Traversable, prefix: str) -> None:
        for one in folder.iterdir():
            if one.is_dir():
                walk(one, f"{prefix}{one.name}/")
            elif one.name[one.name.rfind(".") :] in _TYPES:
                found[prefix + one.name] = one

    walk(files("ufo.webapp") / "page", "")
    return found
