import json
from pathlib import Path

import numpy as np
import pytest

from tests.embedder import write_embedder
from ufo.indexes.embed_local import OnnxEmbedder
from ufo.indexes.embedders import make_embedder
from ufo.schemas.errors import UsageError

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
