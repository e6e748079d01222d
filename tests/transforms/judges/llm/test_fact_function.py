"""The function object: what it looks like, and what a reply to it means."""

import copy
import json
from collections.abc import Iterator
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
from ufo.transforms.llm.request import extraction_parameters, facts_parameters, query_parameters


class Named(dict[str, str]):
    """A description for whatever is asked for."""

    def __missing__(self, name: str) -> str:
        return f"what {name} is"


def function(*passages: list[int], **control: Any) -> FactFunction:
    return FactFunction([Fact(f"Claim {p}", "Q?", list(p)) for p in passages], Control(**control))


def check(passage: int | None = None, **fields: Any) -> dict[str, Any]:
    numbered = {} if passage is None else {"passage": passage}
    return {**numbered, "answer": "a", "rationale": "r", "verdict": "T", **fields}


@pytest.mark.parametrize(
    ("control", "fields"),
    [
        (Control(), ("answer", "rationale", "verdict")),
        (Control(citation=True), ("answer", "citation", "rationale", "verdict")),
        (Control(explain="none"), ("verdict",)),
        (Control(explain="none", citation=True), ("citation", "verdict")),
    ],
)
def test_grounds_are_asked_for_before_the_verdict(
    control: Control, fields: tuple[str, ...]
) -> None:
    assert control.fields == fields
    single = FactFunction([Fact("c", "q", [1])], control).parameters(Named())
    several = FactFunction([Fact("c", "q", [1, 2])], control).parameters(Named())
    assert tuple(single["$defs"]["fact"]["properties"]) == fields
    checks = several["$defs"]["fact"]["properties"]["checks"]["items"]["properties"]
    assert tuple(checks) == ("passage" if control.citation else "passages", *fields)


def test_only_tfn_can_abstain() -> None:
    for options, verdicts in (("tfn", ["T", "F", "N"]), ("tf", ["T", "F"])):
        value = function([1, 2], options=options).parameters(Named())["$defs"]["fact"]["properties"]
        assert value["checks"]["items"]["properties"]["verdict"]["enum"] == verdicts
        assert ("noans" in value) == (options == "tfn")


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for below in schema.values():
            yield from objects(below)


@pytest.mark.parametrize(
    "schema",
    [
        function([1]).parameters(Named()),
        function([1, 2], [2], citation=True).parameters(Named()),
        extraction_parameters(Named(), [1, 2]),
        query_parameters(Named(), 3),
        facts_parameters(Named(), 2),
    ],
)
def test_every_property_is_required_and_no_other_allowed(schema: dict[str, Any]) -> None:
    found = list(objects(schema))
    assert found
    for value in found:
        assert value["required"] == list(value["properties"])
        assert value["additionalProperties"] is False
    assert json.loads(json.dumps(schema)) == schema


def test_arguments_are_named_by_number_and_never_after_the_fact() -> None:
    facts = [Fact(text, text, [1]) for text in ('"x"-y\n1', "事実", "", "f2 " * 99)]
    schema = FactFunction(facts, Control()).parameters(Named())
    assert list(schema["properties"]) == ["f1", "f2", "f3", "f4"]
    assert "事実" not in json.dumps(schema, ensure_ascii=False)


def test_a_reply_gives_a_check_for_each_pair() -> None:
    asked = function([1, 2, 3], [2], citation=True)
    found = asked.invoke(
        {
            "f1": {"checks": [check(2, citation=" q ", verdict="F")], "noans": [1, 3]},
            "f2": {"checks": [check(2, verdict="N", answer="maybe")], "noans": []},
        }
    )
    assert found == {
        (1, 1): FactCheck("N", "NOANS"),
        (1, 2): FactCheck("F", "F", "a", "q", "r"),
        (1, 3): FactCheck("N", "NOANS"),
        (2, 2): FactCheck("N", "N", "maybe", None, "r"),
    }


def test_passages_that_give_the_same_answer_share_a_check() -> None:
    asked = function([1, 2, 3, 4], [2, 3])
    found = asked.invoke(
        {
            "f1": {"checks": [check(passages=[1, 3, 9]), check(2, verdict="F")], "noans": [4]},
            "f2": {"checks": [check(passages=[2, "3", None, True])], "noans": []},
        }
    )
    same = FactCheck("T", "T", "a", None, "r")
    assert found == {
        (1, 1): same,
        (1, 2): FactCheck("F", "F", "a", None, "r"),
        (1, 3): same,
        (1, 4): FactCheck("N", "NOANS"),
        (2, 2): same,
    }
    # One that stands in two checks that differ has none.
    twice = {"checks": [check(passages=[1, 2]), check(passages=[2], verdict="F")], "noans": []}
    assert function([1, 2]).invoke({"f1": twice}) == {(1, 1): same}


def test_one_passage_is_the_literal_form() -> None:
    asked = function([1], [1])
    assert asked.single
    found = asked.invoke({"f1": check(), "f2": check(verdict="N", answer="NOANS")})
    assert found == {
        (1, 1): FactCheck("T", "T", "a", None, "r"),
        (2, 1): FactCheck("N", "N", None, None, "r"),
    }
    assert asked.invoke({"f1": {"checks": [check(1)], "noans": []}}).keys() == {(1, 1)}


@pytest.mark.parametrize(
    ("raw", "verdict"),
    [("T", "T"), ("true", "T"), (" False ", "F"), ("Not clear", "N"), ("NOANS", "N")],
)
def test_a_verdict_is_kept_as_it_was_given(raw: str, verdict: str) -> None:
    (found,) = function([1]).invoke({"f1": check(verdict=raw)}).values()
    assert (found.verdict, found.raw_verdict) == (verdict, raw)


BAD_VERDICTS = [None, "", "maybe", 1, 0, True, ["T"], {"verdict": "T"}, "T F", "yes"]


@pytest.mark.parametrize("verdict", BAD_VERDICTS)
def test_a_malformed_verdict_costs_its_pair_alone(verdict: Any) -> None:
    asked = function([1, 2], [1])
    arguments = {
        "f1": {"checks": [check(1, verdict=verdict), check(2)], "noans": []},
        "f2": {"checks": [check(1)], "noans": []},
    }
    assert asked.invoke(arguments).keys() == {(1, 2), (2, 1)}


def test_a_null_verdict_beside_an_empty_citation_is_no_judgement() -> None:
    asked = function([1], citation=True)
    assert asked.invoke({"f1": check(citation="", verdict=None)}) == {}
    assert asked.invoke({"f1": check(answer="NOANS", citation="", verdict=None)}) == {}


def test_an_answer_that_contradicts_its_verdict_is_no_judgement_unless_it_is_forced() -> None:
    value = {"f1": check(answer="NOANS", verdict="T")}
    assert function([1]).invoke(value) == {}
    (forced,) = function([1], options="tf").invoke(value).values()
    assert (forced.verdict, forced.answer) == ("T", None)


@pytest.mark.parametrize("verdict", ["N", "NOANS", "Not clear"])
def test_tf_takes_no_abstention(verdict: str) -> None:
    assert function([1], options="tf").invoke({"f1": check(verdict=verdict)}) == {}
    several = {"f1": {"checks": [check(1, verdict=verdict)], "noans": [2]}}
    assert function([1, 2], options="tf").invoke(several) == {}


def test_a_malformed_answer_costs_the_answer() -> None:
    (found,) = function([1]).invoke({"f1": check(answer=5, rationale=None)}).values()
    assert found == FactCheck("T", "T")


@pytest.mark.parametrize(
    "value",
    [
        {"checks": [check(1), check(1, verdict="F")], "noans": [2]},
        {"checks": [check(1)], "noans": [1, 2]},
        {"checks": [check(1, verdict=None), check(1)], "noans": [2]},
    ],
)
def test_what_is_said_twice_and_differently_is_not_taken(value: dict[str, list[Any]]) -> None:
    assert function([1, 2]).invoke({"f1": value}).keys() == {(1, 2)}


def test_what_was_not_asked_for_is_passed_over() -> None:
    asked = function([1, 2], explain="none")
    arguments = {
        "f1": {"checks": [{**check(1), "extra": 1}, check(7)], "noans": [2, 9], "more": {}},
        "f2": {"checks": [check(1)], "noans": []},
        "f": check(),
    }
    assert asked.invoke(arguments) == {(1, 1): FactCheck("T", "T"), (1, 2): FactCheck("N", "NOANS")}


@pytest.mark.parametrize("passage", ["1", 1.0, True, None, [1]])
def test_a_passage_is_named_by_its_number(passage: Any) -> None:
    asked = function([1, 2])
    value = {"checks": [{**check(), "passage": passage}], "noans": [passage]}
    assert asked.invoke({"f1": value}) == {}


def test_noans_is_known_however_it_is_written() -> None:
    assert all(map(is_noans, ("NOANS", " noans. ", '"NoAns"', "`NOANS`")))
    assert not any(map(is_noans, (None, "", "NOANS because", "no")))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["f1", "f2", "checks", "noans", "passage", "passages", "answer", "verdict"]
            ),
            inner,
            max_size=5,
        )
    ),
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


def test_allowed_numbers_are_named_and_lists_are_bounded() -> None:
    schema = function([2, 5], [5]).parameters(Named())
    assert schema["$defs"]["passage"] == {"type": "integer", "enum": [2, 5]}
    fact = schema["$defs"]["fact"]["properties"]
    assert (fact["checks"]["maxItems"], fact["noans"]["maxItems"]) == (2, 2)
    claims = extraction_parameters(Named(), [3, 4], 1)
    assert claims["$defs"]["sentence"]["enum"] == [3, 4]
    assert claims["properties"]["facts"]["maxItems"] == 2
    queries = query_parameters(Named(), 2)["properties"]["queries"]
    assert (queries["maxItems"], queries["items"]["properties"]["claim"]["enum"]) == (2, [1, 2])


CONTROLS = [
    Control(options, explain, citation)
    for options in ("tfn", "tf")
    for explain in ("short", "none")
    for citation in (False, True)
]


@pytest.mark.parametrize("passages", [([1], [1], [1], [1]), ([1, 2, 3], [2], [1, 3], [3])])
@pytest.mark.parametrize("control", CONTROLS, ids=str)
def test_an_example_has_the_form_and_is_no_judgement_when_it_is_repeated(
    passages: tuple[list[int], ...], control: Control
) -> None:
    asked = FactFunction([Fact("c", "q", found) for found in passages], control)
    example = asked.example()
    if control.explain == "short":
        judged = asked.invoke(example)
        assert {check.verdict for check in judged.values()} <= {"N", "F"}
        assert all(check.answer is None for check in judged.values())
    own = json.loads(json.dumps(example).replace("1932", "1933").replace("310", "311"))
    assert set(asked.invoke(own)) == set(asked.pairs)


def test_the_first_verdict_that_is_none_is_named() -> None:
    asked = function([1, 2], [1])
    value = {"f1": {"checks": [check(1), check(2, verdict="maybe")]}, "f2": {"checks": []}}
    assert asked.wrong_verdict(value) == "maybe"
    assert function([1]).wrong_verdict({"f1": check(verdict=5)}) == "5"
    assert asked.wrong_verdict({"f1": 3, "f2": {"checks": [check(1), 4]}}) is None
