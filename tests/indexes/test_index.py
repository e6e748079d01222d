"""An index on disk: written, opened, shared by threads, and refused where it is broken."""

import os
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow.parquet as pq
import pytest

from tests.embedder import write_embedder
from tests.indexes.conftest import Build, page, written
from ufo.indexes import folder
from ufo.indexes.blocks import process_block, write_block
from ufo.indexes.index import Index, open_index
from ufo.indexes.manifest import is_index, read_manifest
from ufo.indexes.names import ALIAS_SCHEMA
from ufo.indexes.reader import Block, RawPage
from ufo.indexes.store import PAGE_SCHEMA, PASSAGE_SCHEMA, PassageStore, StoredPassage
from ufo.schemas.errors import IndexUnusable, UsageError
from ufo.schemas.records import Passage, passage_id
from ufo.schemas.state_files import state_bytes, state_in


def _titles(index: Index, query: str, k: int, named: list[str] | None = None) -> list[str]:
    [hits] = index.search([query], k, None if named is None else [named])
    scores = [hit.score for hit in hits]
    assert named is not None or scores == sorted(scores, reverse=True)
    return [hit.passage.title for hit in hits]


def test_search_in_batches(build_folder: Build) -> None:
    index = open_index(build_folder())
    results = index.search(["Through how many countries does the Danube flow?", "nothing", ""], 1)
    assert [[hit.passage.title for hit in hits] for hits in results] == [["Danube"], [], []]
    assert results[0][0].passage == index.store.get([results[0][0].row])[0]
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
    results = index.search(["", "zyzzyva", question], 3, [(), (), ()])
    assert [len(hits) for hits in results] == [0, 0, 3]
    assert index.search([], 3, []) == []


def test_opened_once_and_again_when_it_changed(build_folder: Build) -> None:
    path = build_folder()
    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(open_index, [path, str(path), path / ".." / path.name] * 9)
        title_lists = [
            *pool.map(lambda _: _titles(first, "Nobel Prizes of Marie Curie", 3), range(99))
        ]
    assert all(one is first for one in others)
    assert all(titles == title_lists[0] for titles in title_lists)
    build_folder({"Rhine": "The Rhine flows north."})
    second = open_index(path)
    assert second is not first
    assert [p.title for p in second.store.get([0])] == ["Rhine"]
    # Whoever holds the old one can go on reading.
    assert first.store.get([1])[0].title == "Danube"


def test_an_index_of_an_older_version_is_refused_with_the_remedy(build_folder: Build) -> None:
    path = build_folder()
    manifest = state_in((path / "manifest.json").read_bytes())
    (path / "manifest.json").write_bytes(state_bytes(manifest | {"version": 3}))
    with pytest.raises(IndexUnusable, match=r"another format.*`ufo index build --input DUMP "):
        open_index(path)


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with vectors; tests that change it copy it."""
    folder = tmp_path_factory.mktemp("embedded")
    model = write_embedder(folder / "model", "river sea")
    return written(folder / "index", embedder=str(model))


def unchecked(path: Path) -> Path:
    """Let the manifest of an index list no file, so that none is checked."""
    manifest = state_in((path / "manifest.json").read_bytes())
    (path / "manifest.json").write_bytes(state_bytes(manifest | {"files": []}))
    return path


def zeroed(file: Path) -> None:
    file.write_bytes(b"\0" * file.stat().st_size)


def another(file: Path) -> None:
    shutil.copy(file.with_name("aliases.arrow"), file)


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        *((name, zeroed) for name in ("passages.arrow", "aliases.arrow", "tantivy/meta.json")),
        *((name, zeroed) for name in ("dense.faiss", "dense-rows.npy")),
        *((name, Path.unlink) for name in ("passages.arrow", "pages.arrow", "aliases.arrow")),
        ("pages.arrow", another),
    ],
)
def test_what_cannot_be_opened_is_damaged(
    embedded: Path, tmp_path: Path, name: str, harm: Callable[[Path], None]
) -> None:
    path = unchecked(shutil.copytree(embedded, tmp_path / "index"))
    harm(path / name)
    with pytest.raises(IndexUnusable, match=r"index is damaged: .*`ufo index build`"):
        open_index(path, "dense")


def test_vectors_need_a_package(build_folder: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    path = build_folder()
    assert open_index(path).manifest["counts"]["articles"] == 4
    for needs in (lambda: open_index(path, "dense"), lambda: build_folder(embedder="openai:m")):
        with pytest.raises(UsageError, match=r"(vectors|openai:m) needs faiss.*\[dense\]"):
            needs()


def test_each_retriever_of_an_index_is_opened_on_its_own(embedded: Path) -> None:
    kinds = [type(open_index(embedded, name).retriever) for name in ("bm25", "dense", "hybrid")]
    assert [kind.__name__ for kind in kinds] == ["Bm25", "Dense", "Hybrid"]


def test_damage_that_a_search_meets(build_folder: Build) -> None:
    path = unchecked(build_folder(name="small"))
    store = path / "passages.arrow"
    store.write_bytes(store.read_bytes().replace(b"born in Warsaw", b"born in \xff\xffrsaw"))
    with pytest.raises(IndexUnusable, match=r"small is damaged.*codec.*`ufo index build`"):
        open_index(path).search(["Curie"], 1)
    path = unchecked(build_folder(name="large"))
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


def test_the_rows_of_pages_and_the_pages_of_rows(build_folder: Build) -> None:
    store = PassageStore(build_folder({"A": "One two three. " * 100, "B": "", "C": "C."}))
    assert [store.rows_of_pages(of) for of in ([0], [1], [2, 0])] == [[0, 1, 2], [], [3, 0, 1, 2]]
    assert [store.rows_of_pages([0, 1, 2], most) for most in (0, 2)] == [[], [0, 1, 3]]
    assert [store.page_of_row(row) for row in range(4)] == [0, 0, 0, 2]
    assert [p.ordinal for p in store.get(range(4))] == [0, 1, 2, 0]


STORED = StoredPassage("T", "A > B", "https://x.org/T", 1, 2, "2025-02-03", "Text.", 3)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param({}, {}, id="all that is known"),
        pytest.param({"section": ""}, {"section": None}, id="the lead section"),
        pytest.param({"published_at": None}, {"published_at": None}, id="no date"),
        pytest.param({"url": None}, {"url": None, "hostname": None}, id="no address"),
        pytest.param({"url": "x:y"}, {"url": "x:y", "hostname": None}, id="no host"),
        pytest.param({"ordinal": 4}, {}, id="another place in its page"),
        pytest.param({"text": "More."}, {"text": "More."}, id="another text"),
    ],
)
def test_a_stored_passage_is_a_row_of_the_table_of_passages(
    changed: dict[str, Any], expected: dict[str, Any]
) -> None:
    stored = replace(STORED, **changed)
    known: dict[str, Any] = {"text": "Text.", "title": "T", "section": "A > B"}
    known |= {"url": "https://x.org/T", "hostname": "x.org", "published_at": "2025-02-03"}
    known |= expected
    for source, category in (("wiki", "wiki"), ("wiki", "news"), ("mine", "wiki")):
        name = passage_id(source, known["url"], known["text"], stored.ordinal)
        assert stored.as_passage(source, category) == Passage(
            **known, source=source, source_category=category, passage_id=name
        )


def test_what_a_stored_passage_may_lack() -> None:
    lacked = [field.name for field in PASSAGE_SCHEMA if field.nullable]
    assert lacked == ["url", "page_id", "revision_id", "published_at"]
    assert [field.name for field in (*PAGE_SCHEMA, *ALIAS_SCHEMA) if field.nullable] == []


# --- the folder -----------------------------------------------------------------------------------


def _bytes(path: Path) -> dict[str, bytes]:
    # tantivy names its files at random, and the manifest lists them.
    files = (file for file in path.iterdir() if file.is_file() and file.name != "manifest.json")
    return {file.name: file.read_bytes() for file in files}


def test_an_index_stays_until_the_new_one_is_whole(build_folder: Build) -> None:
    path = build_folder()
    before = _bytes(path)
    assert before == _bytes(build_folder(name="same"))
    with suppress(OSError), folder.build_folder(path) as building:
        assert building.parent == path.parent
        assert _bytes(path) == before
        raise OSError("the disk is full")
    assert _bytes(path) == before
    build_folder({"A": "x"})
    assert is_index(path)
    assert _bytes(path) != before
    assert {p.name for p in path.parent.iterdir()} == {"index", "same"}


def test_the_manifest_lists_every_file_and_says_how_they_were_made(embedded: Path) -> None:
    manifest, _ = read_manifest(embedded, verify=True)
    listed = {entry["path"] for entry in manifest["files"]}
    files = {str(file.relative_to(embedded)) for file in embedded.rglob("*") if file.is_file()}
    assert files - listed - {"manifest.json"} == {name for name in files if name.endswith(".lock")}
    assert [name for name in listed if name.endswith(".lock")] == []
    assert listed - {name for name in listed if name.startswith("tantivy/")} == {
        "passages.arrow",
        "pages.arrow",
        "aliases.arrow",
        "failures.parquet",
        "dense.faiss",
        "dense-rows.npy",
    }
    engine = {"name": "tantivy", "k1": 1.2, "b": 0.75, "title_weight": 2}
    assert manifest["settings"] == {"engine": engine}
    assert manifest["embedder"]["name"] == str(embedded.with_name("model"))
    assert manifest["dump_date"] is None


def test_an_index_keeps_what_it_was_built_of(tmp_path: Path) -> None:
    for name, size in (("a", 5), ("b", 7)):
        (tmp_path / name).write_bytes(b"x" * size)
    with folder.build_folder(tmp_path / "index") as building:
        broken = tuple(RawPage(b"<page>") for _ in range(3))
        wiki = [Block(file, 0, 3 * file, f"f{file}", items=broken) for file in (1, 0)]
        for block in wiki:
            write_block(building / folder.BLOCKS, block, process_block(block))
        content, failures = folder.assemble(
            building, {"words": 7}, [tmp_path / "a", tmp_path / "b"]
        )
        folder.add_engines(building, content)
    manifest, _ = read_manifest(tmp_path / "index")
    assert manifest["inputs"] == [{"name": "a", "bytes": 5}, {"name": "b", "bytes": 7}]
    assert manifest["settings"]["words"] == 7
    assert "embedder" not in manifest
    counts = "pages articles redirects disambiguations other_namespaces empty_articles passages"
    more = "other_namespace_redirects sentences_left_out aliases unresolved_redirects"
    none = f"{counts} {more}".split()
    assert manifest["counts"] == {**dict.fromkeys(none, 0), "failures": 6}
    keys = [f"f{at // 3}: page {at + 1}" for at in range(6)]
    assert [failure.key for failure in failures] == keys
    kept = pq.read_table(tmp_path / "index" / folder.FAILURES)
    assert kept["key"].to_pylist() == keys


@pytest.mark.parametrize(
    ("change", "again"),
    [
        pytest.param("nothing", [], id="the same again"),
        pytest.param("the name", ["2 of 2"], id="the same model elsewhere"),
        pytest.param("the model", ["2 of 2"], id="another model"),
        pytest.param("the passages", ["2 of 2"], id="other passages"),
    ],
)
def test_vectors_of_a_stopped_build_are_used_for_the_same_passages_and_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, again: list[str]
) -> None:
    def build(model: Path, text: str) -> list[str]:
        messages: list[str] = []
        pages = [page("A", text), page("B", "A sea.")]
        with folder.build_folder(tmp_path / "index") as building:
            block = Block(0, 0, 0, "f", items=tuple(pages))
            write_block(building / folder.BLOCKS, block, process_block(block))
            content, _ = folder.assemble(building, {}, [])
            folder.add_engines(building, content, str(model), messages.append)
        return [line.partition(" passages")[0] for line in messages]

    model, other = (write_embedder(tmp_path / name, "river sea") for name in ("model", "other"))
    with monkeypatch.context() as patch:
        patch.setattr("ufo.indexes.dense.write_vectors", Mock(side_effect=OSError("full")))
        with pytest.raises(OSError, match="full"):
            build(model, "A river.")
    if change == "the model":
        write_embedder(model, "river")
    text = "A brook." if change == "the passages" else "A river."
    assert build(other if change == "the name" else model, text) == again
    assert not list(tmp_path.glob(".index*"))


def test_only_new_or_empty_folders_are_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for output in (tmp_path / "empty", tmp_path / "new/deep"):
        with folder.build_folder(output) as building:
            (building / "x").touch()
        assert (output / "x").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    os.mkfifo(tmp_path / "mine/pipe")
    messages = {"": "something else", "letter.txt": "a file", "letter.txt/index": "cannot write"}
    for name, message in {**messages, "pipe": "a file"}.items():
        with (
            pytest.raises(UsageError, match=message),
            folder.build_folder(tmp_path / "mine" / name),
        ):
            raise AssertionError
    assert (tmp_path / "mine/letter.txt").read_text() == "dear"


def test_the_index_that_was_there_comes_back_where_the_new_one_cannot_be_moved(
    build_folder: Build,
) -> None:
    path = build_folder()
    before = _bytes(path)
    with pytest.raises(FileNotFoundError), folder.build_folder(path) as building:
        shutil.rmtree(building)
    assert _bytes(path) == before
    assert [p.name for p in path.parent.iterdir()] == ["index"]


def test_an_old_index_that_a_killed_build_left_is_removed(build_folder: Build) -> None:
    path = build_folder()
    (path.parent / ".index.building-old").mkdir()
    (path.parent / ".index.building-old" / "left").touch()
    build_folder({"A": "x"})
    assert [p.name for p in path.parent.iterdir()] == ["index"]


def test_what_a_killed_build_left_is_removed_and_only_one_builds_at_a_time(tmp_path: Path) -> None:
    left = tmp_path / ".index.building" / "blocks"
    left.mkdir(parents=True)
    (left / "00.json").touch()
    index = tmp_path / "index"
    with folder.build_folder(index) as building:
        assert list(building.rglob("*")) == [building / folder.BLOCKS]
        with pytest.raises(UsageError, match="by another process"), folder.build_folder(index):
            raise AssertionError
    assert [p.name for p in tmp_path.iterdir()] == ["index"]
