"""The score of a response is that of the view `scores`, wherever it is shown."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import ufo
from ufo.pipelines.cli import main
from ufo.pipelines.reports.html_report import render_html
from ufo.schemas.results import open_results
from ufo.transforms.check_text import CheckedText
from ufo.webapp.desk import Setup
from ufo.webapp.server import served

VOTES = {
    "half": {"u1": {"ref": "s"}, "u2": {"ref": "n"}},
    "nothing-decided": {"u3": {"ref": "n"}, "u4": {"ref": "-"}},
    "nothing-usable": {"u5": {"ref": "e"}},
    "no-claim": {},
}
SCORES = {"half": 0.5, "nothing-decided": 0.0, "nothing-usable": None, "no-claim": None}


@pytest.fixture(scope="module")
def rows(rows_of: Callable[..., Any]) -> Any:
    return rows_of(VOTES, sources=("ref",), models=dict.fromkeys(VOTES, "m"))


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, write_run: Callable[..., Path]
) -> Path:
    found = tmp_path_factory.mktemp("one-score")
    write_run(found, rows)
    return found


def test_in_views_and_reports(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder), "scores", "--json"]) == 0
    found = {row["response_id"]: row for row in json.loads(capsys.readouterr().out)}
    assert {name: row["factuality_score"] for name, row in found.items()} == SCORES
    with open_results(folder) as results:
        page = render_html(results)
    articles = re.findall(r"<article.*?</article>", page, re.DOTALL)
    shown = {
        name: re.findall(r"no score|score \d\.\d+", article)
        for article in articles
        for name in re.findall(r"<h3[^>]*>What of (.*?)\?</h3>", article)
    }
    assert shown == {  # a response without a claim is not among the most doubtful
        "half": ["score 0.500"],
        "nothing-decided": ["score 0.000"],
        "nothing-usable": ["no score"],
    }


def test_in_the_service(folder: Path, base: Setup) -> None:
    with (
        served(replace(base, results=folder)) as address,
        httpx.Client(base_url=address, timeout=60, trust_env=False) as client,
    ):
        rows = client.get("/runs/r1/responses").json()["rows"]
        assert {row["response_id"]: row["factuality_score"] for row in rows} == SCORES
        for name, score in SCORES.items():
            (found,) = client.get(f"/runs/r1/responses/{name}").json()["scores"]["scores"]
            assert found["factuality_score"] == score


def test_in_python(rows: Any) -> None:
    for response in rows["responses"]:
        own = {
            table: [row for row in rows[table] if row.response_id == response.response_id]
            for table in ("sentences", "fact_units", "evidence", "verdicts")
        }
        found = ufo.Check(CheckedText(response, **own), ["ref"], "seq", "not_factual")
        score = SCORES[response.response_id]
        assert (found.score, found.coverage is None) == (score, score is None)
        assert ("factuality" in repr(found)) == (score is not None)
