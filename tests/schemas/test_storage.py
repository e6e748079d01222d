"""Files by path and by URI; folders that are kept to be near, and temporary ones that go."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.schemas.listed_system import Lists
from ufo.schemas import storage


@pytest.fixture(params=["", "file://", "memory://"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A folder with characters of patterns in its name, by path and by URI."""
    root = f"{request.param}{tmp_path / ('a[1]*' if not request.param else 'a')}"
    for name in ("in/a b.jsonl", "in/x.jsonl", "in/sub/y.jsonl", "z"):
        storage.make_folder(os.path.dirname(storage.join(root, name)))
        storage.write(storage.join(root, name), name.encode())
    return root


def below(root: str, *folders: str) -> list[str]:
    return [
        path.removeprefix(f"{root}/") for path in storage.files_below(storage.join(root, *folders))
    ]


def unfinished(path: str) -> None:
    with storage.writing(path) as sink:
        sink.write(b"half")
        raise KeyError


@pytest.mark.parametrize("scheme", ["file://", "memory://"])
def test_a_file_that_is_written_again_is_another_version(tmp_path: Path, scheme: str) -> None:
    path = f"{scheme}{tmp_path}/f"
    storage.write(path, b"one")
    first = storage.version(path)
    assert storage.version(path) == first
    assert first[0] == 3
    storage.write(path, b"two")
    assert storage.version(path) != first
    with pytest.raises(FileNotFoundError):
        storage.version(f"{path}.none")


def test_files_are_written_whole_moved_and_deleted(root: str, tmp_path: Path) -> None:
    folder = storage.join(root, "out", "sub")
    for _ in range(2):
        storage.make_folder(folder)
    path = storage.join(folder, "f")
    storage.write(path, b"1")
    storage.write(path, b"one\ntwo\nthree")
    assert storage.read(path) == b"one\ntwo\nthree"
    assert storage.size(path) == 13
    assert storage.read_range(path, 4, 8) == b"two\n"
    assert storage.read_range(path, 8, 99) == b"three"
    with storage.open_read(path) as stream:
        stream.seek(4)
        assert stream.readline(2) == b"tw"
        assert list(stream) == [b"o\n", b"three"]
    storage.write(storage.join(root, "out/g"), b"22")
    storage.move(path, storage.join(root, "out/h"))
    assert below(root, "out") == ["out/g", "out/h"]
    assert not storage.write_new(storage.join(root, "out/h"), b"")
    assert storage.write_new(storage.join(root, "out/i"), b"new")
    storage.delete(storage.join(root, "out/g"))
    with pytest.raises(KeyError):
        unfinished(storage.join(root, "out/half"))
    assert below(root, "out") == ["out/h", "out/i"]
    for _ in range(2):
        storage.delete(storage.join(root, "out"))
    assert not storage.exists(storage.join(root, "out"))
    assert below(root) == ["in/a b.jsonl", "in/sub/y.jsonl", "in/x.jsonl", "z"]
    assert below(root, "none") == []
    # Files go to other file systems and come back.
    (tmp_path / "here").write_bytes(b"text")
    storage.send(str(tmp_path / "here"), f"file://{tmp_path}/far/there")
    storage.fetch(f"file://{tmp_path}/far/there", tmp_path / "new/back")
    assert (tmp_path / "new/back").read_bytes() == b"text"
    assert os.listdir(tmp_path / "new") == ["back"]


def test_a_pipe_is_written_and_stays_one(tmp_path: Path) -> None:
    os.mkfifo(path := tmp_path / "pipe")
    with ThreadPoolExecutor() as threads:
        read = threads.submit(path.read_bytes)
        with storage.writing(str(path)) as sink:
            sink.write(b"all")
        assert read.result() == b"all"
    assert path.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_file_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (link := tmp_path / "link").symlink_to("file")
    with storage.writing(str(link)) as sink:
        sink.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["file", "link"]


def test_files_are_listed_with_their_size_and_time(root: str) -> None:
    listed = storage.listed(storage.join(root, "in"))
    assert [file.path for file in listed] == storage.files_below(storage.join(root, "in"))
    assert [file.size for file in listed] == [12, 14, 10]
    assert [file.written for file in listed] == pytest.approx([time.time()] * 3, abs=60)


def test_what_is_deleted_while_it_is_listed_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "stays").touch()
    ended = Event()

    def come_and_go() -> None:
        while not ended.is_set():
            (tmp_path / "chunk" / "deeper").mkdir(parents=True)
            (tmp_path / "chunk" / "part").touch()
            storage.delete(str(tmp_path / "chunk"))

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(come_and_go)
        try:
            for _ in range(1_000):
                assert str(tmp_path / "stays") in storage.files_below(str(tmp_path))
        finally:
            ended.set()
        other.result()


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="too long"):
        storage.listed(str(tmp_path / ("x" * 300)))


def test_what_cannot_be_fetched_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no such file"):
        storage.fetch(f"file://{tmp_path}/none", tmp_path / "new/back")
    assert os.listdir(tmp_path / "new") == []


def test_files_of_this_machine_are_waited_for(tmp_path: Path) -> None:
    storage.flush(["gs://bucket/none"])
    with pytest.raises(FileNotFoundError):
        storage.flush(["gs://bucket/none", str(tmp_path / "none")])


def test_a_path_is_absolute_unless_it_is_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert [storage.absolute(path) for path in ("a/b", "gs://b/a")] == ["/a/b", "gs://b/a"]


PATTERNS = {
    "in/*.jsonl": ["in/a b.jsonl", "in/x[1].jsonl"],
    "in/*": ["in/a b.jsonl", "in/x[1].jsonl"],  # no folder
    "*/a?b.jsonl": ["in/a b.jsonl"],
    "in/**/*.jsonl": ["in/a b.jsonl", "in/sub/y.jsonl", "in/x[1].jsonl"],
    "in/x[[]1].jsonl": ["in/x[1].jsonl"],
    "in/[!x]*.jsonl": ["in/a b.jsonl"],
    "in/a b.jsonl": ["in/a b.jsonl"],
    "in/none": [],
    "no*/none": [],
}


@pytest.mark.parametrize("scheme", ["", "file://"], ids=["a path", "a URI"])
@pytest.mark.parametrize(("pattern", "names"), PATTERNS.items(), ids=PATTERNS)
def test_patterns_match_files(tmp_path: Path, scheme: str, pattern: str, names: list[str]) -> None:
    root = f"{scheme}{tmp_path}"
    for name in ("in/a b.jsonl", "in/x[1].jsonl", "in/sub/y.jsonl"):
        storage.make_folder(os.path.dirname(f"{root}/{name}"))
        storage.write(f"{root}/{name}", b"")
    assert storage.matches(f"{root}/{pattern}") == [f"{root}/{name}" for name in names]


def test_a_folder_of_a_uri_is_no_file(tmp_path: Path) -> None:
    assert storage.matches(f"file://{tmp_path}") == []


def test_a_file_by_the_name_of_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a*").touch()
    (tmp_path / "ab").touch()
    assert storage.matches(f"{tmp_path}/a*") == [f"{tmp_path}/a*"]
    assert storage.matches(f"{tmp_path}/?b") == [f"{tmp_path}/ab"]


CHANGED = datetime(2025, 2, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("details", "size", "written"),
    [
        pytest.param({"size": 5, "mtime": 7.5}, 5, 7.5, id="seconds"),
        pytest.param({"size": 5, "updated": CHANGED.isoformat()}, 5, CHANGED, id="an ISO date"),
        pytest.param({"size": 5, "LastModified": CHANGED}, 5, CHANGED, id="a date"),
        pytest.param({"size": 5, "last_modified": CHANGED}, 5, CHANGED, id="by another name"),
        pytest.param({"size": 5, "created": CHANGED}, 5, CHANGED, id="when it was made"),
        pytest.param({"size": 5, "created": 3, "mtime": 7}, 5, 7.0, id="not when it was made"),
        pytest.param({"size": None, "mtime": None}, 0, 0.0, id="neither is known"),
    ],
)
def test_each_file_system_tells_of_changes_in_its_way(
    lists: type[Lists], details: dict[str, Any], size: int, written: float | datetime
) -> None:
    lists.told = details
    moment = written.timestamp() if isinstance(written, datetime) else written
    assert storage.listed("lists://box") == [storage.Listed("lists://box/f", size, moment)]


@pytest.mark.parametrize(
    ("folder", "parts", "path"),
    [
        pytest.param("a", ("b", "c"), "a/b/c", id="a local folder"),
        pytest.param("gs://b", ("c", "d"), "gs://b/c/d", id="a bucket"),
        pytest.param("gs://b/", ("/c/", "", "d/"), "gs://b/c/d", id="slashes at the ends"),
        pytest.param("gs://b/", (), "gs://b", id="no parts"),
        pytest.param("gs://", ("b",), "gs://b", id="the name of a bucket"),
        pytest.param("file:///", ("b",), "file:///b", id="the root"),
        pytest.param("zip://a::gs://b/c.zip", ("d",), "zip://a/d::gs://b/c.zip", id="in a file"),
        pytest.param("blockcache::gs://b", ("c",), "blockcache::gs://b/c", id="through a cache"),
    ],
)
def test_paths_are_joined(folder: str, parts: tuple[str, ...], path: str) -> None:
    assert storage.join(folder, *parts) == path


@pytest.mark.parametrize("scheme", ["gs", "gcs", "s3", "s3a", "abfs", "abfss", "az", "adl", "oss"])
def test_an_object_store_has_no_folders_to_make(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    for package in ("gcsfs", "s3fs", "adlfs", "ossfs"):  # none is asked
        monkeypatch.setitem(sys.modules, package, None)
    storage.make_folder(f"{scheme}://bucket/folder")
