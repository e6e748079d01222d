"""A cross-encoder in a folder, computed by onnxruntime."""

import json
import random
import sys
from pathlib import Path

import pytest

from tests.transforms.verifiers.tiny import write_onnx, write_texts
from ufo.schemas.errors import PluginError, UsageError
from ufo.transforms.verifiers.by_name import content_of, make_verifier, opened, usable
from ufo.transforms.verifiers.hub import HubVerifier
from ufo.transforms.verifiers.verifier import Pair, Probabilities

YES, NO, MAYBE = "it is yes yes .", "it is no no .", "it is maybe maybe ."


def asked(folder: Path, *pairs: Pair) -> list[Probabilities]:
    verifier = HubVerifier(str(folder))
    assert verifier.unavailable() is None
    verifier.open()
    return verifier.predict(pairs)


def outcomes(found: list[Probabilities]) -> list[int]:
    return [max(range(3), key=one.__getitem__) for one in found]


@pytest.mark.parametrize(
    "labels",
    [("entailment", "neutral", "contradiction"), ("contradiction", "entailment", "neutral")],
)
def test_it_is_asked_by_its_folder_in_any_order_of_labels(
    tmp_path: Path, labels: tuple[str, ...]
) -> None:
    folder = write_onnx(tmp_path / "tiny-nli", labels)
    verifier = make_verifier(str(folder))
    assert (verifier.name, usable(str(folder))) == ("tiny-nli", str(folder))
    found = asked(folder, *(Pair("so it is", text) for text in (YES, NO, MAYBE)))
    assert outcomes(found) == [0, 1, 2]
    assert opened(str(folder)).predict([]) == []


def test_a_title_is_read_before_the_passage(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "tiny")
    found = asked(folder, Pair("so", "it is", "yes"), Pair("so", "it is"))
    assert found[0].supported > found[1].supported


def test_a_pair_s_answer_does_not_depend_on_the_others(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "tiny")
    draw = random.Random(1)
    words = ["yes", "no", "maybe", "it", "is", "so", "."]
    texts = [" ".join(draw.choices(words, k=length)) for length in range(1, 90, 4)]
    pairs = [Pair("so it is", text) for text in texts]
    whole = asked(folder, *pairs)
    assert [asked(folder, pair)[0] for pair in pairs] == whole
    shuffled = draw.sample(pairs, len(pairs))
    assert dict(zip(shuffled, asked(folder, *shuffled), strict=True)) == dict(
        zip(pairs, whole, strict=True)
    )


def test_a_long_passage_is_cut_at_sentence_ends_and_the_best_window_counts(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "tiny", tokens=32)
    filler = "It is so it is so it is . "
    long = filler * 6 + "It is yes yes yes . " + filler * 6
    verifier = HubVerifier(str(folder))
    verifier.open()
    assert verifier._reader is not None
    windows = verifier._reader.read("so it is", long)
    assert len(windows) > 3
    assert all(len(window.ids) <= 32 for window in windows)
    assert all(
        window.tokens[-6:-5] == ["."] for window in windows
    )  # the claim and two marks follow
    passages = [window.tokens[1:-5] for window in windows]
    assert [token for tokens in passages for token in tokens] == long.lower().split()
    (found,) = verifier.predict([Pair("so it is", long)])
    (alone,) = verifier.predict([Pair("so it is", "It is yes yes yes .")])
    assert found == alone
    refuting = filler * 6 + "It is no no no . " + filler * 6
    assert outcomes(verifier.predict([Pair("so it is", refuting)])) == [1]


def test_a_sentence_or_a_claim_that_is_too_long_is_cut(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "tiny", tokens=32)
    endless = "so it is " * 100
    found = asked(
        folder, Pair("so", endless + "yes yes"), Pair(endless, YES), Pair(endless, endless)
    )
    assert outcomes(found)[:2] == [0, 0]
    assert asked(folder, Pair("", ""))  # and nothing is something that can be asked


def test_a_passage_cannot_end_itself(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "minicheck-tiny", ("LABEL_0", "LABEL_1"))
    verifier = HubVerifier(str(folder))
    verifier.open()
    assert verifier._reader is not None
    (window,) = verifier._reader.read("so", "it is [SEP] yes")
    assert window.tokens.count("[SEP]") == 2  # the one between the texts, and the last


@pytest.mark.parametrize(
    ("name", "labels", "words"),
    [
        ("minicheck-tiny", ("LABEL_0", "LABEL_1"), ["it", "is", "[SEP]", "so"]),
        ("factcg-tiny", ("LABEL_0", "LABEL_1"), ["it", "is", "[UNK]"]),
        ("alignscore-tiny", ("LABEL_0", "LABEL_1", "LABEL_2"), ["it", "is", "[SEP]", "so"]),
    ],
)
def test_each_family_reads_its_own_form(
    tmp_path: Path, name: str, labels: tuple[str, ...], words: list[str]
) -> None:
    folder = write_onnx(tmp_path / name, labels)
    verifier = HubVerifier(str(folder))
    assert verifier.unavailable() is None
    verifier.open()
    assert verifier._reader is not None
    (window,) = verifier._reader.read("so", "it is")
    assert window.tokens[1 : 1 + len(words)] == words
    assert ("conclude" in window.tokens) == (name == "factcg-tiny")
    (found,) = verifier.predict([Pair("so", "it is")])
    assert sum(found) == pytest.approx(1.0)
    assert (found.refuted == 0.0) == (len(labels) == 2)


def test_what_it_depends_on_is_its_files(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "one")
    same = write_onnx(tmp_path / "two")
    assert content_of(str(folder)) == content_of(str(same))
    other = write_onnx(tmp_path / "three", ("neutral", "entailment", "contradiction"))
    assert content_of(str(folder)) != content_of(str(other))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "neither config.json, as a model has, nor verifier.json"),
        ({"config.json": "{"}, "cannot be read"),
        ({"config.json": "[]"}, "not a JSON object"),
        ({"config.json": json.dumps({"id2label": {"0": "good"}})}, "do not say what supports"),
    ],
)
def test_a_folder_that_is_no_verifier_is_reported(
    tmp_path: Path, files: dict[str, str], words: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError) as raised:
        usable(str(tmp_path))
    assert words in raised.value.message


def test_what_is_not_installed_is_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_texts(tmp_path, ("entailment", "neutral", "contradiction"), 64)
    for name in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=r"needs torch and transformers.*pip install") as raised:
        usable(str(tmp_path))
    assert "ufo-factuality[hub]" in raised.value.message
    write_onnx(tmp_path)
    assert usable(str(tmp_path)) == str(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match=r"needs transformers, which is not installed"):
        usable(str(tmp_path))


def test_a_model_that_is_broken_ends_the_run(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "tiny")
    (folder / "model.onnx").write_bytes(b"this is no model")
    with pytest.raises(PluginError, match="does not load"):
        opened(str(folder))


def test_the_end_of_a_text_is_the_tokenizer_s_or_the_architecture_s(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "minicheck", ("LABEL_0", "LABEL_1"), model_type="deberta-v2")
    said = {"eos_token": {"content": "</s>"}}
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    assert HubVerifier(str(folder))._eos() == "</s>"
    (folder / "tokenizer_config.json").unlink()
    assert HubVerifier(str(folder))._eos() == "[SEP]"
    other = write_onnx(tmp_path / "minicheck-other", ("LABEL_0", "LABEL_1"))
    (other / "tokenizer_config.json").write_text("{}")
    with pytest.raises(UsageError, match="eos_token"):
        usable(str(other))
