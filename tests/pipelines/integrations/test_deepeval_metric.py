"""The metric of DeepEval, measured, evaluated and asserted with it: deepeval_run.py."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow
UNUSABLE = "1 of 1 judgement was unusable (unsupported language 1)"
MEASURED: dict[str, list[Any]] = {
    "true": [1.0, True, None],
    "half": [0.5, False, None],
    "silent": [None, None, None],
    "empty": [None, None, None],
    "unknown": [0.0, False, None],
    "foreign": [None, False, UNUSABLE],
}


@pytest.fixture(scope="module")
def found(with_tools: Callable[[str], Any]) -> Any:
    return with_tools("deepeval_run.py")


def test_a_case_has_a_score_a_verdict_or_an_error(found: Any) -> None:
    assert found["measured"] == MEASURED


@pytest.mark.parametrize("how", ["in turn", "in parallel"])
def test_an_evaluation_has_the_same(found: Any, how: str) -> None:
    assert found[how] == {name: [["Factuality", *one]] for name, one in MEASURED.items()}


def test_the_reason_has_the_claims_with_their_evidence(found: Any) -> None:
    assert "✗ contradicted by reference" in found["words"]
    assert 'evidence  "Ada Lovelace was born in London in 1815."' in found["words"]


def test_without_a_threshold_there_is_no_verdict(found: Any) -> None:
    assert found["no threshold"] == [0.5, None, None]


def test_a_score_at_the_threshold_passes(found: Any) -> None:
    assert found["at the threshold"] == [0.5, True, None]


@pytest.mark.parametrize(
    "way", ["expected_output", "context", "retrieval_context", "with a source"]
)
def test_references_are_in_each_field_of_a_case(found: Any, way: str) -> None:
    assert found["ways"][way] == 1.0


@pytest.mark.parametrize(
    ("no_claim", "said"),
    [
        ("left_out", [None, None, None]),
        ("pass", [1.0, True, None]),
        ("fail", [0.0, False, None]),
        ("empty passes", [1.0, True, None]),
    ],
)
def test_what_no_claim_means(found: Any, no_claim: str, said: list[Any]) -> None:
    assert found[no_claim] == said


def test_a_case_without_an_output_is_skipped_where_that_is_wanted(found: Any) -> None:
    assert found["skipped"] == {"none": []}


@pytest.mark.parametrize("name", ["true", "silent", "empty"])
def test_an_assertion_passes_where_there_is_no_verdict_against_it(found: Any, name: str) -> None:
    assert found["asserted"][name] == ""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("half", "contradicted by reference"),
        ("unknown", "no source knew its only claim"),
        ("foreign", UNUSABLE),
    ],
)
def test_an_assertion_fails_with_the_reason(found: Any, name: str, said: str) -> None:
    assert said in found["asserted"][name]


def test_an_assertion_fails_without_a_claim_where_it_is_told_to(found: Any) -> None:
    assert "there is no claim (no_claim='fail')" in found["asserted fail"]


def test_a_wrong_word_is_an_error(found: Any) -> None:
    assert "unknown no_claim 'passed'" in found["wrong word"]


def test_the_test_of_the_page_fails_with_the_claim(found: Any) -> None:
    assert "Ada Lovelace was born in Paris." in found["page"]
