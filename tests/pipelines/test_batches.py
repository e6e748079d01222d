"""`ufo evaluate --batch` and `ufo recall --batch`: the tables of the plain run, by batches."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.llm_server.errors import ApiError, quota_spent
from tests.pipelines.conftest import tables, ufo
from tests.pipelines.llm_runs import results, rows
from tests.pipelines.other_judges import judge as judge_of

PRICE = {"offline-judge": {"input": 10.0, "output": 40.0}}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    """A server of its own for each test, which knows every request of its batches."""
    with LlmServer() as running:
        monkeypatch.setenv("OPENAI_API_KEY", running.key)
        yield running


@pytest.fixture
def run(tmp_path: Path, few: Path, index: Path, server: LlmServer) -> Callable[..., Any]:
    """Evaluates into a folder of that name, with a cache of its own."""

    def evaluate(name: str, *flags: object, input: Path = few) -> Any:
        return ufo(
            *("evaluate", "--input", input, "--output", tmp_path / name, "--run", "r"),
            *("--judge", "llm", "--base_url", server.base_url, "--model", "offline-judge"),
            *("--sources", "reference,wikipedia,llm", "--index", index),
            *("--cache", tmp_path / f"{name}.sqlite", *flags),
        )

    return evaluate


@pytest.mark.parametrize(
    "flags",
    [
        ("--mode", "mv", "--formulation", "stepwise"),
        ("--mode", "all", "--sampling", "bundled", "--units", "sentence"),
        ("--mode", "seq", "--no_share", "--formulation", "rationale"),
    ],
)
def test_tables_are_those_of_the_plain_run(
    run: Any, tmp_path: Path, server: LlmServer, flags: tuple[object, ...]
) -> None:
    assert run("plain", *flags).code == 0
    done = run("batch", "--batch", *flags)
    assert done.code == 0, done.err
    plain, found = tables(tmp_path / "plain"), tables(tmp_path / "batch")
    assert results(found) == results(plain)
    assert not server.batches.repeated()
    # Everything was asked once, and what was asked at once are the probes of the endpoint.
    assert sum(row[5] == "batch" for row in found["usage"]) == server.batches.sent
    assert {row[1] for row in found["usage"] if row[5] != "batch" and not row[8]} == {"probe"}


def test_recall_by_batches_is_the_plain_recall(
    recall: Any, tmp_path: Path, server: LlmServer
) -> None:
    for name, flags in (("plain", ()), ("batch", ("--batch",))):
        cache = tmp_path / f"{name}.sqlite"
        done = recall(tmp_path / name, "--run", "r", "--cache", cache, *flags)
        assert done.code == 0, done.err
    query = "SELECT * EXCLUDE (request_id) FROM recall_verdicts ORDER BY ALL"
    assert rows(tmp_path / "batch", query) == rows(tmp_path / "plain", query) != []
    assert not server.batches.repeated()


# --- the time to wait, and what a batch costs ---


def test_the_same_command_submits_collects_and_goes_on(
    run: Any, tmp_path: Path, server: LlmServer
) -> None:
    server.batches.polls = 1
    flags = ("--batch", "--batch_wait", 0, "--batch_requests", 4)
    waits = 0
    while (done := run("batch", *flags)).code == 5:
        waits += 1
        assert done.out == ""
        assert "the same command collects the replies and goes on" in done.err
        if waits == 1:
            assert "round 1 of at most 5: 0 of 6 done" in done.err
            (status,) = json.loads(ufo("status", tmp_path / "batch", "--json").out)
            assert [one["requests"] for one in status["batches"]] == [4, 2]
            assert "of 4 requests done" in ufo("status", tmp_path / "batch").out
            cache = tmp_path / "batch.sqlite"
            held = json.loads(ufo("cache", "stats", "--cache", cache, "--json").out)
            assert (held["batch_requests"], held["batch_replies"]) == (6, 0)
            assert held["batch_bytes"] > 1000
    assert done.code == 0, done.err
    assert 4 <= waits <= 5  # each round is looked at once more
    assert not server.batches.repeated()
    cache = tmp_path / "batch.sqlite"
    held = json.loads(ufo("cache", "stats", "--cache", cache, "--json").out)
    assert (held["batch_requests"], held["batch_replies"]) == (0, 0)


def test_a_cap_counts_the_price_of_batches(run: Any, tmp_path: Path, server: LlmServer) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(json.dumps(PRICE))
    flags = ("--batch", "--prices", prices)
    estimated = json.loads(run("batch", *flags, "--dry_run", "--json").out)
    usual = json.loads(run("batch", "--prices", prices, "--dry_run", "--json").out)
    assert estimated["total"]["cost_usd"] == pytest.approx(usual["total"]["cost_usd"] / 2)
    assert "Priced as batches" in estimated["method"]
    stopped = run("batch", *flags, "--max_cost", 0.04)
    assert stopped.code == 4, stopped.err
    assert "half the usual one is assumed" in stopped.err
    assert "stopped at --max_cost 0.04" in stopped.err
    sent = server.batches.sent
    assert sent > 0
    done = run("batch", *flags, "--max_cost", 10)
    assert done.code == 0, done.err
    assert server.batches.sent > sent
    assert not server.batches.repeated()
    found = rows(tmp_path / "batch", "SELECT * FROM usage WHERE NOT (cached OR coalesced)")
    for row in found:
        cost = (10 * row["prompt_tokens"] + 40 * row["completion_tokens"]) / 1e6
        share = 0.5 if row["worker_id"] == "batch" else 1
        assert row["cost_usd"] == pytest.approx(share * cost)


def test_an_endpoint_that_is_not_named_is_asked_at_once(
    run: Any, tmp_path: Path, server: LlmServer
) -> None:
    with LlmServer() as other:
        at = ("--knowledge_base_url", other.base_url, "--knowledge_model", "offline-knowledge")
        assert run("plain", *at).code == 0
        plain = len(other.chats)
        done = run("batch", *at, "--batch", "--batch_endpoints", server.base_url)
        assert done.code == 0, done.err
        assert other.batches.sent == 0
        assert len(other.chats) == 2 * plain
        assert server.batches.sent > 0
    assert results(tables(tmp_path / "batch")) == results(tables(tmp_path / "plain"))


# --- models and plug-ins that are not as others ---


UNSTABLE = """
import time
import ufo

class Unstable(ufo.FactSource):
    def find(self, unit):
        return [ufo.Passage(f"{unit.claim} Read at {time.time_ns()}.")]
"""


def test_a_judge_of_ones_own_is_asked_by_batches(
    run: Any, tmp_path: Path, server: LlmServer
) -> None:
    flags = ("--judge", judge_of("Plain"), "--sources", "reference,wikipedia")
    assert run("plain", *flags).code == 0
    done = run("batch", *flags, "--batch")
    assert done.code == 0, done.err
    assert results(tables(tmp_path / "batch")) == results(tables(tmp_path / "plain"))
    assert len(server.batches.batches) <= 2  # one for each source
    assert not server.batches.repeated()


def test_a_source_that_changes_each_time_ends_the_run(
    run: Any, tmp_path: Path, server: LlmServer
) -> None:
    (tmp_path / "own.py").write_text(UNSTABLE)
    done = run("batch", "--sources", f"{tmp_path / 'own.py'}:Unstable", "--batch")
    assert done.code == 1
    assert "gives other answers in each pass cannot be asked by batches" in done.err


# --- what cannot be ---


def test_a_spent_quota_ends_the_run_and_it_goes_on_later(run: Any, server: LlmServer) -> None:
    server.batches.line_faults = lambda body: (
        quota_spent() if "extract" in json.dumps(body) else None
    )
    stopped = run("batch", "--batch")
    assert stopped.code == 1
    assert "the quota of the key in OPENAI_API_KEY" in stopped.err
    server.batches.line_faults = None
    done = run("batch", "--batch")
    assert done.code == 0, done.err
    assert "failure" not in done.out


def test_batches_that_the_provider_forgot_are_asked_again_on_request(
    run: Any, server: LlmServer
) -> None:
    server.batches.polls = 1
    flags = ("--batch", "--batch_wait", 0)
    assert run("batch", *flags).code == 5
    alone = run("batch")
    assert alone.code == 2
    assert "batches of this run are under way; give --batch as before" in alone.err
    server.batches.batches.clear()
    lost = run("batch", *flags)
    assert lost.code == 1
    assert "--fresh forgets the batches of the run" in lost.err
    refused = run("batch", *flags, "--fresh")
    assert refused.code == 2
    assert "so that --batch_wait could not go on" in refused.err
    done = run("batch", "--batch", "--fresh")
    assert done.code == 0, done.err


def test_an_endpoint_without_batches_ends_the_run_in_its_words(run: Any, server: LlmServer) -> None:
    server.batches.refuses = ApiError(404, "Invalid URL (POST /v1/batches)")
    done = run("batch", "--batch")
    assert done.code == 1
    assert "Invalid URL (POST /v1/batches)" in done.err
    assert "where the endpoint has none, leave it out" in done.err
