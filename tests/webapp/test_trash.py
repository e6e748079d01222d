"""Deleted files and folders come back, until they have lain an hour in the trash."""

import os
import time
from pathlib import Path

import pytest

from ufo.webapp.problems import NotFound
from ufo.webapp.trash import discard, restore


@pytest.fixture(params=["file", "folder"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    entry = tmp_path / "thing"
    if request.param == "file":
        entry.write_text("kept")
    else:
        entry.mkdir()
        (entry / "inner").write_text("kept")
    return entry


def test_what_is_discarded_comes_back(path: Path) -> None:
    discard(path)
    assert not path.exists()
    restore(path)
    assert (path / "inner" if path.is_dir() else path).read_text() == "kept"


def test_the_trash_keeps_things_for_an_hour_after_their_deletion(path: Path) -> None:
    last_week = time.time() - 7 * 86_400
    os.utime(path, (last_week, last_week))
    other = path.with_name("other")
    other.write_text("")
    discard(path)
    discard(other)
    restore(path)
    discard(path)
    an_hour_ago = time.time() - 3_601
    os.utime(path.parent / ".deleted" / path.name, (an_hour_ago, an_hour_ago))
    other.write_text("")
    discard(other)
    with pytest.raises(NotFound, match="for an hour"):
        restore(path)
    restore(other)


def test_a_newer_thing_of_the_same_name_is_kept(path: Path) -> None:
    discard(path)
    path.write_text("newer")
    with pytest.raises(NotFound, match="another one"):
        restore(path)
    assert path.read_text() == "newer"
    discard(path)
    restore(path)
    assert path.read_text() == "newer"


def test_a_thing_that_is_gone_cannot_be_discarded(path: Path) -> None:
    discard(path)
    with pytest.raises(NotFound):
        discard(path)
    # The first deletion can still be undone.
    restore(path)
    assert path.exists()
