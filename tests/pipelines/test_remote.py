"""Input, output and cache on another file system: here one of Beam's own kind, over a folder."""

import csv
import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from apache_beam.io.filesystem import CompressionTypes, FileMetadata, FileSystem

SCHEME = "bucket"


class Bucket(FileSystem):  # type: ignore[misc]
    """An object store: names with slashes, no folders; `root` is the local folder behind it."""

    root: Path

    @classmethod
    def scheme(cls) -> str:
        return SCHEME

    def _path(self, name: str) -> Path:
        return self.root / name.removeprefix(f"{SCHEME}://")

    def _name(self, path: Path) -> str:
        return f"{SCHEME}://{path.relative_to(self.root).as_posix()}"

    def join(self, basepath: str, *paths: str) -> str:
        return "/".join([basepath.rstrip("/"), *(path.strip("/") for path in paths)])

    def split(self, path: str) -> tuple[str, str]:
        head, _, tail = path.rpartition("/")
        return head, tail

    def mkdirs(self, path: str) -> None:
        raise OSError("an object store has no folders")

    def has_dirs(self) -> bool:
        return False

    def _list(self, dir_or_prefix: str) -> Iterator[FileMetadata]:
        for path in sorted(self.root.rglob("*")):
            if path.is_file() and self._name(path).startswith(dir_or_prefix):
                yield FileMetadata(self._name(path), path.stat().st_size)

    def create(self, path: str, mime_type: str = "", compression_type: str = "") -> BinaryIO:
        self._path(path).parent.mkdir(parents=True, exist_ok=True)
        return self._path(path).open("wb")

    def open(
        self, path: str, mime_type: str = "", compression_type: str = CompressionTypes.AUTO
    ) -> BinaryIO:
        return self._path(path).open("rb")

    def copy(self, source_file_names: list[str], destination_file_names: list[str]) -> None:
        for source, target in zip(source_file_names, destination_file_names, strict=True):
            shutil.copy(self._path(source), self._path(target))

    def rename(self, source_file_names: list[str], destination_file_names: list[str]) -> None:
        for source, target in zip(source_file_names, destination_file_names, strict=True):
            self._path(target).parent.mkdir(parents=True, exist_ok=True)
            self._path(source).replace(self._path(target))

    def exists(self, path: str) -> bool:
        return self._path(path).is_file()

    def size(self, path: str) -> int:
        return self._path(path).stat().st_size

    def last_updated(self, path: str) -> float:
        return self._path(path).stat().st_mtime

    def checksum(self, path: str) -> str:
        return str(self.size(path))

    def metadata(self, path: str) -> FileMetadata:
        return FileMetadata(path, self.size(path))

    def delete(self, paths: list[str]) -> None:
        for path in paths:
            self._path(path).unlink()


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "bucket"
    (root / "b").mkdir(parents=True)
    monkeypatch.setattr(Bucket, "root", root, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return root / "b"


@pytest.mark.parametrize("compressed", [False, True])
def test_everything_in_a_bucket(
    bucket: Path, ufo: Any, tables: Any, responses: Path, tmp_path: Path, compressed: bool
) -> None:
    name = "in.jsonl.gz" if compressed else "in.jsonl"
    data = responses.read_bytes()
    (bucket / name).write_bytes(gzip.compress(data) if compressed else data)
    (bucket / "ufo.yaml").write_text("sources: [reference]\nchunk_size: 8\n")
    words = ("--config", "bucket://b/ufo.yaml", "--workers", 1, "--run", "r")
    there = ("--input", f"bucket://b/{name}", "--output", "bucket://b/out")
    done = ufo("evaluate", *there, *words, "--json")
    assert done.code == 0, done.err
    assert done.json["responses"] == 20
    assert done.json["factuality_score"] is not None
    here = tmp_path / "here"
    assert ufo("evaluate", "--input", responses, "--output", here, *words).code == 0
    # What it leaves there is a run like any other, wherever it is copied to.
    found, expected = tables(bucket / "out"), tables(here)
    assert found.pop("failures") == [
        (step, key.replace("in.jsonl", name), *rest)
        for step, key, *rest in expected.pop("failures")
    ]
    assert found == expected
    left = [path for path in bucket.rglob("*") if path.is_file() and ".attempt-" in str(path)]
    assert not left
    assert "finished" in ufo("status", "bucket://b/out").out


def test_a_run_that_was_stopped_there_goes_on(
    bucket: Path, ufo: Any, responses: Path, tmp_path: Path
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
    there = ("--input", "bucket://b/in.jsonl", "--output", "bucket://b/out", "--run", "r")
    words = ("--sources", f"{source}:Stops", "--chunk_size", 2, "--workers", 1)
    assert ufo("evaluate", *there, *words).code == 1
    (status,) = ufo("status", "bucket://b/out", "--json").json
    assert status["chunks"] > 0
    assert status["chunks"] < status["of_chunks"] == 11
    (tmp_path / "go").touch()
    assert ufo("evaluate", *there, *words).code == 0
    assert (bucket / "out/run=r/manifest.json").exists()


def test_runs_there_are_asked_like_those_here(
    bucket: Path, ufo: Any, responses: Path, tmp_path: Path
) -> None:
    (bucket / "in.jsonl").write_bytes(responses.read_bytes())
    words = ("--input", "bucket://b/in.jsonl", "--output", "bucket://b/out", "--workers", 1)
    for run, mode in (("first", "seq"), ("second", "all")):
        more = ("--sources", "reference", "--run", run, "--mode", mode)
        assert ufo("evaluate", *words, *more).code == 0
    newest = ufo("report", "bucket://b/out", "--json").json
    assert (newest["run"], newest["directory"]) == ("second", "bucket://b/out")
    shown = ufo("report", "bucket://b/out", "--run", "first", "--html", "bucket://b/page.html")
    assert shown.code == 0, shown.err
    assert b"</html>" in (bucket / "page.html").read_bytes()
    assert ufo("report", "bucket://b/out", "--plots", "bucket://b/plots").code == 0
    assert sorted(path.name for path in (bucket / "plots").iterdir()) == [
        "contributions.png",
        "contributions.svg",
        "scores.png",
        "scores.svg",
    ]
    counted = ufo("sql", "bucket://b/out/", "SELECT DISTINCT run FROM verdicts", "--json").json
    assert sorted(row["run"] for row in counted) == ["first", "second"]
    assert ufo("benchmark", "bucket://b/out", "--run", "second").code == 0
    sheet = tmp_path / "sheet.csv"
    assert ufo("label", "sample", "bucket://b/out", "--n", 5, "--output", sheet).code == 0
    with sheet.open() as lines:
        rows = list(csv.DictReader(lines))
    with sheet.open("w") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows({**row, "label": "1"} for row in rows)
    assert ufo("label", "import", "bucket://b/out", sheet).code == 0
    labels = ufo("sql", "bucket://b/out", "SELECT count(*) AS n FROM labels", "--json").json
    assert labels == [{"n": 5}]
    # What is gone there is not shown from what was brought here before.
    shutil.rmtree(bucket / "out/run=first")
    (left,) = ufo("sql", "bucket://b/out", "SELECT DISTINCT run FROM verdicts", "--json").json
    assert left["run"] == "second"
    missing = ufo("report", "bucket://b/out", "--run", "first")
    assert missing.code == 2
    assert "unknown run 'first'; allowed: second" in missing.err
    nothing = ufo("report", "bucket://b/none")
    assert nothing.code == 2
    assert "no finished run in 'bucket://b/none'" in nothing.err


def test_a_part_that_changes_nothing_is_brought_once(
    bucket: Path, ufo: Any, responses: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bucket / "in.jsonl").write_bytes(responses.read_bytes())
    there = ("--input", "bucket://b/in.jsonl", "--output", "bucket://b/out", "--run", "r")
    assert ufo("evaluate", *there, "--sources", "reference", "--workers", 1).code == 0
    opened: list[str] = []
    real = Bucket.open

    def noted(self: Bucket, path: str, *words: Any, **more: Any) -> BinaryIO:
        opened.append(path.rpartition("/out/")[2])
        return real(self, path, *words, **more)

    monkeypatch.setattr(Bucket, "open", noted)
    sql = "SELECT count(*) AS n FROM fact_units"
    first = ufo("sql", "bucket://b/out", sql, "--json").json
    assert any(path.startswith("run=r/fact_units/") for path in opened)
    opened.clear()
    assert ufo("sql", "bucket://b/out", sql, "--json").json == first
    assert opened == ["run=r/manifest.json"]


def test_a_file_system_that_nothing_knows_is_told_with_the_remedy(
    ufo: Any, responses: Path
) -> None:
    for there, remedy in (("azfs://a/b/out", "apache-beam[azure]"), ("nofs://b/out", "known are")):
        done = ufo("evaluate", "--input", responses, "--output", there)
        assert done.code == 2
        assert remedy in done.err
        assert remedy in ufo("report", there).err
