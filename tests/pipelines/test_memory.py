"""A run that has no memory left says so, and how to go on."""

import json
from pathlib import Path

import pytest

from tests.pipelines.conftest import ufo, ufo_process, write_lines

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
    done = ufo(*words[:-1], 1, "--json")
    assert done.code == 0, done.err
