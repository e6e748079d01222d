"""`--streaming` on a real Flink: a job a window, with the rows of a run in process; also where a
machine is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flink.conftest import rows
from ufo.pipelines.cli import main
from ufo.schemas.tables import OF_EVALUATE

ROOT = Path(__file__).parents[2]
FLAGS = ("--streaming", "--window_seconds", "0.4", "--run", "s")


@pytest.fixture
def common(index: Path, flags: tuple[str, ...]) -> tuple[str, ...]:
    return (*flags, "--index", str(index))


@pytest.fixture
def arriving(responses: Path, tmp_path: Path) -> Callable[[int], Path]:
    """Makes the next 60 responses arrive as a file, with an unusable line at its end."""
    lines = responses.read_text().splitlines()
    (tmp_path / "in").mkdir()

    def arrive(number: int) -> Path:
        path = tmp_path / "in" / f"{number}.jsonl"
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text("\n".join([*lines[60 * number : 60 * number + 60], "not json"]))
        return unfinished.rename(path)

    return arrive


class Command:
    """The command of a stream in a process of its own."""

    def __init__(self, folder: Path, flags: tuple[str, ...]) -> None:
        self.output = folder / "out"
        self._log = folder / f"told-{time.monotonic_ns()}"
        places = ("--input", str(folder / "in/*.jsonl"), "--output", str(self.output))
        words = [sys.executable, "-m", "ufo.pipelines.evaluate", *FLAGS, *places, *flags]
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
            )

    def until(self, happens: Callable[[], bool]) -> None:
        while not happens():
            assert self.process.poll() is None, self.printed()
            time.sleep(0.05)

    def until_window(self, number: int) -> None:
        self.until((self.output / f"run=s.w{number:06d}/manifest.json").exists)

    def printed(self) -> str:
        return self._log.read_text()

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def start(cluster: Any, common: Any, tmp_path: Path) -> Iterator[Callable[..., Command]]:
    started: list[Command] = []

    def start_one(*flags: str) -> Command:
        started.append(Command(tmp_path, (*common, *cluster.flags, *flags)))
        return started[-1]

    yield start_one
    for command in started:
        if command.process.poll() is None:
            command.kill()
        print(command.printed())  # shown where the test fails
    cluster.cancel_all()


def check_equal(common: Any, file: Path, output: Path, run: str) -> None:
    """The window's rows are those of a run over its file in process."""
    here = output.parent / "here"
    places = ("--input", str(file), "--output", str(here), "--run", run)
    assert main(["evaluate", *places, *common, "--workers", "1"]) == 0
    for table in OF_EVALUATE:
        streamed, want = (rows(place, table, run) for place in (output, here))
        if table == "usage":  # what a lost worker paid is there beside what was paid again
            streamed, want = (
                sorted({row["response_id"] for row in asked if row["response_id"]})
                for asked in (streamed, want)
            )
        assert streamed == want, table
    assert len(rows(output, "responses", run)) == 60
    manifest = json.loads((output / f"run={run}/manifest.json").read_text())
    assert [one["name"] for one in manifest["fingerprint"]["inputs"]] == [file.name]


def test_windows_end_without_a_later_file_and_a_killed_task_manager_loses_nothing(
    cluster: Any,
    mended: None,
    start: Callable[..., Command],
    common: Any,
    arriving: Callable[[int], Path],
    remembering: Any,
) -> None:
    command = start()
    files = [arriving(0)]
    command.until_window(1)
    assert not list(command.output.glob("run=s.w000002"))
    assert cluster.restarts() == 0
    # In the middle of what the last source is asked for the second window.
    remembering.at[remembering.asked + 10] = lambda: cluster.kill(2)
    files.append(arriving(1))
    command.until_window(2)
    assert cluster.restarts() >= 1
    assert not remembering.at
    command.process.send_signal(signal.SIGTERM)
    command.process.wait()
    assert command.process.returncode == 1, command.printed()
    cluster.until_none_runs()
    for number, file in enumerate(files, start=1):
        check_equal(common, file, command.output, f"s.w{number:06d}")
