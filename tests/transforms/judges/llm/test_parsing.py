"""From what a model said to values: lenient in finding, strict in taking."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.judges.llm.fact_function import Control, Fact, FactCheck, FactFunction
from ufo.transforms.judges.llm.formulation import Finding
from ufo.transforms.judges.llm.pairwise import by_last_line, by_word
from ufo.transforms.judges.llm.parsing import arguments_of, reason_of, xml_arguments
from ufo.transforms.llm.request import Choice

A = {"f1": {"verdict": "T"}, "f2": {"verdict": "F"}}
TEXT = json.dumps(A)


def found(text: str, *names: str, **choice: Any) -> dict[str, Any]:
    return arguments_of(Choice(text, **choice), names or ("f1", "f2"))


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"Sure! Here it is:\n```json\n{json.dumps(A, indent=2)}\n```\nAnything else?",
        f"I use {{braces}} and {{}} first. {TEXT}",
        json.dumps({"name": "verify_facts", "arguments": A}),
        json.dumps({"name": "verify_facts", "arguments": TEXT}),
        json.dumps({"verify_facts": A}),
        f"{TEXT} or, once more: {TEXT}",
        TEXT[:-1] + ", ",
    ],
)
def test_arguments_are_found_in_a_text(text: str) -> None:
    assert found(text) == A


def test_a_call_comes_before_the_text_beside_it() -> None:
    assert found('Let me see: {"f1": 5}', arguments=TEXT, finish_reason="tool_calls") == A
    assert found(TEXT, arguments="") == A


@pytest.mark.parametrize("end", range(1, len(TEXT)))
def test_half_a_json_has_what_was_complete(end: int) -> None:
    expected = {"f1": A["f1"]} if end < len(TEXT) - 1 else A
    assert found(TEXT[:end]) == (expected if end >= TEXT.index(', "f2"') else {})


def test_of_what_breaks_off_the_complete_items_are_taken() -> None:
    assert found('{"f1": 1', "f1") == {}  # it may have lost digits
    assert found('{"f1": 1}', "f1") == {"f1": 1}
    assert found('{"f1": {"answer": "1815", "verdict": "T", "cit', "f1") == {}
    facts = found('{"facts": [{"sentence": 1}, {"sentence": 2', "facts")
    assert facts == {"facts": [{"sentence": 1}]}
    assert found('{"no_claim": [3, 1', "no_claim") == {"no_claim": [3]}
    first = '{"checks": [{"passage": 1}]}'
    cut = found(f'{{"f1": {first}, "f2": {{"checks": [{{"passage": 1}}, {{"passage": 2, "v')
    assert cut == {"f1": json.loads(first), "f2": json.loads(first)}


def test_a_name_given_twice_and_differently_is_not_taken() -> None:
    assert found('{"f1": {"verdict": "T"}, "f1": {"verdict": "F"}, "f2": 1}') == {"f2": 1}
    assert found('{"f1": 1} {"f1": 2}') == {}
    assert found('{"f1": {"verdict": "T", "verdict": "F"}}') == {"f1": {}}
    assert found(json.dumps({"arguments": '{"f1": 1, "f1": 2}'})) == {}


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (Choice(TEXT, refusal="no", finish_reason="length"), "refused"),
        (Choice(TEXT, finish_reason="content_filter"), "filtered"),
        (Choice(arguments=TEXT, finish_reason="content_filter"), "filtered"),
        (Choice("x", finish_reason="length"), "truncated"),
        (Choice("", finish_reason="tool_calls"), "unparsable"),
        (Choice("The first fact is true and the second is false."), "unparsable"),
        (Choice("[1, 2, {}]"), "unparsable"),
        (Choice("null"), "unparsable"),
        (Choice(arguments="[]"), "unparsable"),
        *((Choice(sign * 50_000), "unparsable") for sign in ('{"a":', "[", "{")),
        (Choice('{"f1":' + "[" * 50_000), "unparsable"),
    ],
)
def test_no_reply_has_no_arguments_and_a_reason(choice: Choice, reason: str) -> None:
    assert arguments_of(choice, ["f1", "f2"]) == {}
    assert reason_of(choice) == reason


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (Choice(arguments='{"f1": {"verdict": "T"}', finish_reason="stop"), "truncated"),
        (Choice(arguments='{"f1": "a } in a text', finish_reason="tool_calls"), "truncated"),
        (Choice('```json\n{"f1": ["a\\"'), "truncated"),
        (Choice('{"f1": "}"} and {'), "unparsable"),
        (Choice("{f1: \n"), "truncated"),
        (Choice("It says {"), "unparsable"),
    ],
)
def test_json_that_breaks_off_is_truncated_where_json_was_asked_for(
    choice: Choice, reason: str
) -> None:
    assert reason_of(choice, asked_json=True) == reason
    assert reason_of(choice) == "unparsable"  # a text may well begin with a bracket


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


@pytest.mark.parametrize(
    "text",
    [
        "<f1><verdict>T</verdict>",
        "<f1><verdict>T</f1>",
        "<f1><verdict></verdict></f1>",
        "<f1><verdict>T</verdict><verdict>F</verdict></f1>",
        "<f1><verdict>T</verdict></f1><f1><verdict>F</verdict></f1>",
        "<f1><citation></citation><verdict>T</verdict></citation><verdict>F</verdict></f1>",
        "<f2><verdict>T</verdict></f2>",
        "<verdict>T</verdict>",
        "T",
    ],
)
def test_tags_that_are_cut_off_or_ambiguous_are_no_verdict(text: str) -> None:
    assert xml(text, [1]) == {}


def test_a_list_of_noans_with_anything_else_in_it_is_none() -> None:
    for noans in ("1, all others", "p1 2."):
        assert xml(f"<f1><noans>{noans}</noans></f1>", [1, 2]) == {}


NONE, NEGATED = "it has none of True, False and Unclear", "it negates a verdict"


@pytest.mark.parametrize(
    ("text", "verdict", "wrong"),
    [
        ("True", "supported", ""),
        ("**False**", "refuted", ""),
        ("The claim is true.", "supported", ""),
        ("FALSE: the passage says otherwise.", "refuted", ""),
        ("Not clear", "noans", ""),
        ("It is unclear.", "noans", ""),
        ("True or False?", None, "it has more than one of True, False and Unclear"),
        ("It is not true.", None, NEGATED),
        ("That isn't really true", None, NEGATED),
        ("This cannot be true", None, NEGATED),
        ("untrue", None, NONE),
        ("", None, NONE),
        ("I cannot help with that.", None, NONE),
    ],
)
def test_a_word_is_a_verdict_where_it_is_the_only_one(
    text: str, verdict: str | None, wrong: str
) -> None:
    finding, said = by_word(text, "tfn")
    assert (finding and finding.outcome) == verdict
    assert said[: len(wrong)] == wrong
    assert bool(said) == bool(wrong)


def test_a_rationale_ends_in_its_verdict() -> None:
    def read(text: str, labels: str = "tfn") -> Finding | None:
        return by_last_line(text, labels)[0]

    true = Finding("supported", rationale="It is\ntrue so.", raw_verdict="True")
    assert read("Rationale: It is\ntrue so.\n\n**Verdict:** True.") == true
    unclear = Finding("noans", rationale="Off the topic.", raw_verdict="not clear")
    assert read("Off the topic.\nverdict: not clear") == unclear
    wrong = ("Verdict: False", "Rationale: true", "Verdict: True\nVerdict: False", "Verdict:")
    assert [read(text) for text in wrong] == [None] * 4
    assert "no rationale" in by_last_line("Verdict: False", "tfn")[1]
    assert "does not end in a line that begins with Verdict:" in by_last_line("So.", "tfn")[1]
    # tf has no third verdict.
    assert read("Rationale: x\nVerdict: Not clear", "tf") is by_word("Not clear", "tf")[0] is None
