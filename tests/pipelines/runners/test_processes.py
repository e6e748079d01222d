import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.runners import processes

SOURCE = """
import os

import ufo


class Where(ufo.FactSource):
    def find(self, unit):
        return [ufo.Passage(f"{os.environ.get('WHERE')} in {os.getcwd()}")]
"""


@pytest.fixture
def folder(tmp_path: Path, write_lines: Callable[..., Path]) -> Path:
    write_lines(tmp_path / "in.jsonl", [{"response": f"Town {n} is large."} for n in range(4)])
    (tmp_path / "where.py").write_text(SOURCE)
    return tmp_path


def passages(found: Any) -> set[str]:
    return {text for row in found["passages"] for text in row if " in /" in str(text)}


@pytest.mark.parametrize(
    ("chunk_size", "temporary"),
    [(1, ""), (4, ""), pytest.param(1, "x" * 100, id="too long a path for a socket")],
)
def test_workers_are_where_the_command_is(
    folder: Path, ufo_process: Any, tables: Any, chunk_size: int, temporary: str
) -> None:
    (folder / temporary).mkdir(exist_ok=True)
    words = ("evaluate", "--input", "in.jsonl", "--output", "out", "--sources", "where.py:Where")
    root = str(Path(processes.__file__).parent.parent)
    environment = {**os.environ, "WHERE": "here", "PYTHONPATH": root}
    if temporary:
        environment["TMPDIR"] = str(folder / temporary)
    done = ufo_process(
        *(*words, "--workers", 2, "--chunk_size", chunk_size), cwd=folder, env=environment
    )
    assert done.code == 0, done.err
    assert passages(tables(folder / "out")) == {f"here in {folder}"}
    # Nothing of what a worker imports says anything.
    said = [line for line in done.err.splitlines() if "/4 responses" not in line]
    assert [line.split(",")[0] for line in said] == ["Judging offline"], done.err


def test_a_command_called_from_python_leaves_no_process_behind(folder: Path, ufo: Any) -> None:
    found = ufo(
        *("evaluate", "--input", folder / "in.jsonl", "--output", folder / "out"),
        *("--sources", f"{folder / 'where.py'}:Where", "--chunk_size", 1, "--workers", 2),
    )
    assert found.code == 0
    assert not processes.forking()


def test_ctrl_c_while_workers_get_ready(folder: Path, command: Callable[..., list[str]]) -> None:
    words = ("evaluate", "--input", folder / "in.jsonl", "--output", folder / "out")
    process = subprocess.Popen(
        command(*words, "--sources", f"{folder / 'where.py'}:Where"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while len(children.read_text().split()) < 2:
        assert time.monotonic() < deadline, "no process was started"
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "interrupted" in err
    assert "Traceback" not in err
    assert out == ""


def test_nothing_of_beam_is_left_to_import_when_a_chunk_comes(folder: Path) -> None:
    code = """
import sys, pipelines.runners.preload
before = set(sys.modules)
from pipelines.runners.local import run_chunk
from pipelines.runs.plan import Chunk
from transforms.job import Job
from transforms.sources.registry import SourceSpec
from transforms.splits import Split
split = Split("in.jsonl", "in.jsonl", 0, 100, first_line=1)
run_chunk(Chunk(0, (split,), 4), Job((SourceSpec("reference", "reference"),)), "chunk")
print([name for name in set(sys.modules) - before if name.startswith(("apache_beam", "pyarrow"))])
"""
    root = str(Path(processes.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
