"""`ufo evaluate` on a real Flink: the rows of a run in process, also where a machine is lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.flink.conftest import RESPONSES, rows
from tests.llm_server import LlmServer
from ufo.pipelines.cli import main
from ufo.schemas.tables import OF_EVALUATE

Run = Callable[..., None]


def answered(output: Path) -> list[str]:
    """Whom the answered requests were about, and "" for the probe of what an endpoint can do."""
    requests = rows(output, "usage")
    return [row["response_id"] or "" for row in requests if row["status"] == "ok"]


@pytest.fixture
def run(
    responses: Path, index: Path, flags: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> Run:
    monkeypatch.chdir(index.parent)

    def evaluate(output: Path, *more: str) -> None:
        # Paths as a user writes them; workers have working folders of their own.
        places = ("--input", str(responses), "--output", str(output), "--index", index.name)
        assert main(["evaluate", *places, *flags, "--run", "r", *more]) == 0

    return evaluate


def test_a_run_has_the_rows_of_one_in_process_though_a_task_manager_is_killed(
    cluster: Any, mended: None, run: Run, remembering: Any, endpoint: LlmServer, tmp_path: Path
) -> None:
    run(tmp_path / "here", "--workers", "2")
    want = {table: rows(tmp_path / "here", table) for table in OF_EVALUATE}
    requests = answered(tmp_path / "here")
    deciders = {row["source"] for row in want["verdicts"]}
    assert deciders == {"reference", "wikipedia", "llm", "none"}
    assert len(want["responses"]) == RESPONSES
    assert [row["error_type"] for row in want["failures"]] == ["unusable_record", "repeated_id"]
    before = [cluster.workers(number) for number in (1, 2)]
    # In the middle of the last source's requests, when earlier stages have left results with both.
    remembering.at[remembering.asked + len(requests) // 2] = lambda: cluster.kill(2)
    before_flink = len(endpoint.chats)
    run(tmp_path / "flink", *cluster.flags)
    assert not remembering.at
    assert cluster.restarts() >= 1
    for number in (1, 2):
        assert cluster.workers(number) - before[number - 1], f"task manager {number}"
    for table in OF_EVALUATE:
        if table != "usage":
            assert rows(tmp_path / "flink", table) == want[table], table
    # Nobody's requests are lost or counted twice in the tables, however often a step was run: what
    # a lost worker paid is there beside what was paid again, but for what it was waiting for.
    paid = answered(tmp_path / "flink")
    assert set(paid) == set(requests)
    unknown = len(endpoint.chats) - before_flink - len(paid)
    assert 0 <= unknown <= 64  # --concurrency
