"""Input, output and cache on another file system: here a folder behind `file://`."""

import gzip
import shutil
from pathlib import Path

import pytest

from tests.pipelines.conftest import ok, tables, ufo


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "b").mkdir()
    return tmp_path / "b"


@pytest.mark.parametrize("compressed", [False, True])
def test_everything_in_a_bucket(
    bucket: Path, responses: Path, tmp_path: Path, compressed: bool
) -> None:
    name = "in.jsonl.gz" if compressed else "in.jsonl"
    data = responses.read_bytes()
    (bucket / name).write_bytes(gzip.compress(data) if compressed else data)
    (bucket / "ufo.yaml").write_text("sources: [reference]\nchunk_size: 8\n")
    words = ("--config", f"file://{bucket}/ufo.yaml", "--workers", 1, "--run", "r")
    there = ("--input", f"file://{bucket}/{name}", "--output", f"file://{bucket}/out")
    done = ok("evaluate", *there, *words, "--json")
    assert done.json["responses"] == 20
    assert done.json["factuality_score"] is not None
    here = tmp_path / "here"
    ok("evaluate", "--input", responses, "--output", here, *words)
    # What it leaves there is a run like any other, wherever it is copied to.
    found, expected = tables(bucket / "out"), tables(here)
    assert found.pop("failures") == [
        (step, key.replace("in.jsonl", name), *rest)
        for step, key, *rest in expected.pop("failures")
    ]
    assert found == expected
    left = [path for path in bucket.rglob("*") if path.is_file() and ".attempt-" in str(path)]
    assert not left
    assert "finished" in ufo("status", f"file://{bucket}/out").out


def test_a_run_that_was_stopped_there_goes_on(
    bucket: Path, responses: Path, tmp_path: Path
) -> None:
    (bucket / "in.jsonl").write_bytes(responses.read_bytes())
    source = tmp_path / "stops.py"
    source.write_text(
        "import os, ufo\n\nclass Stops(ufo.FactSource):\n"
        "    def find(self, unit):\n"
        f"        if 'Bonn' in unit.claim and not os.path.exists({str(tmp_path / 'go')!r}):\n"
        "            raise KeyboardInterrupt\n"
        "        return []\n"
    )
    there = (
        "--input",
        f"file://{bucket}/in.jsonl",
        "--output",
        f"file://{bucket}/out",
        "--run",
        "r",
    )
    words = ("--sources", f"{source}:Stops", "--chunk_size", 2, "--workers", 1)
    assert ufo("evaluate", *there, *words).code == 1
    (status,) = ufo("status", f"file://{bucket}/out", "--json").json
    assert status["chunks"] > 0
    assert status["chunks"] < status["of_chunks"] == 11
    (tmp_path / "go").touch()
    ok("evaluate", *there, *words)
    assert (bucket / "out/run=r/manifest.json").exists()


def test_runs_there_are_asked_like_those_here(
    bucket: Path, responses: Path, tmp_path: Path
) -> None:
    (bucket / "in.jsonl").write_bytes(responses.read_bytes())
    out = f"file://{bucket}/out"
    words = ("--input", f"file://{bucket}/in.jsonl", "--output", out, "--workers", 1)
    for run, mode in (("first", "seq"), ("second", "all")):
        more = ("--sources", "reference", "--run", run, "--mode", mode)
        ok("evaluate", *words, *more)
    newest = ufo("report", out, "--json").json
    assert (newest["run"], newest["directory"]) == ("second", out)
    ok("report", out, "--run", "first", "--html", f"file://{bucket}/page.html")
    assert b"</html>" in (bucket / "page.html").read_bytes()
    counted = ufo("sql", f"{out}/", "SELECT DISTINCT run FROM verdicts", "--json").json
    assert sorted(row["run"] for row in counted) == ["first", "second"]
    ok("benchmark", out, "--run", "second")
    sheet = tmp_path / "sheet.csv"
    ok("label", "sample", out, "--n", 5, "--output", sheet)
    sheet.write_text(sheet.read_text().replace(",,", ",true,"))
    ok("label", "import", out, sheet)
    labels = ufo("sql", out, "SELECT count(*) AS n FROM labels", "--json").json
    assert labels == [{"n": 5}]
    # What is gone there is not shown from what was brought here before.
    shutil.rmtree(bucket / "out/run=first")
    (left,) = ufo("sql", out, "SELECT DISTINCT run FROM verdicts", "--json").json
    assert left["run"] == "second"
    missing = ufo("report", out, "--run", "first")
    assert missing.code == 2
    assert "unknown run 'first'; allowed: second" in missing.err
    nothing = ufo("report", f"file://{bucket}/none")
    assert nothing.code == 2
    assert f"no finished run in 'file://{bucket}/none'" in nothing.err
