"""What worker processes have counted so far, in files that another process reads."""

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from ufo.pipelines.runs.finish import sum_counters
from ufo.transforms.beam.live import Live, live


def counted(folder: Path) -> dict[str, dict[str, int]]:
    return sum_counters(map(str, folder.glob("*.json")))


def test_the_counts_of_all_processes_are_there(tmp_path: Path) -> None:
    waiting: list[tuple[float, Callable[[], None]]] = []

    def later(seconds: float, call: Callable[[], None]) -> None:
        waiting.append((seconds, call))

    first, second = (Live(str(tmp_path), lambda: 0.0, later) for _ in range(2))
    first.add("extract", {"responses": 1, "units": 5})
    second.add("extract", {"responses": 2})
    assert counted(tmp_path) == {"extract": {"responses": 3, "units": 5}}
    first.add("source:wiki", {"answered": 4})
    assert "source:wiki" not in counted(tmp_path), "a process writes once a second"
    first.add("extract", {"responses": 1})
    ((seconds, call),) = waiting
    assert seconds == 1.0
    call()
    assert counted(tmp_path) == {
        "extract": {"responses": 4, "units": 5},
        "source:wiki": {"answered": 4},
    }


def test_what_is_not_written_yet_is_when_a_bundle_ends(tmp_path: Path) -> None:
    waiting: list[Callable[[], None]] = []
    counts = Live(str(tmp_path), lambda: 0.0, lambda seconds, call: waiting.append(call))
    counts.add("extract", {"responses": 1})
    counts.add("extract", {"responses": 1})
    counts.flush()
    assert counted(tmp_path) == {"extract": {"responses": 2}}
    for path in tmp_path.iterdir():
        path.unlink()
    (late,) = waiting
    late()
    assert not list(tmp_path.iterdir()), "nothing is written after the run"


def test_a_folder_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    Live(str(tmp_path / "run")).add("extract", {"responses": 1})
    assert not list(tmp_path.iterdir())


def test_a_file_system_that_fails_costs_progress_and_not_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    counts = Live("nowhere://bucket/run")
    for _ in range(2):
        counts.add("extract", {"responses": 1})
    (record,) = caplog.records
    assert "reports no more progress" in record.message


def test_the_steps_of_a_process_share_a_file(tmp_path: Path) -> None:
    assert live(str(tmp_path)) is live(str(tmp_path))
    live(str(tmp_path)).add("extract", {"responses": 1})
    (path,) = tmp_path.iterdir()
    assert json.loads(path.read_text()) == {"extract": {"responses": 1}}
