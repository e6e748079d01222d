"""Files by path and by URI; folders that are kept to be near, and temporary ones that go."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ufo.schemas import storage
from ufo.schemas.errors import UsageError
from ufo.schemas.storage import RemoteError, is_remote, kept_folder, own_folder


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


def test_files_are_written_whole_moved_and_deleted(root: str, tmp_path: Path) -> None:
    folder = storage.join(root, "out", "sub")
    for _ in range(2):
        storage.make_folder(folder)
    path = storage.join(folder, "f")
    storage.write(path, b"1")
    storage.write(path, b"one\ntwo\nthree")
    assert storage.read(path) == b"one\ntwo\nthree"
    assert storage.size(path) == 13
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
    storage.send(str(tmp_path / "here"), f"file://{tmp_path}/there")
    storage.fetch(f"file://{tmp_path}/there", tmp_path / "new/back")
    assert (tmp_path / "new/back").read_bytes() == b"text"
    assert os.listdir(tmp_path / "new") == ["back"]


def test_patterns_of_a_uri(tmp_path: Path) -> None:
    root = f"file://{tmp_path}"
    for name in ("in/a b.jsonl", "in/x[1].jsonl", "in/sub/y.jsonl"):
        storage.make_folder(os.path.dirname(f"{root}/{name}"))
        storage.write(f"{root}/{name}", b"")
    for pattern, found in {
        "in/*.jsonl": ["in/a b.jsonl", "in/x[1].jsonl"],
        "*/a?b.jsonl": ["in/a b.jsonl"],
        "in/**/*.jsonl": ["in/a b.jsonl", "in/sub/y.jsonl", "in/x[1].jsonl"],
        "in/x[[]1].jsonl": ["in/x[1].jsonl"],
        "in/[!x]*.jsonl": ["in/a b.jsonl"],
        "in/a b.jsonl": ["in/a b.jsonl"],
        "in/none": [],
        "in": [],
    }.items():
        assert storage.matches(f"{root}/{pattern}") == [f"{root}/{name}" for name in found]
    # A file by the name of a pattern is that file.
    (tmp_path / "a*").touch()
    (tmp_path / "ab").touch()
    assert storage.matches(f"{tmp_path}/a*") == [f"{tmp_path}/a*"]
    assert storage.matches(f"{tmp_path}/?b") == [f"{tmp_path}/ab"]


def test_a_file_system_that_is_not_there_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("gcsfs", "adlfs", "paramiko"):
        monkeypatch.setitem(sys.modules, package, None)
    for uri, remedy in {
        "azfs://account/path": "known are file, gs, s3, abfs, hdfs and",
        "://": "has no scheme",
        "gcs://bucket/x": r"pip install 'ufo-factuality\[gs\]'",
        "az://box/x": r"pip install 'ufo-factuality\[abfs\]'",
        "sftp://host/x": "paramiko",
    }.items():
        with pytest.raises(RemoteError, match=remedy):
            storage.exists(uri)


def test_a_file_that_is_not_there_is_named() -> None:
    assert [is_remote(path) for path in ("gs://b/x", "s3://b", "a/b", "C:\\a")] == [1, 1, 0, 0]
    for nowhere in ("file:///nowhere", "memory://nowhere"):
        with pytest.raises(OSError, match="there is no such file"):
            storage.size(nowhere)
        with pytest.raises(OSError, match=nowhere):
            storage.read(nowhere)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "ufo"


def unused_for(folder: Path, days: float) -> None:
    moment = time.time() - days * 86_400
    os.utime(folder / ".used", (moment, moment))


def test_what_was_not_used_for_long_goes_when_the_next_comes(cache: Path) -> None:
    folders = {name: kept_folder("indexes", name) for name in ("old", "fresh", "used")}
    for name in ("old", "used"):
        (folders[name] / "data").write_text(name)
        unused_for(folders[name], storage.DAYS_UNUSED + 1)
    unused_for(folders["fresh"], storage.DAYS_UNUSED - 1)
    other = kept_folder("runs", "old")
    unused_for(other, storage.DAYS_UNUSED + 1)
    assert kept_folder("indexes", "used") == folders["used"]
    assert (folders["used"] / "data").read_text() == "used"
    assert sorted(path.name for path in (cache / "indexes").iterdir()) == ["fresh", "used"]
    assert other.is_dir()  # another kind's


def test_without_a_cache_folder_it_is_among_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = kept_folder("indexes", "one")
    assert folder.is_dir()
    assert folder.is_relative_to(tmp_path)
    assert kept_folder("indexes", "one") == folder


SHARED_MEMORY = Path("/dev/shm")
WAITS = """
import signal
from ufo.schemas.storage import temporary_files_in_own_folder
import tempfile
with temporary_files_in_own_folder():
    print(tempfile.mkdtemp(), flush=True)
    signal.pause()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def waiting(place: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process with a temporary folder, and that folder."""
    with subprocess.Popen([sys.executable, "-c", WAITS], stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        yield one, Path(one.stdout.readline().strip())
        one.kill()


def test_files_go_with_their_owner(place: Path) -> None:
    with storage.temporary_files_in_own_folder():
        (own,) = place.iterdir()
        assert Path(tempfile.mkdtemp()).parent == own
        assert os.environ["TMPDIR"] == tempfile.gettempdir() == str(own)
        assert storage.shared_folder() == str(place)
        with own_folder() as inner:
            assert inner is not None
            assert set(place.iterdir()) == {own, Path(inner)}
        assert list(place.iterdir()) == [own]
    assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(place)
    assert not list(place.iterdir())


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_stays(
    place: Path, waiting: tuple[subprocess.Popen[str], Path]
) -> None:
    other, folder = waiting
    # What is locked stays whatever its number, as that of a process of another container.
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    shown = folder.parent.rename(place / f"ufo-own-{ended.pid}-x")
    with own_folder():
        assert (shown / folder.name).exists()
    shown.rename(folder.parent)
    left = [folder, place / f"ufo-duckdb-{other.pid}"]
    left[1].mkdir()
    if SHARED_MEMORY.is_dir():
        left.append(SHARED_MEMORY / f"sem.loky-{other.pid}-test")
        left[2].touch()
    with own_folder():
        assert all(path.exists() for path in left)
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert all(path.exists() for path in left)
    with own_folder():
        assert not any(path.exists() for path in left)
    assert not list(place.iterdir())


def test_without_a_place_to_write_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with storage.temporary_files_in_own_folder():
        assert tempfile.gettempdir() == str(tmp_path / "none")


@pytest.mark.parametrize(
    ("uri", "kept"),
    [
        *(("off", "off"), ("gs://b/ufo/", "gs://b/ufo/"), ("/a/b.sqlite", "/a/b.sqlite")),
        *(("/a/b/", "/a/b/"), ("~/x.sqlite", "/home/me/x.sqlite")),
    ],
)
def test_a_cache_is_off_or_a_file_or_a_prefix(
    monkeypatch: pytest.MonkeyPatch, uri: str, kept: str
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert storage.checked_cache(uri) == kept
    monkeypatch.setenv("UFO_CACHE", f" {uri} ")
    assert storage.default_cache() == kept


@pytest.mark.parametrize("uri", ["", "OFF", "a.db", "/a/b", "gs://b/ufo", "gs://b/a.sqlite"])
def test_what_cannot_be_a_cache_says_what_can(uri: str) -> None:
    with pytest.raises(UsageError, match=f"^--cache '{uri}' cannot be a cache: name a file"):
        storage.checked_cache(uri)


def test_without_a_choice_the_cache_is_in_the_user_s_folder(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UFO_CACHE", " ")
    assert storage.default_cache() == str(cache / "answers.sqlite")
    monkeypatch.setenv("UFO_CACHE", "a.db")
    with pytest.raises(UsageError, match=r"^UFO_CACHE 'a\.db' cannot"):
        storage.default_cache()


@pytest.mark.parametrize(
    ("folder", "parts", "path"),
    [
        pytest.param("a", ("b", "c"), "a/b/c", id="a local folder"),
        pytest.param("gs://b", ("c", "d"), "gs://b/c/d", id="a bucket"),
        pytest.param("gs://b/", ("/c/", "", "d/"), "gs://b/c/d", id="slashes at the ends"),
        pytest.param("gs://b/", (), "gs://b", id="no parts"),
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
