import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.runs import workers

SOURCE = """
import os

import ufo


class Where(ufo.FactSource):
    def find(self, unit):
        return [ufo.Passage(f"{os.environ.get('WHERE')} in {os.getcwd()}")]
"""

TWO_WORKERS = ("--workers", 2, "--chunk_size", 1)


@pytest.fixture
def folder(tmp_path: Path, write_lines: Callable[..., Path]) -> Path:
    write_lines(tmp_path / "in.jsonl", [{"response": f"Town {n} is large."} for n in range(4)])
    (tmp_path / "where.py").write_text(SOURCE)
    return tmp_path


def passages(found: Any) -> set[str]:
    return {text for row in found["passages"] for text in row if " in /" in str(text)}


@pytest.mark.parametrize("chunk_size", [1, 4])
def test_workers_are_where_the_command_is(
    folder: Path, ufo_process: Any, tables: Any, chunk_size: int
) -> None:
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


def test_ctrl_c_while_workers_get_ready(folder: Path, command: Callable[..., list[str]]) -> None:
    words = ("evaluate", "--input", folder / "in.jsonl", "--output", folder / "out")
    process = subprocess.Popen(
        command(*words, "--sources", f"{folder / 'where.py'}:Where", *TWO_WORKERS),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while len(children.read_text().split()) < 3:  # loky's resource tracker, and the workers
        assert time.monotonic() < deadline, "no process was started"
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "interrupted" in err
    assert "Traceback" not in err
    assert out == ""
