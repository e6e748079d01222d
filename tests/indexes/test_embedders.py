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
from tests.local_server import JsonHandler, LocalServer
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


class _Endpoint(LocalServer):
    """Answers /v1/embeddings as OpenAI does: a text's vector is its length and 1."""

    def __init__(self) -> None:
        super().__init__(type("Handler", (_Handler,), {"endpoint": self}))
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.status, self.model, self.dropped = 200, "small-1", 0


class _Handler(JsonHandler):
    endpoint: _Endpoint

    def do_POST(self) -> None:
        body = self.body()
        self.endpoint.requests.append(body)
        self.endpoint.keys.add(self.headers["authorization"])
        rows = [
            {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0]}
            for index, text in enumerate(body["input"])
        ][self.endpoint.dropped :]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "model": self.endpoint.model, "usage": usage}
        if self.endpoint.status != 200 or self.path != "/v1/embeddings":
            answer = {"error": {"message": "no such model"}}
        self.reply(self.endpoint.status, answer | {"data": rows[::-1]})


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Endpoint]:
    with _Endpoint() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.address}/v1")
        yield server


@pytest.fixture
def api(endpoint: _Endpoint) -> Iterator[ApiEmbedder]:
    with closing(ApiEmbedder("m")) as embedder:
        yield embedder


def test_texts_are_embedded_in_batches_and_in_order(endpoint: _Endpoint, api: ApiEmbedder) -> None:
    assert api.name == "openai:m"
    assert api.version == ""
    assert api.dimension == 0
    vectors = api.embed(["x" * n for n in range(1, 151)])
    assert api.version == "small-1"
    assert api.dimension == 2
    assert vectors.shape == (150, 2)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors[:, 0] / vectors[:, 1], np.arange(1, 151), rtol=1e-4)
    assert sorted(len(request["input"]) for request in endpoint.requests) == [22, 64, 64]
    assert {request["model"] for request in endpoint.requests} == {"m"}
    assert endpoint.keys == {"Bearer sk-test"}
    api.embed(["", "a"])
    assert api.embed([]).shape == (0, 2)
    assert endpoint.requests[-1]["input"] == [" ", "a"]  # an empty text is not sent as one


def test_what_the_endpoint_does_wrong_ends_the_run_without_the_key(
    endpoint: _Endpoint, api: ApiEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.embed(["a"])
    changes: list[tuple[str, Any, str]] = [
        ("status", 404, "127.0.0.1.*no such model"),
        ("dropped", 1, "2 texts with 1 vectors"),
        ("model", "small-2", "changed its model"),
    ]
    for name, value, says in changes:
        with monkeypatch.context() as changed:
            changed.setattr(endpoint, name, value)
            with pytest.raises(RunError, match=says) as raised:
                api.embed(["a", "b"])
            assert "sk-test" not in raised.value.message


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


@pytest.mark.parametrize(
    ("settings", "vector"),
    [
        ({"pooling_mode": "mean"}, [0, 0, 1]),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, [0, 0, 1]),
        ({"pooling_mode": "cls"}, [0, 0, 0]),  # the first token is [CLS], which has no word
        ({"pooling_mode_cls_token": True}, [0, 0, 0]),
        ({"pooling_mode": "max"}, "max.*known are cls and mean"),
        ({"pooling_mode": ["mean", "cls"]}, "'mean', 'cls'.*known are cls and mean"),
        ({"pooling_mode_max_tokens": True}, "max_tokens.*known are cls and mean"),
    ],
)
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
