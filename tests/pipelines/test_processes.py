"""The processes of a run: what they log, the limits they share, their memory."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, faults
from tests.pipelines.conftest import ends, evaluation, ok, ufo_process, write_lines
from tests.pipelines.llm_runs import at, rows
from ufo.schemas.run_folders import finished_runs

pytestmark = pytest.mark.slow

# --- `--log_format json`: every line of stderr is an object, worker processes' included.


def test_lines_of_worker_processes(responses: Path, tmp_path: Path) -> None:
    words = ("--input", responses, "--output", tmp_path, "--sources", "reference", "--run", "r")
    how = ("--chunk_size", 8, "--workers", 2, "--log_format", "json")
    done = ufo_process("evaluate", *words, *how, "--fail_under", 1)
    assert done.code == 3
    events = [json.loads(line) for line in done.err.splitlines()]
    assert {line["run"] for line in events} == {"r"}
    finished = [line for line in events if line["message"] == "chunk finished"]
    assert sorted(line["chunk"] for line in finished) == [0, 1, 2]
    assert sum(line["rows"]["responses"] for line in finished) == 20
    assert events[-1]["worker"] not in {line["worker"] for line in finished}
    assert [line for line in events if not line["time"].endswith("+00:00")] == []
    assert "Below --fail_under" in events[-1]["message"]


# --- What the user says of limits reaches the client, and the processes together keep it.


def test_two_processes_together_keep_the_concurrency(tmp_path: Path, llm_server: LlmServer) -> None:
    texts = [f"Oslo has {n} bridges." for n in range(24)]
    records = [{"response": text, "reference_answers": "Oslo."} for text in texts]
    llm_server.latency = faults.fixed(0.05)
    limits = ("--workers", 2, "--chunk_size", 8, "--concurrency", 5)
    ok(*evaluation(tmp_path, records, *at(llm_server, *limits)))
    assert 1 < llm_server.max_in_flight <= 5
    used = rows(tmp_path / "out", "SELECT DISTINCT worker_id FROM usage WHERE step = 'verify'")
    workers = [row["worker_id"].rpartition(":") for row in used]
    assert {host for host, _, _ in workers} == {socket.gethostname()}
    assert len({pid for _, _, pid in workers}) == 2


# --- A run that has no memory left says so, and how to go on.
GREEDY = '''
import os, resource
from ufo import FactSource, Passage

class Greedy(FactSource):
    """Wants more memory for Oslo than its process may have, while the file `full` is there; says so
    as Python does, Beam's coders, or the system's loader of libraries."""

    def __init__(self, full: str, how: str):
        self.full, self.how = full, how

    def find(self, unit):
        if "Oslo" in unit.claim and os.path.exists(self.full):
            if self.how == "coder":
                raise AssertionError("OutputStream realloc failed.")
            if self.how == "loader":
                raise ImportError("libx.so: failed to map segment from shared object")
            resource.setrlimit(resource.RLIMIT_AS, (1 << 33, 1 << 33))
            bytearray(1 << 34)
        return [Passage(unit.claim)]
'''


@pytest.mark.parametrize(
    ("workers", "how"),
    [(1, "coder"), (2, "python"), (2, "loader")],
    ids=["in this process", "in a worker", "in a loader of a worker"],
)
def test_an_allocation_that_fails_is_reported_with_the_chunk_and_the_remedy(
    tmp_path: Path, workers: int, how: str
) -> None:
    (tmp_path / "greedy.py").write_text(GREEDY)
    full = tmp_path / "full"
    full.touch()
    records = [{"response": f"{city} is a large city."} for city in ("Rome", "Bonn", "Oslo")]
    source = {"type": f"{tmp_path / 'greedy.py'}:Greedy", "full": str(full), "how": how}
    config = tmp_path / "ufo.yaml"
    config.write_text(json.dumps({"sources": [{"name": "greedy", **source}], "judge": "offline"}))
    flags = ("--config", config, "--sources", "greedy", "--run", "r", "--chunk_size", 1)
    words = evaluation(tmp_path, records, *flags)
    done = ufo_process(*words, "--workers", workers, timeout=100)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "no memory left at chunk 2; a smaller --chunk_size or fewer --workers" in done.err
    assert "the same command resumes it" in done.err
    full.unlink()
    ok(*words)


@pytest.mark.parametrize("command", ["evaluate", "recall"])
def test_a_run_that_cannot_be_shown_for_want_of_memory_is_said_to_be_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def full(*arguments: object, **options: object) -> Any:
        raise MemoryError

    claim = "Oslo is large."
    record: dict[str, Any] = {"id": "a", "question": "Is it?", "response": claim}
    record |= {"reference_answers": claim, "ground_truth": claim, "answers": {"b": claim}}
    path = write_lines(tmp_path / "in.jsonl", [record])
    words = ("--input", path, "--judge", "offline", "--output", tmp_path / "out", "--run", "r")
    with monkeypatch.context() as patch:
        patch.setattr(f"ufo.pipelines.commands.{command}.open_results", full)
        assert "run r is finished, and no memory is left" in ends(1, command, *words).err
    assert [run.name for run in finished_runs(tmp_path / "out")] == ["r"]
