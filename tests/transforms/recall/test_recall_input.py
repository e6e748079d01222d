"""Records of recall: JSON Lines, WikiEvalFacts' columns, and what cannot be used."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.tables import tables
from ufo.schemas.records import Failure, RecallInput
from ufo.transforms.recall.recall_input import is_used, parse_recall, same_fact

TABLES = tables("recall")
WIKI = TABLES["wiki"]


def used(**raw: Any) -> RecallInput:
    record = parse_recall("file:1", json.dumps(raw).encode())
    assert isinstance(record, RecallInput), record
    return record


def answers(record: RecallInput) -> dict[str, str]:
    return {answer.variant: answer.text for answer in record.answers}


def labels(record: RecallInput) -> set[tuple[str, int, int]]:
    return {(label.variant, label.fact_index, label.label) for label in record.labels}


def test_a_record_of_json_lines() -> None:
    facts = ["F1.", {"fact": "F2.", "labels": {"rag": True, "silent": 0}}]
    texts = {"rag": "A", "none": None, "silent": ""}
    record = used(id=5, question="Q?", ground_truth="T.", answers=texts, facts=facts)
    assert record.record_id == "5"
    assert record.question == "Q?"
    assert record.ground_truth == "T."
    assert answers(record) == {"rag": "A", "silent": ""}
    assert record.given
    assert record.facts == ["F1.", "F2."]
    assert labels(record) == {("rag", 1, 1), ("silent", 1, 0)}
    assert used(question="Q?", answers={"rag": "A"}, facts=[]).given
    # Without facts they are to be generated, and without an id it is a function of the content.
    record, same = (used(question="Q?", answer="T.", answers={"rag": "A"}) for _ in range(2))
    assert record.ground_truth == "T."
    assert answers(record) == {"rag": "A"}
    assert not record.given
    beside = used(question="Q?", ground_truth="T.", answer="A.")
    assert beside.ground_truth == "T."
    assert answers(beside) == {"answer": "A."}
    assert record.record_id == same.record_id != beside.record_id


def test_a_row_of_wikievalfacts() -> None:
    record = used(**WIKI)
    assert record.record_id == "7"
    assert record.ground_truth == WIKI["answer"]
    assert list(answers(record)) == ["answer", "ungrounded_answer", "poor_answer"]
    # The same fact in other punctuation is one; gt_facts, which words them otherwise, is not read.
    assert record.facts == ["Oslo is in Norway.", "Oslo isn't small"]
    assert labels(record) == {("answer", 0, 1), ("answer", 1, 0), ("ungrounded_answer", 0, 0)}
    # A column that a row leaves empty is no answer of it.
    row = {"question": "Q?", "ground_truth": "T.", "a": "A", "b": "", "c": ""}
    marks = {"a": "{'F': None}", "b": "{'F': None}", "c": ""}
    record = used(**row, **{f"human_evaluated_facts_{name}": text for name, text in marks.items()})
    assert answers(record) == {"a": "A", "b": ""}


def test_rows_without_labels_check_every_answer() -> None:
    row = {name: text for name, text in WIKI.items() if not name.startswith("human")}
    record = used(**row)
    assert list(answers(record)) == ["answer", "ungrounded_answer", "poor_answer"]
    assert record.facts == ["Oslo is a city in Norway", "Oslo is north"]
    listed = used(**{**row, "gt_facts": "['One fact.', 'Another.']"})
    assert listed.facts == ["One fact.", "Another."]
    assert not used(**{**row, "gt_facts": ""}).given


@pytest.mark.parametrize(("changes", "message"), TABLES["unusable"], ids=str)
def test_what_is_unusable_is_a_failure_that_says_why(changes: dict[str, Any], message: str) -> None:
    raw = {"question": "Q?", "ground_truth": "T.", "answers": {"a": "A"}, **changes}
    failure = parse_recall("file:1", json.dumps(raw).encode())
    assert isinstance(failure, Failure)
    assert failure.step == "read"
    assert failure.key == "file:1"
    assert failure.error_type == "unusable_record"
    assert message in failure.message


def why(**changes: Any) -> str:
    """Return why a record with these changes cannot be used."""
    raw = {"question": "Q?", "ground_truth": "T.", "answers": {"a": "A"}, **changes}
    failure = parse_recall("file:1", json.dumps(raw).encode())
    assert isinstance(failure, Failure)
    return failure.message


COLUMNS = ["id", "unique_id", "question", "facts", "gt_facts", "answers", "ground_truth"]
COLUMNS += ["ground_truth_answer", "human_evaluated_facts_a"]


@pytest.mark.parametrize("name", COLUMNS)
def test_the_name_of_a_column_is_no_variant_s(name: str) -> None:
    assert "the name of another column" in why(answers={name: "A"})


@pytest.mark.parametrize("name", [*COLUMNS, "answer", "rag_answer"])
def test_a_column_of_a_record_is_used(name: str) -> None:
    assert is_used(name)
    assert not is_used(f"{name} of another") or name.startswith("human")


@pytest.mark.parametrize("word", ["", "none", "null", "n/a", "no_response", " None "])
def test_a_word_for_no_label(word: str) -> None:
    facts = [{"fact": "F.", "labels": {"a": word}}]
    assert used(question="Q?", ground_truth="T.", answers={"a": "A"}, facts=facts).labels == []


@pytest.mark.parametrize("question", [None, " "])
def test_a_record_needs_a_question(question: str | None) -> None:
    assert "`question` is missing or empty" in why(question=question)


@pytest.mark.parametrize("column", ["ground_truth", "ground_truth_answer", "answer"])
def test_the_ground_truth_stands_in_one_of_three_columns(column: str) -> None:
    assert used(question="Q?", answers={"a": "A"}, **{column: "T."}).ground_truth == "T."


MARK = "human_evaluated_facts_a"


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        pytest.param({"ground_truth_answer": "T.", "a_answer": "A"}, ["a_answer"], id="no truth"),
        pytest.param({"answer": "T.", "a": "A", MARK: "{'F': None}"}, ["a"], id="no lone answer"),
        pytest.param({"answer": "T.", "a": None, MARK: ""}, [], id="no value"),
        pytest.param({"answer": "T.", "a": " ", MARK: ""}, [], id="an empty cell without labels"),
        pytest.param({"answer": "T.", "a": "A", MARK: ""}, ["a"], id="a text without labels"),
        pytest.param({"answer": "T.", "a_answer": " "}, ["answer", "a_answer"], id="two answers"),
    ],
)
def test_which_columns_are_answers(columns: dict[str, Any], names: list[str]) -> None:
    assert list(answers(used(question="Q?", **columns))) == names


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answers": None, "facts": [{"fact": "F", "labels": {"b": 1}}]}, "the answers are: none"),
        ({"facts": [{"fact": None}]}, "`facts[0]` has an empty fact"),
        ({MARK: "{'': None}"}, f"`{MARK}` has an empty fact"),
        ({MARK: "{'F': "}, f"`{MARK}` cannot be read: "),
        ({MARK: "{'F' 'G'}"}, f"`{MARK}` cannot be read: "),
        ({"gt_facts": "- F", "facts": "F"}, "`facts` cannot be read: "),
    ],
    ids=["no answers", "no fact", "no name", "no end", "no value", "no list"],
)
def test_what_is_wrong_with_a_fact_is_named(changes: dict[str, Any], message: str) -> None:
    assert message in why(**changes)


def test_a_reason_has_200_letters_at_most() -> None:
    assert len(why(**{MARK + "a" * 300: "{'F': "})) == 200


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ({"answers": {"a": "A"}, "facts": [{"fact": "F", "labels": {"a": "maybe"}}]}, "facts[0]."),
        ({"a": "A", MARK: "{'F': 'perhaps', 'G': True}"}, f"{MARK}['F']"),
        ({"a": "A", MARK: {"F": 0.5, "G": 1}}, f"{MARK}['F']"),
    ],
    ids=["of facts", "in a cell", "between"],
)
def test_a_label_that_cannot_be_read_costs_the_label_alone(
    columns: dict[str, Any], name: str
) -> None:
    failures: list[Failure] = []
    line = json.dumps({"question": "Q?", "ground_truth": "T.", **columns}).encode()
    record = parse_recall("file:1", line, left_out=failures.append)
    assert isinstance(record, RecallInput)
    assert [label.label for label in record.labels] == [1] * (MARK in columns)
    (failure,) = failures
    assert failure.error_type == "unusable_label"
    assert failure.message.startswith(f"`{name}")
    assert failure.message.endswith("; the label is left out")


def test_a_cell_of_python_has_any_word_of_the_vocabulary() -> None:
    cell = "{'A': nan, 'B': Yes, 'C': 'not found', 'D': 1, 'E': contradicted, 'F': NA}"
    record = used(question="Q?", ground_truth="T.", **{"a": "A", MARK: cell})
    assert [(label.fact_index, label.label) for label in record.labels] == [(1, 1), (3, 1), (4, 0)]


def test_facts_that_are_given_are_those_and_no_bullets() -> None:
    record = used(question="Q?", answer="T.", facts=["F."], gt_facts="- G. - H.")
    assert record.facts == ["F."]


def test_lines_that_are_none_are_failures() -> None:
    assert isinstance(parse_recall("file:1", b"not json"), Failure)
    assert isinstance(parse_recall("file:1", b'{"question": "Q?"}', 5), Failure)
    assert same_fact(" Oslo's -fact. ") == same_fact("oslos fact") == same_fact("Oslo’s fact")
    assert same_fact("3.5 million") != same_fact("35 million")


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30)


def labelled(cell: str) -> Any:
    row = {"question": "Q?", "ground_truth": "T.", "a": "A", "human_evaluated_facts_a": cell}
    return parse_recall("file:1", json.dumps(row).encode())


@given(st.dictionaries(TEXTS.filter(same_fact), st.none() | st.booleans(), max_size=5))
def test_labels_that_python_and_json_write_are_read_back(value: dict[str, Any]) -> None:
    cells = repr(value), json.dumps(value, ensure_ascii=False), json.dumps(value)
    first, *others = [labelled(cell) for cell in cells]
    assert [first, first] == others
    if isinstance(first, RecallInput):  # else two facts are the same and have different labels
        assert {same_fact(fact) for fact in first.facts} == set(map(same_fact, value))


@given(st.text(max_size=60) | st.text("{}[]'\":, \\xuTrueNon01", max_size=60))
def test_any_other_cell_is_a_failure_and_raises_nothing(text: str) -> None:
    assert isinstance(labelled(text), RecallInput | Failure)


LONG = ("{" * 200_000, "{'a': " * 100_000, "-" * 200_000 + "1", "'" * 200_001)


@pytest.mark.parametrize("text", [*TABLES["hostile"], *LONG], ids=lambda text: text[:30])
def test_a_hostile_cell_is_a_failure(text: str) -> None:
    failure = labelled(text)
    assert isinstance(failure, Failure)
    assert len(failure.message) < 250
    by_hand = labelled("{ \"It's so\" : true,\n 'two\nlines' : None , 'x\\u00e9\\q' : 0, }")
    assert by_hand.facts == ["It's so", "two\nlines", "xé\\q"]
    assert labels(by_hand) == {("a", 0, 1), ("a", 2, 0)}
