"""What people say of verdicts on the page: kept beside the run, changed, read back."""

import csv
import io
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.webapp.conftest import opened
from ufo.pipelines.labels import import_sheet
from ufo.schemas.results import open_results
from ufo.webapp.service import Setup


@pytest.fixture
def runs(base: Setup, tmp_path: Path) -> Path:
    """The runs, in a folder that labels can be kept in; one of them one folder down."""
    shutil.copytree(base.results, tmp_path / "runs")
    shutil.copytree(base.results / "run=older", tmp_path / "runs" / "inner" / "run=older")
    return tmp_path / "runs"


@pytest.fixture
def client(base: Setup, runs: Path) -> Iterator[httpx.Client]:
    with opened(replace(base, results=runs)) as client:
        yield client


def say(client: httpx.Client, unit: str, run: str = "older", **fields: Any) -> Any:
    body = {"response_id": "r1", "unit_id": unit, **fields}
    response = client.post(f"/runs/{run}/labels", json=body)
    assert response.status_code == 200, response.text
    return {row["unit_id"]: (row["label"], row["note"]) for row in response.json()}


def corrected(client: httpx.Client, run: str = "older") -> str | None:
    """How many labels correct the score."""
    report = client.get("/reports/corrected_scores", params={"run": run}).text
    rows = csv.DictReader(io.StringIO(report))
    labelled = (r["n_labelled"] for r in rows if (r["level"], r["mode"]) == ("run", "seq"))
    return next(labelled, None)


def test_what_is_said_is_kept_changed_taken_back_and_corrects_the_score(
    client: httpx.Client, runs: Path
) -> None:
    assert corrected(client) is None
    assert say(client, "u1", label=0) == {"u1": (0, None)}
    assert say(client, "u1", label=1) == {"u1": (1, None)}
    labels = say(client, "u2", label=1, note="=read it")
    assert labels == {"u1": (1, None), "u2": (1, "=read it")}
    assert corrected(client) == "2"
    whole = client.get("/runs/older/responses/r1").json()
    assert {row["unit_id"]: row["label"] for row in whole["labels"]} == {"u1": 1, "u2": 1}
    with open_results(runs, "older") as results:
        agreement = results.query(
            "SELECT value, n FROM agreement "
            "WHERE mode = 'seq' AND part = 'all' AND metric = 'accuracy'"
        )
    assert agreement.to_pylist() == [{"value": 0.5, "n": 2}]
    # A run one folder down has labels of its own.
    assert {run["run"] for run in client.get("/runs").json()} >= {"older", "inner:older"}
    assert corrected(client, "inner:older") is None
    say(client, "u1", "inner:older", label=0)
    assert corrected(client, "inner:older") == "1"
    assert (runs / "inner" / "labels" / "page.parquet").exists()
    for unit in ("u1", "u2"):
        labels = say(client, unit)
    assert labels == {}
    assert corrected(client) is None


@pytest.mark.parametrize(
    ("word", "label"), [("Supported", 1), ("contradicted", 0), (True, 1), ("0.5", 0.5)]
)
def test_a_label_may_be_a_word_of_a_sheet(client: httpx.Client, word: object, label: float) -> None:
    assert say(client, "u1", label=word) == {"u1": (label, None)}


def test_the_sheet_is_read_back_by_the_command(
    client: httpx.Client, runs: Path, tmp_path: Path
) -> None:
    say(client, "u1", label=1)
    say(client, "u2", label=1, note="=1+1")
    text = client.get("/runs/older/labels.csv").text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["unit_id"], row["verdict"], row["label"], row["note"]) for row in rows] == [
        ("u1", "supported", "1", ""),
        ("u2", "contradicted", "1", "'=1+1"),
    ]
    sheet = tmp_path / "labels.csv"
    sheet.write_text(text, encoding="utf-8")
    counts = import_sheet(str(runs), str(sheet), "again")
    assert counts["true"] == 2
    assert counts["false"] == 0
    # Who labels on the page counts once.
    with open_results(runs, "older") as results:
        labels = results.query("SELECT DISTINCT label, n_labels FROM human_labels").to_pylist()
    assert labels == [{"label": 1.0, "n_labels": 1}]


def test_a_sheet_that_was_drawn_keeps_its_weights(
    client: httpx.Client, runs: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "drawn.csv"
    sheet.write_text("response_id,unit_id,label,stratum,stratum_size\nr1,u1,1,s1,4\nr2,u3,0,s1,4\n")
    import_sheet(str(runs), str(sheet))
    say(client, "u2", label=1)
    with open_results(runs, "older") as results:
        rows = results.query("SELECT unit_id, weight FROM human_labels ORDER BY unit_id")
    assert rows.to_pydict() == {"unit_id": ["u1", "u2", "u3"], "weight": [2.0, None, 2.0]}


@pytest.mark.parametrize(
    ("run", "unit", "more", "status"),
    [
        pytest.param("older", "nothing", {"label": 1}, 404, id="an unknown unit"),
        pytest.param("older", "u3", {"label": 1}, 404, id="a unit of another response"),
        pytest.param("nothing", "u1", {"label": 1}, 404, id="an unknown run"),
        pytest.param("older", "u1", {"tag": "wrong_claim"}, 422, id="an unknown field"),
        pytest.param("older", "u1", {"label": "maybe"}, 422, id="no label"),
        pytest.param("older", "u1", {"label": 2}, 422, id="a number above 1"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    client: httpx.Client, run: str, unit: str, more: dict[str, Any], status: int
) -> None:
    body = {"response_id": "r1", "unit_id": unit, **more}
    assert client.post(f"/runs/{run}/labels", json=body).status_code == status
