"""The list of runs: figures as the overview has them, damaged runs, rename, delete, undo."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from filelock import FileLock

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import ok
from tests.webapp.conftest import opened
from ufo.schemas.tables import Run, run_in
from ufo.webapp.service import Setup

VOTES = {"a": {"u1": {"ref": "s"}, "u2": {"ref": "r"}}, "b": {"u3": {"ref": "s"}}}
ROWS = rows_of(VOTES, ("ref",), models={"a": "m2", "b": "m1"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_run(tmp_path, ROWS, "old", finished_at="2025-01-01T00:00:00+00:00", title="Old one")
    write_run(tmp_path / "team", ROWS, "new")
    return tmp_path


@pytest.fixture
def own(base: Setup, folder: Path) -> Iterator[httpx.Client]:
    with opened(replace(base, results=folder)) as client:
        yield client


def read(folder: Path) -> Run:
    run = run_in(folder)
    assert run
    return run


def titles(client: httpx.Client) -> dict[str, str]:
    return {run["run"]: run["title"] for run in client.get("/runs").json()}


def figures(client: httpx.Client) -> dict[str, dict[str, Any]]:
    return {run["run"]: run for run in client.get("/runs?figures=true").json()}


def test_a_run_is_listed_with_the_figures_of_its_overview(own: httpx.Client, folder: Path) -> None:
    assert [run["figures"] for run in own.get("/runs").json()] == [None, None]
    listed = figures(own)
    assert list(listed) == ["team:new", "old"]
    shown = listed["old"]["figures"]
    (row,) = ok("report", folder, "scores_by_run", "--run", "old", "--json").json
    assert shown["score"] == row["factuality_score"] == 0.75
    assert shown["words"] == f"0.750 ({row['low']:.3f} to {row['high']:.3f})"
    assert f"factuality score {shown['words']}" in own.get("/runs/old/overview.html").text.lower()
    assert (shown["n_units"], shown["n_contradicted"], shown["models"]) == (3, 1, ["m1", "m2"])
    parts = (folder / "run=old").glob("*/*.parquet")
    assert shown["size_bytes"] == sum(part.stat().st_size for part in parts)
    assert figures(own) == listed


@pytest.mark.parametrize(
    ("votes", "words"),
    [
        pytest.param({"r": {"u": {"ref": "n"}}}, "no score: no source knew its only claim", id="n"),
        pytest.param({"r": {}}, "no score: there is no claim", id="no claim"),
        pytest.param({}, "no score: there is no claim", id="no response"),
    ],
)
def test_a_run_without_a_score_says_why(
    base: Setup, tmp_path: Path, votes: dict[str, Any], words: str
) -> None:
    write_run(tmp_path, rows_of(votes, ("ref",)), "r1")
    with opened(replace(base, results=tmp_path)) as client:
        run = figures(client)["r1"]["figures"]
    assert (run["words"], run["score"]) == (words, None)


def test_a_damaged_run_says_so_and_the_others_are_listed(base: Setup, folder: Path) -> None:
    broken = write_run(folder, ROWS, "broken") / "verdicts/part-00000.parquet"
    broken.write_bytes(b"no table")
    (write_run(folder, ROWS, "torn") / "manifest.json").write_text('{"format": ')
    (write_run(folder, ROWS, "gone") / "evidence/part-00000.parquet").unlink()
    with opened(replace(base, results=folder)) as client:
        listed = figures(client)
        assert set(listed) == {"team:new", "old", "broken", "torn", "gone"}
        for name in ("broken", "torn", "gone"):
            assert f"run={name}" in listed[name]["problem"]
            assert str(folder) not in listed[name]["problem"]
            assert listed[name]["figures"] is None
        assert listed["old"]["problem"] is None
        assert listed["old"]["figures"]["score"] == 0.75
        assert "torn" not in titles(client)
        assert client.get("/runs/torn").status_code == 500
        assert client.delete("/runs/torn").status_code == 204
        assert "torn" not in figures(client)


def test_a_run_is_renamed_and_stays_valid(own: httpx.Client, folder: Path) -> None:
    before = read(folder / "team" / "run=new")
    manifest = folder / "team" / "run=new" / "manifest.json"
    kept = json.loads(manifest.read_text())
    renamed = own.patch("/runs/team:new", json={"title": "  مرحبا \n <b> 你好 "})
    assert renamed.json()["title"] == "مرحبا <b> 你好"
    assert titles(own)["team:new"] == "مرحبا <b> 你好"
    assert "مرحبا &lt;b&gt;" in own.get("/runs/team:new/overview.html").text
    written = json.loads(manifest.read_text())
    assert {name: written[name] for name in kept} == kept
    assert replace(read(folder / "team" / "run=new"), title=before.title) == before
    assert "new  finished" in ok("status", folder / "team", "--check").out
    assert "2 of 3 claims supported" in ok("report", folder / "team").out
    assert not list((folder / "team" / "run=new").glob("*.lock"))
    own.patch("/runs/team:new", json={"title": ""})
    assert titles(own)["team:new"] == before.title


@pytest.mark.parametrize("title", [None, 1, "x" * 301])
def test_a_title_is_a_text_of_some_length(own: httpx.Client, title: object) -> None:
    assert own.patch("/runs/old", json={"title": title}).status_code == 422
    assert titles(own)["old"] == "Old one"


@pytest.mark.parametrize("name", ["old", "team:new"])
def test_a_deletion_is_undone(own: httpx.Client, folder: Path, name: str) -> None:
    before = figures(own)
    assert own.delete(f"/runs/{name}").status_code == 204
    assert set(titles(own)) == set(before) - {name}
    assert own.get(f"/runs/{name}").status_code == 404
    assert own.delete(f"/runs/{name}").status_code == 404
    assert own.post(f"/runs/{name}/restore").status_code == 204
    assert figures(own) == before
    assert own.post(f"/runs/{name}/restore").status_code == 404


@pytest.mark.parametrize("name", ["none", "..:run", ".deleted:old", "team"])
def test_what_is_no_finished_run_is_not_deleted(own: httpx.Client, folder: Path, name: str) -> None:
    (folder / "run=begun" / ".attempt-1").mkdir(parents=True)
    files = sorted(folder.rglob("*"))
    for wrong in (name, "begun"):
        assert own.delete(f"/runs/{wrong}").status_code == 404
        assert own.patch(f"/runs/{wrong}", json={"title": "x"}).status_code == 404
        assert own.post(f"/runs/{wrong}/restore").status_code == 404
    assert sorted(folder.rglob("*")) == files


def test_a_run_that_is_evaluated_again_is_neither_renamed_nor_deleted(
    own: httpx.Client, folder: Path
) -> None:
    with FileLock(folder / "run=old" / ".lock"):
        for answer in (own.delete("/runs/old"), own.patch("/runs/old", json={"title": "x"})):
            assert answer.status_code == 409
            assert "is being evaluated again" in answer.json()["detail"]
    assert titles(own)["old"] == "Old one"
    assert own.delete("/runs/old").status_code == 204
