"""How a run is held against people's labels, by sentence."""

from typing import Any

import pytest

import ufo
from benchmarks.evidence_agreement import Labels, agreement, labels_of
from benchmarks.measure_extraction import scored
from ufo.pipelines.reports.evaluation import Evaluation

REFERENCE = "Etna is a volcano in Sicily. Etna is 3,400 metres high. Etna last erupted in 2021."


def record(name: str, *claims: tuple[Any, ...], **more: float) -> dict[str, Any]:
    text = " ".join(claim for claim, _ in claims)
    given = [
        {"claim": claim, "query": "?", "label": label, "sentence_index": row}
        for row, (claim, label) in enumerate(claims)
    ]
    fields = {"id": name, "response": text, "reference_answers": REFERENCE, "claims": given}
    return fields | more


@pytest.fixture(scope="module")
def result() -> Evaluation:
    records = [
        record(
            "a",
            ("Etna is a volcano in Sicily.", 1),
            ("Etna is 2,100 metres high.", 0),
            ("Etna has eleven monasteries.", 0),
        ),
        record("b", ("Etna is a volcano in Sicily.", 0), label=0.25),
        {
            "id": "c",
            "response": "Etna is 3,400 metres high. It is green.",
            "sentence_labels": [1, None],
            "reference_answers": REFERENCE,
        },
    ]
    return ufo.evaluate(records, sources=["reference"], judge="offline", workers=1, quiet=True)


def test_labels_are_a_sentences_own_or_those_of_its_claims(result: Evaluation) -> None:
    labels = labels_of(result)
    assert labels.sentences == {("a", 0): 1, ("a", 1): 0, ("a", 2): 0, ("b", 0): 0, ("c", 0): 1}
    assert labels.responses == pytest.approx({"a": 1 / 3, "b": 0.25, "c": 1.0})


def test_agreement_is_over_what_was_decided_and_right_over_all(result: Evaluation) -> None:
    found = agreement(result, labels_of(result))
    # Decided: a.0 and c.0 as people say, a.1 too, b.0 otherwise; a.2 is not in the reference.
    assert found["labelled"] == 5
    assert found["coverage"] == 0.8
    assert found["accuracy"] == 0.75
    assert found["right"] == 0.6
    assert found["balanced_accuracy"] == 0.75
    assert found["kappa"] == 0.5
    assert found["response_error"] > 0


def test_nothing_labelled_gives_no_figure(result: Evaluation) -> None:
    found = agreement(result, Labels({}, {}))
    assert found.pop("labelled") == 0
    assert set(found.values()) == {None}


def test_words_are_counted_as_multisets_and_runs_in_order() -> None:
    assert scored("One two three.", "one TWO three").f1 == 1
    half = scored("a b c d", "d c")
    assert (half.precision, half.recall) == (1, 0.5)
    assert half.shingle_f1 == 0
    assert scored("", "").f1 == 1
    assert scored("a", "").f1 == scored("", "a").f1 == 0
