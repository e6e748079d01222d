"""Return errors as RFC 9457 problem details, with a remedy."""

import json
import logging
import math
from collections.abc import Mapping, Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from ufo.pipelines.options.doors import in_fields
from ufo.schemas.errors import (
    CostCapped,
    DoesNotFit,
    IndexUnusable,
    RunError,
    SourceUnavailable,
    UfoError,
    UsageError,
)
from ufo.transforms.llm.request import LlmError
from ufo.webapp.limits import Refused
from ufo.webapp.response_models import FieldError, Problem

MEDIA_TYPE = "application/problem+json"
_SHOWN = 20
_TITLES = {
    400: "The request cannot be read",
    401: "A token is needed",
    403: "This is closed to others",
    404: "There is no such thing",
    405: "That cannot be done here",
    409: "It does not fit what there is",
    413: "Too large",
    415: "Of another kind than expected",
    421: "Another host is meant",
    422: "Something in the request is wrong",
    429: "Too many requests",
    500: "The service failed",
    502: "The model's endpoint failed",
}
_REMEDIES = {
    400: "send what /openapi.json describes",
    404: "see /openapi.json for what there is",
    405: "see /openapi.json for what each address takes",
    413: "send less at once; long inputs are for /upload",
    415: "send the content type that /openapi.json names",
    422: "correct the fields named under `errors`; /openapi.json has what is allowed",
    500: "try again; if it stays, report it with what the service's log says",
}


class NotFound(Exception):
    """An unknown run, response, report or upload; the message names the known ones."""


class Conflict(Exception):
    """A request that does not fit the state of its object."""


def problem(
    status: int,
    detail: str,
    remedy: str | None = None,
    errors: Sequence[FieldError] = (),
    title: str | None = None,
) -> Problem:
    """Return a problem; by default with the title and the remedy of its status."""
    return Problem(
        title=title or _TITLES.get(status, "The request failed"),
        status=status,
        detail=detail,
        remedy=remedy or _REMEDIES.get(status, "see /openapi.json"),
        errors=list(errors),
    )


def answer(fault: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response that reports a problem."""
    # Lone surrogates from the request are escaped, since UTF-8 cannot encode them.
    body = json.dumps(fault.model_dump(), ensure_ascii=True).encode()
    return Response(body, fault.status, dict(headers or {}), MEDIA_TYPE)


def refusal(error: Refused) -> Response:
    """Return the response to a request that is refused for now."""
    wait = str(max(1, math.ceil(error.seconds)))
    return answer(problem(error.status, error.detail, error.remedy), {"Retry-After": wait})


# The status and the remedy for each kind of error; the first that fits is used.
_KINDS: tuple[tuple[type[Exception], int, str | None], ...] = (
    (NotFound, 404, "choose one that there is: the page and GET /runs list the runs"),
    (Conflict, 409, "ask for its state first, and again when it is over"),
    (SourceUnavailable, 409, "start the service with what the message names, or ask others"),
    (IndexUnusable, 409, "leave out what the message names, or build the index anew"),
    (DoesNotFit, 409, "change what the message names"),
    (UsageError, 422, "correct what the message names"),
    (CostCapped, 429, "start the service with a higher cap"),
    (RunError, 500, "the message names the file or endpoint; mend that"),
    (LlmError, 502, "check the model's name and the endpoint; `ufo doctor` shows what it can do"),
    (UfoError, 500, None),
)


def problem_of(error: BaseException) -> Problem:
    """Return the problem for an error."""
    if isinstance(error, Refused):
        return problem(error.status, error.detail, error.remedy)
    if isinstance(error, HTTPException):
        return problem(error.status_code, str(error.detail))
    if isinstance(error, RequestValidationError):
        return problem(422, "the request does not fit what is described", errors=_fields(error))
    if isinstance(error, RecursionError):
        return problem(400, "the JSON is nested too deeply")
    for kind, status, remedy in _KINDS:
        if isinstance(error, kind):
            return problem(status, in_fields(str(getattr(error, "message", error))), remedy)
    # The message of an unknown error may reveal secrets, so it goes only to the log.
    return problem(500, f"an error of the kind {type(error).__name__}; the log has more")


def log(error: BaseException) -> None:
    """Log an error that is not the fault of a request, with its traceback."""
    if problem_of(error).status == 500:
        logging.getLogger("ufo.web").error("a request failed", exc_info=error)


def install(app: FastAPI) -> None:
    """Convert every error of the app to a problem."""

    async def handle(request: Request, error: Exception) -> Response:
        if isinstance(error, Refused):
            return refusal(error)
        log(error)
        headers = getattr(error, "headers", None)
        if isinstance(error, HTTPException) and error.status_code == 405:
            # The router names the methods of one route, and others may have the same path.
            headers = {"Allow": ", ".join(sorted(_methods_at(request)))}
        return answer(problem_of(error), headers)

    others = (Refused, HTTPException, RequestValidationError, RecursionError, Exception)
    for kind in (*others, *(kind for kind, _, _ in _KINDS)):
        app.add_exception_handler(kind, handle)


def _methods_at(request: Request) -> set[str]:
    """Return the methods of all routes at the path of a request."""
    routes = (route for route in request.app.routes if isinstance(route, Route))
    at_path = (route for route in routes if route.matches(request.scope)[0] != Match.NONE)
    return {method for route in at_path for method in route.methods or ()}


def _fields(error: RequestValidationError) -> list[FieldError]:
    return [
        FieldError(
            where=".".join(map(str, detail["loc"]))[:200],
            message=str(detail["msg"]).removeprefix("Value error, ")[:500],
        )
        for detail in error.errors()[:_SHOWN]
    ]
