"""Records in the shape of published files, made up for these tests, and what becomes of them."""

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ufo.pipelines.importers import import_records
from ufo.schemas.errors import UsageError
from ufo.schemas.records import InputRecord
from ufo.transforms.read import parse

Row = dict[str, Any]
Read = Callable[..., tuple[list[Row], Counter[str]]]

FACTOOL = {
    "prompt": "How many moons has Mars?",
    "response": "Mars has three moons.",
    "claims": [
        {"claim": "Mars has moons.", "label": True},
        {"claim": "Mars has three moons.", "label": False},
    ],
    "label": False,
    "entry_point": None,
}
EXPERTQA: dict[str, Any] = {
    "question": "How many moons has Mars?",
    "annotator_id": "1",
    "answers": {
        "gpt4": {
            "answer_string": "Mars has two moons. They are large.",
            "attribution": ["https://example.org/mars"],
            "claims": [
                {
                    "claim_string": "Mars has two moons.",
                    "evidence": ["https://example.org/m\n\nMars has two moons.", "https://e.org"],
                    "correctness": "Definitely correct",
                },
                {
                    "claim_string": "They are large.",
                    "evidence": ["Both are small."],
                    "correctness": "Likely incorrect",
                },
                {"claim_string": "I hope so.", "evidence": [], "correctness": "Unsure"},
            ],
        }
    },
    "metadata": {"field": "Astronomy"},
}
WICE = {
    "label": "partially_supported",
    "supporting_sentences": [[0]],
    "claim": "Mars has two moons and rings.",
    "evidence": ["Mars.", "Mars has two moons."],
    "meta": {"id": "dev0"},
}
BEGIN = {
    "model_name": "t5",
    "data_source": "wow",
    "knowledge": "Mars has two moons.",
    "message": "I like Mars.",
    "response": "it has two moons",
    "begin_label": "Fully attributable",
}
FOOL_ME_TWICE = {
    "id": "x1",
    "text": "Mars has no moon.",
    "label": "REFUTES",
    "gold_evidence": [{"section_header": "Moons", "text": "Mars has two moons."}],
    "retrieved_evidence": [{"section_header": "Name", "text": "Mars is named for a god."}],
    "wikipedia_page": "Mars",
}
FEVER = {
    "id": "9",
    "claim": "Mars has two moons .",
    "evidence": "Mars has two moons , both small .",
    "gold_label": "SUPPORTS",
    "label": "SUPPORTS",
}
GENERAL = {
    "ID": "3",
    "user_query": "Tell me of Mars.",
    "chatgpt_response": "Mars has three\nmoons. It is red.",
    "hallucination": "yes",
    "hallucination_spans": ["three moons"],
}
FACTCHECK = {"prompt": "Q?", "response": "A.", "sentences": {}}
ROWS: dict[str, Row] = {
    "factool": FACTOOL,
    "wice": WICE,
    "begin": BEGIN,
    "fool_me_twice": FOOL_ME_TWICE,
    "fever": FEVER,
    "expertqa": EXPERTQA,
    "halueval": GENERAL,
    "factcheck_gpt": FACTCHECK,
    "factscore": {"input": "Q?", "output": "A.", "annotations": None},
}


@pytest.fixture(name="read")
def _read(tmp_path: Path) -> Read:
    def read(kind: str, *rows: Row) -> tuple[list[Row], Counter[str]]:
        path = tmp_path / "dev.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        left_out: Counter[str] = Counter()
        problems: list[str] = []
        records = list(import_records(kind, path, problems, left_out))
        assert problems == []
        return records, left_out

    return read


def test_factool(read: Read) -> None:
    (record,), left_out = read("factool", FACTOOL)
    assert record == {
        "id": "factool-1",
        "model": "ChatGPT",
        "dataset": "factool",
        "question": "How many moons has Mars?",
        "response": "Mars has three moons.",
        "label": False,
        "claims": FACTOOL["claims"],
    }
    assert not left_out


def test_expertqa_has_a_record_for_each_answer(read: Read) -> None:
    two = EXPERTQA["answers"] | {"bing_chat": {"answer_string": "Two."}}
    (record, bare), left_out = read("expertqa", EXPERTQA | {"answers": two})
    assert record["claims"] == [
        {"claim": "Mars has two moons.", "label": True},
        {"claim": "They are large.", "label": False},
        {"claim": "I hope so."},
    ]
    assert record["reference_answers"] == ["Mars has two moons.", "Both are small."]
    assert (record["model"], record["label"]) == ("gpt4", 0.5)
    assert (bare["model"], bare["claims"], "label" in bare) == ("bing_chat", [], False)
    assert left_out == {
        "labels that are neither true nor false": 1,
        "evidence without a text": 1,
    }
    with pytest.raises(UsageError, match="questions only"):
        read("expertqa", EXPERTQA | {"answers": {}})


@pytest.mark.parametrize(
    ("kind", "row", "expected"),
    [
        ("begin", BEGIN, {"model": "t5", "question": "I like Mars.", "label": True}),
        ("fool_me_twice", FOOL_ME_TWICE, {"label": False}),
        ("fever", FEVER, {"label": True, "reference_answers": [FEVER["evidence"]]}),
        ("wice", WICE | {"label": "not_supported"}, {"label": False}),
    ],
)
def test_one_text_and_what_it_is_held_against(
    read: Read, kind: str, row: Row, expected: Row
) -> None:
    (record,), left_out = read(kind, row)
    assert record | expected == record
    assert record["id"] == f"{kind}-dev-1"
    assert "Mars has two moons" in record["reference_answers"][0]
    assert not left_out


def test_labels_between_true_and_false(read: Read) -> None:
    (record,), left_out = read("wice", WICE)
    assert (record["label"], record["claims"]) == (0.5, [{"claim": WICE["claim"]}])
    assert record["reference_answers"] == ["Mars.\nMars has two moons."]
    generic = BEGIN | {"begin_label": "Generic"}
    (other,), more = read("begin", generic)
    assert "label" not in other
    assert left_out == more == {"labels that are neither true nor false": 1}


def test_evidence_without_a_text_is_counted(read: Read) -> None:
    (record,), left_out = read("fever", FEVER | {"evidence": [[[1, 2, "Mars", 0]]]})
    assert record["reference_answers"] == []
    assert left_out == {"evidence without a text": 1}


def test_halueval_general_places_its_spans_or_none(read: Read) -> None:
    other = GENERAL | {"hallucination_spans": ["three moons", "Incomplete answer"]}
    right = GENERAL | {"hallucination": "no", "hallucination_spans": []}
    (record, unplaced, last), left_out = read("halueval", GENERAL, other, right)
    assert (record["label"], record["spans"]) == (False, [{"start": 9, "end": 21}])
    assert (unplaced["label"], "spans" in unplaced) == (False, False)
    assert (last["label"], last["spans"]) == (True, [])
    assert left_out == {"labels of stretches that are not in the response": 1}


@pytest.mark.parametrize("kind", ROWS)
def test_every_record_is_an_input_record(read: Read, kind: str) -> None:
    for record in read(kind, ROWS[kind])[0]:
        unknown: list[Any] = []
        found = parse("x:1", json.dumps(record).encode(), unknown=unknown.append)
        assert isinstance(found, InputRecord), found
        assert unknown == []


def test_tables_are_read_too(tmp_path: Path, read: Read) -> None:
    rows = [BEGIN, BEGIN | {"response": 'He said "two\tmoons".'}]
    with (tmp_path / "dev.tsv").open("w", newline="", encoding="utf-8") as sink:
        writer = csv.DictWriter(sink, rows[0], delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    expected, _ = read("begin", *rows)
    assert list(import_records("begin", tmp_path / "dev.tsv", [], Counter())) == expected
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "dev.parquet")
    assert list(import_records("begin", tmp_path / "dev.parquet", [], Counter())) == expected
