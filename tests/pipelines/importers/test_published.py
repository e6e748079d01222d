"""Records in the shape of published files, made up for these tests, and what becomes of them."""

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ufo.pipelines.importers import import_records
from ufo.schemas.errors import UsageError

Row = dict[str, Any]
Read = Callable[..., Any]

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
UNPLACED = {"hallucination_spans": ["three moons", "Incomplete answer"]}
RIGHT = {"hallucination": "no", "hallucination_spans": []}
NEITHER = "labels that are neither true nor false"
NO_TEXT = "evidence without a text"
NO_PLACE = "labels of stretches that are not in the response"


def test_expertqa_has_a_record_for_each_answer(read: Read) -> None:
    two = EXPERTQA["answers"] | {"bing_chat": {"answer_string": "Two."}}
    (record, bare), _, left_out = read("expertqa", EXPERTQA | {"answers": two})
    assert record["claims"] == [
        {"claim": "Mars has two moons.", "label": True},
        {"claim": "They are large.", "label": False},
        {"claim": "I hope so."},
    ]
    assert record["reference_answers"] == ["Mars has two moons.", "Both are small."]
    assert (record["model"], record["label"]) == ("gpt4", 0.5)
    assert (bare["model"], bare["claims"], "label" in bare) == ("bing_chat", [], False)
    assert left_out == {NEITHER: 1, NO_TEXT: 1}
    with pytest.raises(UsageError, match="questions only"):
        read("expertqa", EXPERTQA | {"answers": {}})


@pytest.mark.parametrize(
    ("kind", "row", "expected", "left_out"),
    [
        (
            "factool",
            FACTOOL,
            {"model": "ChatGPT", "label": False, "question": FACTOOL["prompt"]},
            {},
        ),
        ("factool", FACTOOL, {"id": "factool-1", "claims": FACTOOL["claims"]}, {}),
        ("begin", BEGIN, {"model": "t5", "question": "I like Mars.", "label": True}, {}),
        ("begin", BEGIN | {"begin_label": "Generic"}, {"label": None}, {NEITHER: 1}),
        ("fool_me_twice", FOOL_ME_TWICE, {"label": False, "id": "fool_me_twice-dev-1"}, {}),
        ("fever", FEVER, {"label": True, "reference_answers": [FEVER["evidence"]]}, {}),
        ("fever", FEVER | {"evidence": [[[1, 2]]]}, {"reference_answers": []}, {NO_TEXT: 1}),
        ("wice", WICE | {"label": "not_supported"}, {"label": False}, {}),
        ("wice", WICE, {"label": 0.5, "claims": [{"claim": WICE["claim"]}]}, {NEITHER: 1}),
        ("wice", WICE, {"reference_answers": ["Mars.\nMars has two moons."]}, {NEITHER: 1}),
        ("halueval", GENERAL, {"label": False, "spans": [{"start": 9, "end": 21}]}, {}),
        ("halueval", GENERAL | UNPLACED, {"label": False, "spans": None}, {NO_PLACE: 1}),
        ("halueval", GENERAL | RIGHT, {"label": True, "spans": []}, {}),
    ],
)
def test_a_row_of_a_published_file_becomes_a_record(
    read: Read, kind: str, row: Row, expected: Row, left_out: dict[str, int]
) -> None:
    (record,), told, counted = read(kind, row)
    assert {name: record.get(name) for name in expected} == expected
    assert (told, counted) == ([], left_out)


def test_tables_are_read_too(tmp_path: Path, read: Read) -> None:
    rows = [BEGIN, BEGIN | {"response": 'He said "two\tmoons".'}]
    with (tmp_path / "dev.tsv").open("w", newline="", encoding="utf-8") as sink:
        writer = csv.DictWriter(sink, rows[0], delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    expected, _, _ = read("begin", *rows)
    assert list(import_records("begin", tmp_path / "dev.tsv", [], Counter())) == expected
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "dev.parquet")
    assert list(import_records("begin", tmp_path / "dev.parquet", [], Counter())) == expected
