import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from ufo.indexes import folder
from ufo.indexes.manifest import is_index
from ufo.schemas.errors import UsageError

Build = Callable[..., Path]


def _bytes(path: Path) -> dict[str, bytes]:
    # tantivy names its files at random, and the manifest lists them.
    files = (file for file in path.iterdir() if file.is_file() and file.name != "manifest.json")
    return {file.name: file.read_bytes() for file in files}


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
    with suppress(OSError), folder.building(path) as building:
        assert building.parent == path.parent
        assert _bytes(path) == before
        raise OSError("the disk is full")
    assert _bytes(path) == before
    assert [p.name for p in path.parent.iterdir()] == ["index"]


def test_an_empty_folder_and_a_new_one_below_new_ones_are_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for output in (tmp_path / "empty", tmp_path / "new/deep"):
        with folder.building(output) as building:
            (building / "x").touch()
        assert (output / "x").exists()


def test_other_folders_and_files_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    os.mkfifo(tmp_path / "mine/pipe")
    for name, message in (
        ("mine", "something else"),
        ("mine/letter.txt", "a file"),
        ("mine/letter.txt/index", "cannot write"),
        ("mine/pipe", "a file"),
    ):
        with pytest.raises(UsageError, match=message), folder.building(tmp_path / name):
            raise AssertionError
    assert (tmp_path / "mine/letter.txt").read_text() == "dear"


def test_what_a_killed_build_left_is_removed_and_only_one_builds_at_a_time(tmp_path: Path) -> None:
    left = tmp_path / ".index.building"
    (left / "blocks").mkdir(parents=True)
    (left / "blocks/00.json").touch()
    with folder.building(tmp_path / "index") as building:
        assert list(building.rglob("*")) == [building / folder.BLOCKS]
        with (
            pytest.raises(UsageError, match="by another process"),
            folder.building(tmp_path / "index"),
        ):
            raise AssertionError
    assert [p.name for p in tmp_path.iterdir()] == ["index"]
