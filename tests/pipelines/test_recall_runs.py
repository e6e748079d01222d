"""Runs of `ufo recall`: what is refused, how they resume, and what reads them beside others."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.conftest import tables, ufo, write_lines
from tests.pipelines.llm_runs import EXAMPLE, rows
from ufo.schemas.results import open_results
from ufo.schemas.tables import OF_RECALL

Ufo = Callable[..., Any]


# --- bad input, wrong usage -----------------------------------------------------------------------


def test_what_cannot_be_used_is_a_row_and_never_stops_the_run(tmp_path: Path) -> None:
    good = {"question": "Where is Oslo?", "answer": "Oslo is in Norway.", "answers": {"a": "No."}}
    bad = {**good, "id": "bad", "human_evaluated_facts_a": "{'F': __import__('os').getcwd()}"}
    path = write_lines(
        tmp_path / "in.jsonl", [good, "not json", bad, {**good, "x": 1}, {"question": "Q?"}]
    )
    done = ufo("recall", "--input", path, "--output", tmp_path / "out")
    assert done.code == 0
    assert "4 failures" in done.out
    found = rows(tmp_path / "out", "SELECT key, error_type, message FROM failures ORDER BY key")
    assert [(row["key"], row["error_type"]) for row in found] == [
        ("in.jsonl:2", "unusable_record"),
        ("in.jsonl:3", "unusable_record"),
        ("in.jsonl:4", "repeated_id"),
        ("in.jsonl:5", "unusable_record"),
    ]
    assert "`human_evaluated_facts_a` cannot be read" in found[1]["message"]
    assert len(rows(tmp_path / "out", "FROM recall_records")) == 1


# --- runs: resume, skip, report -------------------------------------------------------------------


def test_a_run_that_was_stopped_goes_on_by_the_same_command(
    recall: Ufo, server: LlmServer, tmp_path: Path, write_prices: Path
) -> None:
    flags = (
        *("--formulations", "tfn", "--run", "r", "--chunk_size", 1),
        *("--prices", write_prices, "--cache", tmp_path / "cache.sqlite"),
    )
    whole = recall(tmp_path / "whole", *flags, "--cache", "off", "--json")
    cost = sum(row["cost_usd"] for row in whole.json["recall_cost"])
    calls = len([entry for entry in server.chats if entry.step != "probe"])
    server.requests.clear()
    stopped = recall(tmp_path / "out", *flags, "--max_cost", 0.7 * cost)
    assert stopped.code == 4, stopped.err
    assert "higher --max_cost" in stopped.err
    assert not (tmp_path / "out/run=r/manifest.json").exists()
    done = recall(tmp_path / "out", *flags, "--max_cost", 10 * cost)
    assert done.code == 0, done.err
    assert len([entry for entry in server.chats if entry.step != "probe"]) == calls
    before, after = tables(tmp_path / "whole"), tables(tmp_path / "out")
    assert after["recall_facts"] == before["recall_facts"]
    assert [row[:-1] for row in after["recall_verdicts"]] == [
        row[:-1] for row in before["recall_verdicts"]
    ]


@pytest.fixture
def write_prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(json.dumps({"offline-judge": {"input": 10, "output": 40}}))
    return path


def test_reports_and_sql_read_recall_runs_beside_others(tmp_path: Path) -> None:
    text = {"response": "Oslo is in Norway.", "reference_answers": ["Oslo is in Norway."]}
    responses = write_lines(tmp_path / "in.jsonl", [text])
    output = tmp_path / "out"
    evaluated = ("evaluate", "--input", responses, "--output", output, "--sources", "reference")
    recalled = ("recall", "--input", EXAMPLE, "--output", output, "--run")
    # Another command's run of the name is replaced whole.
    assert ufo(*recalled, "e").code == 0
    assert set(json.loads((output / "run=e/manifest.json").read_text())["tables"]) == set(OF_RECALL)
    assert ufo(*evaluated, "--run", "e").code == 0
    assert not list(output.glob("run=e/recall_*/*.parquet"))
    assert ufo(*recalled, "r").code == 0
    before = (output / "run=r/manifest.json").read_text()
    left = ufo(*recalled, "r", "--if_finished", "skip")
    assert (left.code, "finished" in left.err) == (0, True)
    assert (output / "run=r/manifest.json").read_text() == before
    overview = ufo("report", output)
    assert overview.code == 0, overview.err
    assert "3 records, 8 facts, 9 answers" in overview.out
    assert ufo("report", output, "--json").json["recall_scores"]
    for view in ("recall_scores", "recall_errors", "recall_cost"):
        assert "offline" in ufo("report", output, view).out
        assert "no rows: it takes a run of" in ufo("report", output, view, "--run", "e").out
    scores = ufo("report", output, "scores", "--run", "r")
    assert "no rows: the run is of 'ufo recall': see recall_scores" in scores.out
    refused = ufo("benchmark", output, "--run", "r")
    assert (refused.code, "which asks no sources" in refused.err) == (2, True)
    both = ufo("sql", output, "SELECT run, mode FROM runs ORDER BY run", "--json").json
    assert [row["mode"] for row in both] == ["seq", "recall"]
    with open_results(output, all_runs=True) as results:
        assert results.query("SELECT DISTINCT run FROM scores").num_rows == 1
        assert results.query("SELECT DISTINCT run FROM recall_scores").num_rows == 1
