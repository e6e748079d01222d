"""`ufo recall` with a model behind real HTTP and offline, its runs, and the sheet for people."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ufo as interface
from tests.llm_server import LlmServer, faults
from tests.pipelines.conftest import (
    ends,
    evaluation,
    ok,
    read_csv,
    tables,
    ufo,
    write_csv,
    write_lines,
)
from tests.pipelines.llm_runs import EXAMPLE, rows
from ufo.schemas.results import open_results
from ufo.schemas.tables import OF_RECALL
from ufo.schemas.views import load_views

Ufo = Callable[..., Any]
FIVE = ("prompt", "tf", "tf+citation", "tfn", "tfn+citation")
# By hand from the example: (variant, facts, true) as its labels have it, where there are any.
PEOPLE = [("no_context", 6, 2), ("poor", 6, 0), ("rag", 6, 5)]


def labels(output: Path, formulation: str) -> list[dict[str, Any]]:
    query = "SELECT record_id, variant, fact_id, label FROM recall_verdicts WHERE formulation = "
    return rows(output, f"{query}'{formulation}' ORDER BY ALL")


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example recalled without a model."""
    output = tmp_path_factory.mktemp("offline")
    done = ok("recall", "--input", EXAMPLE, "--output", output, "--judge", "offline")
    assert "Judging offline" in done.err
    return output


# --- the five formulations in one run -------------------------------------------------------------


def test_five_formulations_are_compared_in_one_run(
    recall: Ufo, server: LlmServer, tmp_path: Path, offline: Path
) -> None:
    done = recall(tmp_path, "--json")
    assert done.json["records"] == 3
    assert done.json["facts"] == 8
    assert done.json["failures"] == 0
    # The model answers as the offline judge does, so every formulation says what that one says.
    expected = labels(offline, "offline")
    assert {row["label"] for row in expected} == {0, 1}
    for formulation in FIVE:
        assert labels(tmp_path, formulation) == expected
    steps = Counter(entry.step for entry in server.chats if entry.step != "probe")
    # One call for facts that are not given; one an answer for each function, one a fact by prompt.
    assert steps == {"generate_facts": 1, "fact_checker": 9 * 4, "prompt": 8 * 3}
    people = [row for row in done.json["recall_scores"] if row["formulation"] == "human"]
    assert [(row["variant"], row["n_facts"], row["n_true"]) for row in people] == PEOPLE
    costs = {row["formulation"]: row for row in done.json["recall_cost"]}
    expected_calls: dict[str | None, int] = {**dict.fromkeys(FIVE, 9), "prompt": 24, None: 1}
    assert {name: row["n_calls"] for name, row in costs.items()} == expected_calls
    sent = sum(entry.prompt_tokens for entry in server.chats if entry.step != "probe")
    assert sum(row["prompt_tokens"] for row in costs.values()) == sent
    assert costs["tf"]["completion_tokens"] < costs["tf+citation"]["completion_tokens"]


TAKEN = [
    "formulation",
    "n_calls",
    "calls_per_answer",
    "prompt_tokens",
    "completion_tokens",
    "cold_usd",
]


def test_a_cached_run_tells_what_a_cold_one_takes(recall: Ufo, tmp_path: Path) -> None:
    cache = ("--cache", tmp_path / "answers.sqlite", "--json")
    cold, warm = (recall(tmp_path / name, *cache).json["recall_cost"] for name in ("cold", "warm"))
    assert [[row[name] for name in TAKEN] for row in warm] == [
        [row[name] for name in TAKEN] for row in cold
    ]
    assert {row["n_requests"] for row in warm} == {0}
    assert 0 not in {row["n_requests"] for row in cold}


def test_as_published_is_one_attempt_by_the_papers_prompts(recall: Ufo, tmp_path: Path) -> None:
    flags = ("--as_published", "--repairs", 0, "--formulations", "prompt,tfn+citation+xml")
    done = recall(tmp_path, "--json", *flags)
    assert done.json["facts"] == 8
    assert done.json["failures"] == 0
    assert labels(tmp_path, "prompt") == labels(tmp_path, "tfn+citation+xml") != []
    errors = done.json["recall_errors"]
    variants = ("no_context", "poor", "rag")
    # By hand: overlap agrees with all labels of people.
    assert {(row["variant"], row["n_labelled"]) for row in errors} == {(v, 6) for v in variants}
    assert {(row["error_rate"], row["f1_false"]) for row in errors} == {(0, 1)}


def same_but_requests(*outputs: Path) -> None:
    """Runs found the same; the last column of a verdict is the id of its request."""
    rows_by_table, expected = (tables(output) for output in outputs)
    for table in ("recall_records", "recall_answers", "recall_facts"):
        assert rows_by_table[table] == expected[table] != []
    without_ids = [
        [row[:-1] for row in one["recall_verdicts"]] for one in (rows_by_table, expected)
    ]
    assert without_ids[0] == without_ids[1] != []


@pytest.mark.slow
def test_a_run_of_several_processes_and_chunks_is_the_same(recall: Ufo, tmp_path: Path) -> None:
    flags = ("--formulations", "tfn,prompt", "--chunk_size", 1, "--workers", 2)
    recall(tmp_path / "many", *flags)
    recall(tmp_path / "one", "--formulations", "tfn,prompt")
    same_but_requests(tmp_path / "many", tmp_path / "one")


@pytest.mark.parametrize(
    ("flags", "calls", "na"),
    [((), 2, 0), (("--repairs", 0), 1, 2)],
    ids=["repaired", "one attempt"],
)
def test_what_the_first_reply_left_out_is_counted(
    recall: Ufo, server: LlmServer, tmp_path: Path, flags: tuple[object, ...], calls: int, na: int
) -> None:
    # A record whose two facts are labelled, the second false.
    facts = [
        {"fact": "Oslo is in Norway.", "labels": {"rag": True}},
        {"fact": "Oslo is small.", "labels": {"rag": False}},
    ]
    text = "Oslo is in Norway."
    record = {"id": "oslo", "question": "Where is Oslo?", "ground_truth": text, "facts": facts}
    path = write_lines(tmp_path / "given.jsonl", [{**record, "answers": {"rag": text}}])
    recall(tmp_path / "warm", "--formulations", "tf", source=path)
    server.requests.clear()
    probes = rows(tmp_path / "warm", "FROM usage WHERE step = 'probe'")
    server.faults.extend([*[None] * len(probes), faults.missing_arguments()])
    words = ("--formulations", "tf", "--json", *flags)
    done = recall(tmp_path / "out", *words, source=path, code=bool(na))  # 1: none was usable
    server.faults.clear()
    assert len([entry for entry in server.chats if entry.step == "fact_checker"]) == calls
    (error,) = done.json["recall_errors"]
    assert error["n_na"] == na
    assert error["n_na_before_repair"] == 2
    assert error["error_rate"] == (None if na else 0)
    assert error["error_rate_with_na"] == na / 2
    (score,) = (row for row in done.json["recall_scores"] if row["formulation"] == "tf")
    assert score["n_calls"] == 1
    assert score["n_failed_calls_before_repair"] == 1
    assert done.json["failures"] == bool(na)
    selected = rows(tmp_path / "out", "SELECT * FROM failures")
    assert [(row["step"], row["key"]) for row in selected] == [("verify", "oslo/rag/tf")] * bool(na)


# --- runs: resume, skip, report -------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_by_the_same_command(
    recall: Ufo, server: LlmServer, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(json.dumps({"offline-judge": {"input": 10, "output": 40}}))
    flags = (
        "--formulations",
        "tfn",
        "--run",
        "r",
        "--chunk_size",
        1,
        "--prices",
        prices,
        "--cache",
        tmp_path / "cache.sqlite",
    )
    whole = recall(tmp_path / "whole", *flags, "--cache", "off", "--json")
    cost = sum(row["cost_usd"] for row in whole.json["recall_cost"])
    calls = sum(entry.step != "probe" for entry in server.chats)
    server.requests.clear()
    stopped = recall(tmp_path / "out", *flags, "--max_cost", 0.7 * cost, code=4)
    assert "higher --max_cost" in stopped.err
    assert not (tmp_path / "out/run=r/manifest.json").exists()
    recall(tmp_path / "out", *flags, "--max_cost", 10 * cost)
    assert sum(entry.step != "probe" for entry in server.chats) == calls
    same_but_requests(tmp_path / "out", tmp_path / "whole")


@pytest.mark.slow
def test_reports_and_sql_read_recall_runs_beside_others(tmp_path: Path) -> None:
    text = "Oslo is in Norway."
    evaluated = evaluation(tmp_path, [{"response": text, "reference_answers": [text]}])
    output = tmp_path / "out"
    recalled = ("recall", "--input", EXAMPLE, "--output", output, "--run")
    # Another command's run of the name is replaced whole.
    ok(*recalled, "e")
    assert set(json.loads((output / "run=e/manifest.json").read_text())["tables"]) == set(OF_RECALL)
    ok(*evaluated, "--run", "e")
    assert not list(output.glob("run=e/recall_*/*.parquet"))
    ok(*recalled, "r")
    before = (output / "run=r/manifest.json").read_text()
    assert "finished" in ok(*recalled, "r", "--if_finished", "skip").err
    assert (output / "run=r/manifest.json").read_text() == before
    assert "3 records, 8 facts, 9 answers" in ok("report", output).out
    assert ufo("report", output, "--json").json["recall_scores"]
    for view in ("recall_scores", "recall_errors", "recall_cost"):
        assert "offline" in ufo("report", output, view).out
        assert "no rows: it takes a run of" in ufo("report", output, view, "--run", "e").out
    scores = ufo("report", output, "scores", "--run", "r")
    assert "no rows: the run is of 'ufo recall': see recall_scores" in scores.out
    assert "which asks no sources" in ends(2, "benchmark", output, "--run", "r").err
    both = ufo("sql", output, "SELECT run, mode FROM runs ORDER BY run", "--json").json
    assert [row["mode"] for row in both] == ["seq", "recall"]
    with open_results(output, all_runs=True) as results:
        for table in ("scores", "recall_scores"):
            assert results.query(f"SELECT DISTINCT run FROM {table}").num_rows == 1


# --- The sheet for people: written by --facts_only, edited, and read back as input.


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
    done = ok("recall", "--input", path, "--output", tmp_path / "facts", "--facts_only")
    sheet_path = tmp_path / "facts" / "facts.csv"
    assert str(sheet_path) in done.out
    return sheet_path


def test_the_sheet_is_read_back_as_it_was_written(sheet: Path, tmp_path: Path) -> None:
    first, second = read_csv(sheet)
    labels = "human_evaluated_facts_"
    assert list(first) == [
        "unique_id",
        "question",
        "answer",
        "bare",
        "rag",
        "silent",
        "gt_facts",
        f"{labels}bare",
        f"{labels}rag",
        f"{labels}silent",
    ]
    assert first["gt_facts"] == "['Oslo is in Norway.', 'Oslo has 5 bridges.']"
    assert first[f"{labels}rag"] == "{'Oslo is in Norway.': None, 'Oslo has 5 bridges.': None}"
    assert second["rag"] == "Bonn is large."
    assert second[f"{labels}bare"] == ""
    ok("recall", "--input", sheet, "--output", tmp_path / "back")
    for table in ("recall_answers", "recall_facts"):
        query = f"SELECT * EXCLUDE (run) FROM {table} ORDER BY ALL"
        assert rows(tmp_path / "back", query) == rows(tmp_path / "facts", query)
    selected = rows(tmp_path / "back", "SELECT record_id, ground_truth FROM recall_records")
    assert {row["record_id"]: row["ground_truth"] for row in selected} == {
        "o": RECORDS[0]["answer"],
        "é": RECORDS[1]["ground_truth"],
    }
    assert rows(tmp_path / "back", "FROM recall_errors") == []


def test_what_people_write_into_it_counts(sheet: Path, tmp_path: Path) -> None:
    lines = read_csv(sheet)
    label = "human_evaluated_facts_rag"
    # One marked true, one marked false in other words for True and False, one fact of their own.
    labels = "{'Oslo is in Norway.': True, 'Oslo has 5 bridges.': 'False', \"Oslo's old.\": false}"
    lines[0][label] = labels
    write_csv(sheet, lines)
    done = ok("recall", "--input", sheet, "--output", tmp_path / "back", "--json")
    people = [row for row in done.json["recall_scores"] if row["formulation"] == "human"]
    assert [(row["variant"], row["n_true"], row["n_false"]) for row in people] == [("rag", 1, 2)]
    (error,) = done.json["recall_errors"]
    assert error["n_labelled"] == 3
    assert error["n_false"] == 2
    assert error["error_rate"] == 0
    # A second sheet keeps what they wrote, and does not write over the first.
    again = tmp_path / "again"
    ok("recall", "--input", sheet, "--output", again, "--facts_only")
    kept = labels.replace(": True", ": 'True'").replace(": false", ": 'False'")
    assert read_csv(again / "facts.csv")[0][label] == kept
    refused = ufo("recall", "--input", sheet, "--output", sheet.parent, "--facts_only")
    assert refused.code == 2
    assert "facts.csv" in refused.err
    assert read_csv(sheet)[0][label] == labels


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
    lines.append(lines[2] | {"question": "Where else?"})
    # As pandas writes it, with an index that has no name.
    write_csv(tmp_path / "w.csv", [{"": str(at), **line} for at, line in enumerate(lines)])
    write_csv(tmp_path / "semicolons.csv", lines, ";")
    pq.write_table(pa.Table.from_pylist(lines), tmp_path / "w.parquet")
    for name in ("w.csv", "semicolons.csv", "w.parquet"):
        output = tmp_path / name.replace(".", "-")
        done = ok("recall", "--input", tmp_path / name, "--output", output, "--json")
        unusable, repeated = rows(output, "SELECT * FROM failures ORDER BY key")
        assert unusable["key"] == f"{name}:2"
        assert unusable["error_type"] == "unusable_record"
        assert "`human_evaluated_facts_answer` cannot be read" in unusable["message"]
        assert repeated["key"] == f"{name}:4"
        assert repeated["error_type"] == "repeated_id"
        scores = [row for row in done.json["recall_scores"] if row["formulation"] == "human"]
        assert {row["variant"]: row["accuracy"] for row in scores} == {
            "answer": 1,
            "poor_answer": 0,
        }


def test_rows_that_do_not_fit_the_header_are_failures(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(
        "question,ground_truth,answer\nQ?,T.,A.,more\nQ?\nQ?,Oslo is old.,Oslo is old.\n"
        'Q?,für caf\udce9,A.\n"Q?" x,T.,A.\n"Q?,T.,A.\n',
        encoding="utf-8",
        errors="surrogateescape",
    )
    ok("recall", "--input", path, "--output", tmp_path / "out")
    selected = rows(tmp_path / "out", "SELECT message FROM failures ORDER BY key")
    assert [row["message"].split(",")[0] for row in selected] == [
        "the row has more cells than the header has columns",
        "there is no ground truth to take facts from: give `ground_truth` (or `answer`)",
        "not UTF-8: byte 45 of the record is invalid; convert a file in another encoding",
        "not CSV: line 6: '",
        "not CSV: line 7: unexpected end of data",
    ]
    for content, code, message in (
        ("question,question\na,b\n", 2, "a column is named twice"),
        ("question,answer\n", 1, "there is nothing to recall"),
    ):
        path.write_text(content)
        done = ufo("recall", "--input", path, "--output", tmp_path / "out")
        assert done.code == code
        assert message in done.err


def test_the_same_from_python() -> None:
    recall_run = interface.recall(RECORDS, judge="offline", quiet=True)
    assert recall_run.facts.num_rows == 3
    assert recall_run.verdicts.num_rows == 2 * 3 + 1
    assert set(recall_run.scores["formulation"].to_pylist()) == {"offline"}
    assert recall_run.errors.num_rows == 0
    assert recall_run.cost.num_rows == 1
    assert recall_run.failures.num_rows == 0
    path = Path(recall_run.path)
    assert json.loads((path / "manifest.json").read_text())["mode"] == "recall"
    recall_run.close()
    assert not path.exists()
    with pytest.raises(interface.RunError, match=r"not for JSON: a value of the type object"):
        interface.recall([{"question": object()}], judge="offline")
    with pytest.raises(interface.UsageError, match="formulation 'x'"):
        interface.recall(RECORDS, formulations=["tf", "x"], base_url="http://127.0.0.1:9/v1")


def test_the_tables_of_the_paper_are_printed(
    offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")  # every table has room
    lines = [line.split() for line in ok("report", offline).out.splitlines()]
    assert " ".join(lines[0]).endswith(": 3 records, 8 facts, 9 answers")
    names = ("recall_scores", "recall_errors", "recall_cost")
    shown = [view.shows.split(", ") for view in load_views() if view.name in names]
    assert [columns for columns in shown if columns not in lines] == []
