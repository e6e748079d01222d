import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from ufo.indexes import folder
from ufo.indexes.manifest import is_index
from ufo.schemas.errors import UsageError

Build = Callable[..., Path]


def _bytes(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


def test_the_same_pages_give_the_same_bytes(build_folder: Build) -> None:
    pages = {f"T{number}": f"Text {number}. " * (number % 50) for number in range(1_500)}
    assert _bytes(build_folder(pages, "a")) == _bytes(build_folder(pages, "b"))


def test_an_index_is_replaced_and_nothing_is_left_beside_it(build_folder: Build) -> None:
    path = build_folder()
    build_folder({"A": "x"})
    assert is_index(path)
    assert [p.name for p in path.parent.iterdir()] == ["index"]


def test_an_index_stays_until_the_new_one_is_whole(build_folder: Build) -> None:
    path = build_folder()
    before = _bytes(path)
    building = folder.start(path)
    assert building.parent == path.parent
    assert _bytes(path) == before


def test_an_empty_folder_and_a_new_one_below_new_ones_are_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for output in (tmp_path / "empty", tmp_path / "new/deep"):
        building = folder.start(output)
        (building / "x").touch()
        folder.finish(building, output)
        assert (output / "x").exists()


def test_other_folders_and_files_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    with pytest.raises(UsageError, match="not an index"):
        folder.start(tmp_path / "mine")
    with pytest.raises(UsageError, match="is a file"):
        folder.start(tmp_path / "mine/letter.txt")
    with pytest.raises(UsageError, match="cannot write"):
        folder.start(tmp_path / "mine/letter.txt/index")
    os.mkfifo(tmp_path / "mine/pipe")
    with pytest.raises(UsageError, match="is a file"):
        folder.start(tmp_path / "mine/pipe")
    assert (tmp_path / "mine/letter.txt").read_text() == "dear"


def test_what_a_killed_build_left_is_removed_and_a_running_ones_stays(tmp_path: Path) -> None:
    prefix = f".index.building-{socket.gethostname()}-"
    gone = tmp_path / f"{prefix}{2**22 + 1}-aa"  # above the largest process id
    running = tmp_path / f"{prefix}{os.getpid()}-aa"
    other = tmp_path / ".index.building-elsewhere-1-aa"
    for left in (gone, running, other):
        left.mkdir()
    folder.start(tmp_path / "index")
    assert not gone.exists()
    assert running.exists()
    assert other.exists()
