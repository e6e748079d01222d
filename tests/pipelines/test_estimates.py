"""`--dry_run` tells beforehand what the server then counts, or more, and sends nothing."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.conftest import ufo, write_lines
from tests.pipelines.llm_runs import rows

COUNTED = ("calls", "prompt_tokens", "completion_tokens", "cost_usd")
ASKED = """
SELECT step, source, count(*) AS calls, CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens,
    CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens, sum(cost_usd) AS cost_usd
FROM usage WHERE NOT cached AND NOT coalesced AND step <> 'probe' GROUP BY ALL
"""
LEAST = {"calls": 0.07, "prompt_tokens": 0.05, "completion_tokens": 0.02, "cost_usd": 0.05}
"""The shares of an estimate that a run asks at least: in the mode seq few claims go to the later
sources, and equal questions are asked once."""


@pytest.fixture
def evaluate(
    tmp_path: Path, responses: Path, index: Path, llm_server: LlmServer
) -> Callable[..., Any]:
    prices = tmp_path / "prices.yaml"
    prices.write_text(json.dumps({"offline-judge": {"input": 1, "output": 4}}))

    def run(*flags: object) -> Any:
        return ufo(
            *("evaluate", "--input", responses, "--index", index, "--workers", 1),
            *("--base_url", llm_server.base_url, "--model", "offline-judge"),
            *("--cache", tmp_path / "cache.sqlite", "--prices", prices, *flags),
        )

    return run


@pytest.mark.parametrize(
    "flags",
    [
        ("--sources", "reference,wikipedia,llm"),
        ("--sources", "llm,reference", "--mode", "all", "--citation", "--sampling", "bundled"),
        ("--sources", "wikipedia,reference", "--formulation", "stepwise"),
        ("--sources", "wikipedia", "--formulation", "rationale", "--units", "sentence"),
        ("--sources", "reference,wikipedia", "--format", "xml", "--facts_per_call", 1),
        ("--sources", "reference,wikipedia", "--context", 1500),
        ("--sources", "llm,reference", "--judge", "offline"),
    ],
    ids=lambda flags: " ".join(map(str, flags)),
)
def test_a_run_asks_what_is_told_or_less(
    evaluate: Any, llm_server: LlmServer, tmp_path: Path, flags: Sequence[str]
) -> None:
    told = evaluate(*flags, "--dry_run", "--json")
    assert told.code == 0, told.err
    assert llm_server.requests == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prices.yaml"]
    assert (told.json["responses"], told.json["sampled"]) == (20, 20)

    assert evaluate(*flags, "--output", tmp_path / "out").code == 0
    asked = {(row.pop("step"), row.pop("source")): row for row in rows(tmp_path / "out", ASKED)}
    estimated = {(row["step"], row["source"]): row for row in told.json["rows"]}
    assert asked.keys() <= estimated.keys()
    for name, row in asked.items():
        for what in COUNTED:
            assert row[what] <= 1.3 * estimated[name][what], (name, what)
    for what in COUNTED:
        real = sum(row[what] for row in asked.values())
        total = told.json["total"][what]
        assert total == pytest.approx(sum(row[what] for row in estimated.values()))
        assert LEAST[what] * total < real <= 1.3 * total, what


def test_a_sample_stands_for_all_and_an_unknown_price_is_said_once(
    tmp_path: Path, llm_server: LlmServer
) -> None:
    text = "{0} is a large city. {0} has {1} bridges."
    lines = [
        {
            "response": text.format(f"Town{n % 8}", n) * (1 + n % 3),
            "reference_answers": [text.format("Oslo", n)],
        }
        for n in range(1_000)
    ]
    path = write_lines(tmp_path / "many.jsonl", lines)
    flags = (
        *("evaluate", "--input", path, "--sources", "reference", "--dry_run"),
        *("--base_url", llm_server.base_url, "--model", "offline-judge", "--cache", "off"),
    )
    found = ufo(*flags, "--json").json
    assert (found["responses"], found["sampled"]) == (1_000, 200)
    (extract,) = (row for row in found["rows"] if row["step"] == "extract")
    assert (extract["calls"], extract["cost_usd"]) == (1_000, None)
    assert found["total"]["cost_usd"] is None
    (line,) = (line for line in ufo(*flags).out.splitlines() if "extract" in line)
    assert line.split()[-1] == "unknown"


def test_a_table_for_people(evaluate: Any, responses: Path) -> None:
    told = evaluate("--sources", "reference,llm", "--dry_run")
    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[0].split() == ["step", "source", "model", *COUNTED]
    words = [line.split()[0] for line in lines if line.strip()]
    assert [words.count(step) for step in ("extract", "knowledge", "verify", "total")] == [
        *(1, 1, 2, 1)
    ]
    assert "nothing was sent" in told.out
    assert told.out.count("Assumed: ") == 2
    assert "Not counted: " in told.out
    # A run that asks no model costs nothing; what would end it ends the estimate.
    words = ("--input", responses, "--sources", "reference", "--judge", "offline", "--dry_run")
    free = ufo("evaluate", *words, "--json").json
    assert (free["rows"], free["total"]["cost_usd"]) == ([], 0)
    assert evaluate("--dry_run", "--sources", "nobody").code == 2
    assert evaluate("--dry_run", "--input", "none.jsonl").code == 2
