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

from ufo.pipelines.importers import IMPORTERS, import_records
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
FELM = {
    "index": "4",
    "source": "written",
    "prompt": "Tell me of Mars.",
    "response": "Mars has two moons. It is blue. It is a planet.",
    "segmented_response": ["Mars has two moons.", "It is  blue.", "Something else."],
    "labels": [True, False, True],
    "comment": ["", "It is red.", ""],
    "type": [None, "knowledge_error", None],
    "ref": ["https://example.org/mars"],
}
RAGTRUTH = {
    "id": "12",
    "source_id": "7",
    "model": "a-model",
    "temperature": 0.7,
    "labels": [
        {"start": 9, "end": 14, "text": "three", "label_type": "Evident Conflict"},
        {"start": 0, "end": 4, "text": "Mars", "label_type": "x", "implicit_true": True},
    ],
    "split": "test",
    "quality": "good",
    "response": "Mars has three moons.",
}
SOURCE = {
    "source_id": "7",
    "task_type": "QA",
    "source": "MARCO",
    "source_info": {
        "question": "How many moons has Mars?",
        "passages": "passage 1:Mars has two moons.\n\npassage 2:They are small.\n\n",
    },
    "prompt": "…",
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
LLM_AGGREFACT = {"dataset": "One", "doc": "Mars has two moons.", "claim": "It has.", "label": 1}
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
    "felm": FELM,
    "ragtruth": RAGTRUTH,
    "expertqa": EXPERTQA,
    "llm_aggrefact": LLM_AGGREFACT,
    "wice": WICE,
    "begin": BEGIN,
    "fool_me_twice": FOOL_ME_TWICE,
    "fever": FEVER,
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
        return list(import_records(kind, path, pytest.fail, left_out)), left_out

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


def test_felm_labels_stretches_and_counts_those_that_are_not_there(read: Read) -> None:
    (record,), left_out = read("felm", FELM)
    assert record["sentence_labels"] == [
        {"start": 0, "end": 19, "label": True},
        {"start": 20, "end": 31, "label": False},
    ]
    assert (record["label"], record["metadata"]["ref"]) == (False, FELM["ref"])
    assert left_out == {"labels of stretches that are not in the response": 1}


def test_ragtruth_with_its_sources(read: Read, tmp_path: Path) -> None:
    (tmp_path / "source_info.jsonl").write_text(json.dumps(SOURCE), encoding="utf-8")
    misplaced = RAGTRUTH | {"labels": [{"start": 5, "end": 99, "text": "x"}]}
    right = RAGTRUTH | {"labels": []}
    (record, other, last), left_out = read("ragtruth", RAGTRUTH, misplaced, right)
    assert record["spans"] == [{"start": 9, "end": 14, "label": "Evident Conflict"}]
    assert record["reference_answers"] == ["Mars has two moons.", "They are small."]
    assert record["question"] == "How many moons has Mars?"
    assert (record["label"], record["metadata"]["task"]) == (False, "QA")
    assert ("spans" in other, other["label"]) == (False, False)
    assert (last["spans"], last["label"]) == ([], True)
    assert left_out == {
        "spans that are right (implicit_true)": 1,
        "labels of stretches that are not in the response": 1,
    }


@pytest.mark.parametrize(
    ("source", "references"),
    [("An article.", ["An article."]), ({"name": "Café"}, ['{"name": "Café"}']), (None, [])],
)
def test_other_sources_of_ragtruth(
    read: Read, tmp_path: Path, source: Any, references: list[str]
) -> None:
    path = tmp_path / "source_info.jsonl"
    if source is not None:
        path.write_text(json.dumps(SOURCE | {"source_info": source}), encoding="utf-8")
    (record,), left_out = read("ragtruth", RAGTRUTH)
    assert record["reference_answers"] == references
    assert any("none in source_info.jsonl" in what for what in left_out) == (source is None)


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
    with pytest.raises(UsageError, match="questions alone"):
        read("expertqa", EXPERTQA | {"answers": {}})


@pytest.mark.parametrize(
    ("kind", "row", "expected"),
    [
        (
            "llm_aggrefact",
            LLM_AGGREFACT,
            {"dataset": "One", "label": True, "claims": [{"claim": "It has.", "label": True}]},
        ),
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
def test_a_file_is_refused_by_the_name_of_what_it_is(read: Read, kind: str) -> None:
    assert read(kind, ROWS[kind])[0]
    for other in IMPORTERS.keys() - {kind}:
        with pytest.raises(UsageError, match=f"looks like {kind}: ufo import {kind}"):
            read(other, ROWS[kind])


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        ("fever", FEVER | {"gold_label": "maybe"}, "expected a label of supports, refutes"),
        ("felm", FELM | {"labels": [True]}, "one of `labels` for each segment, found 1 for 3"),
        ("halueval", GENERAL | {"hallucination": "perhaps"}, "to be yes or no"),
        ("factool", FACTOOL | {"claims": ["x"]}, "`claims` to hold objects, found text"),
        ("wice", {"text": "x"}, "expected `claim`, found only: text"),
    ],
)
def test_what_an_object_lacks_is_said(read: Read, kind: str, row: Row, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(kind, row)


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
    assert list(import_records("begin", tmp_path / "dev.tsv", pytest.fail, Counter())) == expected
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "dev.parquet")
    assert (
        list(import_records("begin", tmp_path / "dev.parquet", pytest.fail, Counter())) == expected
    )
