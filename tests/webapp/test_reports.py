"""Reports and tables of a run as CSV: which there are, their rows in order, and safe cells."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import rows_of, write_run
from tests.webapp.conftest import VOTES, opened
from ufo.schemas.tables import KEYS, TABLES
from ufo.schemas.views import load_views
from ufo.webapp.service import Setup


def rows(client: httpx.Client, name: str, **params: str) -> list[dict[str, str]]:
    answer = client.get(f"/reports/{name}", params=params)
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_reports_are_listed_that_have_rows(client: httpx.Client) -> None:
    reports = {one["name"]: one for one in client.get("/reports").json()}
    assert reports.keys() >= {"scores", "source_contributions"}
    assert reports.keys().isdisjoint({"recall_scores", "corrected_scores"})
    assert [name for name in reports if not rows(client, name)] == []
    views = {view.name: view for view in load_views()}
    scores = reports["scores"]
    assert scores["title"] == views["scores"].title
    assert scores["help"] == views["scores"].summary
    assert scores["group"] == "Scores"


def test_reports_are_of_the_newest_run_unless_another_is_named(client: httpx.Client) -> None:
    assert {row["run"] for row in rows(client, "scores")} == {"newer"}
    assert {row["run"] for row in rows(client, "scores", run="older")} == {"older"}
    # Only the older run has two models.
    newest, older = ({one["name"] for one in client.get("/reports", params=params).json()}
                     for params in ({}, {"run": "older"}))  # fmt: skip
    assert "model_comparison" in older - newest


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_in_the_order_of_its_keys(client: httpx.Client, name: str) -> None:
    table = rows(client, name, run="older")
    keys = [tuple(row[key] for key in KEYS[name]) for row in table]
    numbers = [at for at, key in enumerate(KEYS[name]) if key in ("sentence_index", "position")]
    ordered = sorted(
        keys, key=lambda key: [int(k) if at in numbers else k for at, k in enumerate(key)]
    )
    assert keys == ordered


def test_a_report_is_in_its_order(client: httpx.Client) -> None:
    (view,) = (view for view in load_views() if view.name == "scores")
    assert view.order == "run, mode, source, response_id"
    table = rows(client, "scores", run="older", format="csv")
    order = [(row["mode"], row["source"], row["response_id"]) for row in table]
    assert len({mode for mode, *_ in order}) > 1
    assert order == sorted(order)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("band_of", id="a part of reports that takes parameters"),
        pytest.param("nothing", id="a name of nothing"),
        pytest.param("scores; DROP VIEW scores", id="SQL"),
    ],
)
def test_what_is_no_report_names_those_there_are(client: httpx.Client, name: str) -> None:
    answer = client.get(f"/reports/{name}")
    assert answer.status_code == 404
    message = answer.json()["detail"]
    assert message.startswith("no report of that name; there are: agreement, category_shares, ")
    assert "band_of" not in message


def test_another_format_is_refused(client: httpx.Client) -> None:
    assert client.get("/reports/scores", params={"format": "json"}).status_code == 422


def test_a_report_is_a_file_of_its_name_under_its_columns(client: httpx.Client) -> None:
    answer = client.get("/reports/cost")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="cost.csv"'
    assert answer.text.startswith("run,")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        pytest.param("=1+1", "'=1+1", id="a formula"),
        pytest.param('He said "no",\nso it is.', 'He said "no",\nso it is.', id="any text"),
        pytest.param(None, "", id="nothing"),
    ],
)
def test_a_cell_is_no_formula(base: Setup, tmp_path: Path, text: Any, cell: str) -> None:
    tables = rows_of(VOTES)
    tables["responses"] = [replace(row, question=text) for row in tables["responses"]]
    write_run(tmp_path, tables)
    with opened(replace(base, results=tmp_path)) as client:
        assert {row["question"] for row in rows(client, "responses")} == {cell}
