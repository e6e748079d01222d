"""Runs whose pages are tested: one that has something for every part, and one that is hostile."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from tests.schemas.labelled import labelled_rows
from ufo.pipelines.reports.html_report import render_html
from ufo.schemas.records import SourceStatus
from ufo.schemas.results import open_results

SCRIPT = "</script><script>alert(1)</script>"
IMAGE = '"><img src=http://evil.example/x onerror=alert(1)>'
STYLE = "</style><style>@import url(http://evil.example/a.css)"


def same_as_kept(name: str, found: str) -> None:
    """Compare a text with the one that is kept; UFO_SNAPSHOTS=write keeps it anew."""
    path = Path(__file__).with_name(f"{name}.txt")
    if os.environ.get("UFO_SNAPSHOTS") == "write":
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


def page_of(folder: Path, **options: Any) -> str:
    with open_results(folder, **options) as results:
        return render_html(results)


def told(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Give each response a text of its sentences, with an emoji before them: offsets are code
    points."""
    for response in rows["responses"]:
        whole = "🛸 "
        for place, row in enumerate(rows["sentences"]):
            if row.response_id == response.response_id:
                start = len(whole)
                whole += row.text
                end = len(whole)
                rows["sentences"][place] = replace(row, start=start, end=end)
                whole += "\n"
        place = rows["responses"].index(response)
        rows["responses"][place] = replace(response, text=whole + "Nothing to check here.")
    return rows


@pytest.fixture(name="told_rows", scope="session")
def _told_rows() -> Callable[..., Any]:
    """A function: the rows of a run of that mode, labelled, each with its text."""
    return lambda mode="all": told(labelled_rows(rows_of, mode))


@pytest.fixture(name="folder", scope="session")
def _folder(tmp_path_factory: pytest.TempPathFactory, told_rows: Callable[..., Any]) -> Path:
    folder = tmp_path_factory.mktemp("told")
    write_run(folder, told_rows(), "day", mode="all")
    return folder


@pytest.fixture(name="page", scope="session")
def _page(folder: Path) -> str:
    return page_of(folder)


@pytest.fixture(name="hostile_page", scope="session")
def _hostile_page(hostile_folder: Path) -> str:
    return page_of(hostile_folder)


@pytest.fixture(name="hostile_folder", scope="session")
def _hostile_folder(
    tmp_path_factory: pytest.TempPathFactory, told_rows: Callable[..., Any]
) -> Path:
    """Every text that comes from outside tries to be mark-up."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = told_rows()
    rows["sentences"] = [replace(row, text=f"{row.text}{SCRIPT}") for row in rows["sentences"]]
    told(rows)
    rows["responses"] = [
        replace(
            row,
            model=f"{row.model} --> {SCRIPT} $x$\x00\x1b[31m",
            dataset=f"{IMAGE} \u202e",
            question=f"{STYLE}\x07{row.question}",
        )
        for row in rows["responses"]
    ]
    rows["fact_units"] = [
        replace(row, claim=f"{row.claim} {IMAGE}", query=SCRIPT) for row in rows["fact_units"]
    ]
    rows["passages"] = [
        replace(
            row,
            title=f"{row.title} {IMAGE}",
            url=("javascript:alert(1)", f"https://a.example/{IMAGE}", "http://[bad")[i % 3],
            source_category=STYLE if i % 2 else "wiki",
        )
        for i, row in enumerate(rows["passages"])
    ]
    rows["evidence"] = [
        replace(row, citation=SCRIPT, rationale=f"{IMAGE}{STYLE}") for row in rows["evidence"]
    ]
    rows["failures"] = [replace(row, message=SCRIPT, input=IMAGE) for row in rows["failures"]]
    rows["sources"].append(SourceStatus(9, IMAGE, "web", "unavailable", SCRIPT, "{}"))
    write_run(folder, rows, "bad", mode="all")
    return folder
