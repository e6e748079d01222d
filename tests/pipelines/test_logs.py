"""`--log_format json`: every line of stderr is an object, worker processes' included."""

import json
import logging
from pathlib import Path
from typing import Any

from tests.pipelines.conftest import ufo, ufo_process


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


def test_what_a_library_logs_and_what_ends_the_command(responses: Path, tmp_path: Path) -> None:
    source = tmp_path / "noisy.py"
    source.write_text(
        "import logging\nimport ufo\n\nclass Noisy(ufo.FactSource):\n"
        "    def find(self, unit):\n"
        "        logging.getLogger('a.library').warning('slow: %s', unit.claim)\n"
        "        return []\n"
    )
    handlers = list(logging.getLogger().handlers)
    words = ("evaluate", "--input", responses, "--output", tmp_path / "out", "--run", "r")
    how = ("--sources", f"{source}:Noisy", "--log_format", "json")
    done = ufo(*words, *how)
    assert done.code == 0, done.err
    warned = [line for line in lines(done.err) if line["logger"] == "a.library"]
    assert warned[0]["level"] == "warning"
    assert warned[0]["message"].startswith("slow: ")
    assert {line["step"] for line in warned} == {"source:Noisy"}
    assert logging.getLogger().handlers == handlers

    wrong = ufo(*words, *how, "--since", "missing")
    assert wrong.code == 2
    assert lines(wrong.err)[-1]["level"] == "error"
    assert "missing" in lines(wrong.err)[-1]["message"]
    assert not ufo(*words, "--since", "missing").err.startswith("{"), "plain lines again"
