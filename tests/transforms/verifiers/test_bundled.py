"""The bundled verifier: what its model reads, what its last layer makes of it, what it knows."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.transforms.verifiers.tiny import save_model, words_of
from ufo.schemas.records import REFUTED, SUPPORTED
from ufo.transforms.verifiers.bundled import BundledVerifier
from ufo.transforms.verifiers.bundled.classifier import INPUTS
from ufo.transforms.verifiers.by_name import make_verifier
from ufo.transforms.verifiers.grounds import apply_rules
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair

HERE = Path(__file__).parent
VOCABULARY = "[PAD] [UNK] [CLS] [SEP] oslo bergen ada born never was in the . , title"
WORDS = VOCABULARY.split()
SUPPORTING = Pair("Ada was born in Oslo.", "Ada was born in Oslo.")
DENYING = Pair("Ada was born in Oslo.", "Ada was never born in Oslo.")
UNRELATED = Pair("Ada was born in Oslo.", "Bergen has a harbour.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a verifier whose model counts shared pieces, and a word that denies."""
    table = np.zeros((len(WORDS), 3), np.float32)
    table[WORDS.index("never"), 1] = 9.0
    table[WORDS.index("title"), 2] = 4.0
    shared = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 0, 0]], np.float32)
    nodes = [
        ("Gather", ["table", "ids"], "words"),
        ("Gather", ["shared", "types"], "marks"),
        ("Add", ["words", "marks"], "pieces"),
        ("ReduceSum", ["pieces", "axes"], "logits"),
    ]
    tables = {"table": table, "shared": shared}
    save_model(tmp_path, nodes, ("ids", "types"), [1, "length"], tables)
    words_of(WORDS).save(str(tmp_path / "tokenizer.json"))
    last = {"intercept": [-1, 0], "model_supported": [1, 0], "model_refuted": [0, 1]}
    settings = {
        "format": 1,
        "words": 64,
        "weights": {name: [0.0, 0.0] for name in INPUTS} | last,
        "unrelated": {"below": 0.1, "probabilities": [0.01, 0.02, 0.97]},
        "common": [WORDS.index(word) for word in ("was", "in", ".", "[UNK]")],
    }
    (tmp_path / "verifier.json").write_text(json.dumps(settings))
    return tmp_path


def opened(folder: Path) -> BundledVerifier:
    verifier = BundledVerifier(str(folder))
    assert verifier.unavailable() is None
    verifier.open()
    return verifier


def test_the_last_layer_decides_over_vector_and_features(folder: Path) -> None:
    verifier = opened(folder)
    pairs = [SUPPORTING, DENYING, UNRELATED, SUPPORTING]
    probabilities = verifier.predict(pairs)
    assert probabilities[0].supported > 0.5 > probabilities[0].refuted
    assert probabilities[1].refuted > 0.5 > probabilities[1].supported
    assert sum(probabilities[0]) == pytest.approx(1.0)
    assert probabilities == [verifier.predict([pair])[0] for pair in pairs]
    assert verifier.predict([]) == []
    read = dict(zip(INPUTS, verifier.inputs(DENYING), strict=True))
    assert read["said_together"] == 1.0
    assert read["model_supported"] < 0 < read["model_refuted"]
    assert read["supported_all"] == read["model_supported"]
    assert verifier.inputs(UNRELATED)[-1] == 0.0
    verifier.close()  # what shares nothing is no answer without the model
    assert verifier.predict([UNRELATED]) == [(0.01, 0.02, 0.97)] == [probabilities[2]]


def test_what_is_missing_is_named_and_other_features_are_refused(folder: Path) -> None:
    assert BundledVerifier(str(folder)).name == folder.name
    assert BundledVerifier().name == "bundled"
    before = BundledVerifier(str(folder)).fingerprint()
    assert before == BundledVerifier(str(folder)).fingerprint()
    settings = json.loads((folder / "verifier.json").read_text())
    (folder / "verifier.json").write_text(json.dumps(settings | {"weights": {"intercept": [0, 0]}}))
    assert BundledVerifier(str(folder)).fingerprint() != before
    with pytest.raises(RuntimeError, match="other features"):
        BundledVerifier(str(folder)).open()
    settings["weights"]["intercept"] = [0.0]
    (folder / "verifier.json").write_text(json.dumps(settings))
    with pytest.raises(ValueError, match="argument 2"):
        BundledVerifier(str(folder)).open()
    assert isinstance(make_verifier(str(folder)), BundledVerifier)
    for name in ("verifier.json", "tokenizer.json", "model.onnx"):
        (folder / name).unlink()
        assert f"{name} is missing" in (BundledVerifier(str(folder)).unavailable() or "")
        (folder / name).write_text("{}")


def test_a_package_that_is_missing_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert "it needs onnxruntime" in (BundledVerifier(str(folder)).unavailable() or "")


def test_the_tokenizer_s_own_padding_and_length_do_not_count(folder: Path) -> None:
    expected = opened(folder).inputs(DENYING)
    tokens = words_of(WORDS)
    tokens.enable_truncation(3)
    tokens.save(str(folder / "tokenizer.json"))
    assert opened(folder).inputs(DENYING) == expected
    tokens.no_truncation()
    tokens.enable_padding(length=40)
    tokens.save(str(folder / "tokenizer.json"))
    assert opened(folder).inputs(DENYING) == expected


@pytest.mark.parametrize(
    ("more", "is_read"),
    [pytest.param(0.0, True, id="as much"), pytest.param(1e-9, False, id="less")],
)
def test_a_pair_that_shares_as_much_as_told_is_read(
    folder: Path, more: float, is_read: bool
) -> None:
    pair = Pair("Ada was born in Bergen.", "Ada was born in Oslo.")
    shared = opened(folder).inputs(pair)[0]
    settings = json.loads((folder / "verifier.json").read_text())
    settings["unrelated"]["below"] = shared + more
    (folder / "verifier.json").write_text(json.dumps(settings))
    (probabilities,) = opened(folder).predict([pair])
    assert (probabilities != (0.01, 0.02, 0.97)) is is_read


def test_the_odds_of_refuted_are_against_no_answer(folder: Path) -> None:
    pair = Pair("Ada was born in Oslo.", "Ada was never born in Oslo, title.")
    read = dict(zip(INPUTS, opened(folder).inputs(pair), strict=True))
    assert read["model_refuted"] == pytest.approx(9.0 - 4.0)


@pytest.mark.parametrize(
    ("weight", "supported"),
    [
        pytest.param(0.0, 0.5, id="nothing"),
        pytest.param(2.0, 0.881, id="some"),
        pytest.param(1e3, 1.0, id="very much"),
        pytest.param(-1e3, 0.0, id="very much against"),
    ],
)
def test_supported_is_the_logistic_function_of_the_weighed_inputs(
    folder: Path, weight: float, supported: float
) -> None:
    settings = json.loads((folder / "verifier.json").read_text())
    settings["weights"] |= {"intercept": [weight, 0], "model_supported": [0, 0]}
    (folder / "verifier.json").write_text(json.dumps(settings))
    (probabilities,) = opened(folder).predict([SUPPORTING])
    assert probabilities.supported == pytest.approx(supported, abs=1e-3)


def test_a_fingerprint_has_twelve_digits(folder: Path) -> None:
    assert re.fullmatch("[0-9a-f]{12}", BundledVerifier(str(folder)).fingerprint())


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "verifier.json"])
def test_a_fingerprint_changes_with_each_file(folder: Path, name: str) -> None:
    before = BundledVerifier(str(folder)).fingerprint()
    (folder / name).write_text("another")
    assert BundledVerifier(str(folder)).fingerprint() != before


# --- the shipped model, on pairs that were written for this project and are in no training --------


@pytest.fixture(scope="module")
def shipped() -> Iterator[BundledVerifier]:
    verifier = BundledVerifier()
    verifier.open()
    yield verifier
    verifier.close()


def rows(name: str) -> list[dict[str, Any]]:
    lines = (HERE / "bundled" / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def share(verifier: BundledVerifier, pairs: Sequence[Pair], outcome: str) -> float:
    judged = zip(pairs, verifier.predict(pairs), strict=True)
    return sum(apply_rules(match(pair), one).outcome == outcome for pair, one in judged) / len(
        pairs
    )


def test_it_reads_who_did_what_to_whom(shipped: BundledVerifier) -> None:
    cases = rows("roles.jsonl")
    assert len({row["relation"] for row in cases}) > 25
    true = [Pair(row["claim"], row["passage"]) for row in cases]
    exchanged = [Pair(row["exchanged"], row["passage"]) for row in cases]
    # Measured .95 and .65; words alone call all of both supported.
    assert share(shipped, true, SUPPORTED) >= 0.93
    assert share(shipped, exchanged, SUPPORTED) <= 0.7
    (endless,) = shipped.predict([Pair("Ada " * 500, "Oslo " * 900)])  # is cut
    assert sum(endless) == pytest.approx(1.0)


def test_what_is_said_of_another_contradicts_nothing(shipped: BundledVerifier) -> None:
    pairs: dict[str, list[Pair]] = {"other": [], "contradicted": []}
    for row in rows("subjects.jsonl"):
        pairs[row["label"]].append(Pair(row["claim"], row["passage"], row["title"]))
    assert share(shipped, pairs["other"], REFUTED) <= 0.15
    assert share(shipped, pairs["contradicted"], REFUTED) >= 0.6
