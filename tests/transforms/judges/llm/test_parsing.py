"""From what a model said to values: lenient in finding, strict in taking."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.tables import tables
from ufo.transforms.judges.llm.fact_function import Control, Fact, FactCheck, FactFunction
from ufo.transforms.judges.llm.formulation import Finding
from ufo.transforms.judges.llm.pairwise import by_last_line, by_word
from ufo.transforms.judges.llm.parsing import arguments_of, reason_of, xml_arguments
from ufo.transforms.llm.request import Choice

A = {"f1": {"verdict": "T"}, "f2": {"verdict": "F"}}
TEXT = json.dumps(A)


TABLES = tables("replies_of_judges")


def found(text: str, *names: str, **choice: Any) -> dict[str, Any]:
    return arguments_of(Choice(text, **choice), names or ("f1", "f2"))


@pytest.mark.parametrize("text", TABLES["found"])
def test_arguments_are_found_in_a_text(text: str) -> None:
    assert found(text) == A


@pytest.mark.parametrize(("text", "part"), TABLES["part"])
def test_what_is_not_complete_or_given_twice_is_not_taken(text: str, part: dict[str, Any]) -> None:
    assert found(text) == part


def test_a_call_comes_before_the_text_beside_it() -> None:
    assert found('Let me see: {"f1": 5}', arguments=TEXT, finish_reason="tool_calls") == A
    assert found(TEXT, arguments="") == A


@pytest.mark.parametrize("end", range(1, len(TEXT)))
def test_half_a_json_has_what_was_complete(end: int) -> None:
    expected = {"f1": A["f1"]} if end < len(TEXT) - 1 else A
    assert found(TEXT[:end]) == (expected if end >= TEXT.index(', "f2"') else {})


@pytest.mark.parametrize(("said", "reason"), TABLES["reasons"], ids=str)
def test_no_reply_has_no_arguments_and_a_reason(said: dict[str, str], reason: str) -> None:
    assert arguments_of(Choice(**said), ["f1", "f2"]) == {}
    assert reason_of(Choice(**said)) == reason


@pytest.mark.parametrize("text", ['{"a":' * 50_000, "[" * 50_000, '{"f1":' + "[" * 50_000], ids=len)
def test_deep_nesting_is_no_reply(text: str) -> None:
    assert found(text) == {}


@pytest.mark.parametrize(("said", "reason"), TABLES["broken"], ids=str)
def test_json_that_breaks_off_is_truncated_where_json_was_asked_for(
    said: dict[str, str], reason: str
) -> None:
    assert reason_of(Choice(**said), asked_json=True) == reason
    assert reason_of(Choice(**said)) == "unparsable"


PIECES = (
    *(
        '{"f1": ',
        '"f2":',
        "{",
        "}",
        "[",
        "]",
        '"',
        "\\",
        ",",
        TEXT,
        "1e999",
        "NaN",
        "<f1>",
        "</f1>",
    ),
    *("<p1>", "</p1>", "<verdict>", "</verdict>", "<noans>", "</noans>", "1-9", "Verdict:"),
)
texts = st.text() | st.lists(st.text(max_size=3) | st.sampled_from(PIECES), max_size=25).map(
    "".join
)


@given(texts)
def test_nothing_a_model_says_raises(text: str) -> None:
    for choice in (Choice(text), Choice(arguments=text)):
        arguments_of(choice, ["f1", "f2"])
    for passages in ([1], [1, 2]):
        function = FactFunction([Fact("c", "q", passages)] * 2, Control())
        function.invoke(xml_arguments(Choice(text), function))
    assert by_last_line(text, "tfn")[0] is None or "erdict" in text
    by_word(text, "tfn")


@given(st.text(alphabet='{}[]",: \n', max_size=300))
def test_signs_alone_are_no_verdict(text: str) -> None:
    function = FactFunction([Fact("c", "q", [1])], Control())
    assert function.invoke(found(text, "f1")) == {}


def xml(text: str, *passages: list[int], **control: Any) -> dict[Any, FactCheck]:
    function = FactFunction([Fact("c", "q", list(p)) for p in passages], Control(**control))
    return function.invoke(xml_arguments(Choice(text), function))


def test_tags_are_the_same_function() -> None:
    text = """Here you are:
    <f1><p2><answer>a &lt;b></answer><rationale> r </rationale><verdict>T</verdict></p2>
    <noans>1, 3-4</noans></f1>
    <f2> <p3><answer>NOANS</answer><rationale></rationale><verdict>N</verdict></p3>
      <noans></noans> </f2>"""
    noans, silent = FactCheck("N", "NOANS"), FactCheck("N", "N")
    expected = {(1, n): noans for n in (1, 3, 4)} | {(2, 3): silent}
    assert xml(text, [1, 2, 3, 4], [3]) == {
        **expected,
        (1, 2): FactCheck("T", "T", "a &lt;b>", None, "r"),
    }
    # Those of one passage are the literal form.
    text = "<f1><answer>a</answer><citation>c</citation><verdict>F</verdict></f1>"
    assert xml(text, [1], citation=True) == {(1, 1): FactCheck("F", "F", "a", "c")}
    wrapped = "<f1><p1><answer>a</answer><verdict>F</verdict></p1><noans></noans></f1>"
    assert xml(wrapped, [1]) == {(1, 1): FactCheck("F", "F", "a")}


@pytest.mark.parametrize("text", TABLES["tags"])
def test_tags_that_are_cut_off_or_ambiguous_are_no_verdict(text: str) -> None:
    assert xml(text, [1]) == {}


def test_a_list_of_noans_with_anything_else_in_it_is_none() -> None:
    for noans in ("1, all others", "p1 2."):
        assert xml(f"<f1><noans>{noans}</noans></f1>", [1, 2]) == {}


@pytest.mark.parametrize(("text", "verdict", "wrong"), TABLES["words"])
def test_a_word_is_a_verdict_where_it_is_the_only_one(
    text: str, verdict: str | None, wrong: str
) -> None:
    finding, said = by_word(text, "tfn")
    assert (finding and finding.outcome) == verdict
    assert said[: len(wrong)] == wrong
    assert bool(said) == bool(wrong)


@pytest.mark.parametrize(("text", "expected"), TABLES["rationales"])
def test_a_rationale_ends_in_its_verdict(text: str, expected: list[str] | str) -> None:
    finding, wrong = by_last_line(text, "tfn")
    if isinstance(expected, str):
        assert finding is None
        assert expected in wrong
    else:
        outcome, rationale, raw = expected
        assert finding == Finding(outcome, rationale=rationale, raw_verdict=raw)


def test_tf_has_no_third_verdict() -> None:
    assert by_word("Not clear", "tf")[0] is None
    assert by_last_line("Rationale: x\nVerdict: Not clear", "tf")[0] is None
