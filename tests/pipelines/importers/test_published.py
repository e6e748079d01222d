"""`ufo import`: rows of published formats become records, as published.yaml has them."""

import csv
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from tests.pipelines.conftest import ends, ufo, write_lines
from ufo.pipelines.importers import import_records
from ufo.schemas.errors import UsageError
from ufo.schemas.records import InputRecord
from ufo.transforms.read import parse

CASES = yaml.safe_load(Path(__file__).with_name("published.yaml").read_text(encoding="utf-8"))
ROWS = {case["kind"]: case["rows"][:1] for case in reversed(CASES)}


def write(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_lines(path, rows)


def read(kind: str, path: Path) -> list[Any]:
    return list(import_records(kind, path, [], Counter()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kind']}: {case['what']}")
def test_rows_become_records_that_evaluate_takes(tmp_path: Path, case: Any) -> None:
    path = write(tmp_path / case.get("file", "dev.jsonl"), case["rows"])
    problems: list[str] = []
    left_out: Counter[str] = Counter()
    records = list(import_records(case["kind"], path, problems, left_out))
    assert [record["id"] for record in records] == [record["id"] for record in case["records"]]
    assert {record["id"]: record for record in records} == {
        record["id"]: record for record in case["records"]
    }
    assert [said.removeprefix(f"{path.parent}/") for said in problems] == case.get("told", [])
    assert left_out == case.get("left_out", {})
    unknown: list[Any] = []
    for record in map(json.dumps, records):
        parsed = parse("x:1", record.encode(), unknown=unknown.append)
        assert isinstance(parsed, InputRecord)
        assert unknown == []


def test_tables_are_read_too(tmp_path: Path) -> None:
    rows = [ROWS["begin"][0], ROWS["begin"][0] | {"response": 'He said "two\tmoons".'}]
    with (tmp_path / "dev.tsv").open("w", newline="", encoding="utf-8") as sink:
        writer = csv.DictWriter(sink, rows[0], delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "dev.parquet")
    first = read("begin", write(tmp_path / "dev.jsonl", rows))
    assert [read("begin", tmp_path / f"dev.{form}") for form in ("tsv", "parquet")] == [first] * 2


OTHERS = {
    "another data set": (
        "factscore",
        ROWS["factcheck_gpt"],
        "none of 1 record .*:1: expected `output`, found on",
    ),
    "no file of this project": ("ufo", ROWS["factcheck_gpt"], "is of another format"),
    "a field is missing": ("begin", ROWS["factcheck_gpt"], "expected `knowledge`"),
    "no answers": ("expertqa", [ROWS["expertqa"][0] | {"answers": {}}], "questions only"),
    "no records": ("factscore", [], "has no records"),
    "a misspelt format": (
        "factscor",
        ROWS["factscore"],
        "unknown format 'factscor'.*Did you mean 'factscore'",
    ),
}


@pytest.mark.parametrize(("kind", "rows", "message"), OTHERS.values(), ids=OTHERS)
def test_a_file_of_another_format_is_one_error(
    tmp_path: Path, kind: str, rows: list[Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read(kind, write(tmp_path / "dev.jsonl", rows))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    packed, binary = tmp_path / "M.jsonl.gz", tmp_path / "x.jsonl"
    packed.write_bytes(gzip.compress(write(tmp_path / "M", ROWS["factscore"]).read_bytes()))
    assert {record["model"] for record in read("factscore", packed)} == {"M"}
    packed.write_bytes(packed.read_bytes()[:-12])
    binary.write_bytes(b"\xff\xfd\x00\n{\n")
    for path in (tmp_path, tmp_path / "missing.jsonl", packed, binary):
        message = "none of 2 records" if path == binary else "cannot read"
        with pytest.raises(UsageError, match=message):
            read("factscore", path)


def test_the_command_writes_records_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    source, target = tmp_path / "M.jsonl", tmp_path / "out.jsonl"
    row = {"input": "Who was Ada?", "output": "Adá 🙂.", "annotations": None}
    source.write_text(json.dumps(row) + "\n\n" + "{}\n", encoding="utf-8")
    done = ufo("import", "factscore", source)
    assert done.code == 0
    assert done.json["response"] == "Adá 🙂."
    assert f"left out {source}:3: expected `output`" in done.err
    assert done.err.endswith("1 record, 1 left out\n")
    outcome = ufo("import", "factscore", source, "--output", target)
    assert outcome.code == 0
    assert outcome.out == ""
    assert target.read_text(encoding="utf-8") == done.out
    # One that fails leaves what was there.
    source.write_text("{}\n")
    for place, message in ((target, "none of 1 record"), (tmp_path / "no" / "x", "cannot write")):
        assert message in ends(2, "import", "factscore", source, "--output", place).err
    assert target.read_text(encoding="utf-8") == done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["M.jsonl", "out.jsonl"]


# --- words for labels, names of files


TEXT_AND_EVIDENCE = {
    "wice": ("claim", "evidence", "label"),
    "begin": ("response", "knowledge", "begin_label"),
    "fool_me_twice": ("text", "gold_evidence", "label"),
    "fever": ("claim", "evidence", "label"),
}


@pytest.mark.parametrize(
    ("kind", "word", "label"),
    [
        ("wice", "supported", True),
        ("wice", "not_supported", False),
        ("wice", "partially_supported", 0.5),
        ("begin", "Fully attributable", True),
        ("begin", "Not fully attributable", False),
        ("begin", "Generic", None),
        ("fool_me_twice", "SUPPORTS", True),
        ("fool_me_twice", " refutes ", False),
        ("fever", "SUPPORTS", True),
        ("fever", "REFUTES", False),
        ("fever", "NOT ENOUGH INFO", None),
    ],
)
def test_a_word_for_a_label(tmp_path: Path, kind: str, word: str, label: float | None) -> None:
    text, evidence, name = TEXT_AND_EVIDENCE[kind]
    path = write(tmp_path / "x.jsonl", [{text: "A text.", evidence: "Some.", name: word}])
    (record,) = read(kind, path)
    assert record.get("label") == label


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("Definitely correct", True),
        ("Probably correct", True),
        ("Likely incorrect", False),
        ("Definitely incorrect", False),
        ("Unsure", None),
    ],
)
def test_an_experts_words_for_a_claim(tmp_path: Path, words: str, label: bool | None) -> None:
    claim = {"claim_string": "A claim.", "correctness": words}
    row = {"question": "Q?", "answers": {"m": {"answer_string": "A.", "claims": [claim]}}}
    (record,) = read("expertqa", write(tmp_path / "x.jsonl", [row]))
    assert record["claims"][0].get("label") == label
    assert record.get("label") == (None if label is None else float(label))


@pytest.mark.parametrize("label", [0, 1, -0.001, 1.001, "1", None])
def test_a_label_of_the_demo_system_is_from_0_to_1(tmp_path: Path, label: Any) -> None:
    path = write(tmp_path / "x.jsonl", [{"response": "A.", "label": label}])
    if label in (0, 1, None):
        assert read("ufo", path)[0].get("label") == label
    else:
        with pytest.raises(UsageError, match="expected `label` to be from 0 to 1"):
            read("ufo", path)


@pytest.mark.parametrize("name", ["claims", "sentences", "begin_label"])
def test_a_field_of_another_format_is_not_lost(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "x.jsonl", [{"response": "A.", name: []}])
    with pytest.raises(UsageError, match=f"`{name}` is of another format, and would be left out"):
        read("ufo", path)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        *((f"{plain}.jsonl", "folder") for plain in ("test", "train", "dev", "data", "result")),
        ("M.v2.jsonl", "M"),
        ("testing.jsonl", "testing"),
    ],
)
def test_a_model_is_named_after_its_file_or_folder(tmp_path: Path, name: str, model: str) -> None:
    path = write(tmp_path / "folder" / name, [{"input": "Who?", "output": "A."}])
    assert read("factscore", path)[0]["model"] == model


@pytest.mark.parametrize("word", ["yes", " NO ", "maybe"])
def test_whether_there_is_a_hallucination_is_yes_or_no(tmp_path: Path, word: str) -> None:
    row = {"chatgpt_response": "A.", "user_query": "Q?", "hallucination": word}
    path = write(tmp_path / "x.jsonl", [row])
    if word == "maybe":
        with pytest.raises(UsageError, match="expected `hallucination` to be yes or no"):
            read("halueval", path)
    else:
        assert read("halueval", path)[0]["label"] == (word == " NO ")
