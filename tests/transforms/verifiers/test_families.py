"""What a model's outputs mean, by its family or by the names of its labels."""

import itertools
from typing import Any

import pytest

from ufo.schemas.errors import UsageError
from ufo.transforms.verifiers.hub import (
    FAMILIES,
    Outputs,
    best,
    family_of,
    filled,
    outputs_of,
    probabilities,
)
from ufo.transforms.verifiers.verifier import Probabilities


def config(*labels: str, **more: object) -> dict[str, Any]:
    kinds = ["RobertaForSequenceClassification"]
    named = {str(place): label for place, label in enumerate(labels)}
    return {"architectures": kinds, "id2label": named, **more}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize(
    "labels",
    [("entailment", "contradiction", "neutral"), ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")],
)
def test_three_labels_are_read_by_their_names_in_any_order(
    labels: tuple[str, ...], order: tuple[int, ...]
) -> None:
    said = config(*(labels[place] for place in order))
    outputs = outputs_of("any", family_of("any", said), said)
    assert outputs == Outputs(order.index(0), order.index(1))
    logits = [[2.0, 1.0, 0.0][place] for place in order]
    found = probabilities(logits, outputs)
    assert found == pytest.approx((0.66524, 0.24473, 0.09003), abs=1e-5)
    assert sum(found) == pytest.approx(1.0)


@pytest.mark.parametrize("labels", [("entailment", "not_entailment"), ("unsupported", "supported")])
def test_of_two_labels_the_other_one_is_no_answer(labels: tuple[str, ...]) -> None:
    said = config(*labels)
    outputs = outputs_of("any", family_of("any", said), said)
    assert outputs == Outputs(0 if labels[0] == "entailment" else 1)
    found = probabilities([0.0, 0.0], outputs)
    assert found == Probabilities(0.5, 0.0, 0.5)


@pytest.mark.parametrize(
    ("name", "said", "family", "outputs"),
    [
        ("lytang/MiniCheck-RoBERTa-Large", config("a", "b"), "minicheck", Outputs(1)),
        ("yaxili96/FactCG-DeBERTa-v3-Large", config("a", "b"), "factcg", Outputs(1)),
        ("models/alignscore-base", config("a", "b", "c"), "alignscore", Outputs(0, 2)),
        ("models/alignscore-base", config("a", "b"), "alignscore", Outputs(1)),
        ("models/alignscore-base", config("a"), "alignscore", Outputs(0)),
        ("mine", config("a", "b", ufo_family="minicheck"), "minicheck", Outputs(1)),
        ("mine", {"model_type": "HHEMv2"}, "hhem", Outputs(1)),
    ],
)
def test_a_family_is_known_by_name_or_by_configuration(
    name: str, said: dict[str, Any], family: str, outputs: Outputs
) -> None:
    found = family_of(name, said)
    assert found.name == family
    assert outputs_of(name, found, said) == outputs


def test_the_prompt_of_hhem_is_that_of_its_configuration() -> None:
    own = {"model_type": "HHEMv2", "prompt": "<pad> {text2} of {text1}?"}
    assert family_of("mine", own).template == "<pad> {claim} of {passage}?"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (config("LABEL_0", "LABEL_1"), "ufo_family"),
        (config("positive", "negative", "neutral"), "entailment, neutral, contradiction"),
        (config("relevance"), "do not say what supports"),
        ({"architectures": ["T5ForConditionalGeneration"]}, "T5ForConditionalGeneration"),
        (config("a", "b", ufo_family="minichek"), "Did you mean 'minicheck'?"),
    ],
)
def test_what_is_no_verifier_is_said(said: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        outputs_of("mine", family_of("mine", said), said)
    assert words in raised.value.message


def test_a_single_output_is_a_score() -> None:
    assert probabilities([0.8], Outputs(0)) == pytest.approx((0.8, 0.0, 0.2))
    assert probabilities([1.3], Outputs(0)) == Probabilities(1.0, 0.0, 0.0)
    assert probabilities([-0.2], Outputs(0)) == Probabilities(0.0, 0.0, 1.0)


def test_what_looks_like_a_gap_in_a_text_stays() -> None:
    template = FAMILIES["factcg"].template
    text = filled(template, passage="{claim} {x} {0}", claim='"{passage}"', eos="")
    assert text.startswith("{claim} {x} {0}\n\nChoose")
    assert 'conclude that ""{passage}""?' in text


def test_the_window_that_counts() -> None:
    supports, surer = Probabilities(0.6, 0.1, 0.3), Probabilities(0.7, 0.0, 0.3)
    refutes, silent = Probabilities(0.05, 0.9, 0.05), Probabilities(0.1, 0.1, 0.8)
    assert best([silent, supports, refutes, surer]) == surer
    assert best([silent, refutes]) == refutes
    assert best([Probabilities(0.0, 0.1, 0.9), silent]) == silent
