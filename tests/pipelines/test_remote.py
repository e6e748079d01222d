"""Input, output and cache on another file system: here a folder behind `file://`."""

import gzip
from pathlib import Path

import pytest

from tests.pipelines.conftest import ok, tables, ufo

pytestmark = pytest.mark.slow


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "b").mkdir()
    return tmp_path / "b"


@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz"])
def test_everything_in_a_bucket(bucket: Path, responses: Path, tmp_path: Path, name: str) -> None:
    data = responses.read_bytes()
    (bucket / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (bucket / "ufo.yaml").write_text("sources: [reference]\nchunk_size: 8\n")
    words = ("--config", f"file://{bucket}/ufo.yaml", "--workers", 1, "--run", "r")
    there = ("--input", f"file://{bucket}/{name}", "--output", f"file://{bucket}/out")
    done = ok("evaluate", *there, *words, "--json")
    assert done.json["responses"] == 20
    assert done.json["factuality_score"] is not None
    ok("evaluate", "--input", responses, "--output", tmp_path / "here", *words)
    # What it leaves there is a run like any other, wherever it is copied to.
    rows_by_table, expected = tables(bucket / "out"), tables(tmp_path / "here")
    keys = [row[1].replace(name, "in.jsonl") for row in rows_by_table.pop("failures")]
    assert keys == [row[1] for row in expected.pop("failures")] != []
    assert rows_by_table == expected
    assert not [path for path in bucket.rglob(".attempt-*/*") if path.is_file()]
    assert "finished" in ufo("status", f"file://{bucket}/out").out


STOPS = """
import os, ufo

class Stops(ufo.FactSource):
    def find(self, unit):
        if "Bonn" in unit.claim and not os.path.exists("GO"):
            raise KeyboardInterrupt
        return []
"""


def test_a_run_that_was_stopped_there_goes_on(
    bucket: Path, responses: Path, tmp_path: Path
) -> None:
    (bucket / "in.jsonl").write_bytes(responses.read_bytes())
    source, go = tmp_path / "stops.py", tmp_path / "go"
    source.write_text(STOPS.replace("GO", str(go)))
    words = (
        "evaluate",
        "--input",
        f"file://{bucket}/in.jsonl",
        "--output",
        f"file://{bucket}/out",
        "--run",
        "r",
        "--sources",
        f"{source}:Stops",
        "--chunk_size",
        2,
        "--workers",
        1,
    )
    assert ufo(*words).code == 1
    (status,) = ufo("status", f"file://{bucket}/out", "--json").json
    assert 0 < status["chunks"] < status["of_chunks"] == 11
    go.touch()
    ok(*words)
    assert (bucket / "out/run=r/manifest.json").exists()


def test_runs_there_are_asked_like_those_here(
    bucket: Path, responses: Path, tmp_path: Path
) -> None:
    out = f"file://{bucket}/out"
    words = ("--input", responses, "--output", out, "--workers", 1, "--sources", "reference")
    ok("evaluate", *words)
    ok("report", out, "--html", f"file://{bucket}/page.html")
    assert b"</html>" in (bucket / "page.html").read_bytes()
    sheet = tmp_path / "sheet.csv"
    ok("label", "sample", out, "--n", 5, "--output", sheet)
    sheet.write_text(sheet.read_text().replace(",,", ",true,"))
    ok("label", "import", out, sheet)
    labels = ufo("sql", out, "SELECT count(*) AS n FROM labels", "--json").json
    assert labels == [{"n": 5}]
