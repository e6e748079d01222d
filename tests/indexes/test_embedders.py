"""Embedders by endpoint and by ONNX file, and which one an index takes."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.embedder import write_embedder
from tests.llm_server import LlmServer, faults
from tests.llm_server.errors import unknown_model
from ufo.indexes.embedders import ApiEmbedder, OnnxEmbedder, checked_name, make_embedder
from ufo.indexes.index import open_index
from ufo.schemas.errors import IndexUnusable, RunError, UsageError

WORDS = "river sea honey"


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked_name("openai") == "openai:text-embedding-3-small"
    for name in ("openai:m", str(tmp_path), "organisation/model@v2"):
        assert checked_name(name) == name
    for name in ("lsa", "minilm", "a/b/c"):
        with pytest.raises(UsageError, match=rf"'{name}'; allowed: openai .*all-MiniLM-L6-v2"):
            checked_name(name)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UsageError, match=r"no ONNX file.*pip install 'ufo-factuality\[hub\]'"):
        make_embedder(str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        ApiEmbedder("m")


def test_a_model_of_a_hub_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    folder = write_embedder(tmp_path, "river sea")
    (folder / "config.json").write_text("{}")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: str(folder))
    embedder = make_embedder("organisation/model")
    assert embedder.name == "organisation/model"
    assert embedder.dimension == 2


def test_an_index_has_its_embedder(build_folder: Callable[..., Path], tmp_path: Path) -> None:
    def best(retriever: str, **options: str) -> str:
        [[hit]] = open_index(embedded, retriever, **options).search(["the Danube"], 1)
        return hit.passage.title

    model = write_embedder(tmp_path / "model", "danube river sea curie")
    embedded = build_folder(embedder=str(model))
    assert open_index(embedded).manifest["embedder"]["name"] == str(model)
    other = write_embedder(tmp_path / "other", "river sea")
    for name in ("openai:m", str(other)):
        with pytest.raises(IndexUnusable, match=rf"made by the embedder '.*model', not '{name}'"):
            open_index(embedded, "dense", embedder=name)
    # The same model may lie elsewhere.
    elsewhere = shutil.move(model, tmp_path / "elsewhere")
    with pytest.raises(IndexUnusable, match=r"were made by the embedder '.*model'"):
        open_index(embedded, "dense")
    assert best("dense", embedder=str(elsewhere)) == "Danube"
    write_embedder(model, "river")
    with pytest.raises(IndexUnusable, match=r"has changed since.*ufo index build"):
        open_index(embedded, "dense")
    shutil.rmtree(model)
    shutil.move(elsewhere, model)
    assert [best("dense"), best("hybrid")] == ["Danube", "Danube"]


# --- by endpoint ----------------------------------------------------------------------------------


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    with LlmServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


@pytest.fixture
def api(endpoint: LlmServer) -> Iterator[ApiEmbedder]:
    with closing(ApiEmbedder("m")) as embedder:
        yield embedder


def test_texts_are_embedded_in_batches_and_in_order(endpoint: LlmServer, api: ApiEmbedder) -> None:
    assert api.name == "openai:m"
    assert api.version == ""
    assert api.dimension == 0
    vectors = api.embed(["x" * n for n in range(1, 151)])
    assert api.version == "small-1"
    assert api.dimension == 2
    assert vectors.shape == (150, 2)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors[:, 0] / vectors[:, 1], np.arange(1, 151), rtol=1e-4)
    bodies = [request.body for request in endpoint.requests]
    assert sorted(len(body["input"]) for body in bodies) == [22, 64, 64]
    assert {body["model"] for body in bodies} == {"m"}
    assert {request.authorization for request in endpoint.requests} == {f"Bearer {endpoint.key}"}


def test_an_empty_text_is_not_sent_as_one(endpoint: LlmServer, api: ApiEmbedder) -> None:
    api.embed(["", "a"])
    assert endpoint.requests[-1].body["input"] == [" ", "a"]


def test_no_texts_are_not_sent(endpoint: LlmServer, api: ApiEmbedder) -> None:
    api.embed(["a"])
    assert api.embed([]).shape == (0, 2)
    assert len(endpoint.requests) == 1


def refuses(server: LlmServer) -> None:
    server.faults.append(faults.Fault("error", unknown_model("m")))


def leaves_out(server: LlmServer) -> None:
    server.embeddings.left_out = 1


def changes_its_model(server: LlmServer) -> None:
    server.embeddings.model = "small-2"


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (refuses, "127.0.0.1.*The model `m` does not exist"),
        (leaves_out, "2 texts with 1 vectors"),
        (changes_its_model, "changed its model"),
    ],
)
def test_what_the_endpoint_does_wrong_ends_the_run_without_the_key(
    endpoint: LlmServer, api: ApiEmbedder, does: Callable[[LlmServer], None], says: str
) -> None:
    api.embed(["a"])
    does(endpoint)
    with pytest.raises(RunError, match=says) as raised:
        api.embed(["a", "b"])
    assert endpoint.key not in raised.value.message


# --- by ONNX file ---------------------------------------------------------------------------------


def _opened(folder: Path) -> OnnxEmbedder:
    embedder = make_embedder(str(folder))
    assert isinstance(embedder, OnnxEmbedder)
    return embedder


def test_the_vectors_of_words_are_averaged(tmp_path: Path) -> None:
    embedder = _opened(write_embedder(tmp_path, WORDS))
    assert embedder.name == str(tmp_path)
    assert embedder.dimension == 3
    vectors = embedder.embed(["Sea", "a river and a sea", "honey honey river", "zyzzyva", ""])
    half = 0.5**0.5
    expected = [[0, 0, 1], [0, half, half], [0.8**0.5, 0.2**0.5, 0], [0, 0, 0], [0, 0, 0]]
    assert vectors == pytest.approx(np.array(expected, np.float32), abs=1e-6)
    assert vectors.dtype == np.float32
    assert embedder.embed([]).shape == (0, 3)
    # A text's vector does not depend on the others.
    texts = ["river " * n + "sea" for n in range(20)]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert (embedder.embed(texts) == alone).all()


KINDS = (("", "Transformer"), ("1", "Pooling"), ("2", "Normalize"))


def _modules(folder: Path, settings: object, *kinds: tuple[str, str]) -> Path:
    write_embedder(folder, WORDS)
    modules = [{"path": p, "type": f"sentence_transformers.models.{kind}"} for p, kind in kinds]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1").mkdir()
    (folder / "1" / "config.json").write_text(json.dumps(settings))
    return folder


POOLINGS = {
    "the mean": ({"pooling_mode": "mean"}, [0, 0, 1]),
    "mean by flag": (
        {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
        [0, 0, 1],
    ),
    # The first token is [CLS], which has no word.
    "the first token": ({"pooling_mode": "cls"}, [0, 0, 0]),
    "first token by flag": ({"pooling_mode_cls_token": True}, [0, 0, 0]),
    "the maximum": ({"pooling_mode": "max"}, "max.*known are cls and mean"),
    "two at once": ({"pooling_mode": ["mean", "cls"]}, "'mean', 'cls'.*known are cls and mean"),
    "maximum by flag": ({"pooling_mode_max_tokens": True}, "max_tokens.*known are cls and mean"),
}


@pytest.mark.parametrize(("settings", "vector"), POOLINGS.values(), ids=POOLINGS)
def test_known_poolings(tmp_path: Path, settings: dict[str, object], vector: Any) -> None:
    folder = _modules(tmp_path, settings, *KINDS)
    if isinstance(vector, list):
        assert _opened(folder).embed(["sea"]).tolist() == [vector]
        return
    with pytest.raises(UsageError, match=vector):
        _opened(folder)


def test_what_the_onnx_file_does_not_do_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"module 'Dense'.*without the ONNX file"):
        _opened(_modules(tmp_path, {}, ("2_Dense", "Dense")))
    for name in ("model.onnx", "tokenizer.json"):
        broken = write_embedder(tmp_path / f"broken {name}", WORDS)
        (broken / name).write_text("this is no model")
        with pytest.raises(UsageError, match="cannot be used as an embedder"):
            _opened(broken)


def test_no_more_tokens_are_read_than_the_model_takes(tmp_path: Path) -> None:
    limits = {"sentence_bert_config": "max_seq_length", "config": "max_position_embeddings"}
    version = _opened(write_embedder(tmp_path, WORDS)).version
    assert _opened(write_embedder(tmp_path / "same", WORDS)).version == version
    assert _opened(write_embedder(tmp_path / "other", "river")).version != version
    for file, name in limits.items():
        short = write_embedder(tmp_path / file, WORDS)
        (short / f"{file}.json").write_text(json.dumps({name: 2}))
        assert _opened(short).embed(["sea honey"]).tolist() == [[0, 0, 1]]
        assert _opened(short).version != version
