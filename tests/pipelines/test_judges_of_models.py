"""Other people's judges that ask a model, or another service."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.llm_runs import at, rows
from tests.pipelines.other_judges import judge as judge_of
from tests.transforms.judges.stated import STATED

CASCADE = Path(__file__).parents[2] / "examples/own_judge.py:Cascade"
Ufo = Callable[..., Any]


def test_one_that_needs_an_endpoint_is_reported_as_the_llm_judge_is(
    ufo: Ufo, two_responses: tuple[object, ...]
) -> None:
    done = [
        ufo(*two_responses, "--workers", 1, "--judge", judge)
        for judge in ("llm", judge_of("Plain"))
    ]
    assert [one.code for one in done] == [1, 1]
    assert all("wants a key: set OPENAI_API_KEY" in one.err for one in done)


@pytest.fixture
def asked(
    two_responses: tuple[object, ...], llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> tuple[object, ...]:
    """The words of a command over two responses, whose models are at the server."""
    monkeypatch.setenv("OPENAI_API_KEY", llm_server.key)
    return (*two_responses, *at(llm_server))


def test_one_that_asks_a_model_gets_the_client_of_the_run(
    tmp_path: Path, ufo: Ufo, asked: tuple[object, ...], llm_server: LlmServer
) -> None:
    estimate = ufo(*asked, "--judge", judge_of("Plain"), "--dry_run", "--json").json
    (calls,) = [row["calls"] for row in estimate["rows"] if row["step"] == "verify"]
    assert (calls, llm_server.requests) == (2, [])
    done = ufo(*asked, "--judge", judge_of("Plain"))
    assert done.code == 0, done.err
    found = rows(tmp_path / "out", "SELECT DISTINCT judge, model FROM evidence")
    assert [tuple(row.values()) for row in found] == [("Plain", "offline-judge")]


def test_the_cascade_of_the_examples_asks_a_model_where_it_is_not_sure(
    tmp_path: Path,
    ufo: Ufo,
    asked: tuple[object, ...],
    llm_server: LlmServer,
    write_lines: Callable[..., Path],
) -> None:
    chances = {"Lima": "0.4 0.2 0.4 said.", "Oslo": "0.95 0 0.05 said.", "Rome": "0 1 0 said."}
    records = [
        {"id": city, "response": f"{city} is large.", "reference_answers": text}
        for city, text in chances.items()
    ]
    write_lines(tmp_path / "in.jsonl", records)  # in the place of the two responses
    words = ("--verifier", STATED, "--formulation", "prompt", "--judge", CASCADE)
    flags = (*asked, *words)
    estimate = ufo(*flags, "--dry_run", "--json").json
    assert [row["calls"] for row in estimate["rows"] if row["step"] == "verify"] == [2]
    assert llm_server.requests == []
    done = ufo(*flags)
    assert done.code == 0, done.err
    found = rows(tmp_path / "out", "SELECT judge FROM evidence ORDER BY response_id")
    assert [row["judge"] for row in found] == ["llm", "offline", "llm"]
    assert "Verifier stated (a first look" in done.out


def test_a_dry_run_sends_nothing_to_a_service_and_counts_each_passage(
    ufo: Ufo, two_responses: tuple[object, ...]
) -> None:
    estimate = ufo(*two_responses, "--judge", judge_of("Far"), "--dry_run", "--json").json
    assert [(row["step"], row["calls"]) for row in estimate["rows"]] == [("verify", 2)]
