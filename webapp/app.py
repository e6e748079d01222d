"""Create the application: its routes, and the middleware around them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from ufo.webapp import (
    about,
    browsing,
    checking,
    docs_page,
    drafts,
    page_files,
    problems,
    reports,
    results,
    steps,
    uploading,
)
from ufo.webapp.guard import Guard
from ufo.webapp.response_models import Problem
from ufo.webapp.service import Service, Setup

_TITLE = "ufo"
_ABOUT = "How factual is LLM output? Each step of ufo, and finished runs. Errors are RFC 9457."


_PARTS = (about, steps, checking, drafts, results, browsing, reports, uploading)


def create_app(setup: Setup) -> FastAPI:
    """Return the service for a set-up."""
    service = Service(setup)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        tidying = asyncio.create_task(service.tidy())
        yield
        tidying.cancel()
        await service.close()

    app = FastAPI(
        title=_TITLE,
        version=setup.version,
        description=_ABOUT,
        separate_input_output_schemas=False,  # two models of one title break generated clients
        docs_url=None,  # FastAPI's page would load scripts from elsewhere; `docs_page` replaces it
        redoc_url=None,
        lifespan=life,
        generate_unique_id_function=lambda route: str(route.name),
        responses={
            "4XX": _problem("What is wrong with the request"),
            "5XX": _problem("What the service could not do"),
            422: _problem("A field or an option is wrong"),
        },
    )
    app.state.service = service
    problems.install(app)
    for part in _PARTS:
        app.include_router(part.router)
    for page in (page_files, docs_page):
        app.include_router(page.router)
    app.add_middleware(Guard, token=setup.token, limits=setup.limits)
    return app


def _problem(description: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "model": Problem,
        "description": description,
        "content": {problems.MEDIA_TYPE: {"schema": schema}},
    }
