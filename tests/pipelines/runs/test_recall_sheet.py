"""The sheet for people: written by --facts_only, edited, and read back as input."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ufo as interface
from tests.pipelines.llm_runs import at, rows

Ufo = Callable[..., Any]

RECORDS = [
    {
        "id": "o",
        "question": 'Where is "Oslo"?',
        "answer": "Oslo is in Norway. Oslo has 5 bridges.",
        "answers": {"rag": "Oslo is in Norway,\nsays it.", "bare": "No.", "silent": ""},
    },
    {
        "id": "é",
        "question": "What's Bonn?",
        "ground_truth": "Bonn isn't small.",
        "facts": ['Bonn isn\'t "small"\n, 😀 at all.'],
        "answers": {"rag": "Bonn is large."},
    },
]


@pytest.fixture
def sheet(ufo: Ufo, tmp_path: Path, write_lines: Any) -> Path:
    path = write_lines(tmp_path / "in.jsonl", RECORDS)
    done = ufo("recall", "--input", path, "--output", tmp_path / "facts", "--facts_only")
    assert done.code == 0, done.err
    found = tmp_path / "facts" / "facts.csv"
    assert str(found) in done.out
    return found


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write(path: Path, lines: list[dict[str, str]], delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(lines[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(lines)


def test_the_sheet_has_wikievalfacts_columns(sheet: Path) -> None:
    first, second = read(sheet)
    labels = "human_evaluated_facts_"
    assert list(first) == [
        *("unique_id", "question", "answer", "bare", "rag", "silent", "gt_facts"),
        *(f"{labels}bare", f"{labels}rag", f"{labels}silent"),
    ]
    assert first["gt_facts"] == "['Oslo is in Norway.', 'Oslo has 5 bridges.']"
    assert first[f"{labels}rag"] == "{'Oslo is in Norway.': None, 'Oslo has 5 bridges.': None}"
    assert (second["rag"], second[f"{labels}bare"]) == ("Bonn is large.", "")


def test_what_was_written_is_what_is_read_back(sheet: Path, ufo: Ufo, tmp_path: Path) -> None:
    assert ufo("recall", "--input", sheet, "--output", tmp_path / "back").code == 0
    for table in ("recall_answers", "recall_facts"):
        assert rows(tmp_path / "back", f"SELECT * EXCLUDE (run) FROM {table} ORDER BY ALL") == rows(
            tmp_path / "facts", f"SELECT * EXCLUDE (run) FROM {table} ORDER BY ALL"
        )
    found = rows(tmp_path / "back", "SELECT record_id, ground_truth FROM recall_records")
    assert {row["record_id"]: row["ground_truth"] for row in found} == {
        "o": RECORDS[0]["answer"],
        "é": RECORDS[1]["ground_truth"],
    }
    assert rows(tmp_path / "back", "FROM recall_errors") == []


def test_what_people_write_into_it_counts(sheet: Path, ufo: Ufo, tmp_path: Path) -> None:
    lines = read(sheet)
    label = "human_evaluated_facts_rag"
    # One marked true, one marked false in other words for True and False, one fact of their own.
    lines[0][label] = (
        "{'Oslo is in Norway.': True, 'Oslo has 5 bridges.': 'False', \"Oslo's old.\": false}"
    )
    write(sheet, lines)
    done = ufo("recall", "--input", sheet, "--output", tmp_path / "back", "--json")
    assert done.code == 0, done.err
    people = [row for row in done.json["recall_scores"] if row["formulation"] == "human"]
    assert [(row["variant"], row["n_true"], row["n_false"]) for row in people] == [("rag", 1, 2)]
    (error,) = done.json["recall_errors"]
    assert (error["n_labelled"], error["n_false"], error["error_rate"]) == (3, 2, 0)
    # A second sheet keeps what they wrote.
    again = tmp_path / "again"
    assert ufo("recall", "--input", sheet, "--output", again, "--facts_only").code == 0
    assert read(again / "facts.csv")[0][label] == (
        "{'Oslo is in Norway.': 'True', 'Oslo has 5 bridges.': 'False', \"Oslo's old.\": 'False'}"
    )


def test_an_annotated_sheet_is_not_overwritten(sheet: Path, ufo: Ufo, tmp_path: Path) -> None:
    sheet.write_text("annotated")
    source = ("--input", tmp_path / "in.jsonl", "--output", sheet.parent)
    done = ufo("recall", *source, "--facts_only")
    assert done.code == 2
    assert "facts.csv" in done.err
    assert sheet.read_text() == "annotated"


def test_an_answer_that_is_not_the_ground_truth_has_a_column_of_its_own(
    ufo: Ufo, tmp_path: Path, write_lines: Any
) -> None:
    record = {"question": "Q?", "ground_truth": "Oslo is in Norway.", "answer": "It is in Sweden."}
    path = write_lines(tmp_path / "in.jsonl", [record])
    assert ufo("recall", "--input", path, "--output", tmp_path / "o", "--facts_only").code == 0
    (row,) = read(tmp_path / "o" / "facts.csv")
    assert (row["ground_truth"], row["answer"]) == (record["ground_truth"], record["answer"])
    assert ufo("recall", "--input", tmp_path / "o/facts.csv", "--output", tmp_path / "p").code == 0
    assert rows(tmp_path / "p", "SELECT variant, text FROM recall_answers") == [
        {"variant": "answer", "text": "It is in Sweden."}
    ]


def test_a_sheet_without_answers_waits_for_them(ufo: Ufo, tmp_path: Path, write_lines: Any) -> None:
    path = write_lines(tmp_path / "in.jsonl", [{"question": "Q?", "answers": {}, "facts": ["F."]}])
    assert ufo("recall", "--input", path, "--output", tmp_path / "o", "--facts_only").code == 0
    (row,) = read(tmp_path / "o" / "facts.csv")
    assert list(row) == ["unique_id", "question", "ground_truth", "gt_facts"]
    assert ufo("recall", "--input", tmp_path / "o/facts.csv", "--output", tmp_path / "p").code == 0
    (failure,) = rows(tmp_path / "p", "FROM failures")
    assert (failure["step"], failure["error_type"]) == ("recall", "no_answers")
    write(tmp_path / "o/facts.csv", [{**row, "rag_answer": "F."}])
    assert ufo("recall", "--input", tmp_path / "o/facts.csv", "--output", tmp_path / "p").code == 0
    assert rows(tmp_path / "p", "SELECT variant FROM recall_answers") == [{"variant": "rag_answer"}]


def test_facts_are_generated_by_the_model_alone(
    ufo: Ufo, tmp_path: Path, write_lines: Any, llm_server: Any
) -> None:
    path = write_lines(tmp_path / "in.jsonl", [*RECORDS, {"question": "Q?", "ground_truth": "No."}])
    done = ufo(
        *("recall", "--input", path, "--output", tmp_path / "out", "--facts_only", "--json"),
        *at(llm_server),
    )
    assert done.code == 0, done.err
    assert (done.json["records"], done.json["failures"]) == (3, 0)
    # A question whose answers are still to come has facts too.
    assert {entry.step for entry in llm_server.chats} == {"probe", "generate_facts"}
    assert len([entry for entry in llm_server.chats if entry.step == "generate_facts"]) == 2
    assert Path(done.json["sheet"]).exists()


# --- files ----------------------------------------------------------------------------------------


def wiki_rows() -> list[dict[str, str]]:
    return [
        {
            "unique_id": str(number),
            "question": f"Where is city {number}?",
            "answer": f"City {number} is in Norway.",
            "ungrounded_answer": f"City {number} is in Sweden.",
            "poor_answer": 'It is far,\n"far" away.',
            "human_evaluated_facts_answer": f"{{'City {number} is in Norway': 'True'}}",
            "human_evaluated_facts_ungrounded_answer": f"{{'City {number} is in Norway': 'False'}}",
            "human_evaluated_facts_poor_answer": f"{{'City {number} is in Norway': 'False'}}",
        }
        for number in range(3)
    ]


def test_wikievalfacts_is_read_from_csv_and_parquet(ufo: Ufo, tmp_path: Path) -> None:
    lines = wiki_rows()
    lines[1]["human_evaluated_facts_answer"] = "open('/etc/passwd').read()"
    # As pandas writes it, with an index that has no name.
    write(tmp_path / "w.csv", [{"": str(at), **line} for at, line in enumerate(lines)])
    write(tmp_path / "semicolons.csv", lines, ";")
    pq.write_table(pa.Table.from_pylist(lines), tmp_path / "w.parquet")
    scores = []
    for name in ("w.csv", "semicolons.csv", "w.parquet"):
        output = tmp_path / name.replace(".", "-")
        done = ufo("recall", "--input", tmp_path / name, "--output", output, "--json")
        assert done.code == 0, done.err
        scores.append(done.json["recall_scores"])
        (failure,) = rows(output, "SELECT key, message FROM failures")
        assert failure["key"] == f"{name}:2"
        assert "`human_evaluated_facts_answer` cannot be read" in failure["message"]
    assert scores[0] == scores[1] == scores[2]
    people = {row["variant"]: row["accuracy"] for row in scores[0] if row["formulation"] == "human"}
    assert people == {"answer": 1, "ungrounded_answer": 0, "poor_answer": 0}


def test_structures_of_parquet_have_the_facts_of_their_row_alone(ufo: Ufo, tmp_path: Path) -> None:
    records = [
        {
            "question": f"Where is city {number}?",
            "answers": {"rag": "It is in Norway.", f"other{number}": "It is in Sweden."},
            "human_evaluated_facts_rag": {f"City {number} is in Norway.": True},
        }
        for number in range(2)
    ]
    # The type of each column has the fields of all rows, which are NULL in the others.
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "in.parquet")
    assert ufo("recall", "--input", tmp_path / "in.parquet", "--output", tmp_path / "o").code == 0
    assert rows(tmp_path / "o", "FROM failures") == []
    found = rows(tmp_path / "o", "SELECT n_facts, n_answers FROM recall_records")
    assert found == [{"n_facts": 1, "n_answers": 2}] * 2


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"question,question\na,b\n", 2, "a column is named twice"),
        (b"question,answer\n", 1, "there is nothing to recall"),
    ],
)
def test_a_file_that_is_no_csv_or_empty(
    ufo: Ufo, tmp_path: Path, content: bytes, code: int, message: str
) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(content)
    done = ufo("recall", "--input", path, "--output", tmp_path / "out")
    assert done.code == code
    assert message in done.err


def test_rows_that_do_not_fit_the_header_are_failures(ufo: Ufo, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(
        "question,ground_truth,answer\nQ?,T.,A.,more\nQ?\nQ?,Oslo is old.,Oslo is old.\n"
        'Q?,caf\udce9,A.\n"Q?" x,T.,A.\n"Q?,T.,A.\n',
        errors="surrogateescape",
    )
    assert ufo("recall", "--input", path, "--output", tmp_path / "out").code == 0
    found = rows(tmp_path / "out", "SELECT message FROM failures ORDER BY key")
    assert [row["message"].split(",")[0] for row in found] == [
        "the row has more cells than the header has columns",
        "there is no ground truth to take facts from: give `ground_truth` (or `answer`)",
        "not UTF-8: byte 40 of the record is invalid",
        "not CSV: line 6: '",
        "not CSV: line 7: unexpected end of data",
    ]


def test_the_same_from_python() -> None:
    found = interface.recall(RECORDS, judge="offline", quiet=True)
    assert found.facts.num_rows == 3
    assert set(found.scores["formulation"].to_pylist()) == {"offline"}
    assert found.verdicts.num_rows == 2 * 3 + 1
    assert (found.errors.num_rows, found.cost.num_rows, found.failures.num_rows) == (0, 1, 0)
    path = Path(found.path)
    assert json.loads((path / "manifest.json").read_text())["mode"] == "recall"
    found.close()
    assert not path.exists()
    with pytest.raises(interface.UsageError, match=r"records\[0\]"):
        interface.recall([{"question": object()}], judge="offline")
    with pytest.raises(interface.UsageError, match="formulation 'x'"):
        interface.recall(RECORDS, formulations=["tf", "x"], base_url="http://127.0.0.1:9/v1")
