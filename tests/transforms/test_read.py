"""Lines of an input and their columns: what becomes a record, and why another does not."""

import io
import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.errors import UsageError
from ufo.schemas.records import Failure, GivenClaim, InputRecord, LabelledSpan
from ufo.transforms.job import Line, Split, lines
from ufo.transforms.read import FIELDS, OF_CELLS, named_columns, nearest, parse, sorted_out

TEXT = "Etna is in Sicily. It erupts."


def read(record: object, **options: Any) -> InputRecord | Failure:
    return parse("f.jsonl:3", json.dumps(record).encode(), **options)


def record(**fields: Any) -> InputRecord:
    found = read({"response": TEXT, **fields})
    assert isinstance(found, InputRecord), found
    return found


def test_a_record_with_everything() -> None:
    found = record(
        id="r1",
        model="m",
        question="q",
        dataset="d",
        reference_answers=["one", " ", "two"],
        label=True,
        language="en",
        metadata={"b": 1, "a": ["é"]},
        claims=[
            {"claim": " Etna is in Sicily. ", "query": "where?", "label": False},
            {"claim": "It erupts.", "sentence_index": 1},
            "bare",
        ],
        spans=[{"start": 0, "end": 4}],
    )
    assert found == InputRecord(
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
        [
            GivenClaim("Etna is in Sicily.", "where?", 0, None),
            GivenClaim("It erupts.", None, None, 1),
            GivenClaim("bare"),
        ],
        [LabelledSpan(0, 4, 0)],
        True,
    )


def test_only_the_response_is_required_and_null_is_not_there() -> None:
    empty = dict.fromkeys(
        ("id", "model", "question", "dataset", "label", "language", "metadata", "claims", "spans")
    )
    bare = record()
    assert record(**empty, reference_answers=None) == bare
    assert (bare.given, bare.claims, bare.references, bare.human_score) == (False, [], [], None)


def test_an_empty_text_is_no_name() -> None:
    empty = dict.fromkeys(("model", "question", "dataset", "language"), "")
    assert record(**empty) == record()


def test_no_claims_and_an_empty_list_of_claims_are_not_the_same() -> None:
    assert not record().given
    assert record(claims=[]).given


def test_the_id_is_a_function_of_the_content() -> None:
    assert record().response_id == record(label=0.5).response_id
    other = [record(model="m"), record(question="m"), record(dataset="m")]
    assert len({found.response_id for found in [record(), *other]}) == 4
    assert record(id=7).response_id == "7"


@pytest.mark.parametrize("name", ["reference_answers", "reference answers"])
@pytest.mark.parametrize("value", ["one", ["one"]])
def test_references_by_either_name_as_text_or_list(name: str, value: object) -> None:
    assert record(**{name: value}).references == ["one"]


def test_labels_for_our_sentences_in_order() -> None:
    found = record(sentence_labels=[True, None])
    assert found.spans == [LabelledSpan(0, 18, 1), LabelledSpan(19, 29, None)]
    assert not found.spans_are_errors
    placed = record(sentence_labels=[{"start": 0, "end": 18, "label": 0}])
    assert placed.spans == [LabelledSpan(0, 18, 0)]


def test_no_error_span_says_that_all_is_right() -> None:
    assert record(spans=[]).spans_are_errors
    assert not record().spans_are_errors


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{nope", "not JSON"),
        (b"", "not JSON"),
        (b'{"response": "x"} {"response": "y"}', "not JSON"),
        (b'{"response": "x", "label": Infinity}', "`label` is a number from 0 to 1"),
        (b"[" * 100_000, "not JSON"),
        (b'{"response": "x", "id": ' + b"1" * 10_000 + b"}", "not JSON"),
        (b'["response"]', "object, not a list"),
        (b'"response"', "object, not text"),
        (b"3", "object, not a number"),
        (b"null", "object, not null"),
        (b'{"respnse": "x"}', "`response` is missing"),
        (b'{"response": ""}', "`response` is empty"),
        (b'{"response": " \\n\\t "}', "`response` is empty"),
        (b'{"response": null}', "`response` is empty"),
        (b'{"response": 5}', "`response` is text, not a number"),
        (b'{"response": ["x"]}', "`response` is text, not a list"),
        (b'{"response": "\xff"}', "not UTF-8: byte 15"),
        ('{"response": "x"}'.encode("utf-16"), "the file is UTF-16"),
        (b'{"response": "\\ud83d"}', "surrogate"),
        (b'{"response": "x", "metadata": {"\\ud83d": 1}}', "surrogate"),
        (b'{"response": "x", "reference_answers": ["\\udead"]}', "surrogate"),
        (b'{"response": "x", "id": true}', "`id` is text, not a boolean"),
        (b'{"response": "x", "id": 1.5}', "`id` is text, not a number"),
        (b'{"response": "x", "id": " "}', "`id` is empty"),
        (b'{"response": "x", "model": {}}', "`model` is text, not an object"),
        (b'{"response": "x", "label": 2}', "`label` is a number from 0 to 1"),
        (b'{"response": "x", "label": "good"}', "`label` is a number from 0 to 1"),
        (b'{"response": "x", "label": 1e999}', "`label` is a number from 0 to 1"),
        (b'{"response": "x", "label": 1' + b"0" * 400 + b"}", "`label` is a number from 0 to 1"),
        (b'{"response": "x", "metadata": []}', "`metadata` is an object"),
        (b'{"response": "x", "metadata": {"a": [1e999]}}', "a number that no float can hold"),
        (b'{"response": "x", "reference_answers": 5}', "text or a list of texts, not a number"),
        (b'{"response": "x", "reference_answers": [5]}', "list of texts, not of a number"),
        (b'{"response": "x", "claims": "c"}', "`claims` is a list, not text"),
        (b'{"response": "x", "spans": [{"start": 0, "end": 2}]}', "not a stretch"),
        (b'{"response": "x", "spans": [{"start": true, "end": 1}]}', "not a stretch"),
        (b'{"response": "x", "spans": [[0, 1]]}', "`spans[0]` is an object"),
        (b'{"response": "x", "sentence_labels": [1, 0]}', "2 labels, the response 1 sentences"),
    ],
)
def test_what_cannot_be_used_is_a_failure_that_says_why(line: bytes, message: str) -> None:
    found = parse("f.jsonl:3", line)
    assert isinstance(found, Failure)
    assert (found.step, found.key, found.error_type) == ("read", "f.jsonl:3", "unusable_record")
    assert message in found.message
    assert found.input is not None
    assert len(found.input) <= 4096
    assert "\0" not in found.input
    found.message.encode()


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("5", "`claims[1]` is an object"),
        ("{}", "`claims[1].claim` is missing or empty"),
        ('" "', "`claims[1].claim` is missing or empty"),
        ('"\\ud83d"', "`claims[1].claim` has half of a surrogate pair"),
        ('{"claim": "c", "label": 2}', "`claims[1].label` is true, false or null, not 2"),
        ('{"claim": "c", "label": Infinity}', "not inf"),
        ('{"claim": "c", "label": -1e999}', "not -inf"),
        ('{"claim": "c", "sentence_index": -1}', "number from 0"),
        ('{"claim": "c", "query": 1}', "`claims[1].query` is text"),
    ],
)
def test_a_claim_that_cannot_be_used_costs_that_claim_alone(claim: str, message: str) -> None:
    failures: list[Failure] = []
    line = f'{{"response": "x", "claims": ["a", {claim}, "b"]}}'.encode()
    found = parse("f.jsonl:3", line, left_out=failures.append)
    assert isinstance(found, InputRecord)
    assert found.claims == [GivenClaim("a"), GivenClaim("b")]
    (failure,) = failures
    assert (failure.step, failure.key, failure.error_type) == (
        *("read", "f.jsonl:3", "unusable_claim"),
    )
    assert message in failure.message
    assert json.loads(failure.input or "") == json.loads(claim)


def test_a_line_over_the_limit_fails_and_is_shown_in_part() -> None:
    found = read({"response": "x" * 100}, max_line_bytes=50)
    assert isinstance(found, Failure)
    assert "--max_line_bytes" in found.message
    whole = parse("k", b'{"response": "' + b"\0" * 9_000)
    assert isinstance(whole, Failure)
    assert len(whole.input or "") == 4096


def test_an_unusable_row_of_csv_is_shown_as_its_cells() -> None:
    found = read({"output": "Oslo is big.", OF_CELLS: True})
    assert isinstance(found, Failure)
    assert found.input == '{"output": "Oslo is big."}'


@pytest.mark.parametrize("nul", ["\0", "\\u0000"])
def test_a_nul_in_any_text_is_one_other_character(nul: str) -> None:
    line = """{"response": "Oslo@ is big.", "question": "@", "model": "@m", "id": "@",
        "reference_answers": ["a@", "b"], "claims": [{"claim": "@c", "query": "@q"}],
        "metadata": {"@k": ["@v"]}, "spans": [{"start": 5, "end": 7}]}"""
    found = parse("k", line.replace("\n", " ").replace("@", nul).encode())
    assert isinstance(found, InputRecord), found
    assert found.text == "Oslo\ufffd is big."
    assert found.spans == [LabelledSpan(5, 7, 0)]
    assert (found.question, found.model, found.response_id) == ("\ufffd", "\ufffdm", "\ufffd")
    assert found.references == ["a\ufffd", "b"]
    assert found.claims == [GivenClaim("\ufffdc", "\ufffdq")]
    assert found.metadata == '{"\ufffdk": ["\ufffdv"]}'


def test_a_backslash_before_u0000_is_no_nul() -> None:
    assert record(question="\\u0000").question == "\\u0000"


def test_nan_and_null_cost_only_themselves() -> None:
    line = b"""{"response": "x", "label": NaN, "reference_answers": [null, "one", NaN],
        "claims": [{"claim": "c", "label": NaN}], "metadata": {"score": NaN, "n": 1}}"""
    found = parse("k", line.replace(b"\n", b" "))
    assert isinstance(found, InputRecord), found
    assert (found.human_score, found.references, found.metadata) == (None, ["one"], '{"n": 1}')
    assert found.claims == [GivenClaim("c")]


def test_an_unknown_key_is_kept_in_metadata_and_told() -> None:
    seen: list[Any] = []
    line = json.dumps({"response": "x", "prompt": "p", "n": 3, "gone": None, "metadata": {"n": 4}})
    found = parse("k", line.encode(), unknown=seen.append)
    assert isinstance(found, InputRecord)
    assert found.metadata == '{"n": 4, "prompt": "p"}'
    assert seen == [{"prompt": "p", "n": 3}]
    assert record().metadata is None


@pytest.mark.parametrize("value", [b'"\\ud83d"', b"1e999", b'{"\\ud83d": 1}'])
def test_an_unknown_key_never_costs_the_record(value: bytes) -> None:
    found = parse("k", b'{"response": "x", "more": %b, "n": 1}' % value)
    assert isinstance(found, InputRecord), found
    assert found.metadata == '{"n": 1}'


def test_other_names_of_the_keys() -> None:
    raw = {"output": "x", "response": "shadowed", "prompt": "q", "id": "1"}
    columns = {"response": "output", "question": "prompt", "label": "gone"}
    found = parse("k", json.dumps(raw).encode(), columns=columns)
    assert isinstance(found, InputRecord), found
    assert (found.text, found.question, found.response_id) == ("x", "q", "1")
    assert found.metadata == '{"response": "shadowed"}'
    bare = parse("k", b'{"response": "x"}', columns=columns)
    assert isinstance(bare, InputRecord), "a record that has the key itself needs no other name"


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({"label": "0.5"}, {"label": 0.5}),
        ({"label": "0"}, {"label": 0}),
        ({"label": "True"}, {"label": 1}),
        ({"label": ""}, {}),
        ({"reference_answers": '["a", null]'}, {"reference_answers": ["a"]}),
        ({"reference_answers": "[sic] a"}, {"reference_answers": ["[sic] a"]}),
        ({"claims": '[{"claim": "c", "label": true}]'}, {"claims": [{"claim": "c", "label": 1}]}),
        ({"metadata": '{"a": {"b": [1]}}'}, {"metadata": {"a": {"b": [1]}}}),
        ({"spans": "[]"}, {"spans": []}),
        ({"metadata": {"a": None, "b": {"c": None}}}, {"metadata": {"b": {}}}),
    ],
)
def test_what_a_cell_of_a_table_holds_as_text(fields: Any, same: Any) -> None:
    assert record(**fields) == record(**same)


def test_a_byte_order_mark_is_not_text() -> None:
    found = parse("k", b'\xef\xbb\xbf{"response": "x"}')
    assert isinstance(found, InputRecord)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_record_or_a_failure(line: bytes) -> None:
    assert isinstance(parse("k", line), (InputRecord, Failure))


@pytest.mark.parametrize(
    "around",
    [
        b'{"response": "x", "metadata": {"a": %b}}',
        b'{"response": "x", "label": %b}',
        b'{"response": "x", "claims": [{"claim": "c", "label": %b}]}',
        b'{"response": "x", "claims": [{"claim": "c", "sentence_index": %b}]}',
    ],
)
def test_no_depth_of_nesting_is_too_much(around: bytes) -> None:
    for depth in range(700, 1100, 9):
        found = parse("k", around.replace(b"%b", b"[" * depth + b"]" * depth))
        assert isinstance(found, (InputRecord, Failure))


KEYS = """response id model question dataset reference_answers label language metadata claims
    spans sentence_labels start end claim query sentence_index"""
NAMES = st.sampled_from(KEYS.split())
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)  # JSON has no bound
    | st.floats()
    | st.text(st.characters(), max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, JSON, max_size=6), st.booleans())
def test_any_object_is_a_record_or_a_failure(raw: dict[str, Any], usable: bool) -> None:
    if usable:
        raw = raw | {"response": TEXT}
    found = read(raw)
    assert isinstance(found, (InputRecord, Failure))
    if isinstance(found, InputRecord):
        assert found.text == raw["response"]
        assert all(0 <= s.start < s.end <= len(found.text) for s in found.spans)
        # What was accepted can be written: no half characters, no number over 64 bits.
        repr(found).encode()
        assert all((c.sentence_index or 0) < 2**63 for c in found.claims)


def read_lines(data: bytes, limit: int = 1000, first: int | None = 1) -> list[Line]:
    return list(lines(io.BytesIO(data), Split("f", "p", 0, len(data), first), limit))


def test_lines_are_numbered_with_blank_ones_and_named_by_file_and_number() -> None:
    found = read_lines(b"one\r\n\n  \ntwo\nthree")
    assert [(line.key, line.data, line.number) for line in found] == [
        ("f:1", b"one", 1),
        ("f:4", b"two", 4),
        ("f:5", b"three", 5),
    ]
    assert [(line.start, line.end) for line in found] == [(0, 5), (9, 13), (13, 18)]


def test_without_a_first_number_a_line_is_named_by_its_byte() -> None:
    assert [line.key for line in read_lines(b"one\ntwo\n", first=None)] == ["f@0", "f@4"]
    assert read_lines(b"one\n", first=None)[0].number is None


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("length", [9, 10, 11, 12, 500])
def test_of_a_line_over_the_limit_enough_is_kept_to_tell(length: int, end: bytes) -> None:
    (line,) = read_lines(b"x" * length + end, 10)
    assert len(line.data) <= 12
    assert (len(line.data) > 10) == (length > 10)
    assert line.end == length + len(end)


def test_a_long_line_hides_nothing_behind_it() -> None:
    found = read_lines(b"x" * 5_000_000 + b"\nnext\n", 100)
    assert [(line.number, len(line.data)) for line in found] == [(1, 102), (2, 4)]


@pytest.mark.parametrize("filler", [b" ", b"\r", b"\t"])
def test_a_long_line_that_begins_blank_is_not_lost_or_taken_for_a_short_one(filler: bytes) -> None:
    (hidden, after) = read_lines(filler * 40 + b"text\nnext\n", 10)
    assert len(hidden.data) > 10
    assert after.data == b"next"
    (mixed,) = read_lines(b"12345678" + filler * 40 + b"text", 10)
    assert len(mixed.data) > 10


CONTENT = st.lists(
    st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")), max_size=12
).flatmap(lambda rows: st.tuples(st.just(rows), st.sampled_from([b"\n", b"\r\n"]), st.booleans()))


@given(CONTENT, st.integers(2, 20), st.randoms(use_true_random=False))
def test_any_cut_at_line_ends_gives_the_same_lines(
    content: tuple[list[bytes], bytes, bool], limit: int, chance: random.Random
) -> None:
    rows, end, last = content
    data = end.join(rows) + (end if last else b"")
    whole = read_lines(data, limit)
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    cuts = sorted({0, len(data), *(at for at in ends if chance.random() < 0.5)})
    found = []
    for start, stop in itertools.pairwise(cuts):
        first = 1 + data[:start].count(b"\n")
        found += list(lines(io.BytesIO(data), Split("f", "p", start, stop, first), limit))
    assert found == whole
    for line in whole:
        assert line.data.strip() or len(line.data) > limit
        assert data[line.start :].startswith(line.data)
    numbers = [line.number for line in whole]
    blank = [n for n, row in enumerate(data.split(b"\n"), 1) if not row.strip()]
    assert set(range(1, len(data.split(b"\n")) + 1)) - {n for n in numbers if n} <= set(blank)


def test_columns_by_the_keys_of_a_record() -> None:
    named = named_columns("response=output, question=the prompt=x,")
    assert named == {"response": "output", "question": "the prompt=x"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("response", "KEY=COLUMN"),
        ("response=", "KEY=COLUMN"),
        ("respone=output", "Did you mean 'response'?"),
        ("id=a,id=b", "'id' twice"),
    ],
)
def test_what_names_no_column(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        named_columns(text)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("references", "reference_answers"),
        ("prompt", "question"),
        ("Output", "response"),
        ("respnse", "response"),
        ("lables", "label"),
        ("refrences", "reference_answers"),
        ("xyzzy", None),
    ],
)
def test_the_nearest_key(name: str, meant: str | None) -> None:
    assert nearest(name) == meant


def test_every_usual_name_is_of_a_field() -> None:
    assert all(nearest(name) == name for name in FIELDS)


@pytest.mark.parametrize(
    ("cell", "value"),
    [("3", 3), ("-0.5", -0.5), ("true", True), ("007", "007"), ("1e999", "1e999"), ("no", "no")],
)
def test_numbers_in_cells_of_other_columns_are_numbers(cell: str, value: Any) -> None:
    raw = {"response": "42", "n": cell, OF_CELLS: True}
    assert sorted_out(raw, {}) == ({"response": "42"}, {"n": value})
    assert sorted_out({"n": cell}, {}) == ({}, {"n": cell})
