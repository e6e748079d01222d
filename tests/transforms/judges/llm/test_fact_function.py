"""The function object: what it looks like, and what a reply to it means."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.judges.llm.fact_function import (
    Control,
    Fact,
    FactCheck,
    FactFunction,
    is_noans,
)


def function(*passages: list[int], **control: Any) -> FactFunction:
    return FactFunction([Fact(f"Claim {p}", "Q?", list(p)) for p in passages], Control(**control))


def check(passage: int | None = None, **fields: Any) -> dict[str, Any]:
    numbered = {} if passage is None else {"passage": passage}
    return {**numbered, "answer": "a", "rationale": "r", "verdict": "T", **fields}


CONTROLS = [
    Control(options, explain, citation)
    for options in ("tfn", "tf")
    for explain in ("short", "none")
    for citation in (False, True)
]


SAME, NOANS = FactCheck("T", "T", "a", None, "r"), FactCheck("N", "NOANS")
FALSE = FactCheck("F", "F", "a", None, "r")


def test_a_reply_gives_a_check_for_each_pair() -> None:
    found = function([1, 2, 3], [2], citation=True).invoke(
        {
            "f1": {"checks": [check(2, citation=" q ", verdict="F")], "noans": [1, 3]},
            "f2": {"checks": [check(2, verdict="N", answer="maybe")], "noans": []},
        }
    )
    false, unclear = FactCheck("F", "F", "a", "q", "r"), FactCheck("N", "N", "maybe", None, "r")
    assert found == {(1, 1): NOANS, (1, 2): false, (1, 3): NOANS, (2, 2): unclear}


def test_passages_that_give_the_same_answer_share_a_check() -> None:
    found = function([1, 2, 3, 4], [2, 3]).invoke(
        {
            "f1": {"checks": [check(passages=[1, 3, 9]), check(2, verdict="F")], "noans": [4]},
            "f2": {"checks": [check(passages=[2, "3", None, True])], "noans": []},
        }
    )
    assert found == {(1, 1): SAME, (1, 2): FALSE, (1, 3): SAME, (1, 4): NOANS, (2, 2): SAME}
    # One that stands in two checks that differ has none.
    twice = {"checks": [check(passages=[1, 2]), check(passages=[2], verdict="F")], "noans": []}
    assert function([1, 2]).invoke({"f1": twice}) == {(1, 1): SAME}


def test_one_passage_is_the_literal_form() -> None:
    asked = function([1], [1])
    assert asked.single
    found = asked.invoke({"f1": check(), "f2": check(verdict="N", answer="NOANS")})
    assert found == {(1, 1): SAME, (2, 1): FactCheck("N", "N", None, None, "r")}
    assert asked.invoke({"f1": {"checks": [check(1)], "noans": []}}).keys() == {(1, 1)}


def verdict_of(given: Any, options: str = "tfn", **fields: Any) -> str | None:
    """The verdict of a fact with one passage, None where there is none; kept as it was given."""
    found = function([1], options=options).invoke({"f1": check(verdict=given, **fields)})
    assert all(one.raw_verdict == given for one in found.values())
    return found[1, 1].verdict if found else None


def test_a_verdict_is_one_of_the_words_asked_for() -> None:
    words = {"T": "T", "true": "T", " False ": "F", "Not clear": "N", "NOANS": "N"}
    assert {word: verdict_of(word) for word in words} == words
    assert [verdict_of(word, "tf") for word in words] == ["T", "T", "F", None, None]
    bad: list[Any] = [None, "", "maybe", 1, 0, True, ["T"], {"verdict": "T"}, "T F", "yes"]
    assert [verdict_of(one) for one in bad] == [None] * 10
    # An answer that contradicts the verdict is no judgement unless it was forced.
    assert (verdict_of("T", answer="NOANS"), verdict_of("T", "tf", answer="NOANS")) == (None, "T")
    (found,) = function([1]).invoke({"f1": check(answer=5, rationale=None)}).values()
    assert found == FactCheck("T", "T")


@pytest.mark.parametrize(
    ("checks", "noans", "left"),
    [
        ([check(1, verdict="maybe"), check(2)], [], {2}),
        ([check(1), check(1, verdict="F")], [2], {2}),
        ([check(1)], [1, 2], {2}),
        ([check(1, verdict=None), check(1)], [2], {2}),
        ([check(1, extra=1), check(7)], [2, 9], {1, 2}),
        *(([{**check(), "passage": one}], [one], set()) for one in ("1", 1.0, True, None, [1])),
    ],
)
def test_what_is_malformed_or_said_twice_costs_its_pair_alone(
    checks: list[Any], noans: list[Any], left: set[int]
) -> None:
    other = {"f2": {"checks": [check(1)], "noans": []}, "f": check(), "f9": check()}
    found = function([1, 2], [1]).invoke({"f1": {"checks": checks, "noans": noans}, **other})
    assert found.keys() == {*((1, passage) for passage in left), (2, 1)}


def test_noans_is_known_however_it_is_written() -> None:
    assert all(map(is_noans, ("NOANS", " noans. ", '"NoAns"', "`NOANS`")))
    assert not any(map(is_noans, (None, "", "NOANS because", "no")))


NAMES = st.sampled_from(["f1", "f2", "checks", "noans", "passage", "passages", "answer", "verdict"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(["f1", "f2", "f3"]), json_values))
def test_nothing_but_a_verdict_gives_a_verdict(arguments: dict[str, Any]) -> None:
    for asked in (function([1], [1]), function([1, 2], [2, 3])):
        before = copy.deepcopy(arguments)
        found = asked.invoke(arguments)
        assert repr(arguments) == repr(before)
        assert found.keys() <= set(asked.pairs)
        for value in found.values():
            assert value.verdict in "TFN"
            assert value.raw_verdict == "NOANS" or value.raw_verdict in repr(arguments)


@pytest.mark.parametrize("passages", [([1], [1], [1], [1]), ([1, 2, 3], [2], [1, 3], [3])])
@pytest.mark.parametrize("control", CONTROLS, ids=str)
def test_an_example_has_the_form_and_is_no_judgement_when_it_is_repeated(
    passages: tuple[list[int], ...], control: Control
) -> None:
    asked = FactFunction([Fact("c", "q", found) for found in passages], control)
    example = asked.example()
    if control.explain == "short":
        judged = asked.invoke(example).values()
        assert {check.verdict for check in judged} <= {"N", "F"}
        assert all(check.answer is None for check in judged)
    own = json.loads(json.dumps(example).replace("1932", "1933").replace("310", "311"))
    assert set(asked.invoke(own)) == set(asked.pairs)


def test_the_first_verdict_that_is_none_is_named() -> None:
    asked = function([1, 2], [1])
    value = {"f1": {"checks": [check(1), check(2, verdict="maybe")]}, "f2": {"checks": []}}
    assert asked.wrong_verdict(value) == "maybe"
    assert function([1]).wrong_verdict({"f1": check(verdict=5)}) == "5"
    assert asked.wrong_verdict({"f1": 3, "f2": {"checks": [check(1), 4]}}) is None
