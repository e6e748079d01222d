"""The manifest of an index, what is refused by it, and an index at another place."""

import json
import multiprocessing
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.indexes.conftest import Build
from ufo.indexes.index import open_index
from ufo.indexes.manifest import MANIFEST, VERSION, local_index, read_manifest
from ufo.schemas.errors import IndexUnusable

Harm = Callable[[Path], object]


def _edit(path: Path, **changes: object) -> None:
    manifest = json.loads((path / MANIFEST).read_text())
    (path / MANIFEST).write_text(json.dumps({**manifest, **changes}))


def _end(path: Path, end: bytes) -> None:
    """Replace the last byte of a file."""
    path.write_bytes(path.read_bytes()[:-1] + end)


def _replace(path: Path) -> None:
    shutil.rmtree(path)
    path.touch()


OUTSIDE = {"path": "../../outside", "bytes": 1, "sha256": ""}


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda path: (path / MANIFEST).unlink(), "not a finished index"),
        (lambda path: (path / MANIFEST).write_text("{"), "is damaged"),
        (lambda path: (path / MANIFEST).write_bytes(b"\xff\xfe\x00"), "is damaged"),
        (lambda path: (path / MANIFEST).write_text("[]"), "of another kind"),
        (lambda path: _edit(path, format="other"), "of another kind"),
        (lambda path: _edit(path, version=VERSION + 1), "newer ufo.*upgrade"),
        (lambda path: _edit(path, version="1"), "was built by an older ufo"),
        (lambda path: _edit(path, files=[{"path": "x"}]), "entry is missing"),
        (lambda path: _edit(path, counts=None), "entry is missing"),
        (lambda path: (path / "pages.arrow").unlink(), "pages.arrow has no bytes"),
        (lambda path: _end(path / "passages.arrow", b""), "passages.arrow has .* bytes"),
        (shutil.rmtree, "No such file"),
        (_replace, "Not a directory"),
    ],
)
def test_damage_is_refused(build_folder: Build, damage: Harm, reason: str) -> None:
    path = build_folder()
    damage(path)
    with pytest.raises(IndexUnusable, match=reason) as raised:
        read_manifest(path)
    assert str(path) in raised.value.message
    assert "ufo index build" in raised.value.message


# --- an index at another place --------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/ufo/indexes"


@pytest.fixture
def built(build_folder: Build) -> Path:
    return build_folder({"Oslo": "Oslo has 5 bridges."})


def test_each_build_is_downloaded_once(built: Path, build_folder: Build, cache: Path) -> None:
    first = open_index(f"file://{built}")
    assert first.path.is_relative_to(cache)
    assert first.search(["bridges"], 1)[0][0].passage.title == "Oslo"
    for path in built.rglob("*"):  # what is there needs only the manifest from now on
        if path.is_file() and path.name != MANIFEST:
            path.unlink()
    assert open_index(f"file://{built}/") is first
    build_folder({"Rome": "Rome has 9 bridges."})
    assert local_index(f"file://{built}") != first.path
    again = open_index(f"file://{built}")
    assert again.search(["bridges"], 1)[0][0].passage.title == "Rome"
    assert len(list(cache.iterdir())) == 2


def test_processes_that_ask_at_once_get_the_same(built: Path, cache: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(local_index, [f"file://{built}"] * 4)
    assert len(set(found)) == 1
    assert sorted(path.name for path in found[0].parent.iterdir()) == [".lock", ".used", "index"]


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda path: _end(path / "passages.arrow", b"!"), "the checksum of passages.arrow"),
        (lambda path: _edit(path, files=[OUTSIDE]), "outside of its folder"),
        (lambda path: (path / "pages.arrow").unlink(), "pages.arrow"),
        (lambda path: (path / MANIFEST).write_text("{}"), "is not an index"),
        (shutil.rmtree, "gcloud storage cp"),
    ],
    ids=["damaged", "outside", "missing", "another", "none"],
)
def test_what_is_not_whole_is_not_kept(built: Path, cache: Path, harm: Harm, message: str) -> None:
    harm(built)
    with pytest.raises(IndexUnusable, match=message) as raised:
        local_index(f"file://{built}")
    assert "unfinished-" not in raised.value.message
    assert not [path for path in cache.glob("*/*") if not path.name.startswith(".")]
