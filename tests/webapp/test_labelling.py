import csv
import io
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from ufo.pipelines.labels import import_sheet
from ufo.schemas.results import open_results
from ufo.webapp.desk import Setup
from ufo.webapp.server import served


@pytest.fixture
def runs(base: Setup, tmp_path: Path) -> Path:
    """The runs, in a folder that labels can be kept in; one of them one folder down."""
    shutil.copytree(base.results, tmp_path / "runs")
    shutil.copytree(base.results / "run=older", tmp_path / "runs" / "inner" / "run=older")
    return tmp_path / "runs"


@pytest.fixture
def client(base: Setup, runs: Path) -> Iterator[httpx.Client]:
    with (
        served(replace(base, results=runs)) as url,
        httpx.Client(base_url=url, timeout=60, trust_env=False) as found,
    ):
        yield found


def say(client: httpx.Client, unit: str, run: str = "older", **said: Any) -> Any:
    response = client.post(
        f"/runs/{run}/labels", json={"response_id": "r1", "unit_id": unit, **said}
    )
    assert response.status_code == 200, response.text
    return {row["unit_id"]: (row["label"], row["note"]) for row in response.json()}


def corrected(client: httpx.Client, run: str = "older") -> Any:
    found = client.get("/reports/corrected_scores", params={"run": run}).text
    rows = csv.DictReader(io.StringIO(found))
    return next((row for row in rows if row["level"] == "run" and row["mode"] == "seq"), None)


def test_what_is_said_is_kept_beside_the_run_and_corrects_its_score(
    client: httpx.Client, runs: Path
) -> None:
    assert corrected(client) is None
    assert say(client, "u1", label=1) == {"u1": (1, None)}
    told = say(client, "u2", label=1, note="=read it")
    assert told == {"u1": (1, None), "u2": (1, "=read it")}
    assert corrected(client)["n_labelled"] == "2"
    whole = client.get("/runs/older/responses/r1").json()
    assert {row["unit_id"]: row["label"] for row in whole["labels"]} == {"u1": 1, "u2": 1}
    with open_results(runs, "older") as results:
        agreement = results.query(
            "SELECT value, n FROM agreement "
            "WHERE mode = 'seq' AND part = 'all' AND metric = 'accuracy'"
        )
    assert agreement.to_pylist() == [{"value": 0.5, "n": 2}]


def test_what_is_said_is_changed_and_taken_back(client: httpx.Client) -> None:
    say(client, "u1", label=1)
    assert say(client, "u1", label=0) == {"u1": (0, None)}
    assert say(client, "u1") == {}
    assert corrected(client) is None


def test_a_run_one_folder_down_has_labels_of_its_own(client: httpx.Client, runs: Path) -> None:
    say(client, "u1", "inner:older", label=0)
    assert corrected(client, "inner:older")["n_labelled"] == "1"
    assert corrected(client) is None
    assert (runs / "inner" / "labels" / "page.parquet").exists()


def test_the_sheet_is_read_back_by_the_command(
    client: httpx.Client, runs: Path, tmp_path: Path
) -> None:
    say(client, "u1", label=1)
    say(client, "u2", label=1, note="=1+1")
    text = client.get("/runs/older/labels.csv").text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["unit_id"], row["verdict"], row["label"]) for row in rows] == [
        ("u1", "supported", "1"),
        ("u2", "refuted", "1"),
    ]
    assert rows[1]["note"] == "'=1+1"
    (tmp_path / "labels.csv").write_text(text, encoding="utf-8")
    found = import_sheet(str(runs), str(tmp_path / "labels.csv"), "again")
    assert (found["true"], found["false"]) == (2, 0)


def test_a_sheet_that_was_drawn_keeps_its_weights(
    client: httpx.Client, runs: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "drawn.csv"
    sheet.write_text("response_id,unit_id,label,stratum,stratum_size\nr1,u1,1,s1,4\nr2,u3,0,s1,4\n")
    import_sheet(str(runs), str(sheet))
    say(client, "u2", label=1)
    with open_results(runs, "older") as results:
        found = results.query("SELECT unit_id, weight FROM human_labels ORDER BY unit_id")
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("u1", 2.0),
        ("u2", None),
        ("u3", 2.0),
    ]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("older", {"response_id": "r1", "unit_id": "nothing", "label": 1}, 404),
        ("nothing", {"response_id": "r1", "unit_id": "u1", "label": 1}, 404),
        ("older", {"response_id": "r1", "unit_id": "u1", "label": 2}, 422),
        ("older", {"response_id": "r1", "unit_id": "u1", "tag": "wrong_claim"}, 422),
    ],
)
def test_what_cannot_be_kept_is_refused(
    client: httpx.Client, path: str, body: dict[str, Any], status: int
) -> None:
    assert client.post(f"/runs/{path}/labels", json=body).status_code == status
