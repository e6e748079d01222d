"""The scorer of Inspect, in evaluations of a scripted model: inspect_run.py."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow
NAN = "nan"


@pytest.fixture(scope="module")
def found(with_tools: Callable[[str], Any]) -> Any:
    return with_tools("inspect_run.py")


def test_each_completion_has_its_score_or_is_unscored(found: Any) -> None:
    scores = {"true": 1.0, "half": 0.5, "unknown": 0.0}
    reasons = {"silent": "no_claim", "empty": "no_claim", "foreign": "grader_failed"}
    assert found["all"]["values"] == scores | dict.fromkeys(reasons, NAN)
    assert found["all"]["reasons"] == reasons


def test_metrics_leave_out_what_is_unscored(found: Any) -> None:
    assert found["all"]["metrics"]["mean"] == 0.5
    assert set(found["all"]["metrics"]) == {"mean", "stderr"}


def test_the_explanation_has_the_claims_with_their_evidence(found: Any) -> None:
    said = found["all"]["words"]["half"]
    assert "✗ contradicted by reference" in said
    assert 'evidence  "Ada Lovelace was born in London in 1815."' in said


def test_an_unscored_sample_says_why(found: Any) -> None:
    said = found["all"]["words"]
    assert said["silent"].startswith("no score: there is no claim (no_claim='pass' lets such a")
    assert said["empty"] == "the response is empty"
    assert "unsupported language" in said["foreign"]


def test_references_may_be_in_the_metadata(found: Any) -> None:
    assert found["of metadata"]["values"] == {"true": 1.0}


@pytest.mark.parametrize(
    ("no_claim", "values", "mean"),
    [
        ("left_out", [1.0, NAN, NAN], 1.0),
        ("pass", [1.0, 1.0, 1.0], 1.0),
        ("fail", [1.0, 0.0, 0.0], 1 / 3),
    ],
)
def test_what_no_claim_means(found: Any, no_claim: str, values: list[Any], mean: float) -> None:
    names = ("true", "silent", "empty")
    assert found[no_claim]["values"] == dict(zip(names, values, strict=True))
    assert found[no_claim]["metrics"]["mean"] == pytest.approx(mean)


def test_where_nothing_is_scored_there_is_no_mean(found: Any) -> None:
    assert found["nothing"]["status"] == "success"
    assert found["nothing"]["metrics"]["mean"] == NAN


def test_a_wrong_word_is_an_error_before_any_model_is_asked(found: Any) -> None:
    assert "unknown no_claim 'passed'" in found["wrong word"]


def test_a_wrong_option_is_an_error_of_the_evaluation(found: Any) -> None:
    assert found["wrong option"]["status"] == "error"
    assert "judeg" in found["wrong option"]["errors"][0]


def test_the_task_of_the_page_is_scored(found: Any) -> None:
    assert found["page"] == ["success", ["mean", "stderr"]]
