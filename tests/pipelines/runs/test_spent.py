"""What a run has spent is told and capped over all that it took: stopped tries, retried errors."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, faults
from tests.pipelines.llm_runs import rows

TOWNS = ["Aachen", "Bergen", "Cadiz", "Delft"]
SENT = "SELECT * FROM usage WHERE NOT (cached OR coalesced)"


@pytest.fixture
def evaluate(
    tmp_path: Path, ufo: Callable[..., Any], write_lines: Any, llm_server: LlmServer
) -> Callable[..., Any]:
    prices = tmp_path / "prices.yaml"
    prices.write_text(json.dumps({"offline-judge": {"input": 10.0, "output": 40.0}}))
    claims = {town: f"{town} has 5 bridges." for town in TOWNS}
    path = write_lines(
        tmp_path / "in.jsonl",
        [
            {
                "id": town,
                "response": claim,
                "claims": [{"claim": claim, "query": f"How many bridges has {town}?"}],
                "reference_answers": claim,
            }
            for town, claim in claims.items()
        ],
    )

    def run(*flags: object) -> Any:
        return ufo(
            *("evaluate", "--input", path, "--output", tmp_path / "out", "--run", "r", "--json"),
            *("--sources", "reference", "--judge", "llm", "--model", "offline-judge"),
            *("--base_url", llm_server.base_url, "--cache", tmp_path / "cache.sqlite"),
            *("--prices", prices, "--workers", 1, "--chunk_size", 2, "--concurrency", 1, *flags),
        )

    return run


def _told(output: Path) -> set[tuple[str, str, int | None]]:
    return {(r["request_id"], r["status"], r["prompt_tokens"]) for r in rows(output, SENT)}


def test_a_run_that_was_stopped_tells_what_it_had_spent(
    evaluate: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    llm_server.faults.extend([None, None, faults.status(500), None, faults.quota_spent()])
    assert evaluate().code == 1
    sent = len(llm_server.chats)
    done = evaluate()
    assert done.code == 0, done.err
    found = rows(tmp_path / "out", SENT)
    assert len(found) == len(llm_server.chats) > sent
    assert sorted(row["status"] for row in found if row["status"] != "ok") == ["429", "500"]
    answered = [entry for entry in llm_server.chats if entry.status == 200]
    tokens = sum(entry.prompt_tokens + entry.completion_tokens for entry in answered)
    assert done.json["tokens"] == tokens
    assert done.json["requests"] == len(llm_server.chats)
    # Each of them once, with the response that it was for.
    assert len(_told(tmp_path / "out")) == len(found)
    assert {row["response_id"] for row in found} == {None, *TOWNS}


def test_retried_errors_keep_what_the_run_had_spent_and_count_for_its_cap(
    evaluate: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    # The probe is answered; the first two verifications and what repairs them are not.
    llm_server.faults.extend([None, *[faults.refusal()] * 4])
    first = evaluate()
    assert first.code == 0, first.err
    before = _told(tmp_path / "out")
    stopped = evaluate("--if_finished", "retry_errors", "--max_cost", first.json["cost_usd"])
    assert stopped.code == 4
    assert len(llm_server.chats) == len(before)
    done = evaluate("--if_finished", "retry_errors")
    assert done.code == 0, done.err
    after = _told(tmp_path / "out")
    assert before < after
    assert len(after) == len(llm_server.chats)
    assert done.json["cost_usd"] > first.json["cost_usd"]
    # A run since another one has not spent what that one did.
    sent = len(llm_server.chats)
    later = evaluate("--run", "next", "--since", "r")
    assert (later.code, later.json["cost_usd"], len(llm_server.chats)) == (0, 0, sent)
