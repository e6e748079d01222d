"""`kill -9` at ten moments of a run by batches: nothing is lost, and nothing is in two batches."""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.llm_server.http import HttpRequest
from tests.pipelines.conftest import tables, ufo
from tests.pipelines.killed import kill, started
from tests.pipelines.llm_runs import results

# Each is a request that the provider has carried out, of which the command does not learn.
MOMENTS = (
    *("POST /v1/files", "POST /v1/batches", "GET /v1/batches", "GET /v1/batches/ID"),
    *("GET /v1/files/ID/content", "DELETE /v1/files/ID", "POST /v1/batches"),
    *("GET /v1/files/ID/content", "POST /v1/files", "POST /v1/batches"),
)


def _moment(request: HttpRequest) -> str:
    path = re.sub(r"/(file-|batch_)\w+", "/ID", request.path)
    return f"{request.method} {path}"


def _kill_at(moment: str, process: Any, request: HttpRequest) -> None:
    if _moment(request) == moment and process.is_alive():
        kill(process)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    """A server of its own for each test, which knows every request of its batches."""
    with LlmServer() as running:
        yield running


@pytest.fixture
def arguments(tmp_path: Path, few: Path, index: Path, server: LlmServer) -> Callable[..., Any]:
    """Gives the arguments of a run into a folder of that name."""
    prices = tmp_path / "prices.yaml"
    prices.write_text(json.dumps({"offline-judge": {"input": 10.0, "output": 40.0, "batch": 0.25}}))

    def given(name: str, *flags: object) -> list[Any]:
        return [
            *("evaluate", "--input", few, "--output", tmp_path / name, "--run", "r"),
            *("--judge", "llm", "--base_url", server.base_url, "--model", "offline-judge"),
            *("--sources", "reference,wikipedia,llm", "--index", index, "--prices", prices),
            *("--cache", tmp_path / f"{name}.sqlite", "--workers", 1, *flags),
        ]

    return given


def test_a_run_killed_ten_times_asks_nothing_twice(
    arguments: Any, tmp_path: Path, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", server.key)
    assert ufo(*arguments("plain")).code == 0
    live = len(server.chats)
    batched = arguments("batch", "--batch", "--batch_requests", 4)
    for moment in MOMENTS:
        process = started(batched)
        server.carried_out = partial(_kill_at, moment, process)
        process.join(60)
        server.carried_out = None
        assert process.exitcode == -signal.SIGKILL, moment
    done = ufo(*batched)
    assert done.code == 0, done.err
    assert not server.batches.repeated()
    assert len(server.chats) - live == live - server.batches.sent  # the probes alone were sent
    plain, found = tables(tmp_path / "plain"), tables(tmp_path / "batch")
    assert results(found) == results(plain)
    paid = [row for row in found["usage"] if not (row[7] or row[8])]
    of_batches = [row for row in paid if row[5] == "batch"]
    assert len(of_batches) == server.batches.sent
    assert sum(row[13] for row in paid) == pytest.approx(
        sum((10 * row[10] + 40 * row[11]) * (0.25 if row[5] == "batch" else 1) for row in paid)
        / 1e6
    )


def test_a_signal_leaves_the_batches_to_the_same_command(
    arguments: Any, tmp_path: Path, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", server.key)

    def interrupt(request: HttpRequest) -> None:
        if _moment(request) == "GET /v1/batches/ID":
            server.carried_out = None
            os.kill(os.getpid(), signal.SIGINT)

    server.carried_out = interrupt
    stopped = ufo(*arguments("batch", "--batch"))
    assert stopped.code == 1
    assert "batches under way go on at their provider" in stopped.err
    status = json.loads(ufo("status", tmp_path / "batch", "--json").out)
    assert [one["requests"] for one in status[0]["batches"]] == [server.batches.sent]
    assert ufo(*arguments("batch", "--batch")).code == 0
    assert not server.batches.repeated()
    assert json.loads(ufo("status", tmp_path / "batch", "--json").out)[0]["batches"] is None
