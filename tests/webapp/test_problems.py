"""Errors as problems: the status, what is said, and what to do about it."""

import logging
from typing import Any

import pytest
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ufo.schemas.errors import CostCapped, RunError, UfoError, UsageError
from ufo.transforms.llm.request import LlmError
from ufo.webapp.limits import Refused
from ufo.webapp.problems import Conflict, NotFound, log, problem, problem_of, refusal

STATUSES = (400, 401, 403, 404, 405, 409, 413, 415, 421, 422, 429, 500, 502)
REMEDIED = (400, 404, 405, 413, 415, 422, 500)


def test_each_status_has_a_title_of_its_own() -> None:
    titles = {status: problem(status, "detail").title for status in (*STATUSES, 418)}
    assert len(set(titles.values())) == len(titles)
    assert titles[418] == "The request failed"


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_has_a_remedy(status: int) -> None:
    usual = problem(status, "detail").remedy == "see /openapi.json"
    assert usual is (status not in REMEDIED)
    assert problem(status, "detail", "do that").remedy == "do that"


ERRORS: list[tuple[Exception, int, str]] = [
    (NotFound("x"), 404, "x"),
    (Conflict("x"), 409, "x"),
    (UsageError("x"), 422, "x"),
    (CostCapped("x"), 429, "x"),
    (RunError("x"), 500, "x"),
    (LlmError("x"), 502, "x"),
    (UfoError("x"), 500, "x"),
    (Refused(429, "x", "wait", 1.0), 429, "x"),
    (HTTPException(405, "x"), 405, "x"),
    (RecursionError("x"), 400, "the JSON is nested too deeply"),
    (KeyError("secret"), 500, "an error of the kind KeyError; the log has more"),
]


@pytest.mark.parametrize(
    ("error", "status", "detail"), ERRORS, ids=[type(row[0]).__name__ for row in ERRORS]
)
def test_an_error_has_its_status(
    error: Exception, status: int, detail: str, caplog: pytest.LogCaptureFixture
) -> None:
    problem = problem_of(error)
    assert problem.status == status
    assert problem.detail == detail
    # What is the fault of a request is not logged.
    with caplog.at_level(logging.ERROR, "ufo.web"):
        log(error)
    traces = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert traces == [error] * (status == 500)


@pytest.mark.parametrize(("seconds", "header"), [(0.0, "1"), (1.0, "1"), (1.1, "2"), (30.0, "30")])
def test_who_is_refused_waits_a_whole_second_at_least(seconds: float, header: str) -> None:
    assert refusal(Refused(429, "x", "wait", seconds)).headers["retry-after"] == header


def test_twenty_wrong_fields_are_told_and_not_what_they_had() -> None:
    error: dict[str, Any] = {"loc": ("body", 3, "l" * 300), "msg": "m" * 600, "input": "secret"}
    errors = problem_of(RequestValidationError([error] * 21)).errors
    assert len(errors) == 20
    assert errors[0].where == ("body.3." + "l" * 300)[:200]
    assert errors[0].message == "m" * 500
