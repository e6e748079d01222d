"""`ufo.evaluate` where replies are cut without a word, or stand in the wrong field."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ufo
from tests.llm_server import LlmServer, Switches
from tests.llm_server.chat import MISPLACED

RECORDS = [
    {
        "id": f"r{number}",
        "response": f"Oslo has {number} bridges. It was founded in 1040.",
        "claims": [
            {"claim": f"Oslo has {number} bridges.", "query": f"How many bridges, {number}?"},
            {"claim": "Oslo was founded in 1040.", "query": f"When was Oslo founded, {number}?"},
        ],
        "reference_answers": f"Oslo has {number} bridges. It was founded in 1040.",
    }
    for number in range(4, 8)
]
Run = Callable[..., Any]


@pytest.fixture
def run(llm_server: LlmServer, tmp_path: Path) -> Run:
    """A run against the server, in a folder with a cache of its own."""

    def evaluate(sources: str, **options: Any) -> Any:
        return ufo.evaluate(
            RECORDS, [sources], judge="llm", model="offline-judge", base_url=llm_server.base_url,
            output=tmp_path / "out", workers=1, quiet=True,
            **{"cache": str(tmp_path / "cache.sqlite"), **options},
        )  # fmt: skip

    return evaluate


ENDS = ["max_tokens", "MAX_TOKENS", "insufficient_system_resource", "network_error", "", "odd"]


@pytest.mark.parametrize("ends", ENDS)
def test_a_sample_that_broke_off_is_no_passage_and_is_not_kept(
    llm_server: LlmServer, run: Run, ends: str
) -> None:
    llm_server.switches = Switches(breaks_off=ends)
    evaluation = run("llm", run="cut", samples=2)
    assert evaluation.sql("FROM passages").num_rows == 0
    outcomes = evaluation.sql(
        "SELECT DISTINCT outcome, reason, raw_verdict[:6] AS word FROM evidence"
    )
    word = f"({ends or 'no finish reason'}) "[:6]
    assert outcomes.to_pylist() == [{"outcome": "error", "reason": "truncated", "word": word}]
    llm_server.switches = Switches()
    whole = run("llm", run="whole", samples=2)
    assert whole.sql("SELECT count(*) FROM evidence WHERE outcome = 'error'").to_pylist()[0] == {
        "count_star()": 0
    }
    cached = whole.sql("SELECT count(*) AS n FROM usage WHERE step = 'knowledge' AND cached")
    assert cached.to_pylist() == [{"n": 0}]


@pytest.mark.parametrize("formulation", ["function", "prompt", "rationale"])
@pytest.mark.parametrize("ends", ["max_tokens", ""])
def test_a_judgement_that_broke_off_is_no_judgement(
    llm_server: LlmServer, run: Run, ends: str, formulation: str
) -> None:
    llm_server.switches = Switches(breaks_off=ends)
    evaluation = run("reference", formulation=formulation)
    rows = evaluation.sql("SELECT outcome, reason, raw_verdict FROM evidence").to_pylist()
    # A whole object within the half is a judgement, and the rest is asked for once more.
    lost = [row for row in rows if row["outcome"] == "error"]
    assert {row["reason"] for row in lost} == {"truncated"}
    assert len(lost) == (4 if formulation == "function" else 8)
    assert all((ends or "no finish reason") in row["raw_verdict"] for row in lost)


def test_answers_in_the_field_for_thoughts_cost_twice_a_plain_run_at_most(
    llm_server: LlmServer, run: Run
) -> None:
    run("reference", run="plain", cache="off")
    plain = len(llm_server.chats)
    llm_server.switches = Switches(thinks=MISPLACED)
    evaluation = run("reference", run="misplaced", cache="off")
    assert len(llm_server.chats) - plain <= 2 * plain
    rows = evaluation.sql("SELECT outcome, reason, raw_verdict FROM evidence").to_pylist()
    assert {(row["outcome"], row["reason"]) for row in rows} == {("error", "unparsable")}
    assert all('"f1"' in row["raw_verdict"] for row in rows)
    messages = evaluation.failures.column("message").to_pylist()
    assert messages
    assert all("--reasoning-parser" in message for message in messages)
