"""benchmarks/prompts.py against a local endpoint that judges as the offline judge does."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.llm_server import LlmServer

ROOT = Path(__file__).resolve().parents[2]


def measured(*flags: str) -> dict[str, Any]:
    program = [sys.executable, "benchmarks/prompts.py", *flags]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_tokens_of_each_step_and_what_a_model_makes_of_them(llm_server: LlmServer) -> None:
    llm_server.keys = None
    flags = ("--base_url", llm_server.base_url, "--model", "offline-judge")
    found = measured(*flags)
    steps = found["tokens"]
    assert {"verify_facts", "verify_xml", "stepwise_consistency", "fact_checker tfn"} <= set(steps)
    assert all(step["prefix"] > 0 and step["data"] > 0 for step in steps.values())
    replies = found["replies"]
    assert set(replies) == {
        *("function", "xml", "stepwise", "rationale", "prompt"), "extract_facts",
    }  # fmt: skip
    for name, figures in replies.items():
        assert figures["unusable"] == figures["unusable_first"] == 0, name
    assert replies["function"]["pairs"] == 12
    assert 2 * replies["function"]["as_labelled"] > replies["function"]["labelled"] > 0
