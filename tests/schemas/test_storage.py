"""Files by path and by URI; folders that are kept to be near, and temporary ones that go."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec import AbstractFileSystem

from ufo.schemas import storage
from ufo.schemas.cache_folder import cache_folder, checked_cache, default_cache, kept_folder
from ufo.schemas.errors import UsageError
from ufo.schemas.file_systems import Refused, RemoteError, Unreachable, is_remote
from ufo.schemas.temporary import own_folder, shared_folder, temporary_files_in_own_folder


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


REMEDIES = {
    "azfs://account/path": "known are file, gs, s3, abfs, hdfs and",
    "://": "no scheme",
    **{f"{scheme}://box/x": "'ufo-factuality[gs]'" for scheme in ("gs", "gcs")},
    **{f"{scheme}://box/x": "'ufo-factuality[s3]'" for scheme in ("s3", "s3a")},
    **{f"{scheme}://box/x": "'ufo-factuality[abfs]'" for scheme in ("abfs", "az")},
    "sftp://host/x": "paramiko",
}
# In a process of its own: fsspec keeps the classes of what was once imported.
EACH_IS_ASKED_FOR = """
import sys
sys.modules |= dict.fromkeys(("gcsfs", "s3fs", "adlfs", "paramiko"))
from ufo.schemas import storage
for uri in sys.argv[1:]:
    try:
        storage.exists(uri)
    except RemoteError as error:
        print(error)
"""


def test_a_file_system_that_is_not_there_has_a_remedy() -> None:
    command = [sys.executable, "-c", EACH_IS_ASKED_FOR, *REMEDIES]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for message, (uri, remedy) in zip(done.stdout.splitlines(), REMEDIES.items(), strict=True):
        assert message.startswith(f"{uri}: ")
        assert remedy in message


def test_the_file_system_that_is_not_there_is_the_one_that_is_named() -> None:
    with pytest.raises(RemoteError, match=r"^azfs://b: "):
        storage.move("memory://a", "azfs://b")


class Lists(AbstractFileSystem):
    """A file system of another kind, which tells of one file, or refuses."""

    protocol = "lists"
    told: ClassVar[dict[str, Any]] = {}
    fault: ClassVar[Exception | None] = None

    def find(self, path: str, *args: object, **more: object) -> Any:
        if self.fault:
            raise self.fault
        return {"box/f": {"name": "box/f", "type": "file", **self.told}}


@pytest.fixture
def lists(monkeypatch: pytest.MonkeyPatch) -> type[Lists]:
    fsspec.register_implementation("lists", Lists, clobber=True)
    for name in ("told", "fault"):
        monkeypatch.setattr(Lists, name, getattr(Lists, name))
    return Lists


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


def test_an_error_without_a_text_has_its_kind(lists: type[Lists]) -> None:
    lists.fault = ValueError()
    with pytest.raises(RemoteError, match=r"^lists://box: ValueError$"):
        storage.listed("lists://box")


class Answer(Exception):
    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        pytest.param(PermissionError("No"), Refused, "access is refused: No", id="denied"),
        pytest.param(Answer("No", 401), Refused, "access is refused: No", id="401"),
        pytest.param(Answer("No", 403), Refused, "access is refused: No", id="403"),
        pytest.param(Answer("No", 404), RemoteError, "No", id="another answer"),
        pytest.param(OSError("Forbidden: b"), Refused, "Forbidden: b", id="in words"),
        pytest.param(ConnectionError("off"), Unreachable, r"answer \(off\)", id="no net"),
        pytest.param(TimeoutError(), Unreachable, "in 20 seconds", id="silence"),
        pytest.param(ValueError("a\nTime: 3\nb\nc"), RemoteError, "a b$", id="one line"),
        pytest.param(ValueError("at x?sig=abc&b"), RemoteError, r"at x\?sig=…&b$", id="a secret"),
    ],
)
def test_what_a_client_raises_is_told_apart(
    lists: type[Lists], fault: Exception, kind: type[RemoteError], message: str
) -> None:
    lists.fault = fault
    with pytest.raises(RemoteError, match=f"^lists://box: .*{message}") as raised:
        storage.listed("lists://box")
    assert type(raised.value) is kind


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
        unused_for(folders[name], 30.1)
    unused_for(folders["fresh"], 29.9)
    other = kept_folder("runs", "old")
    unused_for(other, 30.1)
    assert kept_folder("indexes", "used") == folders["used"]
    assert (folders["used"] / "data").read_text() == "used"
    assert sorted(path.name for path in (cache / "indexes").iterdir()) == ["fresh", "used"]
    assert other.is_dir()  # another kind's


@pytest.mark.parametrize("lacking", ["the folder", "the right to write"])
def test_without_a_cache_folder_it_is_among_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    if lacking == "the folder":
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    else:
        monkeypatch.setattr("os.access", lambda *of: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "shared"))
    folder = kept_folder("indexes", "one")
    assert folder == tmp_path / f"shared/ufo-{os.getuid()}/indexes/one"
    assert folder.is_dir()
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert kept_folder("indexes", "one") == folder


@pytest.mark.parametrize(
    ("platform", "variable", "value", "folder"),
    [
        ("linux", "XDG_CACHE_HOME", "/caches", "/caches/ufo"),
        ("linux", "XDG_CACHE_HOME", "", "/home/me/.cache/ufo"),
        ("darwin", "XDG_CACHE_HOME", "/caches", "/home/me/Library/Caches/ufo"),
        ("win32", "LOCALAPPDATA", "/local", "/local/ufo"),
        ("win32", "LOCALAPPDATA", "", "/home/me/AppData/Local/ufo"),
    ],
)
def test_the_cache_is_where_the_platform_has_its_own(
    monkeypatch: pytest.MonkeyPatch, platform: str, variable: str, value: str, folder: str
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv(variable, value)
    monkeypatch.setattr("sys.platform", platform)
    assert str(cache_folder()) == folder


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
    with subprocess.Popen(
        [sys.executable, "-c", WAITS], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_files_go_with_their_owner(place: Path) -> None:
    with temporary_files_in_own_folder():
        (own,) = place.iterdir()
        assert Path(tempfile.mkdtemp()).parent == own
        assert os.environ["TMPDIR"] == tempfile.gettempdir() == str(own)
        assert shared_folder() == str(place)
        with own_folder() as inner:
            assert inner is not None
            assert set(place.iterdir()) == {own, Path(inner)}
        assert list(place.iterdir()) == [own]
    assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(place)
    assert not list(place.iterdir())


def test_a_variable_that_was_not_set_is_not_set_afterwards(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.delenv("TMPDIR")
    with temporary_files_in_own_folder():
        assert os.environ["TMPDIR"].startswith(str(place))
    assert "TMPDIR" not in os.environ
    assert tempfile.tempdir == str(place)


@pytest.mark.parametrize(
    ("name", "stays"),
    [("ufo-own-{pid}-x", False), ("ufo-own-me", True), ("ufo-own-1-x", True), ("mine", True)],
    ids=["of this number, before a restart", "no number", "of a living one", "another folder"],
)
def test_a_folder_that_nobody_holds_goes(place: Path, name: str, stays: bool) -> None:
    left = place / name.format(pid=os.getpid())
    left.mkdir()
    with own_folder():
        assert left.exists() is stays


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
    with temporary_files_in_own_folder():
        assert tempfile.gettempdir() == str(tmp_path / "none")


@pytest.mark.parametrize(
    ("uri", "kept"),
    [
        *(("off", "off"), ("gs://b/ufo/", "gs://b/ufo/"), ("/a/b.sqlite", "/a/b.sqlite")),
        *(("/a/b/", "/a/b/"), ("~/x.sqlite", "/home/me/x.sqlite"), ("~/b/", "/home/me/b/")),
        *(("x.sqlite", "/x.sqlite"), ("b/", "/b/")),
    ],
)
def test_a_cache_is_off_or_a_file_or_a_prefix(
    monkeypatch: pytest.MonkeyPatch, uri: str, kept: str
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir("/")
    assert checked_cache(uri) == kept
    monkeypatch.setenv("UFO_CACHE", f" {uri} ")
    assert default_cache() == kept


@pytest.mark.parametrize("uri", ["", "OFF", "a.db", "/a/b", "gs://b/ufo", "gs://b/a.sqlite"])
def test_what_cannot_be_a_cache_says_what_can(uri: str) -> None:
    with pytest.raises(UsageError, match=f"^--cache '{uri}' cannot be a cache: name a file"):
        checked_cache(uri)


def test_without_a_choice_the_cache_is_in_the_user_s_folder(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UFO_CACHE", " ")
    assert default_cache() == str(cache / "answers.sqlite")
    monkeypatch.setenv("UFO_CACHE", "a.db")
    with pytest.raises(UsageError, match=r"^UFO_CACHE 'a\.db' cannot"):
        default_cache()


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
