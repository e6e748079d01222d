"""`kill -9` of a real `ufo serve` with an upload: nothing goes on, and nothing is lost."""

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.llm_server.faults import fixed
from tests.webapp.conftest import command, read_events

LINES = 24
CONCURRENCY = 2
TEXT = "Town {0} has {0} bridges. Town {0} was founded in {1}."
PATIENCE = 60.0


def until(done: Callable[[], Any], what: str) -> Any:
    """Look again until there is something, and return it."""
    ends = time.monotonic() + PATIENCE
    while not (answer := done()):
        assert time.monotonic() < ends, what
        time.sleep(0.02)
    return answer


def session_of(pid: int) -> list[int]:
    """The living processes of the session that a process leads."""
    processes = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = path.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has just ended
            continue
        if int(session) == pid and state not in "ZX":
            processes.append(int(path.parent.name))
    return processes


@pytest.mark.slow
def test_an_upload_ends_with_a_service_that_is_killed_and_is_resumed(
    tmp_path: Path, index: Path, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UFO_CACHE", str(tmp_path / "cache.sqlite"))
    results = tmp_path / "results"
    lines = [
        json.dumps(
            {"id": f"r{n}", "response": TEXT.format(n, 1000 + n), "reference_answers": "No."}
        )
        for n in range(LINES)
    ]
    serve = (
        "--index",
        index,
        "--results",
        results,
        "--model",
        "offline-judge",
        "--judge",
        "llm",
        "--base_url",
        llm_server.base_url,
        "--concurrency",
        CONCURRENCY,
    )
    llm_server.latency = fixed(0.1)
    with command(*serve) as (process, client):
        taken = client.post("/upload", params={"sources": "reference"}, content="\n".join(lines))
        assert taken.status_code == 202, taken.text
        identifier = taken.json()["id"]
        run = results / f"run=upload-{identifier}"
        until(lambda: len(llm_server.chats) > 10, "the model is not asked")
        (noted,) = run.glob(".attempt-*/process.json")
        upload = json.loads(noted.read_text())["pid"]
        assert upload in session_of(upload)
        process.kill()
        process.wait()
        assert not (run / "manifest.json").exists()
        until(lambda: not session_of(upload), "processes of the upload live on")
    sent = len(llm_server.chats)
    llm_server.latency = fixed(0.0)
    with command(*serve) as (_, client):
        (shown,) = client.get("/upload").json()
        assert shown["id"] == identifier
        assert shown["state"] == "stopped"
        assert shown["run"] is None
        assert "resume" in shown["log"][-1]
        assert len(llm_server.chats) == sent
        assert client.post(f"/upload/{identifier}/resume").status_code == 202
        with client.stream("GET", f"/upload/{identifier}/events") as response:
            last = list(read_events(response.iter_lines()))[-1].data
        assert last["state"] == "finished", last
        assert last["done"] == LINES, last
        assert last["exit_code"] == 0, last
        assert client.get(f"/runs/{last['run']}/responses").json()["total"] == LINES
    # What was answered before is not asked again, but for what was in flight.
    asked = Counter(json.dumps(entry.body) for entry in llm_server.chats if entry.step != "probe")
    assert sum(asked.values()) - len(asked) <= CONCURRENCY
