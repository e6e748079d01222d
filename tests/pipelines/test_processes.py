"""The processes of a run: where they are, what they log, the limits they share, their memory."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, faults
from tests.pipelines.conftest import ok, tables, ufo_process, write_lines
from ufo.pipelines.runs import workers

SOURCE = """
import os

import ufo


class Where(ufo.FactSource):
    def find(self, unit):
        return [ufo.Passage(f"{os.environ.get('WHERE')} in {os.getcwd()}")]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_lines(tmp_path / "in.jsonl", [{"response": f"Town {n} is large."} for n in range(4)])
    (tmp_path / "where.py").write_text(SOURCE)
    return tmp_path


def passages(found: Any) -> set[str]:
    return {text for row in found["passages"] for text in row if " in /" in str(text)}


@pytest.mark.parametrize("chunk_size", [1, 4])
def test_workers_are_where_the_command_is(folder: Path, chunk_size: int) -> None:
    words = ("evaluate", "--input", "in.jsonl", "--output", "out", "--sources", "where.py:Where")
    root = str(Path(workers.__file__).parents[2])
    environment = {**os.environ, "WHERE": "here", "PYTHONPATH": root}
    done = ufo_process(
        *(*words, "--workers", 2, "--chunk_size", chunk_size), cwd=folder, env=environment
    )
    assert done.code == 0, done.err
    assert passages(tables(folder / "out")) == {f"here in {folder}"}
    # Nothing of what a worker imports says anything.
    said = [line for line in done.err.splitlines() if "/4 responses" not in line]
    assert [line.split(",")[0] for line in said] == ["Judging offline"], done.err


# --- `--log_format json`: every line of stderr is an object, worker processes' included.


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_lines_of_worker_processes(responses: Path, tmp_path: Path) -> None:
    words = ("--input", responses, "--output", tmp_path, "--sources", "reference", "--run", "r")
    how = ("--chunk_size", 8, "--workers", 2, "--log_format", "json")
    done = ufo_process("evaluate", *words, *how, "--fail_under", 1)
    assert done.code == 3
    found = lines(done.err)
    assert {line["run"] for line in found} == {"r"}
    finished = [line for line in found if line["message"] == "chunk finished"]
    assert sorted(line["chunk"] for line in finished) == [0, 1, 2]
    assert sum(line["rows"]["responses"] for line in finished) == 20
    assert found[-1]["worker"] not in {line["worker"] for line in finished}
    assert all(line["time"].endswith("+00:00") for line in found)
    assert "Below --fail_under" in found[-1]["message"]


# --- What the user says of limits reaches the client, and the processes together keep it.


def test_two_processes_together_keep_the_concurrency(tmp_path: Path, llm_server: LlmServer) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(
        "\n".join(
            json.dumps({"response": f"Oslo has {n} bridges.", "reference_answers": "Oslo."})
            for n in range(24)
        )
    )
    llm_server.latency = faults.fixed(0.05)
    ok(
        *("evaluate", "--input", source, "--output", tmp_path / "out", "--sources", "reference"),
        *("--model", "offline-judge", "--base_url", llm_server.base_url, "--cache", "off"),
        *("--workers", 2, "--chunk_size", 8, "--concurrency", 5),
    )
    assert 1 < llm_server.max_in_flight <= 5


# --- A run that has no memory left says so, and how to go on.


CITIES = ["Rome", "Bonn", "Oslo", "Lima"]
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


@pytest.mark.parametrize(("workers", "how"), [(1, "coder"), (2, "python"), (2, "loader")])
def test_an_allocation_that_fails_is_reported_with_the_chunk_and_the_remedy(
    tmp_path: Path, workers: int, how: str
) -> None:
    (tmp_path / "greedy.py").write_text(GREEDY)
    full = tmp_path / "full"
    full.touch()
    lines = [{"id": city, "response": f"{city} is a large city."} for city in CITIES]
    source = {"name": "greedy", "type": f"{tmp_path / 'greedy.py'}:Greedy", "full": str(full)}
    source["how"] = how
    config = tmp_path / "ufo.yaml"
    config.write_text(json.dumps({"sources": [source], "chunk_size": 1, "judge": "offline"}))
    words = (
        *("evaluate", "--input", write_lines(tmp_path / "in.jsonl", lines), "--config", config),
        *("--output", tmp_path / "out", "--run", "r", "--workers", workers),
    )
    done = ufo_process(*words, timeout=100)
    assert done.code == 1
    assert "no memory left at chunk 2; a smaller --chunk_size or fewer --workers" in done.err
    assert "the same command resumes it" in done.err
    assert "Traceback" not in done.err
    full.unlink()
    done = ok(*words[:-1], 1, "--json")
