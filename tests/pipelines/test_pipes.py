"""Inputs that can be read only once: pipes, and standard input."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.pipelines.conftest import Outcome, command, ok, ufo
from ufo.schemas.errors import RunError

LINES = b'{"response": "Etna is in Sicily."}\nnope\n'
MORE = ("--judge", "offline", "--verifier", "overlap", "--sources", "reference")


@contextmanager
def pipe(folder: Path, content: bytes) -> Iterator[Path]:
    """A named pipe that gives the content once."""
    path = folder / "pipe"
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(content,))
    writer.start()
    yield path
    writer.join()


def evaluated(folder: Path, content: bytes, run: Callable[..., Outcome] = ok) -> Outcome:
    with pipe(folder, content) as path:
        return run("evaluate", "--input", path, "--output", folder / "out", "--run", "r", *MORE)


def test_a_pipe_is_read(tmp_path: Path) -> None:
    evaluated(tmp_path, LINES)
    found = ok("sql", tmp_path / "out", "SELECT key FROM failures", "--csv").out
    assert found.splitlines() == ["key", "pipe:2"]


def test_a_run_of_a_pipe_says_that_it_cannot_be_resumed_without_it(tmp_path: Path) -> None:
    assert (
        "pipe can be read only once: if the run is stopped, the same command cannot resume it "
        "without the same input."
    ) in evaluated(tmp_path, LINES).err


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("kept; the same command resumes it", "kept; the same command with the same input resumes"),
        ("kept. The same command goes on", "kept. The same command with the same input goes on"),
    ],
)
def test_no_error_of_a_run_of_a_pipe_says_that_the_command_alone_resumes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, told: str
) -> None:
    def fails(*arguments: Any, **options: Any) -> None:
        raise RunError(said)

    monkeypatch.setattr("ufo.pipelines.runs.run.run_chunks", fails)
    done = evaluated(tmp_path, LINES, ufo)
    assert done.code == 1
    assert told in done.err


def test_an_empty_pipe_is_an_empty_input(tmp_path: Path) -> None:
    done = evaluated(tmp_path, b"", ufo)
    assert done.code == 1
    assert "empty; there is nothing to evaluate" in done.err


def test_standard_input_is_read(tmp_path: Path) -> None:
    words = command("evaluate", "--input", "-", "--output", tmp_path, *MORE, "--json")
    done = subprocess.run(words, input=LINES, capture_output=True, check=True, timeout=120)
    assert json.loads(done.stdout)["failures"] == 1
