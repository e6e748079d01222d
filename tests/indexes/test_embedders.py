"""Embedders by endpoint and by ONNX file, and which one an index takes."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.embedder import write_embedder
from tests.local_server import LocalServer
from ufo.indexes.embedders import ApiEmbedder, OnnxEmbedder, checked_name, make_embedder
from ufo.indexes.index import open_index
from ufo.schemas.errors import IndexUnusable, RunError, UsageError

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


class _Endpoint(LocalServer):
    """Answers /v1/embeddings as OpenAI does: a text's vector is its length and 1."""

    def __init__(self) -> None:
        super().__init__(type("Handler", (_Handler,), {"endpoint": self}))
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.status = 200
        self.model = "small-1"
        self.dropped = 0


class _Handler(BaseHTTPRequestHandler):
    endpoint: _Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.endpoint.requests.append(body)
        self.endpoint.keys.append(self.headers["authorization"])
        rows = [
            {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0]}
            for index, text in enumerate(body["input"])
        ]
        rows = rows[self.endpoint.dropped :]
        answer: dict[str, Any] = {
            "object": "list",
            "model": self.endpoint.model,
            "data": rows[::-1],
        }
        answer["usage"] = {"prompt_tokens": 1, "total_tokens": 1}
        if self.endpoint.status != 200 or self.path != "/v1/embeddings":
            answer = {"error": {"message": "no such model"}}
        data = json.dumps(answer).encode()
        self.send_response(self.endpoint.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: object) -> None: ...


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Endpoint]:
    with _Endpoint() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.address}/v1")
        yield server


def test_texts_are_embedded_in_batches_and_in_order(endpoint: _Endpoint) -> None:
    with closing(ApiEmbedder("m")) as embedder:
        assert (embedder.name, embedder.version, embedder.dimension) == ("openai:m", "", 0)
        vectors = embedder.embed(["x" * n for n in range(1, 151)])
        assert (embedder.version, embedder.dimension) == ("small-1", 2)
    assert vectors.shape == (150, 2)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors[:, 0] / vectors[:, 1], np.arange(1, 151), rtol=1e-4)
    assert sorted(len(request["input"]) for request in endpoint.requests) == [22, 64, 64]
    assert {request["model"] for request in endpoint.requests} == {"m"}
    assert set(endpoint.keys) == {"Bearer sk-test"}


def test_an_empty_text_is_not_sent_as_one(endpoint: _Endpoint) -> None:
    with closing(ApiEmbedder("m")) as embedder:
        embedder.embed(["", "a"])
        assert embedder.embed([]).shape == (0, 2)
    assert endpoint.requests[0]["input"] == [" ", "a"]


def test_what_the_endpoint_refuses_ends_the_run_without_the_key(endpoint: _Endpoint) -> None:
    endpoint.status = 404
    with (
        closing(ApiEmbedder("m")) as embedder,
        pytest.raises(RunError, match="no such model") as raised,
    ):
        embedder.embed(["a"])
    assert "127.0.0.1" in raised.value.message
    assert "sk-test" not in raised.value.message


def test_a_vector_too_few_is_an_error(endpoint: _Endpoint) -> None:
    endpoint.dropped = 1
    with (
        closing(ApiEmbedder("m")) as embedder,
        pytest.raises(RunError, match="2 texts with 1 vectors"),
    ):
        embedder.embed(["a", "b"])


def test_a_model_that_changes_on_the_way_is_an_error(endpoint: _Endpoint) -> None:
    with closing(ApiEmbedder("m")) as embedder:
        embedder.embed(["a"])
        endpoint.model = "small-2"
        with pytest.raises(RunError, match="changed its model"):
            embedder.embed(["a"])


def test_no_key_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        ApiEmbedder("m")


WORDS = "river sea honey"


def _opened(folder: Path) -> OnnxEmbedder:
    embedder = make_embedder(str(folder))
    assert isinstance(embedder, OnnxEmbedder)
    return embedder


def test_the_vectors_of_words_are_averaged(tmp_path: Path) -> None:
    embedder = _opened(write_embedder(tmp_path, WORDS))
    assert (embedder.name, embedder.dimension) == (str(tmp_path), 3)
    vectors = embedder.embed(["Sea", "a river and a sea", "honey honey river", "zyzzyva", ""])
    half = 0.5**0.5
    expected = [[0, 0, 1], [0, half, half], [0.8**0.5, 0.2**0.5, 0], [0, 0, 0], [0, 0, 0]]
    assert vectors == pytest.approx(np.array(expected, np.float32), abs=1e-6)
    assert vectors.dtype == np.float32
    assert embedder.embed([]).shape == (0, 3)


def test_a_text_s_vector_does_not_depend_on_the_others(tmp_path: Path) -> None:
    embedder = _opened(write_embedder(tmp_path, WORDS))
    texts = ["river " * n + "sea" for n in range(20)]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert (embedder.embed(texts) == alone).all()


def _pooled_by(folder: Path, settings: dict[str, object]) -> Path:
    write_embedder(folder, WORDS)
    modules = [
        {"path": path, "type": f"sentence_transformers.models.{kind}"}
        for path, kind in (("", "Transformer"), ("1", "Pooling"), ("2", "Normalize"))
    ]
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
    ],
)
def test_the_folder_says_how_vectors_are_pooled(
    tmp_path: Path, settings: dict[str, object], vector: list[int]
) -> None:
    embedder = _opened(_pooled_by(tmp_path, settings))
    assert embedder.embed(["sea"]).tolist() == [vector]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"pooling_mode": "max"}, "max"),
        ({"pooling_mode": ["mean", "cls"]}, "'mean', 'cls'"),
        ({"pooling_mode_max_tokens": True}, "pooling_mode_max_tokens"),
    ],
)
def test_another_pooling_is_refused(
    tmp_path: Path, settings: dict[str, object], named: str
) -> None:
    with pytest.raises(UsageError, match=rf"{named}.*known are cls and mean"):
        _opened(_pooled_by(tmp_path, settings))


def test_a_module_that_the_onnx_file_lacks_is_refused(tmp_path: Path) -> None:
    write_embedder(tmp_path, WORDS)
    modules = [{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UsageError, match=r"module 'Dense'.*without the ONNX file"):
        _opened(tmp_path)


@pytest.mark.parametrize("file", ["sentence_bert_config.json", "config.json"])
def test_no_more_tokens_are_read_than_the_model_takes(tmp_path: Path, file: str) -> None:
    write_embedder(tmp_path, WORDS)
    name = "max_seq_length" if file.startswith("sentence") else "max_position_embeddings"
    (tmp_path / file).write_text(json.dumps({name: 2}))
    assert _opened(tmp_path).embed(["sea honey"]).tolist() == [[0, 0, 1]]


def test_its_version_is_of_its_content(tmp_path: Path) -> None:
    versions = [
        _opened(write_embedder(tmp_path / name, words)).version
        for name, words in (("one", WORDS), ("two", WORDS), ("three", "river"))
    ]
    assert versions[0] == versions[1] != versions[2]
    (tmp_path / "two" / "config.json").write_text("{}")
    assert _opened(tmp_path / "two").version != versions[1]


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_broken_folder_is_reported(tmp_path: Path, name: str) -> None:
    write_embedder(tmp_path, WORDS)
    (tmp_path / name).write_text("this is no model")
    with pytest.raises(UsageError, match="cannot be used as an embedder"):
        _opened(tmp_path)
