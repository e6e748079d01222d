"""What runs that differ in --repeat alone say of a model's chance."""

from collections.abc import Callable
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest

from ufo.schemas.results import open_results

INPUTS = [{"name": "in.jsonl", "size": 9, "sha256": "ab"}]


@pytest.fixture(name="write")
def _write(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> Callable[..., Any]:
    def write(
        name: str, votes: str, repeat: int = 0, inputs: list[Any] = INPUTS, **options: str
    ) -> None:
        chosen = {"mode": "seq", **options, **({"repeat": repeat} if repeat else {})}
        fingerprint = {"inputs": inputs, "options": chosen, "chunk_size": 10 + repeat}
        units = {f"u{i}": {"ref": letter} for i, letter in enumerate(votes)}
        rows = rows_of({"a": units}, sources=("ref",), models={"a": "m"})
        at = f"2025-01-{len(list(tmp_path.iterdir())) + 1:02d}T00:00:00Z"
        write_run(tmp_path, rows, name, fingerprint=fingerprint, finished_at=at)

    return write


def found(folder: Path, columns: str) -> list[Any]:
    with open_results(folder, all_runs=True) as results:
        rows = results.query(f"SELECT {columns} FROM repeat_variance").to_pylist()
    return [tuple(row.values()) for row in rows]


def test_scores_and_verdicts_are_held_against_each_other(
    tmp_path: Path, write: Callable[..., Any]
) -> None:
    write("second", "ssrr", repeat=1)
    write("first", "sssr", repeat=0)
    write("third", "snrr", repeat=2)
    columns = (
        "run, model, n_runs, factuality_score, deviation, lowest, highest, n_units, flip_share"
    )
    scores = (0.75, 0.5, 0.25)
    assert found(tmp_path, columns) == [
        ("first", "m", 3, 0.5, pytest.approx(stdev(scores)), 0.25, 0.75, 4, 0.5)
    ]


def test_a_unit_that_a_run_lacks_is_no_flip(tmp_path: Path, write: Callable[..., Any]) -> None:
    write("first", "ss")
    write("second", "ssr", repeat=1)
    assert found(tmp_path, "n_units, flip_share") == [(2, 0.0)]


def test_only_runs_that_differ_in_nothing_else_are_repeats(
    tmp_path: Path, write: Callable[..., Any]
) -> None:
    write("first", "ss")
    write("other options", "rr", repeat=1, tie="factual")
    write("other input", "rr", repeat=2, inputs=[{**INPUTS[0], "sha256": "cd"}])
    assert found(tmp_path, "run") == []
    write("other name of the input", "sr", repeat=3, inputs=[{**INPUTS[0], "name": "x"}])
    assert found(tmp_path, "run, n_runs") == [("first", 2)]


def test_the_same_repeat_twice_counts_once_the_newer(
    tmp_path: Path, write: Callable[..., Any]
) -> None:
    write("old", "rr")
    write("new", "ss")
    write("again", "ss", repeat=1)
    assert found(tmp_path, "run, deviation, n_runs") == [("new", 0.0, 2)]


def test_a_report_of_repeats_is_over_all_runs(
    tmp_path: Path, write: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    from ufo.pipelines.cli import main

    write("first", "ss")
    write("second", "sr", repeat=1)
    assert main(["report", str(tmp_path), "repeat_variance"]) == 0
    out = capsys.readouterr().out
    assert "Variance between repeated runs, 2 runs" in out
    assert "0.354" in out
    assert main(["report", str(tmp_path), "repeat_variance", "--run", "first"]) == 0
    assert "two finished runs or more" in capsys.readouterr().out
