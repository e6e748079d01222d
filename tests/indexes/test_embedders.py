import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.embedder import write_embedder
from ufo.indexes.embedders import checked_name, make_embedder
from ufo.indexes.index import open_index
from ufo.schemas.errors import IndexUnusable, UsageError

Build = Callable[..., Path]


def test_names(tmp_path: Path) -> None:
    assert checked_name("openai") == "openai:text-embedding-3-small"
    assert checked_name("openai:m") == "openai:m"
    assert checked_name(str(tmp_path)) == str(tmp_path)
    assert checked_name("organisation/model@v2") == "organisation/model@v2"
    for name in ("lsa", "minilm", "a/b/c"):
        with pytest.raises(UsageError, match=rf"'{name}'; allowed: openai .*all-MiniLM-L6-v2"):
            checked_name(name)


def test_a_local_model_without_its_package_gives_the_pip_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UsageError, match=r"no ONNX file.*pip install 'ufo-factuality\[hub\]'"):
        make_embedder(str(tmp_path))


def test_a_model_of_a_hub_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    folder = write_embedder(tmp_path, "river sea")
    (folder / "config.json").write_text("{}")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: str(folder))
    embedder = make_embedder("organisation/model")
    assert (embedder.name, embedder.dimension) == ("organisation/model", 2)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_embedder(tmp_path / "model", "danube river sea curie")


@pytest.fixture
def embedded(build_folder: Build, model: Path) -> Path:
    return build_folder(embedder=str(model))


@pytest.mark.parametrize("retriever", ["dense", "hybrid"])
def test_an_index_is_asked_by_the_embedder_that_made_its_vectors(
    embedded: Path, model: Path, retriever: str
) -> None:
    index = open_index(embedded, retriever)
    assert index.manifest["embedder"]["name"] == str(model)
    assert index.search(["the Danube"], 1)[0][0].passage.title == "Danube"


def test_the_same_model_may_lie_elsewhere(embedded: Path, model: Path, tmp_path: Path) -> None:
    elsewhere = shutil.move(model, tmp_path / "elsewhere")
    with pytest.raises(IndexUnusable, match=r"were made by the embedder '.*model'"):
        open_index(embedded, "dense")
    index = open_index(embedded, "dense", embedder=str(elsewhere))
    assert index.search(["the Danube"], 1)[0][0].passage.title == "Danube"


def test_another_embedder_than_the_one_that_made_the_vectors_is_refused(
    embedded: Path, model: Path, tmp_path: Path
) -> None:
    other = write_embedder(tmp_path / "other", "river sea")
    for name in ("openai:m", str(other)):
        with pytest.raises(IndexUnusable, match=rf"made by the embedder '.*model', not '{name}'"):
            open_index(embedded, "dense", embedder=name)
    write_embedder(model, "river")
    with pytest.raises(IndexUnusable, match=r"has changed since.*ufo index build"):
        open_index(embedded, "dense")
