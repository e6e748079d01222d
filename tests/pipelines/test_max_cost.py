"""A cap on what a run may spend: kept by all its processes, over all its attempts."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import Limits, LlmServer, Logged
from ufo.transforms.llm.usage_log import COST, UsageReader

CITIES = ["Oslo", "Lima", "Rome", "Cairo", "Quito", "Hanoi"]
INPUT, OUTPUT = 10.0, 40.0  # US dollars a million tokens


@pytest.fixture(scope="module")
def responses(tmp_path_factory: pytest.TempPathFactory, write_lines: Any) -> Path:
    path: Path = write_lines(
        tmp_path_factory.mktemp("input") / "in.jsonl",
        [
            {
                "id": f"r{n}",
                "response": f"{CITIES[n % 6]} is a large city. {CITIES[n % 6]} has {n} bridges.",
                "reference_answers": [f"{CITIES[n % 6]} is a large city. It has {n} bridges."],
            }
            for n in range(12)
        ],
    )
    return path


@pytest.fixture
def evaluate(
    tmp_path: Path, ufo: Callable[..., Any], responses: Path, llm_server: LlmServer
) -> Callable[..., Any]:
    prices = tmp_path / "prices.yaml"
    prices.write_text(json.dumps({"offline-judge": {"input": INPUT, "output": OUTPUT}}))

    def run(output: str, *flags: object) -> Any:
        return ufo(
            *("evaluate", "--input", responses, "--output", tmp_path / output),
            *("--sources", "reference", "--base_url", llm_server.base_url),
            *("--model", "offline-judge", "--cache", tmp_path / f"{output}.sqlite"),
            *("--prices", prices, "--run", "r", "--json", *flags),
        )

    return run


def billed(chats: Sequence[Logged]) -> float:
    return sum(INPUT * c.prompt_tokens + OUTPUT * c.completion_tokens for c in chats) / 1e6


def test_a_run_stops_before_its_cap_and_goes_on_with_a_higher_one(
    evaluate: Any, tmp_path: Path, tables: Any, llm_server: LlmServer
) -> None:
    cut = ("--workers", 2, "--chunk_size", 6)
    whole = evaluate("whole", "--workers", 1)
    assert whole.code == 0, whole.err
    expected = tables(tmp_path / "whole")
    cost, calls = billed(llm_server.chats), len(llm_server.chats)
    assert whole.json["cost_usd"] == pytest.approx(cost)

    llm_server.requests.clear()
    cap = 0.6 * cost
    stopped = evaluate("capped", *cut, "--max_cost", cap)
    assert stopped.code == 4, stopped.err
    assert "stopped at --max_cost" in stopped.err
    assert "higher --max_cost" in stopped.err
    assert "Traceback" not in stopped.err
    assert 0 < billed(llm_server.chats) <= cap
    (log,) = tmp_path.glob("capped/run=r/.attempt-*/usage.jsonl")
    assert UsageReader(str(log)).totals()[COST] == pytest.approx(billed(llm_server.chats))

    # What earlier attempts spent counts.
    sent = len(llm_server.chats)
    again = evaluate("capped", "--workers", 1, "--chunk_size", 6, "--max_cost", cap)
    assert again.code == 4
    assert billed(llm_server.chats) <= cap

    probes = 1
    done = evaluate("capped", *cut, "--max_cost", 3 * cost)
    assert done.code == 0, done.err
    assert len(llm_server.chats) <= calls + 3 * probes
    assert sent < calls
    without = dict(tables(tmp_path / "capped"))
    for found in (without, expected):
        del found["usage"]
        del found["evidence"]  # request ids differ
    assert without == expected


def test_a_cap_of_nothing_sends_nothing(evaluate: Any, llm_server: LlmServer) -> None:
    assert evaluate("out", "--workers", 1, "--max_cost", 0).code == 4
    assert llm_server.requests == []


def test_a_model_without_a_price_has_an_unknown_cost(
    evaluate: Any, tmp_path: Path, tables: Any
) -> None:
    done = evaluate("out", "--workers", 1, "--model", "offline-judge-small")
    assert done.code == 0
    assert "No price is known for offline-judge-small" in done.err
    assert done.json["cost_usd"] is None
    assert done.json["tokens"] > 0
    assert {row[-1] for row in tables(tmp_path / "out")["usage"]} == {None}


def test_refusals_cost_nothing(
    evaluate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, responses: Path, ufo: Any
) -> None:
    # Requests that the endpoint turned away are not billed, and so leave room for others.
    with LlmServer(limits=Limits(requests=6, window=0.4)) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        done = evaluate("out", "--workers", 1, "--max_cost", 5, "--base_url", server.base_url)
        assert done.code == 0, done.err
        assert [c.status for c in server.chats if c.status == 429]
        answered = [c for c in server.chats if c.status == 200]
        assert done.json["cost_usd"] == pytest.approx(billed(answered))
