import json
import multiprocessing
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ufo.indexes.index import open_index
from ufo.indexes.manifest import MANIFEST, VERSION, is_index, local_index, read_manifest
from ufo.pipelines.build_index import build
from ufo.schemas.errors import IndexUnusable


def test_a_whole_index_is_read(build_folder: Callable[[], Path]) -> None:
    path = build_folder()
    manifest, fingerprint = read_manifest(path, verify=True)
    assert manifest["counts"]["articles"] == 4
    files = {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}
    listed = {entry["path"] for entry in manifest["files"]}
    assert {name for name in files if not name.endswith(".lock")} == listed | {MANIFEST}
    assert len(fingerprint) == 64
    assert is_index(path)


def _edit(path: Path, **changes: object) -> None:
    manifest = json.loads((path / MANIFEST).read_text())
    (path / MANIFEST).write_text(json.dumps({**manifest, **changes}))


def _truncate(path: Path) -> None:
    (path / "passages.arrow").write_bytes((path / "passages.arrow").read_bytes()[:-1])


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
        (_truncate, "passages.arrow has .* bytes"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_remedy(
    build_folder: Callable[[], Path], damage: Callable[[Path], None], reason: str
) -> None:
    path = build_folder()
    damage(path)
    with pytest.raises(IndexUnusable, match=reason) as raised:
        read_manifest(path)
    assert str(path) in raised.value.message
    assert "ufo index build" in raised.value.message


def test_no_folder_and_a_file(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusable, match="No such file"):
        read_manifest(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(IndexUnusable, match="Not a directory"):
        read_manifest(tmp_path / "file")
    assert not is_index(tmp_path)
    assert not is_index(tmp_path / "file")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/ufo/indexes"


@pytest.fixture
def built(tmp_path: Path) -> Path:
    documents = tmp_path / "documents.jsonl"
    documents.write_text('{"title": "Oslo", "text": "Oslo has 5 bridges."}\n')
    build(documents, tmp_path / "built")
    return tmp_path / "built"


def uri(folder: Path) -> str:
    return f"file://{folder}"


def test_it_is_downloaded_once_and_then_needs_only_the_manifest_there(
    built: Path, cache: Path
) -> None:
    first = open_index(uri(built))
    assert first.path.is_relative_to(cache)
    assert first.search(["bridges"], 1)[0][0].passage.title == "Oslo"
    for path in built.rglob("*"):
        if path.is_file() and path.name != MANIFEST:
            path.unlink()
    assert open_index(f"{uri(built)}/") is first


def test_an_index_built_again_is_downloaded_again(built: Path, tmp_path: Path, cache: Path) -> None:
    old = local_index(uri(built))
    documents = tmp_path / "documents.jsonl"
    documents.write_text('{"title": "Rome", "text": "Rome has 9 bridges."}\n')
    build(documents, built)
    assert local_index(uri(built)) != old
    assert open_index(uri(built)).search(["bridges"], 1)[0][0].passage.title == "Rome"
    assert len(list(cache.iterdir())) == 2


def test_processes_that_ask_at_once_get_the_same(built: Path, cache: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(local_index, [uri(built)] * 4)
    assert len(set(found)) == 1
    assert sorted(path.name for path in found[0].parent.iterdir()) == [".lock", ".used", "index"]


def spoil_a_byte(folder: Path) -> None:
    path = folder / "passages.arrow"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def list_what_is_outside(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_bytes())
    manifest["files"][0]["path"] = "../../outside"
    (folder / MANIFEST).write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (spoil_a_byte, "the checksum of passages.arrow differs"),
        (list_what_is_outside, "outside of its folder"),
        (lambda folder: (folder / "pages.arrow").unlink(), "pages.arrow"),
        (lambda folder: (folder / MANIFEST).write_text("{}"), "is not an index"),
        (lambda folder: shutil.rmtree(folder), "gcloud storage cp"),
    ],
    ids=["damaged", "outside", "missing", "another", "none"],
)
def test_one_that_is_not_whole_is_refused_and_not_kept(
    built: Path, cache: Path, harm: Callable[[Path], object], message: str
) -> None:
    harm(built)
    with pytest.raises(IndexUnusable, match=message) as raised:
        local_index(uri(built))
    assert "unfinished-" not in raised.value.message
    assert not [path for path in cache.glob("*/*") if not path.name.startswith(".")]
