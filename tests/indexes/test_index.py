"""An index on disk: written, opened, shared by threads, and refused where it is broken."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests.indexes.conftest import Build
from ufo.indexes import folder
from ufo.indexes.index import Index, open_index
from ufo.indexes.manifest import is_index, read_manifest
from ufo.indexes.store import PassageStore
from ufo.schemas.errors import IndexUnusable, UsageError
from ufo.schemas.records import Passage, passage_id


def _titles(index: Index, query: str, k: int, named: list[str] | None = None) -> list[str]:
    [found] = index.search([query], k, None if named is None else [named])
    scores = [hit.score for hit in found]
    assert named is not None or scores == sorted(scores, reverse=True)
    return [hit.passage.title for hit in found]


def test_search_in_batches(build_folder: Build) -> None:
    index = open_index(build_folder())
    found = index.search(["Through how many countries does the Danube flow?", "nothing", ""], 1)
    assert [[hit.passage.title for hit in hits] for hits in found] == [["Danube"], [], []]
    assert found[0][0].passage == index.store.get([found[0][0].row])[0]
    assert index.search([], 5) == []
    with pytest.raises(UsageError, match="at least 1"):
        index.search(["x"], 0)
    with pytest.raises(UsageError, match=r"'bm52'.*allowed: bm25, dense, hybrid.*mean 'bm25'"):
        open_index(index.path, "bm52")


FILMS = {
    "Big Stone Gap (film)": "Big Stone Gap is a drama film directed by Adriana Trigiani.",
    "Adriana Trigiani": "Adriana Trigiani is a writer based in Greenwich Village.",
    **{f"City {n}": "A director is based in what city of New York." for n in range(60)},
}


def test_a_page_that_the_best_passage_names_is_found(build_folder: Build) -> None:
    index = open_index(build_folder(FILMS))
    question = "In what city is the director of Big Stone Gap based?"
    assert "Adriana Trigiani" not in _titles(index, question, 5)
    named = list(index.names_in(question))
    assert _titles(index, question, 1, named) == ["Big Stone Gap (film)"]
    assert "Adriana Trigiani" in _titles(index, question, 5, named)
    found = index.search(["", "zyzzyva", question], 3, [(), (), ()])
    assert [len(hits) for hits in found] == [0, 0, 3]
    assert index.search([], 3, []) == []


def test_opened_once_and_again_when_it_changed(build_folder: Build) -> None:
    path = build_folder()
    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(open_index, [path, str(path), path / ".." / path.name] * 9)
        found = [*pool.map(lambda _: _titles(first, "Nobel Prizes of Marie Curie", 3), range(99))]
    assert all(one is first for one in others)
    assert all(titles == found[0] for titles in found)
    build_folder({"Rhine": "The Rhine flows north."})
    second = open_index(path)
    assert second is not first
    assert [p.title for p in second.store.get([0])] == ["Rhine"]
    # Whoever holds the old one can go on reading.
    assert first.store.get([1])[0].title == "Danube"


@pytest.mark.parametrize("name", ["passages.arrow", "tantivy/meta.json", "aliases.arrow"])
def test_damage_in_a_file(build_folder: Build, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = build_folder()
    (path / name).write_bytes(b"\0" * (path / name).stat().st_size)
    with pytest.raises(IndexUnusable, match="checksum"):
        open_index(path)
    monkeypatch.setattr("ufo.indexes.manifest._SMALL", -1)  # as if it were a large one
    with pytest.raises(IndexUnusable, match="damaged"):
        open_index(path)
    with pytest.raises(IndexUnusable, match="checksum"):
        read_manifest(path, verify=True)


def test_an_index_of_an_older_version_is_refused_with_the_remedy(build_folder: Build) -> None:
    path = build_folder()
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["settings"]["engine"]["name"] = "bm25"
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(IndexUnusable, match=r"older ufo.*`ufo index build --input DUMP --output "):
        open_index(path)


def test_damage_that_a_search_meets(build_folder: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ufo.indexes.manifest._SMALL", -1)
    path = build_folder(name="small")
    store = path / "passages.arrow"
    store.write_bytes(store.read_bytes().replace(b"born in Warsaw", b"born in \xff\xffrsaw"))
    with pytest.raises(IndexUnusable, match=r"small is damaged.*codec.*`ufo index build`"):
        open_index(path).search(["Curie"], 1)
    path = build_folder(name="large")
    for terms in (path / "tantivy").glob("*.term"):
        data = terms.read_bytes()
        quarter = len(data) // 4
        terms.write_bytes(data[:quarter] + b"\xee" * (2 * quarter) + data[3 * quarter :])
    with pytest.raises(IndexUnusable, match=r"large is damaged.*`ufo index build`"):
        open_index(path).search(["Curie", "Danube", "Europe"], 1)


# --- passages -------------------------------------------------------------------------------------


def test_rows_at_random_of_a_page_and_as_a_row_of_the_table(build_folder: Build) -> None:
    pages = {f"T{n}": f"Text {n}." for n in range(3_000)}
    store = PassageStore(build_folder(pages))
    rows = [2_999, 0, 1_024, 0, *range(0, 3_000, 7), *range(199, -1, -1)]
    assert [passage.text for passage in store.get(rows)] == [f"Text {row}." for row in rows]
    assert len(store) == 3_000
    assert store.get([]) == []
    for row in (-1, 3_000):
        with pytest.raises(IndexError, match=str(row)):
            store.get([row])
    name = passage_id("enwiki", None, "Text 1.", 0)
    expected = Passage("Text 1.", "T1", source="enwiki", source_category="wiki", passage_id=name)
    assert store.get([1])[0].as_passage("enwiki") == expected
    store = PassageStore(build_folder({"A": "One two three. " * 100, "B": "", "C": "C."}))
    assert [store.rows_of_pages(of) for of in ([0], [1], [2, 0])] == [[0, 1, 2], [], [3, 0, 1, 2]]
    assert [p.ordinal for p in store.get(range(4))] == [0, 1, 2, 0]


# --- the folder -----------------------------------------------------------------------------------


def _bytes(path: Path) -> dict[str, bytes]:
    # tantivy names its files at random, and the manifest lists them.
    files = (file for file in path.iterdir() if file.is_file() and file.name != "manifest.json")
    return {file.name: file.read_bytes() for file in files}


def test_an_index_stays_until_the_new_one_is_whole(build_folder: Build) -> None:
    path = build_folder()
    before = _bytes(path)
    assert before == _bytes(build_folder(name="same"))
    with suppress(OSError), folder.building(path) as building:
        assert building.parent == path.parent
        assert _bytes(path) == before
        raise OSError("the disk is full")
    assert _bytes(path) == before
    build_folder({"A": "x"})
    assert is_index(path)
    assert _bytes(path) != before
    assert {p.name for p in path.parent.iterdir()} == {"index", "same"}


def test_only_new_or_empty_folders_are_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for output in (tmp_path / "empty", tmp_path / "new/deep"):
        with folder.building(output) as building:
            (building / "x").touch()
        assert (output / "x").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    os.mkfifo(tmp_path / "mine/pipe")
    messages = {"": "something else", "letter.txt": "a file", "letter.txt/index": "cannot write"}
    for name, message in {**messages, "pipe": "a file"}.items():
        with pytest.raises(UsageError, match=message), folder.building(tmp_path / "mine" / name):
            raise AssertionError
    assert (tmp_path / "mine/letter.txt").read_text() == "dear"


def test_what_a_killed_build_left_is_removed_and_only_one_builds_at_a_time(tmp_path: Path) -> None:
    left = tmp_path / ".index.building" / "blocks"
    left.mkdir(parents=True)
    (left / "00.json").touch()
    index = tmp_path / "index"
    with folder.building(index) as building:
        assert list(building.rglob("*")) == [building / folder.BLOCKS]
        with pytest.raises(UsageError, match="by another process"), folder.building(index):
            raise AssertionError
    assert [p.name for p in tmp_path.iterdir()] == ["index"]
