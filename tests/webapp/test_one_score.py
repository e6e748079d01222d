"""The score of a response is that of the view `scores`, wherever it is shown."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import ufo
from tests.conftest import rows_of, write_run
from tests.webapp.conftest import opened
from ufo.pipelines.cli import main
from ufo.pipelines.reports.html_report import render_html
from ufo.schemas.results import open_results
from ufo.transforms.check_text import CheckedText
from ufo.webapp.desk import Setup

VOTES = {
    "half": {"u1": {"ref": "s"}, "u2": {"ref": "n"}},
    "nothing-decided": {"u3": {"ref": "n"}, "u4": {"ref": "-"}},
    "nothing-usable": {"u5": {"ref": "e"}},
    "no-claim": {},
}
SCORES = {"half": 0.5, "nothing-decided": 0.0, "nothing-usable": None, "no-claim": None}


def test_a_score_is_the_same_everywhere(
    base: Setup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of(VOTES, sources=("ref",), models=dict.fromkeys(VOTES, "m"))
    write_run(tmp_path, rows)
    # In views and reports.
    assert main(["report", str(tmp_path), "scores", "--json"]) == 0
    found = {row["response_id"]: row for row in json.loads(capsys.readouterr().out)}
    assert {name: row["factuality_score"] for name, row in found.items()} == SCORES
    with open_results(tmp_path) as results:
        page = render_html(results)
    shown = {
        name: re.findall(r"no score|score \d\.\d+", article)
        for article in re.findall(r"<article.*?</article>", page, re.DOTALL)
        for name in re.findall(r"<h3[^>]*>What of (.*?)\?</h3>", article)
    }
    assert shown == {  # a response without a claim is not among the most doubtful
        "half": ["score 0.500"],
        "nothing-decided": ["score 0.000"],
        "nothing-usable": ["no score"],
    }
    # In the service.
    with opened(replace(base, results=tmp_path)) as client:
        listed = client.get("/runs/r1/responses").json()["rows"]
        assert {row["response_id"]: row["factuality_score"] for row in listed} == SCORES
        for name, score in SCORES.items():
            (one,) = client.get(f"/runs/r1/responses/{name}").json()["scores"]["scores"]
            assert one["factuality_score"] == score
    # In Python.
    for response in rows["responses"]:
        own = {
            table: [row for row in rows[table] if row.response_id == response.response_id]
            for table in ("sentences", "fact_units", "evidence", "verdicts")
        }
        check = ufo.Check(CheckedText(response, **own), ["ref"], "seq", "not_factual")
        score = SCORES[response.response_id]
        assert (check.score, check.coverage is None) == (score, score is None)
        assert ("factuality" in repr(check)) == (score is not None)
