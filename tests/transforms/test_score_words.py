"""The words for a score: the number with its coverage, or why there is none."""

from typing import Any

import pytest

from ufo.transforms.score_words import (
    as_shown,
    beside,
    brief_score,
    is_many,
    score_in_words,
    why_no_score,
    without_score,
)


def row(score: float | None, coverage: float | None, n_units: int = 9, **more: Any) -> Any:
    """A row of a view with these scores."""
    return {"n_units": n_units, "factuality_score": score, "coverage": coverage, **more}


BOUNDS: dict[str, Any] = {"low": 0.1, "high": 0.75}
FAILED: dict[str, Any] = {"n_judgements": 9, "n_unusable": 3}


@pytest.mark.parametrize(
    ("of", "words", "brief"),
    [
        pytest.param(row(0.625, 0.8), "factuality score 0.625, coverage 0.800", "0.625",
                     id="a number"),
        pytest.param(row(0.625, 0.8, **BOUNDS),
                     "factuality score 0.625 (0.100 to 0.750), coverage 0.800", "0.625",
                     id="with an interval"),
        pytest.param(row(0.25, 0.5), "factuality score 0.250, coverage 0.500", "0.250",
                     id="half is known"),
        pytest.param(row(0.25, 0.499), "factuality score 0.250, coverage 0.499",
                     "0.250, coverage 0.499", id="less than half is known"),
        pytest.param(row(0.0, 0.25), "factuality score 0.000, coverage 0.250",
                     "0.000, coverage 0.250", id="all that is known is false"),
        pytest.param(row(0.625, 0.8, **FAILED), "factuality score 0.625, coverage 0.800",
                     "⚠ 0.625", id="judgements failed"),
        pytest.param(row(0.0, 0.0, 1_446, **BOUNDS),
                     "no score: no source knew any of 1,446 claims",
                     "no score: no source knew any of 1,446 claims", id="nothing is known"),
        pytest.param(row(0.0, 0.0, 1), "no score: no source knew its only claim",
                     "no score: no source knew its only claim", id="the claim is not known"),
        pytest.param(row(None, None, 3, n_judgements=3, n_unusable=3),
                     "no score: no judgement was usable", "⚠ no score: no judgement was usable",
                     id="all judgements failed"),
        pytest.param(row(None, None, 0), "no score: there is no claim",
                     "no score: there is no claim", id="no claim"),
    ],
)  # fmt: skip
def test_the_words_of_a_score(of: Any, words: str, brief: str) -> None:
    assert score_in_words(of) == words
    assert brief_score(of) == brief


@pytest.mark.parametrize("of", [row(0.5, 1.0), row(0.0, 0.01)], ids=["known", "hardly known"])
def test_a_number_that_is_shown_needs_no_reason(of: Any) -> None:
    assert why_no_score(of) == ""


@pytest.mark.parametrize(
    ("n", "of", "many"),
    [
        pytest.param(1, 10, False, id="one in ten"),
        pytest.param(2, 19, True, id="more than one in ten"),
        pytest.param(0, 0, False, id="none of none"),
    ],
)
def test_a_score_mentions_judgements_that_are_unusable(n: int, of: int, many: bool) -> None:
    assert is_many(n, of) == many
    assert bool(beside({"n_unusable": n, "n_judgements": of})) == many


REASONS = ("n_without_units", "n_unsupported", "n_unjudged")


def counts(**some: int) -> dict[str, int]:
    """The row of 1,000 responses, of which so many have no score."""
    return {**dict.fromkeys(REASONS, 0), "n_responses": 1_000, "n_scored": 900, **some}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("n_without_units", "3 without a claim"),
        ("n_unsupported", "3 in a language that the judge does not know"),
        ("n_unjudged", "3 without a usable judgement"),
    ],
    ids=REASONS,
)
def test_responses_without_a_score_are_counted_by_reason(name: str, why: str) -> None:
    assert without_score(counts(**{name: 3})) == f"900 of 1,000 responses have a score; {why}"


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "2 without a claim"), (1, "2 without a claim (1 of them abstains)")],
    ids=["none abstains", "one abstains"],
)
def test_of_the_responses_without_a_claim_those_are_named_that_abstain(n: int, words: str) -> None:
    line = without_score(counts(n_without_units=2), n)
    assert line == f"900 of 1,000 responses have a score; {words}"


def test_where_all_responses_have_a_score_nothing_is_said() -> None:
    assert without_score(counts()) == ""


def test_what_failed_is_not_counted_among_what_no_source_knew() -> None:
    scores = row(0.0, 0.0, 4) | {"n_unusable": 2, "n_judgements": 4}
    assert why_no_score(scores) == "no source knew any claim that could be judged"


def test_a_table_shows_no_number_where_no_source_knew_anything() -> None:
    assert as_shown(row(0.0, 0.0, 4))["factuality_score"] == "no score"
    assert as_shown(row(0.0, 1.0, 4))["factuality_score"] == 0.0
    assert as_shown({"factuality_score": 0.0}) == {"factuality_score": 0.0}
