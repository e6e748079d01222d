import os
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.conftest import tables, ufo_process, write_lines
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
