"""A cross-encoder in a folder, and what its outputs mean, by its family or its labels."""

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.transforms.verifiers.tiny import LABELS, write_onnx, write_texts
from ufo.schemas.errors import PluginError, UsageError
from ufo.transforms.verifiers import hub
from ufo.transforms.verifiers.by_name import content_of, make_verifier, open_verifier, usable_name
from ufo.transforms.verifiers.hub import HubVerifier, Outputs
from ufo.transforms.verifiers.verifier import Pair, Probabilities

TABLES = yaml.safe_load(Path(__file__).with_name("families.yaml").read_text(encoding="utf-8"))
YES, NO, MAYBE = "it is yes yes .", "it is no no .", "it is maybe maybe ."
TWO = ("LABEL_0", "LABEL_1")
ORDERS = list(itertools.permutations(range(3)))


def verifier_of(folder: Path) -> HubVerifier:
    verifier = HubVerifier(str(folder))
    assert verifier.unavailable() is None
    verifier.open()
    return verifier


def tokens(verifier: HubVerifier, claim: str, passage: str) -> list[list[str]]:
    assert verifier._reader is not None
    return [window.tokens for window in verifier._reader.read(claim, passage)]


def outcomes(probabilities: list[Probabilities]) -> list[int]:
    return [max(range(3), key=one.__getitem__) for one in probabilities]


@pytest.mark.parametrize(
    "labels",
    [LABELS, ("contradiction", "entailment", "neutral")],
    ids=["entailment first", "contradiction first"],
)
def test_a_folder_with_labels_in_any_order(tmp_path: Path, labels: tuple[str, ...]) -> None:
    folder = write_onnx(tmp_path / "tiny-nli", labels)
    verifier = make_verifier(str(folder))
    assert verifier.name == "tiny-nli"
    assert usable_name(str(folder)) == str(folder)
    verifier = open_verifier(str(folder))
    pairs = [Pair("so it is", text) for text in (YES, NO * 9, MAYBE * 3)]
    probabilities = verifier.predict(pairs)
    assert outcomes(probabilities) == [0, 1, 2]
    assert verifier.predict([]) == []
    # A pair's answer does not depend on the others.
    assert [verifier.predict([pair])[0] for pair in pairs] == probabilities
    # A title is read before the passage.
    titled, plain = verifier.predict([Pair("so", "it is", "yes"), Pair("so", "it is")])
    assert titled.supported > plain.supported
    same = write_onnx(tmp_path / "same", labels)
    other = write_onnx(tmp_path / "other", labels[::-1])
    assert content_of(str(folder)) == content_of(str(same)) != content_of(str(other))


def test_a_long_passage_is_cut_at_sentence_ends_and_the_best_window_counts(tmp_path: Path) -> None:
    verifier = verifier_of(write_onnx(tmp_path / "tiny", tokens=32))
    filler = "It is so it is so it is . "
    long = filler * 6 + "It is yes yes yes . " + filler * 6
    windows = tokens(verifier, "so it is", long)
    assert len(windows) > 3
    assert all(len(window) <= 32 for window in windows)
    assert all(window[-6] == "." for window in windows)  # the claim and two marks follow
    assert [word for window in windows for word in window[1:-5]] == long.lower().split()
    refuting = filler * 6 + "It is no no no . " + filler * 6
    texts = (long, "It is yes yes yes .", refuting)
    whole, alone, refuted = verifier.predict([Pair("so it is", text) for text in texts])
    assert whole == alone
    assert outcomes([refuted]) == [1]
    # A sentence or a claim that is too long is cut, and nothing can be asked, too.
    endless = "so it is " * 100
    pairs = [Pair("so", endless + "yes yes"), Pair(endless, YES), Pair(endless, endless)]
    assert outcomes(verifier.predict([*pairs, Pair("", "")]))[:2] == [0, 0]


@pytest.mark.parametrize(("name", "labels", "words"), TABLES["forms"].values(), ids=TABLES["forms"])
def test_forms_of_families(tmp_path: Path, name: str, labels: list[str], words: str) -> None:
    verifier = verifier_of(write_onnx(tmp_path / name, labels))
    (window,) = tokens(verifier, "so", "it is")
    assert " ".join(window[1:]).startswith(words)
    assert ("conclude" in window) == (name == "factcg-tiny")
    (probabilities,) = verifier.predict([Pair("so", "it is")])
    assert sum(probabilities) == pytest.approx(1.0)
    assert (probabilities.refuted == 0.0) == (len(labels) == 2)
    (window,) = tokens(verifier, "so", "it is [SEP] yes")  # a passage cannot end itself
    assert window.count("[SEP]") == (1 if name == "factcg-tiny" else 2)


@pytest.mark.parametrize(("files", "words"), TABLES["folders"].values(), ids=TABLES["folders"])
def test_a_folder_that_is_no_verifier(tmp_path: Path, files: dict[str, str], words: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=words):
        usable_name(str(tmp_path))


def test_what_is_missing_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_texts(tmp_path, LABELS, 64)
    for name in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=r"torch and transformers.*pip install.*-factuality\[hub"):
        usable_name(str(tmp_path))
    write_onnx(tmp_path)
    assert usable_name(str(tmp_path)) == str(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"this is no model")
    with pytest.raises(PluginError, match="does not load"):
        open_verifier(str(tmp_path))
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match=r"needs transformers, which is not installed"):
        usable_name(str(tmp_path))


def test_the_end_of_a_text_is_the_tokenizer_s_or_the_architecture_s(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "minicheck", TWO, model_type="deberta-v2")
    settings = {"eos_token": {"content": "</s>"}}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    assert HubVerifier(str(folder))._eos() == "</s>"
    (folder / "tokenizer_config.json").unlink()
    assert HubVerifier(str(folder))._eos() == "[SEP]"
    other = write_onnx(tmp_path / "minicheck-other", TWO)
    (other / "tokenizer_config.json").write_text("{}")
    with pytest.raises(UsageError, match="eos_token"):
        usable_name(str(other))


# --- families -------------------------------------------------------------------------------------


def config(labels_or_fields: Any) -> dict[str, Any]:
    """A configuration with these labels or fields."""
    kinds = {"architectures": ["RobertaForSequenceClassification"]}
    if isinstance(labels_or_fields, dict):
        return kinds | labels_or_fields
    return {
        **kinds,
        "id2label": {str(place): label for place, label in enumerate(labels_or_fields)},
    }


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "order {}{}{}".format(*order))
@pytest.mark.parametrize(
    "labels", [LABELS, ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")], ids=["of NLI", "of FEVER"]
)
def test_labels_are_read_by_their_names(labels: tuple[str, ...], order: tuple[int, ...]) -> None:
    model_config = config([labels[place] for place in order])
    outputs = hub.outputs_of("any", hub.family_of("any", model_config), model_config)
    assert outputs == Outputs(order.index(0), order.index(1))
    probabilities = hub.probabilities([[2.0, 1.0, 0.0][place] for place in order], outputs)
    assert probabilities == pytest.approx((0.66524, 0.24473, 0.09003), abs=1e-5)


@pytest.mark.parametrize("supports", ["Entailment", "SUPPORTED", "consistent", "aligned_label"])
@pytest.mark.parametrize("refutes", ["contradiction", "REFUTES"])
def test_labels_are_known_by_how_they_begin(supports: str, refutes: str) -> None:
    model_config = config(["unknown", refutes, supports])
    assert hub.outputs_of("any", hub.family_of("any", model_config), model_config) == Outputs(2, 1)


@pytest.mark.parametrize("row", TABLES["families"].values(), ids=TABLES["families"])
def test_known_families(row: list[Any]) -> None:
    name, labels_or_fields, family, *outputs = row
    model_config = config(labels_or_fields)
    known_family = hub.family_of(name, model_config)
    assert known_family.name == family
    assert hub.outputs_of(name, known_family, model_config) == Outputs(*outputs)


@pytest.mark.parametrize(
    ("labels_or_fields", "words"), TABLES["unusable"].values(), ids=TABLES["unusable"]
)
def test_what_is_no_verifier_is_said(labels_or_fields: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        hub.outputs_of(
            "mine", hub.family_of("mine", config(labels_or_fields)), config(labels_or_fields)
        )


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        pytest.param(["entailment", "a", "b", "c"], "entailment, a, b, c", id="four labels"),
        pytest.param(["entailment", "a", "a"], "entailment, a, a", id="a label twice"),
        pytest.param([f"L{n}" for n in range(11)], "L8, L9, L10", id="eleven labels"),
    ],
)
def test_labels_that_say_nothing_are_listed_in_their_order(labels: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        hub.outputs_of("mine", hub.FAMILIES["nli"], config(labels))


def test_a_number_of_labels_decides_where_they_have_no_names() -> None:
    family = hub.FAMILIES["alignscore"]
    assert hub.outputs_of("mine", family, config({"num_labels": 3})) == Outputs(0, 2)
    assert hub.outputs_of("mine", family, config({})) == Outputs(1)


def test_the_family_with_its_own_outputs_beats_that_of_all_others() -> None:
    assert hub.family_of("mine/minicheck-nli", config({})).name == "minicheck"


@pytest.mark.parametrize(
    "prompt", [{}, {"prompt": ""}, {"prompt": None}], ids=["none", "an empty one", "null"]
)
def test_without_a_prompt_of_its_own_the_published_one_is_read(prompt: dict[str, Any]) -> None:
    family = hub.family_of("mine", {"model_type": "HHEMv2"} | prompt)
    assert family.template == hub.FAMILIES["hhem"].template


def test_scores_templates_and_the_window_that_counts() -> None:
    # Of two labels the other one is no answer, and a single output is a score.
    assert hub.probabilities([0.0, 0.0], Outputs(0)) == Probabilities(0.5, 0.0, 0.5)
    scores = [hub.probabilities([one], Outputs(0)) for one in (0.8, 1.3, -0.2)]
    assert scores == [pytest.approx((0.8, 0.0, 0.2)), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)]
    own = {"model_type": "HHEMv2", "prompt": "<pad> {text2} of {text1}?"}
    assert hub.family_of("mine", own).template == "<pad> {claim} of {passage}?"
    # What looks like a gap in a text stays.
    template = hub.FAMILIES["factcg"].template
    text = hub.fill(template, passage="{claim} {x} {0}", claim='"{passage}"', eos="")
    assert text.startswith("{claim} {x} {0}\n\nChoose")
    assert 'conclude that ""{passage}""?' in text
    supports, surer = Probabilities(0.6, 0.1, 0.3), Probabilities(0.7, 0.0, 0.3)
    refutes, silent = Probabilities(0.05, 0.9, 0.05), Probabilities(0.1, 0.1, 0.8)
    assert hub.best([silent, supports, refutes, surer]) == surer
    assert hub.best([silent, refutes]) == refutes
    assert hub.best([Probabilities(0.0, 0.1, 0.9), silent]) == silent
