"""`ufo sql` ends when it is told to."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Some hours of work that ends in one row.
LONG = (
    "SELECT count(*) FROM range(10000000000) AS a, range(1000000) AS b WHERE a.range % 7 = b.range"
)


@pytest.fixture
def run(tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]) -> Path:
    write_run(tmp_path, rows_of({"r": {"u": {"ref": "s"}}}))
    return tmp_path


def test_ctrl_c_ends_a_long_query_with_a_message(run: Path, command: Callable[..., Any]) -> None:
    words = command("sql", run, LONG)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as one:
        deadline = time.monotonic() + 100
        # Nothing else of the command computes for so long: it is at the query.
        while seconds_computed(one.pid) < 6:
            assert one.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        one.send_signal(signal.SIGINT)
        out, err = one.communicate(timeout=60)
    assert (one.returncode, out) == (1, "")
    assert err == "ufo: interrupted; the query was stopped\n"


def seconds_computed(pid: int) -> float:
    """The time of processors that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
