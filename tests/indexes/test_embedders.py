import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes import folder
from indexes.base import open_index
from indexes.embedders import check_same, checked_name, make_embedder
from indexes.lsa import Lsa, fit_lsa
from schemas.errors import IndexUnusable, UsageError

Build = Callable[..., Path]


def test_names(tmp_path: Path) -> None:
    assert checked_name("lsa") == "lsa"
    assert checked_name("openai") == "openai:text-embedding-3-small"
    assert checked_name("openai:m") == "openai:m"
    assert checked_name(str(tmp_path)) == str(tmp_path)
    with pytest.raises(UsageError, match=r"'lsi'; allowed: lsa, openai"):
        checked_name("lsi")


def test_a_local_model_without_its_package_gives_the_pip_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UsageError, match=r"pip install 'ufo-factuality\[dense\]'"):
        make_embedder(str(tmp_path), tmp_path)


def test_another_embedder_than_the_one_that_made_the_vectors_is_refused(
    embedded_folder: Path,
) -> None:
    index = open_index(embedded_folder, "hybrid", embedder="lsa")
    assert index.manifest["embedder"]["name"] == "lsa"
    with pytest.raises(IndexUnusable, match=r"made by the embedder 'lsa', not 'openai:m'"):
        open_index(embedded_folder, "dense", embedder="openai:m")


def test_another_version_or_dimension_is_refused(build_folder: Build) -> None:
    path = build_folder()
    fit_lsa(path)
    embedder = Lsa(path)
    made = {"name": "lsa", "version": embedder.version, "dimension": embedder.dimension}
    check_same(embedder, made)
    for change in ({"version": "other"}, {"dimension": 7}):
        with pytest.raises(IndexUnusable, match="is not the one that made the vectors"):
            check_same(embedder, made | change)


@pytest.fixture
def embedded_folder(build_folder: Build, tmp_path: Path) -> Path:
    path = build_folder()
    building = folder.start(path)
    (path / "passages.arrow").rename(building / "passages.arrow")
    for name in ("pages.arrow", "aliases.arrow", "failures.parquet"):
        (path / name).rename(building / name)
    content = {"counts": {"passages": 3}, "settings": {}}
    folder.add_engines(building, content, "lsa")
    folder.finish(building, path)
    return path
