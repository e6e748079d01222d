"""A command that waits for a job on a real Flink: what is told meanwhile, and how it is stopped."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.llm_server.faults import fixed
from ufo.pipelines.commands.status import FINISHED, RUNNING, STOPPED, Status, lines_of, statuses

ROOT = Path(__file__).parents[2]
RESPONSES = 60
Start = Callable[[], "subprocess.Popen[str]"]


@pytest.fixture
def start(cluster: Any, flags: tuple[str, ...], tmp_path: Path) -> Iterator[Start]:
    """Start the command; another call of it is the same command."""
    lines = [
        {"id": f"r{number}", "response": f"Oslo has {number} bridges.", "claims": [claim]}
        for number in range(RESPONSES)
        for claim in [{"claim": f"Oslo has {number} bridges.", "query": f"Has Oslo {number}?"}]
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)))
    places = ("--input", str(tmp_path / "in.jsonl"), "--output", str(tmp_path / "out"))
    only = ("--sources", "llm", "--run", "r")  # the last one given holds
    command = [sys.executable, "-m", "ufo.pipelines.evaluate", *places, *flags, *only]
    started = []

    def run() -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [*command, *cluster.flags],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def status_of(output: Path) -> Status:
    """What another process than that of the run knows of it."""
    (status,) = statuses(str(output))
    return status


def test_a_command_that_is_stopped_ends_its_job(
    cluster: Any, remembering: Any, endpoint: LlmServer, start: Start, tmp_path: Path
) -> None:
    held = threading.Event()

    def hold() -> None:
        endpoint.latency = fixed(3600.0)
        held.set()

    # Half of the requests are answered, so that some are counted, and no further one.
    remembering.at[RESPONSES // 2] = hold
    stopped = start()
    while not held.wait(0.1):
        assert stopped.poll() is None, stopped.communicate()
    status = status_of(tmp_path / "out")
    assert status["state"] == RUNNING
    assert status["runner"] == "FlinkRunner"
    assert status["of_lines"] == RESPONSES
    assert status["job"] is not None
    assert f"{status['job']} on FlinkRunner" in "\n".join(lines_of(status))
    stopped.terminate()
    _, printed = stopped.communicate(timeout=120)
    assert stopped.returncode == 1, printed
    ending = f"the job {status['job']} is cancelled; the same command completes the run"
    assert printed.splitlines()[-1].endswith(ending), printed
    (state,) = (
        job["state"] for job in cluster.get("jobs/overview")["jobs"] if job["name"] == status["job"]
    )
    assert state == "CANCELED"
    assert status_of(tmp_path / "out")["state"] == STOPPED

    endpoint.latency = fixed(0.0)
    completed = start()
    _, printed = completed.communicate(timeout=120)
    assert completed.returncode == 0, printed
    assert f"{RESPONSES}/{RESPONSES} responses" in printed
    status = status_of(tmp_path / "out")
    assert status["state"] == FINISHED
    assert status["rows"]["responses"] == RESPONSES
