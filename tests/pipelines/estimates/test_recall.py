"""`ufo recall --dry_run`: what the run then asks lies between what is told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.llm_runs import EXAMPLE, at, rows

Ufo = Callable[..., Any]
COUNTED = ("calls", "prompt_tokens", "completion_tokens", "cost_usd")
# A real endpoint counts what stands around a message, which that of the tests does not.
ASKED = """
SELECT step, source, count(*) AS calls,
    CAST(sum(prompt_tokens + 4) AS BIGINT) AS prompt_tokens,
    CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens, sum(cost_usd) AS cost_usd
FROM usage WHERE NOT cached AND NOT coalesced AND step <> 'probe' GROUP BY ALL
"""
GIVEN = {
    "question": "Where is Oslo, and how large is it?",
    "answer": "Oslo is in Norway. It is large.",
    "facts": ["Oslo is in Norway.", "Oslo is large."],
    "answers": {"short": "In Norway.", "long": "Oslo, which is large, is the capital of Norway."},
}


@pytest.mark.parametrize("formulations", ["prompt,tf,tfn+citation", "tf+xml"])
def test_what_a_run_asks_lies_between_the_bounds(
    ufo: Ufo,
    server: LlmServer,
    tmp_path: Path,
    write_lines: Any,
    monkeypatch: pytest.MonkeyPatch,
    formulations: str,
) -> None:
    given = write_lines(tmp_path / "given.jsonl", [GIVEN, "not json", GIVEN])
    prices, output = tmp_path / "prices.yaml", tmp_path / "out"
    prices.write_text(json.dumps({"offline-judge": {"input": 1, "output": 4}}))
    monkeypatch.setenv("OPENAI_API_KEY", server.key)
    server.requests.clear()
    flags = (
        *("recall", "--input", EXAMPLE, "--input", given, *at(server), "--json"),
        *("--formulations", formulations, "--prices", prices),
    )
    told = ufo(*flags, "--dry_run")
    assert told.code == 0, told.err
    assert (told.json["records"], told.json["sampled"]) == (4, 4)
    assert server.chats == []
    assert not output.exists()

    assert ufo(*flags, "--output", output).code == 0
    asked = {(row.pop("step"), row.pop("source")): row for row in rows(output, ASKED)}
    estimated = {(row["step"], row["source"]): row for row in told.json["rows"]}
    assert asked.keys() == estimated.keys()
    for name, row in estimated.items():
        for what in COUNTED:
            assert row[f"{what}_low"] <= asked[name][what] <= row[what], (name, what)
    cost = sum(row["cost_usd"] for row in asked.values())
    assert told.json["total"]["cost_usd_low"] < cost < told.json["total"]["cost_usd_high"]


def test_a_run_without_a_model_asks_nothing(ufo: Ufo) -> None:
    done = ufo("recall", "--input", EXAMPLE, "--dry_run", "--json")
    assert (done.code, done.json["rows"], done.json["total"]["calls"]) == (0, [], 0)
