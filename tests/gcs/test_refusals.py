"""What cannot be reached, or may not be: an exit code, the remedy, and nothing half written."""

import shutil
from pathlib import Path

import pytest

from tests.gcs.conftest import Place, as_lines, records
from ufo.indexes.manifest import MANIFEST

WORDS = ("--sources", "reference", "--workers", 1, "--run", "r")


@pytest.fixture
def given(place: Place) -> Path:
    path = place.folder / "in.jsonl"
    path.write_bytes(as_lines(records(3)))
    return path


@pytest.mark.parametrize(
    ("output", "remedy"),
    [
        ("gs://forbidden/out", "the role Storage Object User"),
        ("gs://private/out", "gcloud auth application-default login"),
        ("gs://nowhere/out", "there is no such bucket"),
    ],
    ids=["no permission", "no credentials", "no bucket"],
)
def test_an_output_that_cannot_be_written_is_reported_before_anything_is_done(
    place: Place, given: Path, output: str, remedy: str
) -> None:
    buckets = [place.server.bucket("private", private=True), place.server.bucket("forbidden")]
    for method in ("GET", "POST"):
        place.server.fail(method, "/b/forbidden/", 403, 100)
    done = place.ufo("evaluate", "--input", given, "--output", output, *WORDS)
    assert done.code == 2
    assert remedy in done.err
    assert "Traceback" not in done.err
    assert not any(bucket.names() for bucket in buckets)


def test_inputs_and_runs_that_cannot_be_read_are_reported(place: Place, given: Path) -> None:
    place.server.bucket("private", private=True)
    output = place.folder / "out"
    for path, remedy in (
        ("gs://private/in.jsonl", "gcloud auth application-default login"),
        ("gs://b/none.jsonl", "the file does not exist"),
        ("gs://b/*.jsonl", "the pattern matches no file"),
    ):
        done = place.ufo("evaluate", "--input", path, "--output", output, *WORDS)
        assert done.code == 2
        assert remedy in done.err
    assert not output.exists()
    snapshot = ("--sources", "web", "--web_snapshot", "gs://b/snapshot")
    done = place.ufo_here("evaluate", "--input", given, "--output", output, *snapshot)
    assert done.code == 2
    assert "a snapshot is a folder of this machine" in done.err
    served = place.ufo_here("serve", "--results", "gs://b/out")
    assert served.code == 2
    assert "gcloud storage cp -r gs://b/out/* DIR" in served.err
    refused = place.ufo("report", "gs://private/out")
    assert refused.code == 1
    assert "gcloud auth application-default login" in refused.err


def test_no_extra_is_needed(place: Place, given: Path) -> None:
    done = place.ufo_here("evaluate", "--input", given, "--output", "gs://b/out", *WORDS)
    assert done.code == 0, done.err
    assert "out/run=r/manifest.json" in place.bucket.names()


def test_an_index_by_prefix_is_whole_or_refused(place: Place, index: Path, tmp_path: Path) -> None:
    place.put(index, "index")
    shown = place.ufo_here("index", "search", "gs://b/index", "bridges of Oslo", "--json")
    assert "Oslo has 5 bridges" in shown.out
    (kept,) = (tmp_path / "cache/ufo/indexes").iterdir()
    assert (kept / "index" / MANIFEST).exists()
    shutil.rmtree(kept)
    name = next(name for name in place.bucket.names("index/") if name.endswith(".arrow"))
    data = place.bucket[name]
    place.bucket[name] = bytes([data[0] ^ 1]) + data[1:]
    damaged = place.ufo_here("index", "info", "gs://b/index")
    assert damaged.code == 2
    assert "gs://b/index is damaged: the checksum of" in damaged.err
    (kept,) = (tmp_path / "cache/ufo/indexes").iterdir()
    assert sorted(path.name for path in kept.iterdir()) == [".lock", ".used"]
    missing = place.ufo_here("index", "info", "gs://b/none")
    assert missing.code == 2
    assert "gcloud storage cp" in missing.err
    refused = place.ufo_here("index", "build", "--input", index, "--output", "gs://b/new")
    assert refused.code == 2
    assert "gs://b/new/" in refused.err
