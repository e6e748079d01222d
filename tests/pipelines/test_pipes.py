"""Inputs that can be read only once: pipes, and standard input."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.pipelines.conftest import Outcome, command, ok, settings_of, ufo
from ufo.pipelines.runs.run import run_evaluate
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
    printed = ok("sql", tmp_path / "out", "SELECT key FROM failures", "--csv").out
    assert printed.splitlines() == ["key", "pipe:2"]


def test_a_run_of_a_pipe_says_that_it_cannot_be_resumed_without_it(tmp_path: Path) -> None:
    assert (
        "pipe can be read only once: if the run is stopped, the same command cannot resume it "
        "without the same input."
    ) in evaluated(tmp_path, LINES).err


@pytest.mark.parametrize(
    ("error_text", "message"),
    [
        ("kept; the same command resumes it", "kept; the same command with the same input resumes"),
        ("kept. The same command goes on", "kept. The same command with the same input goes on"),
    ],
)
def test_no_error_of_a_run_of_a_pipe_says_that_the_command_alone_resumes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error_text: str, message: str
) -> None:
    def fails(*arguments: Any, **options: Any) -> None:
        raise RunError(error_text)

    monkeypatch.setattr("ufo.pipelines.runs.run.run_chunks", fails)
    done = evaluated(tmp_path, LINES, ufo)
    assert done.code == 1
    assert message in done.err


@pytest.mark.parametrize("piped", [True, False])
def test_status_shows_the_command_that_goes_on_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piped: bool
) -> None:
    def fails(*arguments: Any, **options: Any) -> None:
        raise RunError("no memory")

    monkeypatch.setattr("ufo.pipelines.runs.run.run_chunks", fails)
    (tmp_path / "file").write_bytes(LINES)
    with pipe(tmp_path, LINES) if piped else nullcontext(tmp_path / "file") as path:
        words = ("--input", str(path), "--output", str(tmp_path / "out"), *MORE)
        with pytest.raises(RunError):
            run_evaluate(replace(settings_of(*words), command=("evaluate", *words)), quiet=True)
    advice = "the same command or call, with the same input, completes it"
    (run,) = json.loads(ok("status", tmp_path / "out", "--json").out)
    assert run["next"] == (advice if piped else f"ufo evaluate {' '.join(words)}")


def test_an_empty_pipe_is_an_empty_input(tmp_path: Path) -> None:
    done = evaluated(tmp_path, b"", ufo)
    assert done.code == 1
    assert "empty; there is nothing to evaluate" in done.err


def test_standard_input_is_read(tmp_path: Path) -> None:
    words = command("evaluate", "--input", "-", "--output", tmp_path, *MORE, "--json")
    done = subprocess.run(words, input=LINES, capture_output=True, check=True, timeout=120)
    assert json.loads(done.stdout)["failures"] == 1
