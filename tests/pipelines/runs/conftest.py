"""Fixtures of runs by batches."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.runs.batch_runs import Running


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the run paused each time; the clock jumps."""
    naps: list[float] = []
    now = time.time

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        assert len(naps) < 100, "the run does not end"

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "time", lambda: now() + sum(naps))
    return naps


@pytest.fixture
def run(tmp_path: Path, llm_server: LlmServer, slept: list[float]) -> Iterator[Running]:
    """A run of one chunk; no time passes."""
    running = Running(tmp_path, llm_server)
    with closing(running.store):
        yield running
