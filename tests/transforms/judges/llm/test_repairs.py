"""Formulation `function`: bad replies, what is asked again, and what stays an error."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.transforms.judges.llm.conftest import Asked
from ufo.schemas.records import REASONS
from ufo.transforms.llm.request import Choice, Completion, LlmError, Request

BORN, WROTE = "Ada was born in 1815.", "Ada wrote notes."
YES = {"answer": "1815", "rationale": "Says so.", "verdict": "T"}
NO = {"answer": "1816", "rationale": "Another year.", "verdict": "F"}
SILENT = {"answer": "NOANS", "rationale": "", "verdict": "N"}
REFUSAL = Choice(refusal="I will not.")


def outcomes(asked: Asked) -> list[Any]:
    return [(row.unit_id, row.outcome, row.reason) for row in asked.result.evidence]


def test_only_what_is_missing_is_asked_again(llm: SimpleNamespace) -> None:
    first = {
        "f1": {
            "checks": [{"passage": 1, **YES}, {"passage": 2, **NO, "verdict": None}],
            "noans": [],
        },
        "f2": {"checks": [{"passage": 2, **SILENT}], "noans": []},
        "f3": "T",
    }
    second = {
        "f1": {"checks": [{"passage": 1, **NO}], "noans": []},
        "f2": {"checks": [{"passage": 1, **YES}], "noans": [2]},
    }
    found = [llm.passages("A.", "B."), llm.passages("B."), llm.passages("B.", "A.")]
    asked = llm.verify([first, second], llm.open_units([BORN, WROTE, "Third."]), found)
    facts, passages = llm.asked_for(asked.client.requests[1])
    assert facts == {"f1": (BORN, "Q0?", [1]), "f2": ("Third.", "Q2?", [1, 2])}
    assert passages == {1: ("", "B."), 2: ("", "A.")}
    assert asked.users[1].endswith("exactly in the form asked for.")
    assert [(row.unit_id, row.outcome, row.request_id) for row in asked.result.evidence] == [
        ("u0", "supported", "fake-1"),
        ("u0", "refuted", "fake-2"),
        ("u1", "noans", "fake-1"),
        ("u2", "supported", "fake-2"),
        ("u2", "noans", "fake-2"),
    ]
    assert not asked.result.failures
    assert len(asked.result.usage) == 2


def test_a_null_verdict_beside_an_empty_citation_is_repaired_and_never_guessed(
    llm: SimpleNamespace,
) -> None:
    null = {"f1": YES | {"citation": "", "verdict": None}}
    good = {"f1": YES | {"citation": "1815"}}
    units, found = llm.open_units([BORN]), [llm.passages("1815.")]
    assert outcomes(llm.verify([null, good], units, found, citation=True)) == [
        ("u0", "supported", None)
    ]
    assert outcomes(llm.verify([null, null], units, found, citation=True)) == [
        ("u0", "error", "unparsable")
    ]


def test_a_copy_of_the_example_is_asked_again_without_the_example(llm: SimpleNamespace) -> None:
    units, found = llm.open_units([BORN]), [llm.passages("1815.")]
    copied = {
        "f1": {"answer": "1932", "rationale": "The passage gives the same year.", "verdict": "T"}
    }
    asked = llm.verify([copied, {"f1": YES}], units, found)
    first, again = asked.client.requests
    assert first.function.example["f1"] == copied["f1"]
    assert again.function.example is None
    assert "it repeated the example in place of judging the facts" in asked.users[1]
    assert outcomes(asked) == [("u0", "supported", None)]


BAD = [
    (REFUSAL, "refused"),
    (Choice("", arguments='{"f1": {"verdict": "T"}}', finish_reason="content_filter"), "filtered"),
    (Choice(arguments='{"f1": {"answer": "1815", "ver', finish_reason="length"), "truncated"),
    (Choice(arguments='{"f1": {"answer": "1815", "verdict": "T"'), "truncated"),
    (Choice("The passage says that she was born in 1815, so T."), "unparsable"),
    (Choice("", finish_reason="tool_calls"), "unparsable"),
    ({"f1": {"verdict": True}}, "unparsable"),
    ({"f1": [YES]}, "unparsable"),
    ({"f1": "T"}, "unparsable"),
    ({}, "unparsable"),
    ({"f2": YES, "verdict": "T"}, "unparsable"),
    (LlmError("blocked", "filtered"), "filtered"),
    (Completion([], "x"), "unparsable"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD)
@pytest.mark.parametrize("repairs", [0, 1])
def test_each_bad_reply_has_its_reason_and_is_no_verdict(
    llm: SimpleNamespace, bad: Any, reason: str, repairs: int
) -> None:
    asked = llm.verify(
        lambda r: bad, llm.open_units([BORN]), [llm.passages("1815.")], repairs=repairs
    )
    (row,) = asked.result.evidence
    assert (row.outcome, row.reason, row.label) == ("error", reason, None)
    if isinstance(bad, dict):
        assert json.loads(row.raw_verdict) == bad
    elif isinstance(bad, Choice):
        assert row.raw_verdict == (bad.refusal or bad.arguments or bad.text or None)
    else:  # in the words of the error
        assert row.raw_verdict in ("blocked", "the reply has no choice")
    assert reason in REASONS
    assert len(asked.client.requests) == repairs + 1
    (failure,) = asked.result.failures
    assert (failure.step, failure.key, failure.error_type) == ("verify", "r1", reason)


def test_a_failure_shows_what_the_model_said(llm: SimpleNamespace) -> None:
    said = "x" * 5000
    asked = llm.verify(lambda r: said, llm.open_units([BORN]), [llm.passages("1815.")])
    assert asked.result.failures[0].input == said[:4096]


def test_extra_arguments_are_passed_over_and_json_in_prose_is_read(llm: SimpleNamespace) -> None:
    text = f"Here is my call:\n```json\n{json.dumps({'f1': YES | {'mood': 'good'}, 'f9': NO})}\n```"
    asked = llm.verify([text], llm.open_units([BORN]), [llm.passages("1815.")])
    assert outcomes(asked) == [("u0", "supported", None)]


def test_an_error_that_every_request_would_meet_is_raised_with_what_was_spent(
    llm: SimpleNamespace,
) -> None:
    replies = iter([{"f1": YES}, LlmError("wrong key", final=True)])
    found = [llm.passages("A."), llm.passages("A.")]
    with pytest.raises(LlmError, match="wrong key") as error:
        llm.verify(lambda r: next(replies), llm.open_units([BORN, WROTE]), found, facts_per_call=1)
    assert error.value.final
    assert len(error.value.usage) == 1


def test_a_passage_that_a_filter_stops_costs_half_of_its_neighbours_at_most(
    llm: SimpleNamespace,
) -> None:
    def reply(request: Request) -> Any:
        return (
            REFUSAL
            if "poison" in request.messages[1].content
            else llm.answers(lambda c, p: YES)(request)
        )

    asked = llm.verify(reply, llm.open_units([BORN]), [llm.passages("A.", "B.", "poison", "D.")])
    assert [row.outcome for row in asked.result.evidence] == [
        "supported", "supported", "error", "error",
    ]  # fmt: skip


WRONG = [
    ("Nothing.", "it had no argument of a fact, such as f1"),
    ({"f1": {**YES, "verdict": "<maybe>"}}, 'the verdict "&lt;maybe>" is none of T, F, N'),
    ({"f1": {**YES, "verdict": None}}, 'the verdict "None" is none of T, F, N'),
    (Choice(arguments='{"f1": {"answer": "1815", "ver'), "it was cut off before its end; be brief"),
    (REFUSAL, "it was a refusal or was stopped by a filter"),
]


@pytest.mark.parametrize(("bad", "wrong"), WRONG)
def test_a_repair_says_what_was_wrong(llm: SimpleNamespace, bad: Any, wrong: str) -> None:
    asked = llm.verify([bad, {"f1": YES}], llm.open_units([BORN]), [llm.passages("1815.")])
    assert f"could not be used: {wrong}. Give all" in asked.users[1]


@pytest.mark.parametrize(
    ("formulation", "bad", "wrong"),
    [
        ("prompt", "Perhaps.", "it has none of True, False and Unclear; give one"),
        ("prompt", "True or False.", "it has more than one of True, False and Unclear; give one"),
        ("prompt", "Not true.", "it negates a verdict; give the verdict that is meant"),
        ("rationale", "It is so.", "it does not end in a line that begins with Verdict:"),
        ("rationale", "Verdict: so", "its verdict does not do: it has none of True, False and"),
        ("stepwise", " ", "it was empty"),
    ],
)
def test_a_repair_of_words_says_what_was_wrong(
    llm: SimpleNamespace, formulation: str, bad: str, wrong: str
) -> None:
    replies = [bad, *(["NOANS"] if formulation == "stepwise" else ["Verdict: True"])]
    units, found = llm.open_units([BORN]), [llm.passages("1815.")]
    asked = llm.verify(replies, units, found, formulation=formulation)
    assert f"could not be used: {wrong}" in asked.users[1]


def test_a_query_that_repeats_its_claim_is_left_out(llm: SimpleNamespace) -> None:
    units = llm.open_units([BORN])
    units.units[0] = replace(units.units[0], query="Ada was born in 1815?")
    found = [llm.passages("1815.")]
    assert "query=" not in llm.verify([{"f1": YES}], units, found).users[0]
    stepwise = llm.verify(["1815", "True"], units, found, formulation="stepwise")
    assert ["<query>" in user for user in stepwise.users] == [True, False]


def test_a_verdict_without_the_rationale_asked_for_is_asked_again_and_better_than_none(
    llm: SimpleNamespace,
) -> None:
    bare = {"f1": {"answer": "1815", "verdict": "T"}}
    units, found = llm.open_units([BORN]), [llm.passages("1815.")]
    asked = llm.verify([bare, {"f1": YES}], units, found)
    assert [row.rationale for row in asked.result.evidence] == ["Says so."]
    assert "it had no rationale of some verdicts" in asked.users[1]
    asked = llm.verify([bare, {"f1": "?"}], units, found)
    assert outcomes(asked) == [("u0", "supported", None)]
    assert len(llm.verify([bare], units, found, explain="none").client.requests) == 1
