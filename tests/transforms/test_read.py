"""Lines of an input and their columns: what becomes a record, and why another does not."""

import io
import itertools
import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.schemas.errors import UsageError
from ufo.schemas.records import Failure, GivenClaim, InputRecord, LabelledSpan
from ufo.schemas.row import OF_CELLS
from ufo.transforms.columns import FIELDS, likely_columns, map_advice, nearest_key
from ufo.transforms.read import (
    is_used,
    named_columns,
    parse,
    record_hash,
    sort_columns,
)
from ufo.transforms.splits import Line, Split, lines

TEXT = "Etna is in Sicily. It erupts."
UNUSABLE = cases(Path(__file__).with_name("unusable_lines.txt"))


def read(line: str | bytes, **options: Any) -> InputRecord:
    """The record of a line, in which a new line is a space."""
    data = line.encode() if isinstance(line, str) else line
    input_record = parse("f.jsonl:3", data.replace(b"\n", b" "), **options)
    assert isinstance(input_record, InputRecord), input_record
    return input_record


def record(**fields: Any) -> InputRecord:
    return read(json.dumps({"response": TEXT, **fields}))


def failed(line: bytes, **options: Any) -> Failure:
    failure = parse("f.jsonl:3", line, **options)
    assert isinstance(failure, Failure)
    assert failure.step == "read"
    assert failure.key == "f.jsonl:3"
    assert failure.error_type == "unusable_record"
    assert failure.input is not None
    assert len(failure.input) <= 4096
    assert "\0" not in failure.input
    failure.message.encode()
    return failure


def test_a_record_with_everything() -> None:
    input_record = read(
        """{"id": "r1", "response": "Etna is in Sicily. It erupts.", "model": "m", "question": "q",
        "dataset": "d", "reference_answers": ["one", " ", "two"], "label": true, "language": "en",
        "metadata": {"b": 1, "a": ["é"]}, "spans": [{"start": 0, "end": 4}], "claims": ["bare",
        {"claim": " Etna is in Sicily. ", "query": "where?", "label": false},
        {"claim": "It erupts.", "sentence_index": 1}]}"""
    )
    claims = [
        GivenClaim("bare"),
        GivenClaim("Etna is in Sicily.", "where?", 0, None),
        GivenClaim("It erupts.", None, None, 1),
    ]
    assert input_record == InputRecord(
        "f.jsonl:3",
        "r1",
        TEXT,
        "m",
        "d",
        "q",
        "en",
        1.0,
        '{"a": ["é"], "b": 1}',
        ["one", "two"],
        True,
        claims,
        [LabelledSpan(0, 4, 0)],
        True,
    )


BARE = """id model question dataset label language metadata claims spans reference_answers"""


def test_only_the_response_is_required_null_is_not_there_and_an_empty_text_is_no_name() -> None:
    bare = record()
    assert bare == InputRecord("f.jsonl:3", bare.response_id, TEXT)
    assert record(**dict.fromkeys(BARE.split())) == bare
    assert record(**dict.fromkeys(("model", "question", "dataset", "language"), "")) == bare
    # No claims and an empty list of them are not the same, nor are no spans and none in error.
    assert record(claims=[]).given
    assert record(spans=[]).spans_are_errors


def test_the_id_is_a_function_of_the_content() -> None:
    assert record().response_id == record(label=0.5).response_id
    other = [record(model="m"), record(question="m"), record(dataset="m"), record(response="m")]
    assert len({found.response_id for found in [record(), *other]}) == 5
    assert record(id=7).response_id == "7"


def test_labels_for_our_sentences_in_order() -> None:
    input_record = record(sentence_labels=[True, None])
    assert input_record.spans == [LabelledSpan(0, 18, 1), LabelledSpan(19, 29, None)]
    assert not input_record.spans_are_errors
    placed = record(sentence_labels=[{"start": 0, "end": 18, "label": 0}])
    assert placed.spans == [LabelledSpan(0, 18, 0)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        *(
            pytest.param(line.encode(), message, id=name)
            for name, line, message in UNUSABLE
            if not line.startswith("claim ")
        ),
        pytest.param(b"", "not JSON", id="nothing"),
        pytest.param(b"[" * 100_000, "not JSON", id="deep lists"),
        pytest.param(
            b'{"response": "x", "id": ' + b"1" * 10_000 + b"}", "not JSON", id="an endless id"
        ),
        pytest.param(b'{"response": "\xff"}', "not UTF-8: byte 15", id="a byte that is not UTF-8"),
    ],
)
def test_what_cannot_be_used_is_a_failure_that_says_why(line: bytes, message: str) -> None:
    assert message in failed(line).message


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        pytest.param(line[6:], message, id=name)
        for name, line, message in UNUSABLE
        if line.startswith("claim ")
    ],
)
def test_a_claim_that_cannot_be_used_costs_that_claim_alone(claim: str, message: str) -> None:
    failures: list[Failure] = []
    input_record = read(
        f'{{"response": "x", "claims": ["a", {claim}, "b"]}}', left_out=failures.append
    )
    assert input_record.claims == [GivenClaim("a"), GivenClaim("b")]
    (failure,) = failures
    cause = (failure.step, failure.key, failure.error_type)
    assert cause == ("read", "f.jsonl:3", "unusable_claim")
    assert message in failure.message
    assert json.loads(failure.input or "") == json.loads(claim)


def test_an_unusable_line_is_shown_in_part_and_a_row_of_csv_as_its_cells() -> None:
    failure = failed(b'{"response": "' + b"x" * 100 + b'"}', max_line_bytes=50)
    assert "--max_line_bytes" in failure.message
    assert len(failed(b'{"response": "' + b"\0" * 9_000).input or "") == 4096
    row = json.dumps({"output": "Oslo is big.", OF_CELLS: True})
    assert failed(row.encode()).input == '{"output": "Oslo is big."}'


LINE = b'{"response": "x"}'


def test_the_columns_that_are_there_instead_of_the_response_are_told_in_200_characters() -> None:
    names = [f"column{n:02}" for n in range(40)]
    message = "; there are: " + ", ".join(names)
    line = json.dumps(dict.fromkeys(names, "x")).encode()
    assert failed(line).message == f"`response` is missing{message[:200]}"


def test_a_line_may_be_as_long_as_the_limit() -> None:
    assert read(LINE, max_line_bytes=len(LINE)).text == "x"
    failure = failed(LINE, max_line_bytes=len(LINE) - 1)
    assert failure.message == "the record is longer than --max_line_bytes, which is 16"


def test_a_line_may_have_four_mebibytes() -> None:
    assert read(LINE.ljust(4 * 2**20)).text == "x"
    assert "which is 4,194,304" in failed(LINE.ljust(4 * 2**20 + 1)).message


@pytest.mark.parametrize("place", [0, 1, 2**63 - 1])
def test_the_number_of_a_sentence_is_kept(place: int) -> None:
    assert record(claims=[{"claim": "c", "sentence_index": place}]).claims[0] == GivenClaim(
        "c", sentence_index=place
    )


@pytest.mark.parametrize("place", [-1, 2**63, 1.0, True, "1"])
def test_what_is_no_number_of_a_sentence_costs_its_claim(place: Any) -> None:
    failures: list[Failure] = []
    line = json.dumps({"response": TEXT, "claims": [{"claim": "c", "sentence_index": place}]})
    assert read(line, left_out=failures.append).claims == []
    assert "`claims[0].sentence_index` is a number from 0" in failures[0].message


@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, len(TEXT)), (28, 29)])
def test_a_stretch_of_the_response_is_kept(start: int, end: int) -> None:
    assert record(spans=[{"start": start, "end": end}]).spans == [LabelledSpan(start, end, 0)]


@pytest.mark.parametrize(
    ("start", "end"), [(0, 0), (-1, 1), (0, len(TEXT) + 1), (29, 29), (5, 4), (0, None), (0.0, 1)]
)
def test_what_is_no_stretch_of_the_response_is_refused(start: Any, end: Any) -> None:
    line = json.dumps({"response": TEXT, "spans": [{"start": start, "end": end}]})
    assert f"from {start!r} to {end!r}, not a stretch" in failed(line.encode()).message


@pytest.mark.parametrize(
    ("label", "score"),
    [
        (0, 0.0),
        (1, 1.0),
        (0.25, 0.25),
        (True, 1.0),
        (False, 0.0),
        ("0", 0.0),
        (" 1 ", 1.0),
        ("0.25", 0.25),
        ("True", 1.0),
        ("false", 0.0),
        ("", None),
        ("NaN", None),
        ("null", None),
        ("None", None),
        (None, None),
    ],
)
def test_a_label_is_a_number_from_0_to_1(label: Any, score: float | None) -> None:
    assert record(label=label).human_score == score


NO_LABELS = [
    "-0.001",
    "1.001",
    "2",
    '"1.1"',
    '"-1"',
    '"good"',
    "[]",
    '{"a": 1}',
    "[1]",
    "Infinity",
    "1e999",
    pytest.param("1" + "0" * 400, id="an endless number"),
]


@pytest.mark.parametrize("label", NO_LABELS)
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('{"response": "One. Two.", "label": %}', "label"),
        ('{"response": "One. Two.", "claims": [{"claim": "c", "label": %}]}', "claims[0].label"),
        ('{"response": "One. Two.", "sentence_labels": [%, 0]}', "sentence_labels[0].label"),
    ],
    ids=["of a response", "of a claim", "of a sentence"],
)
def test_a_label_that_cannot_be_read_costs_the_label_alone(
    line: str, name: str, label: str
) -> None:
    if name.startswith("sentence") and label.startswith("{"):
        return  # the labels would be objects with a start and an end
    failures: list[Failure] = []
    input_record = read(line.replace("%", label), left_out=failures.append)
    assert input_record.human_score is None
    assert [claim.claim for claim in input_record.claims] == ["c"] * name.startswith("claims")
    assert all(claim.label is None for claim in input_record.claims)
    assert [span.label for span in input_record.spans] == [None, 0] * name.startswith("sentence")
    (failure,) = failures
    assert (failure.step, failure.key, failure.error_type) == (
        "read",
        "f.jsonl:3",
        "unusable_label",
    )
    assert failure.message.startswith(f"`{name}`: ")
    assert failure.message.endswith("; the label is left out")
    assert "One. Two." in (failure.input or "")


def test_a_sentence_is_true_or_false_and_a_claim_may_be_between() -> None:
    failures: list[Failure] = []
    line = json.dumps(
        {
            "response": TEXT,
            "claims": [{"claim": "c", "label": "0.25"}],
            "sentence_labels": [0.5, "Supported"],
        }
    )
    input_record = read(line, left_out=failures.append)
    assert input_record.claims == [GivenClaim("c", None, 0.25)]
    assert [span.label for span in input_record.spans] == [None, 1]
    assert [failure.message for failure in failures] == [
        "`sentence_labels[0].label`: 0.5 is neither true nor false; the label is left out"
    ]


WHOLE = InputRecord("f:1", "r1", TEXT, "m", "d", "q", "en", 0.5, "{}", ["a"], True, [], [], True)


@pytest.mark.parametrize(
    "change",
    [
        *({name: "x"} for name in ("response_id", "text", "model", "dataset", "question")),
        {"language": "de"},
        {"human_score": 0.25},
        {"metadata": '{"a": 1}'},
        {"references": []},
        {"given": False},
        {"claims": [GivenClaim("c")]},
        {"spans": [LabelledSpan(0, 1, 0)]},
        {"spans_are_errors": False},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_hash_of_a_record_follows_all_that_it_says(change: dict[str, Any]) -> None:
    assert record_hash(replace(WHOLE, **change)) != record_hash(WHOLE)


@pytest.mark.parametrize("field", ["claim", "query", "label", "sentence_index"])
def test_the_hash_of_a_record_follows_all_that_its_claims_say(field: str) -> None:
    fields: dict[str, Any] = {"claim": "c", "query": "q", "label": 1, "sentence_index": 0}
    claims = [GivenClaim(**fields), GivenClaim(**fields | {field: "x"})]
    first, second = (record_hash(replace(WHOLE, claims=[claim])) for claim in claims)
    assert first != second


def test_the_hash_of_a_record_does_not_follow_its_place() -> None:
    assert record_hash(replace(WHOLE, key="f:2")) == record_hash(WHOLE)


@pytest.mark.parametrize("nul", ["\0", "\\u0000"])
def test_a_nul_in_any_text_is_one_other_character(nul: str) -> None:
    line = """{"response": "Oslo@ is big.", "question": "@", "model": "@m", "id": "@",
        "reference_answers": ["a@", "b"], "claims": [{"claim": "@c", "query": "@q"}],
        "metadata": {"@k": ["@v"]}, "spans": [{"start": 5, "end": 7}]}"""
    input_record = read(line.replace("@", nul))
    assert input_record.text == "Oslo\ufffd is big."
    assert input_record.spans == [LabelledSpan(5, 7, 0)]
    assert input_record.question == "\ufffd"
    assert input_record.model == "\ufffdm"
    assert input_record.response_id == "\ufffd"
    assert input_record.references == ["a\ufffd", "b"]
    assert input_record.claims == [GivenClaim("\ufffdc", "\ufffdq")]
    assert input_record.metadata == '{"\ufffdk": ["\ufffdv"]}'
    assert record(question="\\u0000").question == "\\u0000"


def test_nan_and_null_cost_only_themselves() -> None:
    input_record = read(
        """{"response": "x", "label": NaN, "reference_answers": [null, "one", NaN],
        "claims": [{"claim": "c", "label": NaN}], "metadata": {"score": NaN, "n": 1}}"""
    )
    assert input_record.human_score is None
    assert input_record.references == ["one"]
    assert input_record.metadata == '{"n": 1}'
    assert input_record.claims == [GivenClaim("c")]


def test_an_unknown_key_is_kept_in_metadata_and_told_and_never_costs_the_record() -> None:
    seen: list[Any] = []
    raw = {"response": "x", "prompt": "p", "n": 3, "gone": None, "metadata": {"n": 4}}
    assert read(json.dumps(raw), unknown=seen.append).metadata == '{"n": 4, "prompt": "p"}'
    assert seen == [{"prompt": "p", "n": 3}]
    for value in ('"\\ud83d"', "1e999", '{"\\ud83d": 1}'):
        input_record = read(f'{{"response": "x", "more": {value}, "n": 1}}')
        assert input_record.metadata == '{"n": 1}'


def test_other_names_of_the_keys() -> None:
    raw = {"output": "x", "response": "shadowed", "prompt": "q", "id": "1"}
    columns = {"response": "output", "question": "prompt", "label": "gone"}
    input_record = read(json.dumps(raw), columns=columns)
    assert input_record.text == "x"
    assert input_record.question == "q"
    assert input_record.response_id == "1"
    assert input_record.metadata == '{"response": "shadowed"}'
    # A record that has the key itself needs no other name; a byte order mark is no text.
    assert read(b'\xef\xbb\xbf{"response": "x"}', columns=columns).text == "x"


@pytest.mark.parametrize(("fields", "same"), cases(Path(__file__).with_name("cells.txt")))
def test_what_a_cell_of_a_table_holds_as_text(fields: str, same: str) -> None:
    assert record(**json.loads(fields)) == record(**json.loads(same))


def test_no_depth_of_nesting_is_too_much() -> None:
    around_it = ('"metadata": {"a": %}', '"label": %', '"claims": [{"claim": "c", "label": %}]')
    for around, depth in itertools.product(around_it, range(700, 1100, 9)):
        line = f'{{"response": "x", {around}}}'.replace("%", "[" * depth + "]" * depth)
        assert isinstance(parse("k", line.encode()), (InputRecord, Failure))


KEYS = """response id model question dataset reference_answers label language metadata claims
    spans sentence_labels start end claim query sentence_index"""
NAMES = st.sampled_from(KEYS.split())
# JSON has no bound of its numbers.
LEAVES = st.integers() | st.just(10**400) | st.floats() | st.text(st.characters(), max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | LEAVES,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, JSON, max_size=6), st.booleans(), st.binary(max_size=60))
def test_anything_is_a_record_or_a_failure(raw: dict[str, Any], usable: bool, line: bytes) -> None:
    assert isinstance(parse("k", line), (InputRecord, Failure))
    if usable:
        raw = raw | {"response": TEXT}
    parsed = parse("k", json.dumps(raw).encode())
    assert isinstance(parsed, (InputRecord, Failure))
    if isinstance(parsed, InputRecord):
        assert parsed.text == raw["response"]
        assert all(0 <= s.start < s.end <= len(parsed.text) for s in parsed.spans)
        # What was accepted can be written: no half characters, no number over 64 bits.
        repr(parsed).encode()
        assert all((c.sentence_index or 0) < 2**63 for c in parsed.claims)


# --- lines ----------------------------------------------------------------------------------------


def read_lines(data: bytes, limit: int = 1000, first: int | None = 1) -> list[Line]:
    return list(lines(io.BytesIO(data), Split("f", "p", 0, len(data), first), limit))


def test_lines_are_numbered_with_blank_ones_and_named_by_file_and_number_or_byte() -> None:
    lines_read = read_lines(b"one\r\n\n  \ntwo\nthree")
    assert [(line.key, line.data, line.number, line.start, line.end) for line in lines_read] == [
        ("f:1", b"one", 1, 0, 5),
        ("f:4", b"two", 4, 9, 13),
        ("f:5", b"three", 5, 13, 18),
    ]
    unnumbered = read_lines(b"one\ntwo\n", first=None)
    assert [(line.key, line.number) for line in unnumbered] == [("f@0", None), ("f@4", None)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("length", [9, 10, 11, 12, 500])
def test_of_a_line_over_the_limit_enough_is_kept_to_tell(length: int, end: bytes) -> None:
    (line,) = read_lines(b"x" * length + end, 10)
    assert len(line.data) <= 12
    assert (len(line.data) > 10) == (length > 10)
    assert line.end == length + len(end)


@pytest.mark.parametrize("filler", [b" ", b"\r", b"\t"])
def test_a_long_line_is_neither_lost_nor_taken_for_a_short_one(filler: bytes) -> None:
    lines_read = read_lines(b"x" * 5_000_000 + b"\nnext\n", 100)
    assert [(line.number, len(line.data)) for line in lines_read] == [(1, 102), (2, 4)]
    (hidden, after) = read_lines(filler * 40 + b"text\nnext\n", 10)
    assert len(hidden.data) > 10
    assert after.data == b"next"
    (mixed,) = read_lines(b"12345678" + filler * 40 + b"text", 10)
    assert len(mixed.data) > 10


ROWS = st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")), max_size=12)
ENDS = st.sampled_from([b"\n", b"\r\n"])


@given(ROWS, ENDS, st.booleans(), st.integers(2, 20), st.randoms(use_true_random=False))
def test_any_cut_at_line_ends_gives_the_same_lines(
    rows: list[bytes], end: bytes, last: bool, limit: int, chance: random.Random
) -> None:
    data = end.join(rows) + (end if last else b"")
    whole = read_lines(data, limit)
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    cuts = sorted({0, len(data), *(at for at in ends if chance.random() < 0.5)})
    lines_read = []
    for start, stop in itertools.pairwise(cuts):
        first = 1 + data[:start].count(b"\n")
        lines_read += list(lines(io.BytesIO(data), Split("f", "p", start, stop, first), limit))
    assert lines_read == whole
    for line in whole:
        assert line.data.strip() or len(line.data) > limit
        assert data[line.start :].startswith(line.data)
    numbers = {line.number for line in whole}
    split = data.split(b"\n")
    assert all(n in numbers or not row.strip() for n, row in enumerate(split, 1))


# --- columns --------------------------------------------------------------------------------------


def test_columns_by_the_keys_of_a_record() -> None:
    named = named_columns("response=output, question=the prompt=x,")
    assert named == {"response": "output", "question": "the prompt=x"}
    for text, message in {
        "response": "KEY=COLUMN",
        "response=": "KEY=COLUMN",
        "respone=output": "Did you mean 'response'?",
        "id=a,id=b": "'id' twice",
    }.items():
        with pytest.raises(UsageError, match=re.escape(message)):
            named_columns(text)


MEANT = """references=reference_answers refrences=reference_answers prompt=question Output=response
    respnse=response lables=label"""


def test_the_nearest_key() -> None:
    for name, _, meant in (pair.partition("=") for pair in MEANT.split()):
        assert nearest_key(name) == meant
    assert nearest_key("xyzzy") is None
    assert [*map(nearest_key, FIELDS)] == [*FIELDS]


USUAL = {
    "response": "output answer completion generation text prediction model_output generated "
    "actual_output generated_text output_text predicted_answer filtered_resps resps sampled "
    "outputs predictions completions generations choices messages",
    "question": "prompt query input instruction user_query user_input inputs request",
    "reference_answers": "references evidence retrieval_context retrieved_contexts "
    "retrieved_context context contexts documents passages reference reference_answer "
    "ground_truth ground_truths expected_output expected_response expected ideal target targets "
    "gold gold_answer",
    "model": "model_name generator llm",
    "label": "score human_score factuality",
    "claims": "facts atomic_facts statements",
    "language": "lang locale",
    "metadata": "meta extra",
    "id": "uid key _id response_id",
}


@pytest.mark.parametrize(
    ("name", "meant"), [(name, meant) for meant, names in USUAL.items() for name in names.split()]
)
def test_a_usual_name_means_a_key(name: str, meant: str) -> None:
    assert nearest_key(name) == meant
    column = name.replace("_", " ").title().strip()
    assert likely_columns([column]) == {meant: column}


def test_numbers_in_cells_of_other_columns_are_numbers() -> None:
    cells = {"a": "3", "b": "-0.5", "c": "true", "d": "007", "e": "1e999", "f": "no"}
    numbers = cells | {"a": 3, "b": -0.5, "c": True}
    raw = {"response": "42", **cells}
    assert sort_columns(raw | {OF_CELLS: True}, {}) == ({"response": "42"}, numbers)
    assert sort_columns(raw, {}) == ({"response": "42"}, cells)


# --- columns at a path


NESTED = {"id": "a", "outputs": {"answer": "Oslo is big."}, "inputs": {"question": "Where?"}}


def test_a_path_of_map_is_read() -> None:
    columns = {"response": "outputs.answer", "question": "inputs.question"}
    input_record = parse("f:1", json.dumps(NESTED).encode(), columns=columns)
    assert isinstance(input_record, InputRecord)
    assert (input_record.text, input_record.question) == ("Oslo is big.", "Where?")


@pytest.mark.parametrize(
    ("path", "outputs"),
    [
        pytest.param("outputs[0]", ["Oslo is big."], id="the first of a list"),
        pytest.param("outputs[0][0]", [["Oslo is big."]], id="of a list of lists"),
        pytest.param("outputs[-1].text", [{}, {"text": "Oslo is big."}], id="the last of a list"),
        pytest.param("outputs.a[1]", {"a": ["", "Oslo is big."]}, id="of a list of an object"),
        pytest.param("outputs[0].a", '[{"a": "Oslo is big."}]', id="of a cell of JSON"),
    ],
)
def test_a_path_may_lead_through_lists(path: str, outputs: object) -> None:
    input_record = parse(
        "f:1", json.dumps({"outputs": outputs}).encode(), columns={"response": path}
    )
    assert isinstance(input_record, InputRecord)
    assert input_record.text == "Oslo is big."
    assert is_used({"response": path}, "outputs")


@pytest.mark.parametrize("path", ["outputs[2]", "outputs[-3]", "outputs.a", "outputs[x]", "id[0]"])
def test_a_path_that_leads_nowhere_has_no_value(path: str) -> None:
    line = json.dumps({"id": "a", "outputs": ["R.", "S."]}).encode()
    assert isinstance(parse("f:1", line, columns={"response": path}), Failure)


def test_a_column_whose_name_has_a_dot_is_read() -> None:
    line = json.dumps({"a.b": "Oslo is big.", "a": {"b": "No."}}).encode()
    input_record = parse("f:1", line, columns={"response": "a.b"})
    assert isinstance(input_record, InputRecord)
    assert input_record.text == "Oslo is big."


@pytest.mark.parametrize("name", ["outputs.answer", "outputs"])
def test_the_column_of_a_path_is_used(name: str) -> None:
    assert is_used({"response": "outputs.answer"}, name)


def test_the_column_beside_that_of_a_path_is_not_used() -> None:
    assert not is_used({"response": "outputs.answer"}, "output")


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        pytest.param("output", "R.", "response=output", id="a text"),
        pytest.param("outputs", {"answer": "R."}, "response=outputs.answer", id="in an object"),
        pytest.param(
            "outputs", {"id": "a", "answer": "R."}, "response=outputs.answer",
            id="among other texts of an object",
        ),
        pytest.param("outputs", {"a": "R.", "b": "S."}, None, id="unclear which of an object"),
        pytest.param("outputs", [["R."]], "response=outputs[0][0]", id="in a list of lists"),
        pytest.param(
            "choices", [{"message": {"role": "assistant", "content": "R."}}],
            "response=choices[0].message.content", id="in an object of a list",
        ),
        pytest.param(
            "messages", [{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "R."}],
            "response=messages[-1].content", id="the last message of a chat",
        ),
        pytest.param("outputs", '{"answer": "R."}', "response=outputs.answer", id="a cell of JSON"),
        pytest.param("output", 3, None, id="a number"),
        pytest.param("contexts", ["R."], "reference_answers=contexts", id="a list of references"),
        pytest.param("score", 0.5, "label=score", id="a score"),
        pytest.param("facts", [], "claims=facts", id="a list of claims"),
        pytest.param("meta", {"a": 1}, "metadata=meta", id="an object of metadata"),
        pytest.param("zzz", "R.", None, id="of no known name"),
    ],
)  # fmt: skip
def test_advice_works_or_is_not_given(name: str, value: object, advice: str | None) -> None:
    assert map_advice(name, value) == advice


def test_the_advice_on_a_missing_response_can_be_followed() -> None:
    failure = failed(json.dumps(NESTED).encode())
    assert "did you mean --map response=outputs.answer,question=inputs.question?" in failure.message
