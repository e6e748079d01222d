"""The manifest of an index, what is refused by it, and an index at another place."""

import json
import multiprocessing
import shutil
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.indexes.conftest import Build
from ufo.indexes.index import open_index
from ufo.indexes.manifest import MANIFEST, is_index, read_manifest, write_manifest
from ufo.indexes.remote_index import local_index
from ufo.schemas.errors import IndexUnusable
from ufo.schemas.state_files import state_bytes, state_in

Harm = Callable[[Path], object]


def _edit(path: Path, **changes: object) -> None:
    """Change entries of a manifest; those that are `...` are left out."""
    manifest = {**state_in((path / MANIFEST).read_bytes()), **changes}
    kept = {name: value for name, value in manifest.items() if value is not ...}
    (path / MANIFEST).write_bytes(state_bytes(kept))


def _end(path: Path, end: bytes) -> None:
    """Replace the last byte of a file."""
    path.write_bytes(path.read_bytes()[:-1] + end)


def _replace(path: Path) -> None:
    shutil.rmtree(path)
    path.touch()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a manifest of a file of 1 MiB and one of a byte more."""
    path = tmp_path_factory.mktemp("sample")
    for name, size in (("small", 1 << 20), ("large", (1 << 20) + 1)):
        (path / name).write_bytes(b"x" * size)
    write_manifest(path, ["small", "large"], {"counts": {"pages": 2}, "of": "Ulm, é"})
    return path


@pytest.fixture
def folder(tmp_path: Path, sample: Path) -> Path:
    return shutil.copytree(sample, tmp_path / "index")


def test_a_manifest_lists_files_with_their_sizes_and_checksums(folder: Path) -> None:
    manifest, fingerprint = read_manifest(folder, verify=True)
    text = (folder / MANIFEST).read_bytes()
    files = [(name, (folder / name).read_bytes()) for name in ("small", "large")]
    assert manifest == {
        "format": "ufo-index",
        "version": 4,
        "counts": {"pages": 2},
        "of": "Ulm, é",
        "files": [
            {"path": name, "bytes": len(data), "sha256": sha256(data).hexdigest()}
            for name, data in files
        ],
    }
    assert fingerprint == sha256(text).hexdigest()


FILES: dict[str, object] = {
    "no path": [{"bytes": 1, "sha256": ""}],
    "no size": [{"path": "small", "sha256": ""}],
    "no checksum": [{"path": "small", "bytes": 1}],
    "a size that is none": [{"path": "small", "bytes": "x", "sha256": ""}],
    "a number as a file": [5],
    "no files": ...,
}
COUNTS: dict[str, object] = {
    "no counts": ...,
    "counts that are null": None,
    "a count that is a word": {"pages": "x"},
    "a count that is null": {"pages": None},
}
ENTRIES: dict[str, Any] = {
    what: (partial(_edit, files=files), "an entry is missing") for what, files in FILES.items()
} | {
    what: (partial(_edit, counts=counts), "an entry is missing") for what, counts in COUNTS.items()
}


DAMAGE: dict[str, tuple[Harm, str]] = {
    "no manifest": (lambda path: (path / MANIFEST).unlink(), "not a finished index"),
    "a cut one": (lambda path: (path / MANIFEST).write_text("{"), "is damaged"),
    "no text": (lambda path: (path / MANIFEST).write_bytes(b"\xff\xfe\x00"), "is damaged"),
    "a list": (lambda path: (path / MANIFEST).write_text("[]"), "of another kind"),
    "no format": (partial(_edit, format=...), "of another kind"),
    "no version": (partial(_edit, version=...), "of another kind"),
    "another format": (partial(_edit, format="other"), "of another kind"),
    "a newer format": (partial(_edit, version=5), "format .5, .*4.; upgrade ufo, or build"),
    "an older format": (partial(_edit, version=3), "another format .3, readable here: 4.; build"),
    "a version that is a text": (partial(_edit, version="5"), "another format .'5', .*; build"),
    "no small file": (lambda path: (path / "small").unlink(), "small has no bytes"),
    "a cut file": (lambda path: _end(path / "large", b""), "large has 1048576 bytes"),
    "another byte": (lambda path: _end(path / "small", b"y"), "the checksum of small differs"),
    "no folder": (shutil.rmtree, "No such file"),
    "a file": (_replace, "Not a directory"),
    **ENTRIES,
}


@pytest.mark.parametrize(("damage", "reason"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_refused(folder: Path, damage: Harm, reason: str) -> None:
    damage(folder)
    with pytest.raises(IndexUnusable, match=reason) as raised:
        read_manifest(folder)
    assert str(folder) in raised.value.message
    assert "ufo index build" in raised.value.message


@pytest.mark.parametrize("bit", [0, 2, 7])
def test_each_flipped_bit_of_a_manifest_is_refused(folder: Path, bit: int) -> None:
    written = (folder / MANIFEST).read_bytes()
    for at in range(len(written)):
        flipped = bytearray(written)
        flipped[at] ^= 1 << bit
        (folder / MANIFEST).write_bytes(flipped)
        with pytest.raises(IndexUnusable, match="is damaged or of another kind"):
            read_manifest(folder)


def test_a_manifest_of_before_there_were_checksums_is_read(folder: Path) -> None:
    content = state_in((folder / MANIFEST).read_bytes())
    (folder / MANIFEST).write_text(json.dumps(content))
    assert read_manifest(folder)[0] == content


def test_a_large_file_is_read_where_all_are_verified(folder: Path) -> None:
    _end(folder / "large", b"y")
    read_manifest(folder)
    with pytest.raises(IndexUnusable, match="the checksum of large differs"):
        read_manifest(folder, verify=True)


@pytest.mark.parametrize(
    ("manifest", "is_one"),
    [
        pytest.param(b'{"format": "ufo-index"}', True, id="of any version"),
        pytest.param(b'{"format": "other"}', False, id="another format"),
        pytest.param(b"{}", False, id="no format"),
        pytest.param(b"[]", False, id="a list"),
        pytest.param(b"{", False, id="a cut manifest"),
        pytest.param(None, False, id="no manifest"),
    ],
)
def test_a_folder_is_an_index_by_its_manifest(
    tmp_path: Path, manifest: bytes | None, is_one: bool
) -> None:
    if manifest is not None:
        (tmp_path / MANIFEST).write_bytes(manifest)
    assert is_index(tmp_path) is is_one


# --- an index at another place --------------------------------------------------------------------

OUTSIDE = {"path": "../../outside", "bytes": 1, "sha256": ""}


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
        folders = pool.map(local_index, [f"file://{built}"] * 4)
    assert len(set(folders)) == 1
    assert sorted(path.name for path in folders[0].parent.iterdir()) == [".lock", ".used", "index"]


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


def test_every_checksum_is_verified_after_a_download(folder: Path, cache: Path) -> None:
    _end(folder / "large", b"y")
    with pytest.raises(IndexUnusable, match=f"file://{folder} is damaged: the checksum of large"):
        local_index(f"file://{folder}")


@pytest.mark.parametrize("lacking", [0, 1])
def test_an_index_needs_room(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, lacking: int
) -> None:
    room = SimpleNamespace(free=(2 << 20) + 1 - lacking)
    monkeypatch.setattr("shutil.disk_usage", lambda path: room)
    if not lacking:
        assert local_index(f"file://{folder}").is_dir()
        return
    with pytest.raises(IndexUnusable, match=r"it has 2,097,153 bytes, .* room for 2,097,152 in"):
        local_index(f"file://{folder}")


def test_a_path_of_this_machine_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert local_index("~/index") == local_index("a/../index") == tmp_path / "index"
