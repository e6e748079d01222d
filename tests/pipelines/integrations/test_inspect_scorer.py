"""The scorer of Inspect, in evaluations of a scripted model: inspect_run.py."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow
NAN = "nan"


@pytest.fixture(scope="module")
def results(with_tools: Callable[[str], Any]) -> Any:
    return with_tools("inspect_run.py")


def test_each_completion_has_its_score_or_is_unscored(results: Any) -> None:
    scores = {"true": 1.0, "half": 0.5, "unknown": 0.0}
    reasons = {"silent": "no_claim", "empty": "no_claim", "foreign": "grader_failed"}
    assert results["all"]["values"] == scores | dict.fromkeys(reasons, NAN)
    assert results["all"]["reasons"] == reasons


def test_metrics_leave_out_what_is_unscored(results: Any) -> None:
    assert results["all"]["metrics"]["mean"] == 0.5
    assert set(results["all"]["metrics"]) == {"mean", "stderr"}


def test_the_explanation_has_the_claims_with_their_evidence(results: Any) -> None:
    explanation = results["all"]["words"]["half"]
    assert "✗ contradicted by reference" in explanation
    assert 'evidence  "Ada Lovelace was born in London in 1815."' in explanation


def test_an_unscored_sample_says_why(results: Any) -> None:
    explanations = results["all"]["words"]
    assert explanations["silent"].startswith(
        "no score: there is no claim (no_claim='pass' lets such a"
    )
    assert explanations["empty"] == "the response is empty"
    assert "unsupported language" in explanations["foreign"]


def test_references_may_be_in_the_metadata(results: Any) -> None:
    assert results["of metadata"]["values"] == {"true": 1.0}


@pytest.mark.parametrize(
    ("no_claim", "values", "mean"),
    [
        ("left_out", [1.0, NAN, NAN], 1.0),
        ("pass", [1.0, 1.0, 1.0], 1.0),
        ("fail", [1.0, 0.0, 0.0], 1 / 3),
    ],
)
def test_what_no_claim_means(results: Any, no_claim: str, values: list[Any], mean: float) -> None:
    names = ("true", "silent", "empty")
    assert results[no_claim]["values"] == dict(zip(names, values, strict=True))
    assert results[no_claim]["metrics"]["mean"] == pytest.approx(mean)


def test_where_nothing_is_scored_there_is_no_mean(results: Any) -> None:
    assert results["nothing"]["status"] == "success"
    assert results["nothing"]["metrics"]["mean"] == NAN


def test_a_wrong_word_is_an_error_before_any_model_is_asked(results: Any) -> None:
    assert "unknown no_claim 'passed'" in results["wrong word"]


def test_a_wrong_option_is_an_error_of_the_evaluation(results: Any) -> None:
    assert results["wrong option"]["status"] == "error"
    assert "judeg" in results["wrong option"]["errors"][0]


def test_the_task_of_the_page_is_scored(results: Any) -> None:
    assert results["page"] == ["success", ["mean", "stderr"]]
