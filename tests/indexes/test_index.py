import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ufo.indexes.index import Index, open_index
from ufo.indexes.manifest import read_manifest
from ufo.schemas.errors import IndexUnusable, UsageError

Build = Callable[..., Path]


def _titles(index: Index, query: str, k: int, named: list[str] | None = None) -> list[str]:
    [found] = index.search([query], k, None if named is None else [named])
    if named is None:
        scores = [hit.score for hit in found]
        assert scores == sorted(scores, reverse=True)
    return [hit.passage.title for hit in found]


def test_search_in_batches(build_folder: Build) -> None:
    index = open_index(build_folder())
    found = index.search(["Through how many countries does the Danube flow?", "nothing", ""], 1)
    assert [[hit.passage.title for hit in hits] for hits in found] == [["Danube"], [], []]
    assert found[0][0].passage == index.store.get([found[0][0].row])[0]
    assert index.search([], 5) == []


def test_fewer_than_one_passage_is_wrong_usage(build_folder: Build) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        open_index(build_folder()).search(["x"], 0)


def test_a_named_page_is_considered_wherever_it_stands(build_folder: Build) -> None:
    pages = {f"Sea {n}": "The sea and the sea and the sea." for n in range(20)}
    index = open_index(build_folder({**pages, "Long": "A sea. " + "Other words here. " * 30}))
    assert "Long" not in _titles(index, "sea words", 4, [])[1:]
    assert "Long" in _titles(index, "sea words", 4, ["long"])
    assert _titles(index, "sea words", 1, ["Long"]) == ["Long"]
    assert _titles(index, "sea", 4, ["Unknown"]) == _titles(index, "sea", 4)
    assert len(_titles(index, "sea", 4, ["Sea 0", "Sea 1", "Long"])) == 4


def test_names_lead_to_pages(build_folder: Build) -> None:
    index = open_index(build_folder())
    assert [index.names.pages(one) for one in ("black_Sea", "Glacier", "Rhine")] == [(2,), (3,), ()]
    assert index.names_in("Marie Curie saw the Black Sea.") == ("Marie Curie", "Black Sea")


def test_opened_once_and_again_when_it_changed(build_folder: Build, tmp_path: Path) -> None:
    path = build_folder()
    first = open_index(path)
    assert open_index(str(path)) is first
    assert open_index(path / ".." / path.name) is first
    build_folder({"Rhine": "The Rhine flows north."})
    second = open_index(path)
    assert second is not first
    assert [p.title for p in second.store.get([0])] == ["Rhine"]
    # Whoever holds the old one can go on reading.
    assert first.store.get([1])[0].title == "Danube"


def test_threads_share_one_index(build_folder: Build) -> None:
    path = build_folder()
    found: list[tuple[int, list[str]]] = []

    def work() -> None:
        index = open_index(path)
        for _ in range(50):
            found.append((id(index), _titles(index, "Nobel Prizes of Marie Curie", 3)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200
    assert all(one == found[0] for one in found)


def test_unknown_retriever(build_folder: Build) -> None:
    with pytest.raises(UsageError, match=r"'bm52'.*allowed: bm25, dense, hybrid.*mean 'bm25'"):
        open_index(build_folder(), "bm52")


@pytest.mark.parametrize("name", ["passages.arrow", "tantivy/meta.json", "aliases.arrow"])
def test_damage_inside_a_file_of_the_right_size(
    build_folder: Build, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build_folder()
    (path / name).write_bytes(b"\0" * (path / name).stat().st_size)
    with pytest.raises(IndexUnusable, match="checksum"):
        open_index(path)
    monkeypatch.setattr("ufo.indexes.manifest._SMALL", -1)  # as if it were a large one
    with pytest.raises(IndexUnusable, match="damaged"):
        open_index(path)
    with pytest.raises(IndexUnusable, match="checksum"):
        read_manifest(path, verify=True)


def test_a_small_index_of_an_older_version_is_refused_with_the_remedy(build_folder: Build) -> None:
    path = build_folder()
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["settings"]["engine"]["name"] = "bm25"
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(IndexUnusable, match=r"older ufo.*`ufo index build --input DUMP --output "):
        open_index(path)


def test_damage_that_only_a_search_meets(
    build_folder: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
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
