"""How our own program ends: with all that was to be done, and its exit code."""

import os
import subprocess
import sys

import pytest

FIRST = "import atexit, sys, threading, time; from pipelines.commands.leaving import leave; "


def run(code: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", FIRST + code]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("code", [0, 3])
def test_what_is_registered_for_the_end_is_done_and_what_was_printed_arrives(code: int) -> None:
    done = run(f"atexit.register(print, 'at the end'); print('x' * 100_000); leave({code})")
    assert done.returncode == code
    assert done.stdout == "x" * 100_000 + "\nat the end\n"


def test_a_thread_at_work_is_waited_for() -> None:
    wait = "go = threading.Event(); "
    start = "threading.Thread(target=lambda: (go.wait(), print('done'))).start(); "
    done = run(wait + start + "threading.Timer(0, go.set).start(); leave(4)")
    assert (done.returncode, done.stdout) == (4, "done\n")


def test_a_reader_that_has_gone_is_as_at_any_exit() -> None:
    code = FIRST + "sys.stdout.write('x'); sys.stdin.read(); leave(0)"
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe, env=environment
    ) as one:
        assert one.stdout is not None
        assert one.stdin is not None
        one.stdout.close()
        one.stdin.close()
        assert one.wait() == 120  # Python's own for output that could not be flushed
