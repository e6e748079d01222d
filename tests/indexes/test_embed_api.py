import json
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np
import pytest

from tests.local_server import LocalServer
from ufo.indexes.embed_api import ApiEmbedder
from ufo.schemas.errors import RunError, UsageError


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
