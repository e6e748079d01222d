"""The sheet for people: written by --facts_only, edited, and read back as input."""

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ufo as interface
from tests.pipelines.conftest import ufo, write_lines
from tests.pipelines.llm_runs import rows

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
def sheet(tmp_path: Path) -> Path:
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


def test_the_sheet_is_read_back_as_it_was_written(sheet: Path, tmp_path: Path) -> None:
    first, second = read(sheet)
    labels = "human_evaluated_facts_"
    assert list(first) == [
        *("unique_id", "question", "answer", "bare", "rag", "silent", "gt_facts"),
        *(f"{labels}bare", f"{labels}rag", f"{labels}silent"),
    ]
    assert first["gt_facts"] == "['Oslo is in Norway.', 'Oslo has 5 bridges.']"
    assert first[f"{labels}rag"] == "{'Oslo is in Norway.': None, 'Oslo has 5 bridges.': None}"
    assert (second["rag"], second[f"{labels}bare"]) == ("Bonn is large.", "")
    assert ufo("recall", "--input", sheet, "--output", tmp_path / "back").code == 0
    for table in ("recall_answers", "recall_facts"):
        query = f"SELECT * EXCLUDE (run) FROM {table} ORDER BY ALL"
        assert rows(tmp_path / "back", query) == rows(tmp_path / "facts", query)
    found = rows(tmp_path / "back", "SELECT record_id, ground_truth FROM recall_records")
    assert {row["record_id"]: row["ground_truth"] for row in found} == {
        "o": RECORDS[0]["answer"],
        "é": RECORDS[1]["ground_truth"],
    }
    assert rows(tmp_path / "back", "FROM recall_errors") == []


def test_what_people_write_into_it_counts(sheet: Path, tmp_path: Path) -> None:
    lines = read(sheet)
    label = "human_evaluated_facts_rag"
    # One marked true, one marked false in other words for True and False, one fact of their own.
    said = "{'Oslo is in Norway.': True, 'Oslo has 5 bridges.': 'False', \"Oslo's old.\": false}"
    lines[0][label] = said
    write(sheet, lines)
    done = ufo("recall", "--input", sheet, "--output", tmp_path / "back", "--json")
    assert done.code == 0, done.err
    people = [row for row in done.json["recall_scores"] if row["formulation"] == "human"]
    assert [(row["variant"], row["n_true"], row["n_false"]) for row in people] == [("rag", 1, 2)]
    (error,) = done.json["recall_errors"]
    assert (error["n_labelled"], error["n_false"], error["error_rate"]) == (3, 2, 0)
    # A second sheet keeps what they wrote, and does not write over the first.
    again = tmp_path / "again"
    assert ufo("recall", "--input", sheet, "--output", again, "--facts_only").code == 0
    kept = said.replace(": True", ": 'True'").replace(": false", ": 'False'")
    assert read(again / "facts.csv")[0][label] == kept
    refused = ufo("recall", "--input", sheet, "--output", sheet.parent, "--facts_only")
    assert (refused.code, "facts.csv" in refused.err) == (2, True)
    assert read(sheet)[0][label] == said


def test_a_sheet_without_answers_waits_for_them(tmp_path: Path) -> None:
    record = {"question": "Q?", "ground_truth": "Oslo is in Norway.", "answer": "It is in Sweden."}
    path = write_lines(tmp_path / "in.jsonl", [record])
    assert ufo("recall", "--input", path, "--output", tmp_path / "n", "--facts_only").code == 0
    (row,) = read(tmp_path / "n" / "facts.csv")
    assert (row["ground_truth"], row["answer"]) == (record["ground_truth"], record["answer"])
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


# --- files ----------------------------------------------------------------------------------------


def test_wikievalfacts_is_read_from_csv_and_parquet(tmp_path: Path) -> None:
    lines = [
        {
            "unique_id": str(n),
            "question": f"Where is city {n}?",
            "answer": f"City {n} is in Norway.",
            "poor_answer": 'It is far,\n"far" away.',
            "human_evaluated_facts_answer": f"{{'City {n} is in Norway': 'True'}}",
            "human_evaluated_facts_poor_answer": f"{{'City {n} is in Norway': 'False'}}",
        }
        for n in range(3)
    ]
    lines[1]["human_evaluated_facts_answer"] = "open('/etc/passwd').read()"
    # As pandas writes it, with an index that has no name.
    write(tmp_path / "w.csv", [{"": str(at), **line} for at, line in enumerate(lines)])
    write(tmp_path / "semicolons.csv", lines, ";")
    pq.write_table(pa.Table.from_pylist(lines), tmp_path / "w.parquet")
    for name in ("w.csv", "semicolons.csv", "w.parquet"):
        output = tmp_path / name.replace(".", "-")
        done = ufo("recall", "--input", tmp_path / name, "--output", output, "--json")
        assert done.code == 0, done.err
        (failure,) = rows(output, "SELECT key, message FROM failures")
        assert failure["key"] == f"{name}:2"
        assert "`human_evaluated_facts_answer` cannot be read" in failure["message"]
        found = [row for row in done.json["recall_scores"] if row["formulation"] == "human"]
        assert {row["variant"]: row["accuracy"] for row in found} == {"answer": 1, "poor_answer": 0}


def test_rows_that_do_not_fit_the_header_are_failures(tmp_path: Path) -> None:
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
    for content, code, message in (
        ("question,question\na,b\n", 2, "a column is named twice"),
        ("question,answer\n", 1, "there is nothing to recall"),
    ):
        path.write_text(content)
        done = ufo("recall", "--input", path, "--output", tmp_path / "out")
        assert (done.code, message in done.err) == (code, True)


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
