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
def results(with_tools: Callable[[str], Any]) -> Any:
    return with_tools("deepeval_run.py")


def test_a_case_has_a_score_a_verdict_or_an_error(results: Any) -> None:
    assert results["measured"] == MEASURED


@pytest.mark.parametrize("how", ["in turn", "in parallel"])
def test_an_evaluation_has_the_same(results: Any, how: str) -> None:
    assert results[how] == {name: [["Factuality", *one]] for name, one in MEASURED.items()}


def test_the_reason_has_the_claims_with_their_evidence(results: Any) -> None:
    assert "✗ contradicted by reference" in results["words"]
    assert 'evidence  "Ada Lovelace was born in London in 1815."' in results["words"]


def test_without_a_threshold_there_is_no_verdict(results: Any) -> None:
    assert results["no threshold"] == [0.5, None, None]


def test_a_score_at_the_threshold_passes(results: Any) -> None:
    assert results["at the threshold"] == [0.5, True, None]


@pytest.mark.parametrize(
    "way", ["expected_output", "context", "retrieval_context", "with a source"]
)
def test_references_are_in_each_field_of_a_case(results: Any, way: str) -> None:
    assert results["ways"][way] == 1.0


@pytest.mark.parametrize(
    ("no_claim", "outcome"),
    [
        ("left_out", [None, None, None]),
        ("pass", [1.0, True, None]),
        ("fail", [0.0, False, None]),
        ("empty passes", [1.0, True, None]),
    ],
)
def test_what_no_claim_means(results: Any, no_claim: str, outcome: list[Any]) -> None:
    assert results[no_claim] == outcome


def test_a_case_without_an_output_is_skipped_where_that_is_wanted(results: Any) -> None:
    assert results["skipped"] == {"none": []}


@pytest.mark.parametrize("name", ["true", "silent", "empty"])
def test_an_assertion_passes_where_there_is_no_verdict_against_it(results: Any, name: str) -> None:
    assert results["asserted"][name] == ""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("half", "contradicted by reference"),
        ("unknown", "no source knew its only claim"),
        ("foreign", UNUSABLE),
    ],
)
def test_an_assertion_fails_with_the_reason(results: Any, name: str, message: str) -> None:
    assert message in results["asserted"][name]


def test_an_assertion_fails_without_a_claim_where_it_is_told_to(results: Any) -> None:
    assert "there is no claim (no_claim='fail')" in results["asserted fail"]


def test_a_wrong_word_is_an_error(results: Any) -> None:
    assert "unknown no_claim 'passed'" in results["wrong word"]


def test_the_test_of_the_page_fails_with_the_claim(results: Any) -> None:
    assert "Ada Lovelace was born in Paris." in results["page"]
