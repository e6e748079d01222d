"""From what a model said to values: lenient in finding, strict in taking."""

import copy
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.tables import tables
from ufo.transforms.judges.llm.fact_function import FactFunction, fields_of, is_noans
from ufo.transforms.judges.llm.function import arguments_in_tags
from ufo.transforms.judges.llm.judgements import Finding
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.judges.llm.pairwise import by_last_line, by_word
from ufo.transforms.judges.llm.parsing import arguments_of, numbers_of, reason_of
from ufo.transforms.llm.request import Choice

A = {"f1": {"verdict": "T"}, "f2": {"verdict": "F"}}
TEXT = json.dumps(A)


TABLES = tables("replies_of_judges")
REPLIES = yaml.safe_load(Path(__file__).with_name("replies.yaml").read_text(encoding="utf-8"))


def arguments_in(text: str, *names: str, **choice: Any) -> dict[str, Any]:
    return arguments_of(Choice(text, **choice), names or ("f1", "f2"))


@pytest.mark.parametrize("text", TABLES["found"].values(), ids=TABLES["found"])
def test_arguments_are_found_in_a_text(text: str) -> None:
    assert arguments_in(text) == A


@pytest.mark.parametrize(("text", "part"), TABLES["part"].values(), ids=TABLES["part"])
def test_what_is_not_complete_or_given_twice_is_not_taken(text: str, part: dict[str, Any]) -> None:
    assert arguments_in(text) == part


def test_a_call_comes_before_the_text_beside_it() -> None:
    assert arguments_in('Let me see: {"f1": 5}', arguments=TEXT, finish_reason="tool_calls") == A
    assert arguments_in(TEXT, arguments="") == A


@pytest.mark.parametrize("end", range(1, len(TEXT)))
def test_half_a_json_has_what_was_complete(end: int) -> None:
    expected = {"f1": A["f1"]} if end < len(TEXT) - 1 else A
    assert arguments_in(TEXT[:end]) == (expected if end >= TEXT.index(', "f2"') else {})


@pytest.mark.parametrize(("reply", "reason"), TABLES["reasons"].values(), ids=TABLES["reasons"])
def test_no_reply_has_no_arguments_and_a_reason(reply: dict[str, Any], reason: str) -> None:
    assert arguments_of(Choice(**reply), ["f1", "f2"]) == {}
    assert reason_of(Choice(**reply)) == reason


@pytest.mark.parametrize("text", ['{"a":' * 50_000, "{" * 50_000, '{"f1":' + "[" * 50_000], ids=len)
def test_deep_nesting_is_no_reply(text: str) -> None:
    assert arguments_in(text) == {}


@pytest.mark.parametrize(("reply", "reason"), TABLES["broken"].values(), ids=TABLES["broken"])
def test_json_that_breaks_off_is_truncated_if_asked_for(reply: dict[str, Any], reason: str) -> None:
    assert reason_of(Choice(**reply), asked_json=True) == reason
    assert reason_of(Choice(**reply)) == "unparsable"


texts = st.text() | st.lists(
    st.text(max_size=3) | st.sampled_from(TABLES["pieces"]), max_size=25
).map("".join)


@given(texts)
def test_nothing_a_model_says_raises(text: str) -> None:
    for choice in (Choice(text), Choice(arguments=text)):
        arguments_of(choice, ["f1", "f2"])
    for passages in ([1], [1, 2]):
        xml(text, passages, passages)
    assert by_last_line(text, "tfn")[0] is None or "erdict" in text
    by_word(text, "tfn")


def function(*passages: list[int], **control: Any) -> FactFunction:
    return FactFunction(passages, LlmSettings("m", **control))


def pairs_of(asked: FactFunction) -> set[tuple[int, int]]:
    return {(number, one) for number, found in enumerate(asked.passages, 1) for one in found}


def xml(text: str, *passages: list[int], **control: Any) -> dict[Any, Finding]:
    asked = function(*passages, **control)
    return asked.read(arguments_in_tags(Choice(text), asked))[0]


OUTCOMES = {"T": "supported", "F": "refuted", "N": "noans"}


def finding(
    verdict: str,
    raw: str,
    answer: str | None = None,
    citation: str | None = None,
    rationale: str | None = None,
) -> Finding:
    return Finding(OUTCOMES[verdict], None, answer, rationale, citation, raw)


def test_tags_are_the_same_function() -> None:
    text = """Here you are:
    <f1><p2><answer>a &lt;b></answer><rationale> r </rationale><verdict>T</verdict></p2>
    <noans>1, 3-4</noans></f1>
    <f2> <p3><answer>NOANS</answer><rationale></rationale><verdict>N</verdict></p3>
      <noans></noans> </f2>"""
    noans, silent = finding("N", "NOANS"), finding("N", "N")
    expected = {(1, n): noans for n in (1, 3, 4)} | {(2, 3): silent}
    assert xml(text, [1, 2, 3, 4], [3]) == {
        **expected,
        (1, 2): finding("T", "T", "a <b>", None, "r"),
    }
    # Those of one passage are the literal form.
    text = "<f1><answer>a</answer><citation>c</citation><verdict>F</verdict></f1>"
    assert xml(text, [1], citation=True) == {(1, 1): finding("F", "F", "a", "c")}
    wrapped = "<f1><p1><answer>a</answer><verdict>F</verdict></p1><noans></noans></f1>"
    assert xml(wrapped, [1]) == {(1, 1): finding("F", "F", "a")}


@pytest.mark.parametrize("text", TABLES["tags"])
def test_tags_that_are_cut_off_or_ambiguous_are_no_verdict(text: str) -> None:
    assert xml(text, [1]) == {}


@pytest.mark.parametrize(
    ("noans", "passages"),
    [
        pytest.param("1", [1], id="one"),
        pytest.param("p1, 3", [1, 3], id="a letter and a comma"),
        pytest.param("2-3", [2, 3], id="a range"),
        pytest.param("p2-p4 9999", [2, 3, 4], id="a range and a number that is not asked"),
        pytest.param("", [], id="nothing"),
        pytest.param("1 1000000", [], id="a number of seven digits"),
        pytest.param("1, all others", [], id="words"),
        pytest.param("p1 2.", [1, 2], id="a full stop"),
    ],
)
def test_a_list_of_noans_with_anything_else_in_it_is_none(noans: str, passages: list[int]) -> None:
    verdicts = xml(f"<f1><noans>{noans}</noans></f1>", [1, 2, 3, 4])
    assert verdicts == {(1, passage): NOANS for passage in passages}


@pytest.mark.parametrize(
    "reply",
    [{"refusal": "I will not."}, {"finish_reason": "content_filter"}],
    ids=["refused", "filtered"],
)
def test_no_verdict_is_in_tags_that_were_withheld(reply: dict[str, Any]) -> None:
    choice = Choice("<f1><verdict>T</verdict></f1>", **reply)
    assert arguments_in_tags(choice, function([1])) == {}


@pytest.mark.parametrize(
    ("before", "expected"), [(999, {"f1": 1}), (1000, {})], ids=["the thousandth", "one later"]
)
def test_a_thousand_brackets_are_tried(before: int, expected: dict[str, Any]) -> None:
    assert arguments_in("{" * before + '{"f1": 1}') == expected


@pytest.mark.parametrize(("lists", "inside"), [(99, [1]), (100, [])], ids=["a hundred", "one more"])
def test_a_hundred_open_brackets_are_completed(lists: int, inside: list[int]) -> None:
    value: Any = arguments_in(f'{{"f1": {"[" * lists}1, 2')["f1"]
    for _ in range(98):
        (value,) = value
    assert value == inside


NEGATIONS = "isn't isn’t cannot not never neither nor"


@pytest.mark.parametrize("negation", NEGATIONS.split())
@pytest.mark.parametrize("verdict", ["true", "FALSE", "quite true"])
def test_a_negated_word_is_no_verdict(negation: str, verdict: str) -> None:
    assert by_word(f"It {negation} {verdict}.", "tfn")[1].startswith("it negates a verdict")


@pytest.mark.parametrize(("text", "verdict", "wrong"), TABLES["words"])
def test_one_word_of_a_verdict_is_the_verdict(text: str, verdict: str | None, wrong: str) -> None:
    finding, message = by_word(text, "tfn")
    assert (finding and finding.outcome) == verdict
    assert message[: len(wrong)] == wrong
    assert bool(message) == bool(wrong)


@pytest.mark.parametrize(
    ("text", "expected"), TABLES["rationales"].values(), ids=TABLES["rationales"]
)
def test_a_rationale_ends_in_its_verdict(text: str, expected: list[str] | str) -> None:
    finding, wrong = by_last_line(text, "tfn")
    if isinstance(expected, str):
        assert finding is None
        assert expected in wrong
    else:
        outcome, rationale, raw = expected
        assert finding == Finding(outcome, rationale=rationale, raw_verdict=raw)


@pytest.mark.parametrize("text", ["Partially true.", "Mostly false", "True (partially)"])
def test_a_word_that_holds_in_part_is_no_verdict(text: str) -> None:
    assert by_word(text, "tfn")[0] is None


@pytest.mark.parametrize(
    "text",
    [
        "## Rationale\nIt is said.\n## Verdict\nTrue",
        "**Rationale:** It is said.\n**Final verdict:** True",
        "1. Rationale: It is said.\n2. Verdict:\n\nTrue",
        "Rationale：It is said.\nVerdict：True",
    ],
    ids=["headings", "bold", "a list", "wide colons"],
)
def test_a_verdict_may_stand_under_its_name(text: str) -> None:
    assert by_last_line(text, "tfn")[0] == Finding(
        "supported", rationale="It is said.", raw_verdict="True"
    )


def test_tf_has_no_third_verdict() -> None:
    assert by_word("Not clear", "tf")[0] is None
    assert by_last_line("Rationale: x\nVerdict: Not clear", "tf")[0] is None


@pytest.mark.parametrize(
    "arguments",
    [
        {"f0": {"verdict": "T"}, "f1": {"verdict": "F"}},
        {"facts": [{"fact": 0, "verdict": "T"}, {"fact": 1, "verdict": "F"}]},
    ],
)
def test_facts_that_are_counted_from_0_are_not_read(arguments: Any) -> None:
    assert arguments_in(json.dumps(arguments)) == {}


def test_passages_that_are_counted_from_0_are_not_read() -> None:
    fact = {"checks": [check(0), check(1, verdict="F")], "noans": []}
    assert function([1, 2]).read({"f1": fact})[0] == {}


def check(passage: int | None = None, **fields: Any) -> dict[str, Any]:
    numbered = {} if passage is None else {"passage": passage}
    return {**numbered, "answer": "a", "rationale": "r", "verdict": "T", **fields}


CONTROLS = [
    LlmSettings("m", verdict_labels=labels, explain=explain, citation=citation)
    for labels, explain, citation in product(("tfn", "tf"), ("short", "none"), (False, True))
]
WAYS = [f"{one.verdict_labels} {one.explain}{' cited' * one.citation}" for one in CONTROLS]
SAME, NOANS = finding("T", "T", "a", None, "r"), finding("N", "NOANS")
FALSE = finding("F", "F", "a", None, "r")


def test_a_reply_gives_a_check_for_each_pair() -> None:
    findings = function([1, 2, 3], [2], citation=True).read(
        {
            "f1": {"checks": [check(2, citation=" q ", verdict="F")], "noans": [1, 3]},
            "f2": {"checks": [check(2, verdict="N", answer="maybe")], "noans": []},
        }
    )[0]
    false, unclear = finding("F", "F", "a", "q", "r"), finding("N", "N", "maybe", None, "r")
    assert findings == {(1, 1): NOANS, (1, 2): false, (1, 3): NOANS, (2, 2): unclear}


def test_passages_that_give_the_same_answer_share_a_check() -> None:
    findings = function([1, 2, 3, 4], [2, 3]).read(
        {
            "f1": {"checks": [check(passages=[1, 3, 9]), check(2, verdict="F")], "noans": [4]},
            "f2": {"checks": [check(passages=[2, "3", None, True])], "noans": []},
        }
    )[0]
    assert findings == {(1, 1): SAME, (1, 2): FALSE, (1, 3): SAME, (1, 4): NOANS} | {
        (2, passage): SAME for passage in (2, 3)
    }
    # One that stands in two checks that differ has none.
    twice = {"checks": [check(passages=[1, 2]), check(passages=[2], verdict="F")], "noans": []}
    assert function([1, 2]).read({"f1": twice})[0] == {(1, 1): SAME}


def test_one_passage_is_the_literal_form() -> None:
    asked = function([1], [1])
    assert asked.single
    findings = asked.read({"f1": check(), "f2": check(verdict="N", answer="NOANS")})[0]
    assert findings == {(1, 1): SAME, (2, 1): finding("N", "N", None, None, "r")}
    assert asked.read({"f1": {"checks": [check(1)], "noans": []}})[0].keys() == {(1, 1)}


def verdict_of(verdict: Any, options: str = "tfn", **fields: Any) -> str | None:
    """The verdict of a fact with one passage, None where there is none; kept as it was given."""
    findings = function([1], verdict_labels=options).read({"f1": check(verdict=verdict, **fields)})[
        0
    ]
    assert all(one.raw_verdict == str(verdict) for one in findings.values())
    return findings[1, 1].outcome if findings else None


SAID: dict[str, list[Any]] = {
    "supported": [True, "T", "true", "TRUE.", "Yes", "`yes`", "**Supported**", " supports "],
    "refuted": [False, "f", " False ", "“No”", "NO!", "Refuted", "not supported", "contradicted"],
    "noans": ["n", "Not clear", "not_clear", "NOANS", "Unclear.", "unknown", "'N'", "N/A"],
}
VERDICTS = {outcome: dict.fromkeys(words, outcome) for outcome, words in SAID.items()}


def test_a_verdict_that_is_not_clear_is_one_with_three_labels_alone() -> None:
    for word, outcome in VERDICTS["noans"].items():
        assert verdict_of(word) == outcome
        assert verdict_of(word, "tf") is None


@pytest.mark.parametrize(
    ("value", "numbers"), TABLES["numbers"], ids=[repr(value) for value, _ in TABLES["numbers"]]
)
def test_whole_numbers_are_read_however_they_are_written(value: Any, numbers: list[int]) -> None:
    assert numbers_of(value) == numbers


@pytest.mark.parametrize("shape", TABLES["shapes"].values(), ids=TABLES["shapes"])
@pytest.mark.parametrize("single", [True, False], ids=["one passage", "several"])
def test_a_check_in_another_shape_is_a_judgement(shape: str, single: bool) -> None:
    asked = function([1]) if single else function([1, 2])
    text = shape if single else shape.replace('"noans": []', '"noans": [2]')
    findings = asked.read(arguments_of(Choice(arguments=text), asked.arguments))[0]
    assert findings.get((1, 1)) == SAME


@pytest.mark.parametrize(("reply", "left"), TABLES["differ"].values(), ids=TABLES["differ"])
def test_judgements_that_differ_are_none(reply: str, left: list[int]) -> None:
    asked = function([1, 2])
    findings = asked.read(arguments_of(Choice(arguments=reply), asked.arguments))[0]
    assert [passage for _, passage in findings] == left


def test_a_verdict_is_one_of_the_words_asked_for() -> None:
    words = VERDICTS["supported"] | VERDICTS["refuted"]
    assert {word: verdict_of(word) for word in words} == words
    assert {word: verdict_of(word, "tf") for word in words} == words
    bad: list[Any] = [None, "", "maybe", 1, 0, ["T", "F"], {}, "T F", "True or false"]
    assert [verdict_of(one) for one in bad] == [None] * len(bad)
    # An answer that contradicts the verdict is no judgement unless it was forced.
    assert verdict_of("T", answer="NOANS") is None
    assert verdict_of("T", "tf", answer="NOANS") == "supported"
    (judgement,) = function([1]).read({"f1": check(answer=5, rationale=None)})[0].values()
    assert judgement == finding("T", "T")


@pytest.mark.parametrize(
    ("verdict", "tfn", "tf"),
    [
        (1, None, "supported"),
        ("0", None, "refuted"),
        (["T"], "supported", "supported"),
        ({"label": "F"}, "refuted", "refuted"),
        ("Verdict: T", "supported", "supported"),
        ("F, since the year differs.", "refuted", "refuted"),
        ("N (Not clear)", "noans", None),
        ("T / F", None, None),
        ("False. Not clear.", None, None),
        ("No, nothing is said of it.", None, None),
        ("Maybe. True.", None, None),
    ],
)
def test_a_verdict_may_have_a_reason_but_no_other_verdict(
    verdict: Any, tfn: str | None, tf: str | None
) -> None:
    assert verdict_of(verdict) == tfn
    assert verdict_of(verdict, "tf") == tf


@pytest.mark.parametrize(
    ("reply", "arguments"),
    [
        ({"F1": 1, "fact_2": 2}, {"f1": 1, "f2": 2}),
        ([{"id": "f2", "result": {"a": 1}}], {"f2": {"a": 1}}),
        ([{"fact": 1, "b": 2, "c": 3}, {"fact": "2.", "b": 4}], {"f1": {"b": 2, "c": 3}, "f2": 4}),
        ({"f1": 1, "fact 1": 2}, {}),  # they differ
        ({"p1": 1, "passage 2": 2, "s1": 3}, {}),
        ({"f12": 1, "3": 2}, {}),
    ],
)  # fmt: skip
def test_the_name_of_a_fact_may_be_written_in_another_way(reply: Any, arguments: Any) -> None:
    assert arguments_of(Choice(text=json.dumps(reply)), ["f1", "f2"]) == arguments


@pytest.mark.parametrize(
    ("changes", "noans", "left"), REPLIES["malformed"].values(), ids=REPLIES["malformed"]
)
def test_what_is_malformed_or_said_twice_costs_its_pair_alone(
    changes: list[Any], noans: list[Any], left: list[int]
) -> None:
    checks = [{**check(), **one} for one in changes]
    other = {"f2": {"checks": [check(1)], "noans": []}, "f": check(), "f9": check()}
    findings = function([1, 2], [1]).read({"f1": {"checks": checks, "noans": noans}, **other})[0]
    assert findings.keys() == {*((1, passage) for passage in left), (2, 1)}


@pytest.mark.parametrize("around", [*" \t\r\n.'\"`*", ""])
def test_noans_is_known_however_it_is_written(around: str) -> None:
    assert is_noans(f"{around}NoAns{around}")


@pytest.mark.parametrize("answer", [None, "", "NOANS because", "no"])
def test_another_answer_is_not_noans(answer: str | None) -> None:
    assert not is_noans(answer)


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
        findings = asked.read(arguments)[0]
        assert repr(arguments) == repr(before)
        assert findings.keys() <= pairs_of(asked)
        for value in findings.values():
            assert value.outcome in OUTCOMES.values()
            assert value.raw_verdict == "NOANS" or str(value.raw_verdict) in repr(arguments)


@pytest.mark.parametrize(
    "passages",
    [([1], [1], [1], [1]), ([1, 2, 3], [2], [1, 3], [3])],
    ids=["one passage a fact", "several passages"],
)
@pytest.mark.parametrize("control", CONTROLS, ids=WAYS)
def test_an_example_has_the_form_and_is_no_judgement_when_it_is_repeated(
    passages: tuple[list[int], ...], control: LlmSettings
) -> None:
    asked = FactFunction(passages, control)
    example = asked.example()
    if control.explain == "short":
        judged = asked.read(example)[0].values()
        assert {check.outcome for check in judged} <= {"noans", "refuted"}
        assert all(check.answer is None for check in judged)
    own = json.loads(json.dumps(example).replace("1932", "1933").replace("310", "311"))
    assert set(asked.read(own)[0]) == pairs_of(asked)


def test_each_passage_has_a_check_of_its_own_in_the_exact_form_alone() -> None:
    asked = function([1, 3])
    descriptions = dict.fromkeys((*fields_of(asked.settings), "noans", "passages"), "What it is.")
    assert list(asked.parameters(descriptions)["$defs"]["fact"]["properties"]) == [
        "checks",
        "noans",
    ]
    exact = asked.parameters(descriptions, exact=True)
    assert list(exact["properties"]["f1"]["properties"]) == ["p1", "p3"]


def test_the_first_verdict_that_is_none_is_named() -> None:
    asked = function([1, 2], [1])
    value = {"f1": {"checks": [check(1), check(2, verdict="maybe")]}, "f2": {"checks": []}}
    assert asked.read(value)[1] == 'the verdict "maybe" is none of T, F, N'
    number = function([1], verdict_labels="tf").read({"f1": check(verdict=5)})[1]
    assert number == 'the verdict "5" is none of T, F'
    lacks = "it had no check of some facts or passages"
    assert asked.read({"f1": 3, "f2": {"checks": [check(1), None]}})[1] == lacks


def checks_of(*passages: list[int], exact: bool = False, **control: Any) -> Any:
    """The schema of a check, of one of several passages the list of checks."""
    asked = function(*passages, **control)
    descriptions = {
        name: f"The {name}." for name in (*fields_of(asked.settings), "noans", "passages")
    }
    schema = asked.parameters(descriptions, exact)
    return schema["$defs"]


@pytest.mark.parametrize(
    ("control", "fields"),
    [
        pytest.param({}, ["answer", "rationale"], id="with reasons"),
        pytest.param({"citation": True}, ["answer", "citation", "rationale"], id="cited too"),
        pytest.param({"explain": "none"}, [], id="the verdict alone"),
        pytest.param({"explain": "none", "citation": True}, ["citation"], id="cited alone"),
    ],
)
@pytest.mark.parametrize(("options", "verdicts"), [("tfn", ["T", "F", "N"]), ("tf", ["T", "F"])])
def test_the_schema_of_a_check_has_what_is_asked_for(
    control: dict[str, Any], fields: list[str], options: str, verdicts: list[str]
) -> None:
    texts = {name: {"type": "string", "description": f"The {name}."} for name in fields}
    expected = {**texts, "verdict": {"type": "string", "enum": verdicts}}
    assert checks_of([1], verdict_labels=options, **control)["fact"]["properties"] == expected
    exact = checks_of([1, 2], verdict_labels=options, exact=True, **control)
    assert exact["check"]["properties"] == expected
    several = checks_of([1, 2], [2, 4], verdict_labels=options, **control)
    assert several["passage"]["enum"] == [1, 2, 4]
    lists = several["fact"]["properties"]
    assert list(lists) == ["checks", "noans"][: len(verdicts) - 1]
    assert [one["maxItems"] for one in lists.values()] == [3] * len(lists)
    whose = "passage" if "citation" in fields else "passages"
    assert list(lists["checks"]["items"]["properties"]) == [whose, *expected]


@pytest.mark.parametrize("passages", [([1],), ([1, 2],)], ids=["one passage", "two passages"])
def test_a_copy_of_the_example_is_known(passages: tuple[list[int], ...]) -> None:
    asked = function(*passages)
    assert "repeated the example" in asked.read(asked.example())[1]
    assert "repeated the example" not in asked.read({"f1": check(1)})[1]
    assert "no argument" in asked.read({})[1]
