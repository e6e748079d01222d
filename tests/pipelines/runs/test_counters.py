"""What each step counted is in the manifest, and agrees with the tables."""

import json
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.runs.engine import engine_counters


def counters(folder: Path) -> Any:
    (manifest,) = folder.glob("run=*/manifest.json")
    return json.loads(manifest.read_text())["counters"]


@pytest.mark.parametrize("mode", ["seq", "all"])
def test_counters_agree_with_the_tables(
    ufo: Any, tables: Any, responses: Path, index: Path, tmp_path: Path, mode: str
) -> None:
    words = ("--input", responses, "--output", tmp_path, "--index", index, "--mode", mode)
    how = ("--sources", "reference,wikipedia", "--chunk_size", 9, "--workers", 1)
    assert ufo("evaluate", *words, *how).code == 0
    found, rows = counters(tmp_path), tables(tmp_path)
    assert found["read"] == {"lines": 22, "records": 20, "failures": 2}
    assert found["extract"]["responses"] == 20
    assert found["extract"]["units"] == len(rows["fact_units"])
    assert found["extract"]["sentences"] == len(rows["sentences"])
    first, second = found["source:reference"], found["source:wikipedia"]
    for source in (first, second):
        assert source["units_in"] == source["answered"] + source["noans"] + source["errors"]
    assert first["units_in"] == len(rows["fact_units"])
    assert first["evidence"] + second["evidence"] == len(rows["evidence"])
    if mode == "seq":
        assert first["units_out"] == second["units_in"] == first["noans"] + first["errors"]
        assert 0 < second["units_out"] < second["units_in"] < first["units_in"]
    else:
        assert second["units_in"] == first["units_in"]


def test_errors_of_a_source(ufo: Any, responses: Path, recording: str, tmp_path: Path) -> None:
    (tmp_path / "down").touch()
    options = {"log": str(tmp_path / "log"), "fails": str(tmp_path / "down")}
    config = tmp_path / "ufo.yaml"
    config.write_text(json.dumps({"sources": [{"name": "mine", "type": recording, **options}]}))
    words = ("--input", responses, "--output", tmp_path / "out", "--config", config)
    assert ufo("evaluate", *words).code == 0
    mine = counters(tmp_path / "out")["source:mine"]
    assert mine["errors"] == mine["failures"] > 0
    assert mine["answered"] + mine["errors"] == mine["units_in"]


def test_of_recall(ufo: Any, tmp_path: Path) -> None:
    words = ("--input", "examples/recall.jsonl", "--output", tmp_path, "--judge", "offline")
    assert ufo("recall", *words).code == 0
    found = counters(tmp_path)
    (manifest,) = tmp_path.glob("run=*/manifest.json")
    listed = json.loads(manifest.read_text())["tables"]
    assert found["recall"]["records"] == listed["recall_records"]["rows"] > 0
    assert found["recall"]["recall_verdicts"] == listed["recall_verdicts"]["rows"]


def test_an_engine_without_counters_loses_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    class Silent:
        def metrics(self) -> None:
            raise ConnectionError("no service")

    assert engine_counters(Silent()) == {}
    assert "does not report its counters: ConnectionError: no service" in capsys.readouterr().err
