"""Folders that are kept only to be near: which are removed, and where they are without a home."""

import os
import time
from pathlib import Path

import pytest

from ufo.schemas.storage import DAYS_UNUSED, kept_folder


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
        unused_for(folders[name], DAYS_UNUSED + 1)
    unused_for(folders["fresh"], DAYS_UNUSED - 1)
    other = kept_folder("runs", "old")
    unused_for(other, DAYS_UNUSED + 1)
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
