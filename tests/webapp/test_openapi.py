"""The service against its own OpenAPI document: nothing that is sent makes it fail."""

import html
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ufo.webapp.limits import ServiceLimits
from ufo.webapp.server import serve_in_thread
from ufo.webapp.service import Setup

EXAMPLES = 10
JSON = {"Content-Type": "application/json"}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def address(base: Setup, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    limits = ServiceLimits(16 << 20, 1 << 20, 10_000_000, 10_000_000, checks=100)
    # What is uploaded is not evaluated here: each upload would be a process.
    results = tmp_path_factory.mktemp("tried") / "results"
    shutil.copytree(base.results, results)
    quick = replace(base, limits=limits, evaluate=("true",), results=results)
    with serve_in_thread(quick) as url:
        yield f"{url}/openapi.json"


@pytest.fixture(scope="module")
def document(address: str) -> Any:
    return schemathesis.openapi.from_url(address)


OPERATIONS = (
    """
GET /health, GET /options, GET /judges, GET /sources, GET /examples, POST /extract, POST /search,
POST /passages, POST /verify, POST /check, POST /score, POST /drafts,
GET /drafts/{draft_id}, GET /results/{result_id}, GET /results/{result_id}/report.html,
POST /results/{result_id}/labels, DELETE /results/{result_id}, POST /results/{result_id}/restore,
GET /runs/{run}/response.html, GET /runs, GET /runs/{run}, PATCH /runs/{run},
DELETE /runs/{run}, POST /runs/{run}/restore, GET /runs/{run}/responses,
GET /runs/{run}/responses/{response_id}, GET /runs/{run}/report.html, POST /runs/{run}/labels,
GET /runs/{run}/labels.csv, GET /runs/{run}/contradicted, GET /runs/{run}/contradicted.csv,
GET /runs/{run}/overview.html, GET /runs/{run}/compare.html,
GET /runs/{run}/parquet, GET /runs/{run}/reports.html, GET /reports, GET /reports/{name},
POST /upload, GET /upload, GET /upload/{upload_id}, GET /upload/{upload_id}/events,
DELETE /upload/{upload_id}, GET /upload/{upload_id}/parquet, POST /upload/{upload_id}/resume,
POST /upload/{upload_id}/restore, POST /columns
""".replace("\n", " ")
    .strip()
    .split(", ")
)


@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_makes_the_service_fail(document: Any, name: str) -> None:
    method, path = name.split()
    operation = document[path][method]
    anything = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)

    @hypothesis.settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @hypothesis.given(st.one_of(*(operation.as_strategy(generation_mode=m) for m in anything)))
    def tried(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(checks=CHECKS)

    tried()


@pytest.mark.slow
def test_at_the_bounds_of_every_field_answers_are_as_described(
    address: str, tmp_path: Path
) -> None:
    """Neither a server error, nor a status, type or shape that the document lacks."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", address, "--no-color"]
    command += ["--phases", "coverage", "--seed", "1", "--generation-database", "none"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, "\n".join(line[:300] for line in done.stdout.splitlines())
    assert re.search(r"Tested: +46\b", done.stdout)


def test_the_document_and_the_interface_for_people_have_every_operation(
    document: Any, client: httpx.Client
) -> None:
    operations = [result.ok() for result in document.get_all_operations()]
    assert sorted(f"{one.method.upper()} {one.path}" for one in operations) == sorted(OPERATIONS)
    assert client.get("/openapi.json").json()["openapi"].startswith("3.1")
    assert client.get("/redoc").status_code == 404
    shown = client.get("/docs").text
    for name in OPERATIONS:
        assert f"<code>{name}</code>" in shown
    assert "<script" not in shown


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ("GET /runs/{run}/overview.html", "text/html"),
        ("GET /runs/{run}/reports.html", "text/html"),
        ("GET /runs/{run}/compare.html", "text/html"),
        ("GET /runs/{run}/report.html", "text/html"),
        ("GET /results/{result_id}/report.html", "text/html"),
        ("GET /runs/{run}/response.html", "text/html"),
        ("GET /runs/{run}/labels.csv", "text/csv"),
        ("GET /runs/{run}/contradicted.csv", "text/csv"),
        ("GET /reports/{name}", "text/csv"),
    ],
)
def test_a_page_or_table_is_described_as_one(
    client: httpx.Client, operation: str, kind: str
) -> None:
    method, path = operation.split()
    described = client.get("/openapi.json").json()["paths"][path][method.lower()]["responses"]
    assert [status for status in described if status.startswith("2")] == ["200"]
    assert list(described["200"]["content"]) == [kind]


def test_every_step_has_a_worked_call_that_works(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    shown = client.get("/docs").text
    for path in ("/extract", "/search", "/passages", "/verify", "/check", "/score"):
        text = document["paths"][path]["post"]["description"]
        calls = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        assert calls, path
        for call in calls:
            assert f'<pre tabindex="0">{html.escape(call)}</pre>' in shown
            answer = ""
            for command in call.split("|\n"):
                _curl, *options, address, _json, body = shlex.split(command)
                assert set(options) <= {"-s", "-N"}
                content = answer if body == "@-" else body
                asked = client.post(f"/{address.partition('/')[2]}", content=content, headers=JSON)
                assert asked.status_code == 200, asked.text
                answer = asked.text
