"""An index of another file system, here one behind `file://`, downloaded to this machine."""

import json
import multiprocessing
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ufo.indexes.downloaded import local_index
from ufo.indexes.index import open_index
from ufo.indexes.manifest import MANIFEST
from ufo.pipelines.build_index import build
from ufo.schemas.errors import IndexUnusable


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
