"""Runs whose pages are tested: one that has something for every part, and one that is hostile."""

import os
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
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


def kept_parts(name: str) -> dict[str, list[str]]:
    """Return the lines of each part of a kept text by the part's first line, which begins with `$ `
    or `# `; a part ends in an empty line."""
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in _kept(name).read_text(encoding="utf-8").split("\n"):
        if line.startswith(("$ ", "# ")):
            lines = parts[line] = []
        else:
            lines.append(line)
    return {head: lines[:-1] for head, lines in parts.items()}


def same_as_kept(name: str, head: str, text: str) -> None:
    """Compare a text with the part that is kept; UFO_SNAPSHOTS=write keeps it anew."""
    parts, lines = kept_parts(name), text.split("\n")
    if os.environ.get("UFO_SNAPSHOTS") == "write":
        parts[head] = lines
        whole = "\n".join("\n".join([head, *lines, ""]) for head, lines in parts.items())
        _kept(name).write_text(whole, encoding="utf-8")
    assert lines == parts[head]


def _kept(name: str) -> Path:
    return Path(__file__).with_name(f"{name}.txt")


def page_of(folder: Path, **options: Any) -> str:
    with open_results(folder, **options) as results:
        return render_html(results)


def with_texts(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Give each response a text of its sentences, with an emoji before them: offsets are code
    points."""
    for at, response in enumerate(rows["responses"]):
        whole = "🛸 "
        for place, row in enumerate(rows["sentences"]):
            if row.response_id == response.response_id:
                end = len(whole) + len(row.text)
                rows["sentences"][place] = replace(row, start=len(whole), end=end)
                whole += f"{row.text}\n"
        rows["responses"][at] = replace(response, text=whole + "Nothing to check here.")
    return rows


@pytest.fixture(name="folder", scope="session")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("told")
    write_run(folder, with_texts(labelled_rows(rows_of)), "day", mode="all")
    return folder


@pytest.fixture(name="page", scope="session")
def _page(folder: Path) -> str:
    return page_of(folder)


@pytest.fixture(name="hostile_page", scope="session")
def _hostile_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Every text that comes from outside tries to be mark-up."""
    rows = with_texts(labelled_rows(rows_of))

    def change(table: str, **columns: Callable[[Any], Any]) -> None:
        for at, row in enumerate(rows[table]):
            rows[table][at] = replace(row, **{name: text(row) for name, text in columns.items()})

    change("sentences", text=lambda row: f"{row.text}{SCRIPT}")
    with_texts(rows)
    change(
        "responses",
        model=lambda row: f"{row.model} --> {SCRIPT} $x$\x00\x1b[31m",
        dataset=lambda row: f"{IMAGE} \u202e",
        question=lambda row: f"{STYLE}\x07{row.question}",
    )
    change("fact_units", claim=lambda row: f"{row.claim} {IMAGE}", query=lambda row: SCRIPT)
    urls = cycle(["javascript:alert(1)", f"https://a.example/{IMAGE}", "http://[bad"])
    kinds = cycle(["wiki", STYLE])
    change(
        "passages",
        title=lambda row: f"{row.title} {IMAGE}",
        url=lambda row: next(urls),
        source_category=lambda row: next(kinds),
    )
    change("evidence", citation=lambda row: SCRIPT, rationale=lambda row: f"{IMAGE}{STYLE}")
    change("failures", message=lambda row: SCRIPT, input=lambda row: IMAGE)
    rows["sources"].append(SourceStatus(9, IMAGE, "web", "unavailable", SCRIPT, "{}"))
    folder = tmp_path_factory.mktemp("hostile")
    write_run(folder, rows, "bad", mode="all")
    return page_of(folder)
