"""Standard output and error that are closed, full, or a pipe that nobody reads."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import evaluation
from ufo.pipelines.streams import Output, ReaderGone
from ufo.schemas.errors import RunError
from ufo.schemas.run_folders import finished_runs


@pytest.fixture(name="full")
def _full() -> Iterator[int]:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


@pytest.fixture(name="unread")
def _unread() -> Iterator[int]:
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


def test_a_full_disk_is_told_once(full: int) -> None:
    output = Output(full, raises=True)
    with pytest.raises(RunError, match="the output cannot be written: No space left"):
        output.write(b"abc")
    assert output.write(b"abc") == 3


def test_a_pipe_that_nobody_reads_is_told_once(unread: int) -> None:
    output = Output(unread, raises=True)
    with pytest.raises(ReaderGone):
        output.write(b"abc")
    assert output.write(b"abc") == 3


def test_what_need_not_be_read_is_dropped(full: int) -> None:
    output = Output(full, raises=False)
    assert output.write(b"abc") == 3
    assert output.error is not None


def test_what_can_be_written_is_written() -> None:
    reader, writer = os.pipe()
    assert Output(writer, raises=True).write(b"abc") == 3
    assert os.read(reader, 9) == b"abc"
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize(
    ("places", "code", "message"),
    [
        pytest.param(
            ">/dev/full", 1, "ufo: the output cannot be written: No space left", id="full"
        ),
        pytest.param(">&-", 0, "", id="closed"),
        pytest.param("2>&- >/dev/full", 1, "", id="full, and errors closed"),
        pytest.param("| true", 0, "", id="a pipe that nobody reads"),
    ],
)
def test_a_command_ends_without_a_traceback(places: str, code: int, message: str) -> None:
    line = f"set -o pipefail; {sys.executable} -m ufo.pipelines.cli judges {places}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.returncode == code
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") <= 1


@pytest.mark.slow
@pytest.mark.parametrize("places", [">&- 2>&-", ">/dev/full 2>/dev/full"], ids=["closed", "full"])
@pytest.mark.parametrize(("claim", "code"), [("big", 0), ("red", 3)], ids=["passed", "below"])
def test_a_finished_run_says_that_it_finished(
    tmp_path: Path, places: str, claim: str, code: int
) -> None:
    record = {"response": f"Oslo is {claim}.", "reference_answers": "Oslo is big."}
    flags = ("--judge", "offline", "--verifier", "overlap", "--fail_under", 0.5, "--run", "r")
    words = map(str, evaluation(tmp_path, [record], *flags))
    line = f"{sys.executable} -m ufo.pipelines.cli {shlex.join(words)} {places}"
    assert subprocess.run(["bash", "-c", line]).returncode == code
    assert finished_runs(tmp_path / "out")[0].name == "r"


@pytest.mark.slow
def test_a_long_table_ends_when_its_reader_does(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of({}))
    sql = "SELECT * FROM range(1000000)"
    words = f"{sys.executable} -m ufo.pipelines.cli sql {tmp_path} '{sql}' --csv"
    line = f"set -o pipefail; {words} | head -1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout == "range\n"
    assert done.stderr == ""
