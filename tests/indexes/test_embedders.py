"""Embedders by endpoint and by ONNX file, and which one an index takes."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from tokenizers import Tokenizer

from tests.embedder import write_embedder, write_model
from tests.indexes.conftest import Build
from tests.llm_server import LlmServer, faults
from tests.llm_server.embeddings import Embeddings
from tests.llm_server.errors import unknown_model
from ufo.indexes.embedders import (
    ApiEmbedder,
    OnnxEmbedder,
    Vectors,
    checked_name,
    description,
    embedder_of,
    make_embedder,
    vectors_of,
)
from ufo.indexes.index import open_index
from ufo.schemas.errors import IndexUnusable, RunError, UsageError

WORDS = "river sea honey"


@pytest.mark.parametrize(
    ("option", "name"),
    [
        pytest.param("openai", "openai:text-embedding-3-small", id="the endpoint's usual model"),
        pytest.param("openai:", "openai:text-embedding-3-small", id="no model after the colon"),
        pytest.param("openai:m", "openai:m", id="another model of an endpoint"),
        pytest.param("organisation/model@v2", "organisation/model@v2", id="a model of a hub"),
        pytest.param("~/own", "{home}/own", id="a folder of one's home"),
        pytest.param("own/../own", "{home}/own", id="a folder beside the current one"),
    ],
)
def test_an_embedder_has_one_full_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, name: str
) -> None:
    (tmp_path / "own").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert checked_name(option) == name.format(home=tmp_path)


@pytest.mark.parametrize("name", ["lsa", "minilm", "a/b/c"])
def test_what_is_no_embedder_is_answered_with_those_there_are(name: str) -> None:
    with pytest.raises(UsageError, match=rf"'{name}'; allowed: openai .*all-MiniLM-L6-v2"):
        checked_name(name)


@pytest.mark.parametrize(
    ("packages", "embedder", "says", "extra"),
    [
        pytest.param("openai", "openai:m", "embedder openai:m", "llm", id="an endpoint"),
        pytest.param("onnxruntime", "with", "embedder .*with", "onnx", id="an ONNX file"),
        pytest.param(
            "sentence_transformers transformers",
            "without",
            "has no ONNX file and",
            "hub",
            id="weights",
        ),
    ],
)
def test_a_missing_package_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    packages: str,
    embedder: str,
    says: str,
    extra: str,
) -> None:
    write_embedder(tmp_path / "with", WORDS)
    (tmp_path / "without").mkdir()
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    for package in packages.split():
        monkeypatch.setitem(sys.modules, package, None)
    named = packages.replace(" ", " and ")
    with pytest.raises(UsageError, match=rf"{says} needs {named}, which .*factuality\[{extra}\]"):
        make_embedder(embedder if ":" in embedder else str(tmp_path / embedder))


def test_an_endpoint_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_index_is_searched_by_the_model_that_made_its_vectors(
    build_folder: Callable[..., Path], tmp_path: Path
) -> None:
    model = write_embedder(tmp_path / "model", "danube river sea curie")
    embedded = build_folder(embedder=str(model))
    # The same model may lie elsewhere.
    elsewhere = shutil.move(model, tmp_path / "elsewhere")
    with pytest.raises(IndexUnusable, match=r"were made by the embedder '.*model'.*no folder"):
        open_index(embedded, "dense")
    for retriever in ("dense", "hybrid"):
        [[hit]] = open_index(embedded, retriever, embedder=str(elsewhere)).search(["Danube"], 1)
        assert hit.passage.title == "Danube"
    other = write_embedder(tmp_path / "other", "river sea")
    with pytest.raises(IndexUnusable, match=rf"made by the embedder '.*model', not '{other}'"):
        open_index(embedded, "dense", embedder=str(other))
    write_embedder(model, "river")
    with pytest.raises(IndexUnusable, match=r"has changed since.*ufo index build"):
        open_index(embedded, "dense")


# --- vectors that cannot be used ------------------------------------------------------------------


class FixedVectors:
    """An embedder that makes these vectors, whatever it is asked."""

    name, version, dimension = "made", "1", 2

    def __init__(self, vectors: Any) -> None:
        self.vectors = vectors

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = self.vectors
        return vectors


TWO = np.ones((2, 2), np.float32)
FAULTS = {
    "fewer vectors": (TWO[:1], r"\(1, 2\) of 2 texts"),
    "more vectors": (np.ones((3, 2)), r"\(3, 2\) of 2 texts"),
    "no vectors": (np.ones((0, 2)), r"\(0, 2\) of 2 texts"),
    "one vector": (np.ones(2), r"\(2,\) of 2 texts"),
    "another dimension": (np.ones((2, 3)), "3 dimensions, and 2 are needed"),
    "several dimensions": ([[1.0], [1.0, 2.0]], "made'? failed: "),
    "NaN": (np.array([[1, 0], [np.nan, 0]]), "NaN or infinity"),
    "infinity": (np.array([[1, 0], [np.inf, 0]]), "NaN or infinity"),
}


@pytest.mark.parametrize(("vectors", "says"), FAULTS.values(), ids=FAULTS)
def test_vectors_that_cannot_be_used_name_the_embedder_and_a_remedy(
    vectors: Any, says: str
) -> None:
    with pytest.raises(RunError, match=says) as raised:
        vectors_of(FixedVectors(vectors), ["a", "b"])
    assert "the embedder 'made'" in raised.value.message
    assert "--embedder" in raised.value.message


def test_zeros_are_a_vector() -> None:
    assert not vectors_of(FixedVectors(0 * TWO), ["a", "b"]).any()


def test_vectors_are_of_the_dimension_that_they_are_compared_with() -> None:
    with pytest.raises(RunError, match="2 dimensions, and 3 are needed"):
        vectors_of(FixedVectors(TWO), ["a", "b"], 3)


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
    assert {body["encoding_format"] for body in bodies} == {"float"}
    assert {request.authorization for request in endpoint.requests} == {f"Bearer {endpoint.key}"}


def test_an_empty_text_is_not_sent_as_one(endpoint: LlmServer, api: ApiEmbedder) -> None:
    api.embed(["", "a", "\n"])
    assert endpoint.requests[-1].body["input"] == [" ", "a", " "]


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


class Sized(Embeddings):
    """Gives vectors of these numbers of dimensions, in turn."""

    def __init__(self, *sizes: int) -> None:
        super().__init__()
        self.sizes = sizes

    def answer(self, body: Any) -> dict[str, Any]:
        reply = super().answer(body)
        for row, size in zip(reply["data"], self.sizes, strict=False):
            row["embedding"] = [1.0] * size
        return reply


class Filled(Embeddings):
    """Gives vectors of one number."""

    def __init__(self, number: float | None) -> None:
        super().__init__()
        self.number = number

    def answer(self, body: Any) -> dict[str, Any]:
        reply = super().answer(body)
        for row in reply["data"]:
            row["embedding"] = [self.number] * 2
        return reply


@pytest.mark.parametrize("number", [float("nan"), float("inf"), None])
def test_an_endpoint_that_gives_no_numbers_is_named(
    endpoint: LlmServer, build_folder: Build, number: float | None
) -> None:
    path = build_folder(embedder="openai:m")
    endpoint.embeddings = Filled(number)
    says = r"the embedder 'openai:m' .*; check its model or endpoint"
    with pytest.raises(RunError, match=says):
        open_index(path, "dense").search(["Danube"], 1)
    with pytest.raises(RunError, match=says):
        build_folder(embedder="openai:m")


def changes_its_size(server: LlmServer) -> None:
    server.embeddings = Sized(3, 3)


def mixes_sizes(server: LlmServer) -> None:
    server.embeddings = Sized(2, 3)


@pytest.mark.parametrize(
    ("does", "says"),
    [
        pytest.param(refuses, "127.0.0.1.*The model `m` does not exist", id="refuses"),
        pytest.param(leaves_out, r"with 1 vector of the dimensions \[2\]", id="leaves one out"),
        pytest.param(mixes_sizes, r"with 2 vectors of the dimensions \[2, 3\]", id="mixes sizes"),
        pytest.param(changes_its_model, "changed its model.*'small-2' of 2", id="another model"),
        pytest.param(changes_its_size, "changed its model.*'small-1' of 3", id="another size"),
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


@pytest.mark.parametrize(
    ("does", "says"),
    [
        pytest.param(changes_its_model, "its version is 'small-2', theirs 'small-1'", id="model"),
        pytest.param(changes_its_size, "its dimension is 3, theirs 2", id="size"),
    ],
)
@pytest.mark.parametrize("retriever", ["dense", "hybrid"])
def test_an_endpoint_that_has_changed_since_the_build_is_refused(
    endpoint: LlmServer,
    build_folder: Build,
    retriever: str,
    does: Callable[[LlmServer], None],
    says: str,
) -> None:
    built = build_folder(embedder="openai:m")
    does(endpoint)
    with pytest.raises(IndexUnusable, match=f"'openai:m' has changed since.*{says}"):
        open_index(built, retriever).search(["Danube"], 1)


def test_a_reply_without_a_model_has_the_model_that_was_asked(
    endpoint: LlmServer, api: ApiEmbedder
) -> None:
    endpoint.embeddings.model = ""
    api.embed(["a"])
    assert api.version == "m"


@pytest.mark.parametrize(("failures", "answered"), [(5, True), (6, False)])
def test_a_request_is_sent_again_five_times(
    endpoint: LlmServer, api: ApiEmbedder, failures: int, answered: bool
) -> None:
    endpoint.faults += [faults.rate_limited(0.001)] * failures
    if answered:
        assert api.embed(["a"]).shape == (1, 2)
        return
    with pytest.raises(RunError, match="429"):
        api.embed(["a"])


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("openai:m", "{other}"), ("{other}", "openai:m"), ("openai:m", "openai:n")],
    ids=["a folder for an endpoint", "an endpoint for a folder", "another model of an endpoint"],
)
def test_vectors_of_an_endpoint_are_of_its_model_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, wanted: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)  # it is not even made
    other = write_embedder(tmp_path, WORDS)
    manifest = {"embedder": {"name": name.format(other=other), "version": "1", "dimension": 2}}
    with pytest.raises(IndexUnusable, match=r"made by the embedder .* not '.*leave --embedder out"):
        embedder_of(Path("index"), manifest, wanted.format(other=other))


def test_what_an_endpoint_embeds_with_is_known_after_its_first_reply(endpoint: LlmServer) -> None:
    described = {"name": "openai:m", "version": "1", "dimension": 7}
    embedder = embedder_of(Path("index"), {"embedder": described}, None)
    assert isinstance(embedder, ApiEmbedder)
    embedder.close()


@pytest.mark.parametrize("what", ["version", "dimension"])
def test_a_model_that_has_changed_is_refused(tmp_path: Path, what: str) -> None:
    described = description(make_embedder(str(write_embedder(tmp_path, WORDS))))
    assert described["dimension"] == 3
    embedder_of(Path("index"), {"embedder": described}, None)
    described[what] *= 2
    with pytest.raises(IndexUnusable, match=rf"has changed since.*its {what} is"):
        embedder_of(Path("index"), {"embedder": described}, None)


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


def test_what_a_tokenizer_fills_up_with_counts_for_nothing(tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_file(str(write_embedder(tmp_path, WORDS) / "tokenizer.json"))
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id("river"), pad_token="river", length=8)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert _opened(tmp_path).embed(["sea"]).tolist() == [[0, 0, 1]]


def test_an_output_for_the_whole_text_is_its_vector(tmp_path: Path) -> None:
    graph = onnx.load(write_embedder(tmp_path, WORDS) / "model.onnx")
    graph.graph.node.append(
        onnx.helper.make_node("ReduceMax", ["last_hidden_state"], ["most"], axes=[1], keepdims=0)
    )
    graph.graph.node.append(onnx.helper.make_node("Neg", ["most"], ["sentence_embedding"]))
    kind = onnx.TensorProto.FLOAT
    graph.graph.output.append(
        onnx.helper.make_tensor_value_info("sentence_embedding", kind, ["batch", 3])
    )
    onnx.save(graph, tmp_path / "model.onnx")
    assert _opened(tmp_path).embed(["sea sea"]).tolist() == [[0, 0, -1]]


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
    "one in a list": ({"pooling_mode": ["mean"]}, [0, 0, 1]),
    "mean beside another flag": (
        {"include_prompt": True, "pooling_mode_mean_tokens": True},
        [0, 0, 1],
    ),
    # The first token is [CLS], which has no word.
    "the first token": ({"pooling_mode": "cls"}, [0, 0, 0]),
    "first token by flag": ({"pooling_mode_cls_token": True}, [0, 0, 0]),
    "none": ({}, "known are cls and mean"),
    "no settings": (None, "known are cls and mean"),
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


def test_a_model_that_names_no_pooling_has_the_mean(tmp_path: Path) -> None:
    assert _opened(_modules(tmp_path, {}, ("", "Transformer"))).embed(["sea"]).tolist() == [
        [0, 0, 1]
    ]


def test_what_the_onnx_file_does_not_do_is_refused(tmp_path: Path) -> None:
    folder = _modules(tmp_path, {}, ("2_Dense", "Dense"))
    with pytest.raises(UsageError, match=rf"^{folder} has a module 'Dense'.*without the ONNX file"):
        _opened(folder)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_file_that_cannot_be_read_is_no_embedder(tmp_path: Path, name: str) -> None:
    (write_embedder(tmp_path, WORDS) / name).write_text("this is no model")
    with pytest.raises(UsageError, match="cannot be used as an embedder"):
        _opened(tmp_path)


ENCODER, TEXT = "sentence_bert_config max_seq_length", "config max_position_embeddings"


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        pytest.param({ENCODER: 3}, 3, id="of the encoder"),
        pytest.param({TEXT: 4}, 4, id="of the model"),
        pytest.param({ENCODER: 3, TEXT: 4}, 3, id="the lower one of the encoder"),
        pytest.param({ENCODER: 4, TEXT: 3}, 3, id="the lower one of the model"),
        pytest.param({ENCODER: None, TEXT: 4}, 4, id="one that is null"),
        pytest.param({}, 512, id="the usual"),
        pytest.param({"config other": 4}, 512, id="another setting"),
    ],
)
def test_so_many_tokens_of_a_text_are_read(
    tmp_path: Path, limits: dict[str, int | None], most: int
) -> None:
    folder = write_embedder(tmp_path, WORDS)
    for limit, number in limits.items():
        file, name = limit.split()
        (folder / f"{file}.json").write_text(json.dumps({name: number}))
    embedder = _opened(folder)
    # The first token is [CLS].
    assert embedder.embed(["sea " * (most - 2) + "honey"])[0, 0] > 0
    assert embedder.embed(["sea " * (most - 1) + "honey"])[0, 0] == 0


@pytest.mark.parametrize(
    ("name", "other"),
    [
        pytest.param("model.onnx", True, id="the model"),
        pytest.param("tokenizer.json", True, id="the vocabulary"),
        pytest.param("config.json", True, id="a setting"),
        pytest.param("1_Pooling/config.json", True, id="a setting of a part"),
        pytest.param("vocab.txt", True, id="a list of words"),
        pytest.param("model.safetensors", False, id="weights beside the ONNX file"),
        pytest.param("README.md", False, id="what is only read by people"),
    ],
)
def test_the_version_is_another_where_what_is_computed_with_is(
    tmp_path: Path, name: str, other: bool
) -> None:
    version = _opened(write_embedder(tmp_path, WORDS)).version
    assert len(version) == 16
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    if name == "model.onnx":
        write_model(file, 2 * np.eye(5, dtype=np.float32)[:, 2:])
    elif name == "tokenizer.json":
        file.write_text(file.read_text() + " ")
    else:
        file.write_text("{}")
    assert (_opened(tmp_path).version == version) is not other


def test_a_folder_by_the_name_of_a_file_is_no_part_of_the_version(tmp_path: Path) -> None:
    version = _opened(write_embedder(tmp_path, WORDS)).version
    (tmp_path / "old.json").mkdir()
    assert _opened(tmp_path).version == version
