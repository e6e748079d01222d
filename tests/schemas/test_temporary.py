"""Temporary folders go with their process."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ufo.schemas.temporary import own_folder, shared_folder, temporary_files_in_own_folder

SHARED_MEMORY = Path("/dev/shm")
WAITS = """
import signal
from ufo.schemas.temporary import temporary_files_in_own_folder
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
