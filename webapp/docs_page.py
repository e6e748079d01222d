"""Render `/docs` from the OpenAPI document, as a page without scripts."""

import re
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

router = APIRouter(include_in_schema=False)
_FENCE = re.compile(r"^```(?:sh)?(?:\n|\Z)", re.MULTILINE)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ufo: the interface</title>
<link rel="icon" href="/page/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/page/style/base.css">
<link rel="stylesheet" href="/page/style/parts.css">
</head>
<body>
<main id="main" class="page docs">
<h1>The interface of ufo {version}</h1>
<p>{about} <a href="/openapi.json">/openapi.json</a> has every field. <a href="/">The page</a></p>
{parts}
</main>
</body>
</html>
"""


@router.get("/docs")
def docs(request: Request) -> HTMLResponse:
    """Return the page that describes each operation."""
    document = request.app.openapi()
    parts: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            section = _operation(f"{method.upper()} {path}", operation)
            parts.setdefault(operation["tags"][0], []).append(section)
    return HTMLResponse(
        _PAGE.format(
            version=escape(document["info"]["version"]),
            about=escape(document["info"]["description"]),
            parts="\n".join(
                f'<section class="card"><h2>{escape(tag)}</h2>{"".join(sections)}</section>'
                for tag, sections in parts.items()
            ),
        )
    )


def _operation(name: str, operation: dict[str, Any]) -> str:
    return f"<h3><code>{escape(name)}</code></h3>{_prose(operation.get('description', ''))}"


def _prose(text: str) -> str:
    """Return a description as HTML: paragraphs and fenced code."""
    parts = _FENCE.split(text)
    return "".join(
        f'<pre tabindex="0">{escape(part)}</pre>' if index % 2 else _paragraphs(part)
        for index, part in enumerate(parts)
    )


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{escape(one)}</p>" for one in text.split("\n\n") if one.strip())
