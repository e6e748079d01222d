import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace

from ufo.transforms.verifiers.bundled import BundledVerifier
from ufo.transforms.verifiers.bundled.classifier import INPUTS
from ufo.transforms.verifiers.verifier import Pair

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "oslo", "bergen", "ada", "born", "never", "was", "in"]
DENIES = "never"
SUPPORTING = Pair("Ada was born in Oslo.", "Ada was born in Oslo.")
DENYING = Pair("Ada was born in Oslo.", "Ada was never born in Oslo.")
UNRELATED = Pair("Ada was born in Oslo.", "Bergen has a harbour.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a verifier whose model counts shared pieces, and a word that denies."""
    table = np.zeros((len(WORDS), 3), np.float32)
    table[WORDS.index(DENIES), 1] = 9.0
    shared = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 0, 0]], np.float32)
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["words"]),
        helper.make_node("Gather", ["shared", "types"], ["marks"]),
        helper.make_node("Add", ["words", "marks"], ["pieces"]),
        helper.make_node("ReduceSum", ["pieces", "axes"], ["logits"], keepdims=0),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, [1, "length"])
        for name in ("ids", "types")
    ]
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 3])
    constants = [
        helper.make_tensor("table", TensorProto.FLOAT, table.shape, table.flatten()),
        helper.make_tensor("shared", TensorProto.FLOAT, shared.shape, shared.flatten()),
        helper.make_tensor("axes", TensorProto.INT64, [1], [1]),
    ]
    graph = helper.make_graph(nodes, "tiny", inputs, [logits], constants)
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, tmp_path / "model.onnx")
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    told = {
        "format": 1,
        "words": 64,
        "unrelated": {"below": 0.1, "probabilities": [0.01, 0.02, 0.97]},
        "weights": {name: [0.0, 0.0] for name in INPUTS}
        | {"intercept": [-1, 0], "model_supported": [1, 0], "model_refuted": [0, 1]},
        "common": [WORDS.index("was"), WORDS.index("in"), WORDS.index("[UNK]")],
    }
    (tmp_path / "verifier.json").write_text(json.dumps(told))
    return tmp_path


@pytest.fixture
def verifier(folder: Path) -> BundledVerifier:
    made = BundledVerifier(str(folder))
    assert made.unavailable() is None
    made.open()
    return made


def test_the_last_layer_decides_over_vector_and_features(verifier: BundledVerifier) -> None:
    supporting, denying = verifier.predict([SUPPORTING, DENYING])
    assert supporting.supported > 0.5 > supporting.refuted
    assert denying.refuted > 0.5 > denying.supported
    assert sum(supporting) == pytest.approx(1.0)


def test_what_shares_nothing_is_noans_without_the_model(verifier: BundledVerifier) -> None:
    assert verifier.predict([UNRELATED]) == [(0.01, 0.02, 0.97)]
    verifier.close()
    assert verifier.predict([UNRELATED]) == [(0.01, 0.02, 0.97)]


def test_the_model_and_the_words_are_read_together(verifier: BundledVerifier) -> None:
    read = dict(zip(INPUTS, verifier.inputs(DENYING), strict=True))
    assert read["said_together"] == 1.0
    assert read["model_supported"] < 0 < read["model_refuted"]
    assert read["supported_all"] == read["model_supported"]
    assert verifier.inputs(UNRELATED)[-1] == 0.0


def test_a_pair_does_not_depend_on_those_beside_it(verifier: BundledVerifier) -> None:
    pairs = [SUPPORTING, UNRELATED, DENYING, SUPPORTING]
    assert verifier.predict(pairs) == [verifier.predict([pair])[0] for pair in pairs]
    assert verifier.predict([]) == []


def test_what_is_missing_is_named(folder: Path) -> None:
    (folder / "model.onnx").unlink()
    assert "model.onnx is missing" in (BundledVerifier(str(folder)).unavailable() or "")


def test_a_last_layer_of_other_features_is_refused(folder: Path) -> None:
    told = json.loads((folder / "verifier.json").read_text())
    (folder / "verifier.json").write_text(json.dumps(told | {"weights": {"intercept": [0, 0]}}))
    with pytest.raises(RuntimeError, match="other features"):
        BundledVerifier(str(folder)).open()


def test_the_fingerprint_is_of_model_and_last_layer(folder: Path) -> None:
    before = BundledVerifier(str(folder)).fingerprint()
    assert before == BundledVerifier(str(folder)).fingerprint()
    (folder / "verifier.json").write_text((folder / "verifier.json").read_text() + " ")
    assert BundledVerifier(str(folder)).fingerprint() != before
