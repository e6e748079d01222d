"""`ufo status`: the state of each run in a folder, and the lines that tell it."""

import json
import os
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import ends, ok
from ufo.pipelines.commands.status import lines_of, statuses
from ufo.pipelines.runs import engine
from ufo.pipelines.runs.attempt import Attempt, Written, run_lock
from ufo.schemas.state_files import read_state, write_state
from ufo.transforms.llm.batch_store import BatchStore
from ufo.transforms.llm.endpoint import Endpoint


def status_of(**fields: Any) -> dict[str, Any]:
    """The status of a run of which nothing more is known."""
    return defaultdict(lambda: None, run="r", state="stopped", **{"rows": {}, **fields})


# --- the lines that tell a run


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        pytest.param({}, [], id="nothing more"),
        pytest.param(
            {"chunks": 1, "of_chunks": 3, "lines": 2_000, "of_lines": 6_000},
            ["done  1 of 3 chunks, 2,000 of 6,000 records"],
            id="chunks and records of a known number",
        ),
        pytest.param(
            {"chunks": 0, "lines": 0},
            ["done  0 chunks, 0 records"],
            id="chunks and records of an unknown number",
        ),
        pytest.param({"of_lines": 6}, ["done  0 of 6 records"], id="records of a job"),
        pytest.param(
            {"rows": {"responses": 2_000, "units": 1, "failures": 0}},
            ["done  2,000 responses, 1 claim, 0 failures"],
            id="the rows of a finished run",
        ),
        pytest.param(
            {"rows": {"responses": 1, "units": 3, "answers": 2, "failures": 1}},
            ["done  1 record, 3 facts, 2 answers, 1 failure"],
            id="the rows of a finished run of recall",
        ),
        pytest.param(
            {"chunks": 1, "of_chunks": 1, "lines": 1, "of_lines": 1},
            ["done  1 of 1 chunk, 1 of 1 record"],
            id="one chunk of one record",
        ),
        pytest.param({"host": "h", "pid": 7}, ["host  h, process 7"], id="a process"),
        pytest.param({"job": "ufo-r", "runner": "F"}, ["job   ufo-r on F"], id="a job"),
        pytest.param({"started_at": "9:00"}, ["since 9:00"], id="when it began"),
        pytest.param({"changed_at": "9:30"}, ["last  9:30"], id="when it last went on"),
        pytest.param({"checked": "whole"}, ["check whole"], id="a check"),
        pytest.param({"next": "wait"}, ["next  wait"], id="what is next"),
    ],
)
def test_a_run_is_told_by_what_is_known_of_it(fields: Mapping[str, Any], lines: list[str]) -> None:
    assert lines_of(status_of(**fields)) == ["r  stopped", *(f"  {line}" for line in lines)]


@pytest.mark.parametrize(
    ("batch", "line"),
    [
        pytest.param({}, "b1: round 2, 3 of 4 requests done, 10 s old", id="one under way"),
        pytest.param(
            {"id": None, "done": -1},
            "not known to be accepted: round 2, 0 of 4 requests done, 10 s old",
            id="one that is only submitted",
        ),
        pytest.param(
            {"requests": 1, "done": 1}, "b1: round 2, 1 of 1 request done, 10 s old", id="of one"
        ),
    ],
)
def test_a_batch_is_told(
    monkeypatch: pytest.MonkeyPatch, batch: Mapping[str, Any], line: str
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1010.0)
    batch_fields = {"id": "b1", "round": 2, "done": 3, "requests": 4, "submitted": 1000.0, **batch}
    assert lines_of(status_of(batches=[batch_fields])) == ["r  stopped", f"  batch {line}"]


# --- finished runs


def test_a_finished_run_has_its_rows_and_its_report(tmp_path: Path) -> None:
    rows = rows_of({"a": {"u": {"ref": "s"}}})
    write_run(tmp_path / "below", rows, "r", finished_at="2025-06-01T00:00:00Z")
    (status,) = statuses(str(tmp_path))
    assert status["state"] == "finished"
    assert status["rows"] == {"responses": 1, "units": 1, "failures": 0}
    assert status["changed_at"] == "2025-06-01T00:00:00+00:00"
    assert status["next"] == f"ufo report {tmp_path}/below --run r"
    assert status["folder"] == f"{tmp_path}/below/run=r"
    assert status["checked"] == ""


def test_runs_are_in_the_order_of_their_last_change(tmp_path: Path) -> None:
    rows = rows_of({})
    for name, day in (("b", 2), ("c", 1), ("a", 2)):
        write_run(tmp_path, rows, name, finished_at=f"2025-06-0{day}T00:00:00Z")
    assert [one["run"] for one in statuses(str(tmp_path))] == ["c", "a", "b"]


def test_a_run_whose_manifest_is_damaged_is_to_be_removed(tmp_path: Path) -> None:
    (tmp_path / "run=r").mkdir()
    (tmp_path / "run=r" / "manifest.json").write_text("{")
    done = ends(1, "status", tmp_path)
    assert done.out.startswith("r  damaged\n")
    assert f"remove '{tmp_path}/run=r', and evaluate it again." in done.err


def test_a_folder_without_a_run_says_so(tmp_path: Path) -> None:
    assert ok("status", tmp_path).out == (
        f"no run in {tmp_path}; 'ufo evaluate --output' writes one\n"
    )


# --- runs of folders below


@pytest.fixture(name="nested")
def _nested(tmp_path: Path) -> Path:
    """A folder with a run of its own, and two runs in a folder below it."""
    rows = rows_of({"a": {"u": {"ref": "s"}}, "b": {"v": {"ref": "r"}}})
    write_run(tmp_path, rows, "own")
    for name in ("alder", "birch"):
        write_run(tmp_path / "examples", rows, name)
    return tmp_path


def test_runs_below_stand_under_the_folder_to_give(nested: Path) -> None:
    heads = [line for line in ok("status", nested).out.split("\n") if not line.startswith("  ")]
    assert heads == [
        "own  finished", "", f"in {nested}/examples:", "alder  finished", "birch  finished", "",
    ]  # fmt: skip
    folders = {one["run"]: one["directory"] for one in ok("status", nested, "--json").json}
    assert folders == {
        "own": str(nested), "alder": f"{nested}/examples", "birch": f"{nested}/examples",
    }  # fmt: skip


def test_every_run_that_is_listed_can_be_read_in_the_folder_it_is_listed_under(
    nested: Path,
) -> None:
    for status in ok("status", nested, "--json").json:
        folder, run = status["directory"], status["run"]
        assert ok("report", folder, "--run", run, "--json").json["run"] == run
        assert ok("sql", folder, "SELECT run FROM runs", "--run", run, "--json").json
        assert ok("label", "sample", folder, "--run", run).out.count("\n") == 3
        assert ok("benchmark", folder, "--run", run, "--json").json
    assert ok("compare", nested / "examples", "alder", "birch", "--json").json["run_b"] == "birch"


@pytest.mark.parametrize(
    "words",
    [
        ("report", "DIR", "--run", "alder"),
        ("report", "DIR", "scores", "--run", "alder"),
        ("report", "DIR", "--list", "--run", "alder"),
        ("sql", "DIR", "FROM scores", "--run", "alder"),
        ("label", "sample", "DIR", "--run", "alder"),
        ("benchmark", "DIR", "--run", "alder"),
        ("compare", "DIR", "own", "alder"),
        ("compare", "DIR", "birch", "alder"),
        ("evaluate", "--input", "IN", "--output", "DIR", "--since", "alder"),
        ("evaluate", "--input", "IN", "--output", "DIR", "--baseline", "alder"),
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_a_run_of_a_folder_below_is_told_with_the_folder_to_give(
    nested: Path, words: tuple[str, ...]
) -> None:
    (nested / "in.jsonl").write_text('{"response": "Oslo is green.", "reference_answers": "x"}\n')
    paths = {"DIR": str(nested), "IN": str(nested / "in.jsonl")}
    done = ends(2, *(paths.get(word, word) for word in words))
    assert f"in '{nested}/examples'" in done.err


@pytest.mark.parametrize("words", [("report", "DIR"), ("sql", "DIR", "FROM scores")], ids=str)
def test_where_a_folder_has_no_run_of_its_own_those_below_are_told(
    nested: Path, words: tuple[str, ...]
) -> None:
    shutil.rmtree(nested / "run=own")
    done = ends(2, *(str(nested) if word == "DIR" else word for word in words))
    assert f"give one of them: {nested}/examples (alder, birch)." in done.err


def test_an_unfinished_run_is_told_to_be_completed(nested: Path) -> None:
    (nested / "run=half" / ".attempt-0a").mkdir(parents=True)
    for words in (
        ("report", nested, "--run", "half"),
        ("compare", nested, "own", "half"),
        ("label", "sample", nested, "--run", "half"),
    ):
        done = ends(2, *words)
        assert f"run 'half' in '{nested}' is not finished" in done.err
        assert f"'ufo status {nested}' shows how far it is" in done.err


def test_the_name_of_a_run_where_a_report_is_expected_is_told(nested: Path) -> None:
    assert "'own' is a run: name it with --run own." in ends(2, "report", nested, "own").err


def test_the_folder_of_one_run_is_no_folder_of_runs(nested: Path) -> None:
    assert "is the folder of one run; give its parent" in ends(2, "status", nested / "run=own").err


# --- attempts


@pytest.fixture(name="attempt")
def _attempt(tmp_path: Path) -> Attempt:
    """An attempt at six lines in chunks of four, of which the first is done."""
    attempt = Attempt.open(str(tmp_path / "run=r"), {"chunk_size": 4})
    attempt.write_process(6)
    attempt.mark_done(0, Written([], {}))
    return attempt


@pytest.fixture(name="noted")
def _noted(attempt: Attempt) -> Callable[..., Any]:
    """Changes what is noted of the attempt's process; returns the status of the attempt."""
    path = Path(attempt.folder, "process.json")

    def noted(**changes: Any) -> Any:
        write_state(str(path), {**(read_state(str(path), "", dict) or {}), **changes})
        (status,) = statuses(str(Path(attempt.run_folder).parent))
        return status

    return noted


def test_an_attempt_tells_how_far_it_is(noted: Callable[..., Any], attempt: Attempt) -> None:
    status = noted(started_at="9:00")
    assert status["chunks"] == 1
    assert status["of_chunks"] == 2
    assert status["lines"] == 4
    assert status["of_lines"] == 6
    assert status["started_at"] == "9:00"
    assert status["pid"] == os.getpid()
    assert status["folder"] == attempt.folder
    assert status["changed_at"].endswith("+00:00")


def test_no_more_lines_are_done_than_there_are(noted: Callable[..., Any], attempt: Attempt) -> None:
    attempt.mark_done(1, Written([], {}))
    assert noted()["lines"] == 6


def test_an_unknown_number_of_lines_is_told_as_unknown(noted: Callable[..., Any]) -> None:
    status = noted(lines=None)
    assert status["lines"] == 4
    assert status["of_lines"] is None
    assert status["of_chunks"] is None


def test_a_process_that_holds_the_lock_of_its_run_is_running(
    noted: Callable[..., Any], attempt: Attempt
) -> None:
    with run_lock(str(Path(attempt.run_folder).parent), attempt.run_folder, "r"):
        status = noted()
    assert status["state"] == "running"
    assert status["next"] == f"kill {os.getpid()} stops it; what is finished is kept"


@pytest.mark.parametrize(
    ("changes", "state", "advice"),
    [
        pytest.param(
            {"command": ["evaluate", "--run", "a b"]},
            "stopped",
            "ufo evaluate --run 'a b'",
            id="without the lock, of a command",
        ),
        pytest.param(
            {"command": []},
            "stopped",
            "the same command or call, with the same input, completes it",
            id="without the lock, of a program",
        ),
        pytest.param(
            {"host": "h.example"},
            "elsewhere",
            "it was started on h.example; look there whether it runs",
            id="on another machine",
        ),
    ],
)
def test_an_attempt_of_a_process(
    noted: Callable[..., Any], changes: Mapping[str, Any], state: str, advice: str
) -> None:
    status = noted(**changes)
    assert status["state"] == state
    assert status["next"] == advice


def test_a_process_that_is_gone_is_stopped_whoever_holds_the_lock(
    noted: Callable[..., Any], attempt: Attempt
) -> None:
    with run_lock(str(Path(attempt.run_folder).parent), attempt.run_folder, "r"):
        assert noted(pid=2**22 + 1)["state"] == "stopped"


def test_an_attempt_without_a_note_of_its_process_is_stopped(attempt: Attempt) -> None:
    Path(attempt.folder, "process.json").unlink()
    (status,) = statuses(str(Path(attempt.run_folder).parent))
    assert status["state"] == "stopped"
    assert status["host"] is None


@pytest.mark.parametrize(
    "note",
    [
        "",
        "{",
        "5",
        "[]",
        "{}",
        '{"host": "h"}',
        '"host pid"',
        "\ud7ff{",
        '{"host": 1, "pid": 1}',
        '{"host": "h", "pid": "1"}',
        '{"host": "h", "pid": -1}',
        '{"host": "h", "pid": 1, "lines": "5"}',
        '{"host": "h", "pid": 1, "command": "x"}',
    ],
    ids=repr,
)
def test_a_damaged_note_of_the_process_is_told(attempt: Attempt, note: str) -> None:
    path = Path(attempt.folder, "process.json")
    path.write_text(note)
    (status,) = statuses(str(Path(attempt.run_folder).parent))
    assert status["state"] == "damaged"
    assert status["next"].startswith(f"'{path}' is damaged: ")
    assert "delete it" in status["next"]


@pytest.mark.parametrize(
    "note", ["", "{", "5", "[]", "{}", '{"chunk_size": "4"}', '{"chunk_size": 0}'], ids=repr
)
def test_an_attempt_whose_fingerprint_is_damaged_is_to_be_started_over(
    attempt: Attempt, note: str
) -> None:
    path = Path(attempt.folder, "attempt.json")
    path.write_text(note)
    done = ends(1, "status", Path(attempt.run_folder).parent)
    assert done.out.startswith("r  damaged\n")
    assert f"'{path}' is damaged: " in done.err
    assert "--fresh" in done.err


def test_an_attempt_on_an_engine_has_a_job(noted: Callable[..., Any], attempt: Attempt) -> None:
    job = Path(attempt.chunk_folder(engine.CHUNK), engine.FILE)
    write_state(str(job), asdict(engine.EngineJob("FlinkRunner", "ufo-r", False, None)))
    status = noted()
    assert status["job"] == "ufo-r"
    assert status["runner"] == "FlinkRunner"
    assert status["chunks"] is None


def test_the_batches_of_the_run_are_told(
    noted: Callable[..., Any], attempt: Attempt, tmp_path: Path
) -> None:
    path = str(tmp_path / "cache.batches")
    endpoint = Endpoint("m", "http://models.example/v1?key=k")
    for run, round_ in ((attempt.run_folder, 1), ("another", 2)):
        with closing(BatchStore(path, run)) as store:
            store.plan(endpoint, round_, {"a": 0.0, "b": 0.0})
    (batch,) = noted(batches=path)["batches"]
    assert batch["round"] == 1
    assert batch["requests"] == 2
    assert batch["endpoint"] == "http://models.example/v1"
    assert noted(batches=path, host="h.example")["batches"] is None


def manifest(attempt: str) -> str:
    """Return the manifest of a run of an older version, which lists no table."""
    texts = dict.fromkeys(("ufo_version", "mode", "tie", "judge"), "")
    content = {"format": "ufo-run", "schema_version": 0, "attempt": attempt, "sources": []}
    content |= {"finished_at": "2025-01-01", "counts": {}, "fingerprint": {}, "tables": {}}
    return json.dumps(content | texts)


def test_the_attempt_of_a_finished_run_is_told_unless_the_run_is_its_result(
    noted: Callable[..., Any], attempt: Attempt
) -> None:
    folder = Path(attempt.run_folder)
    for identifier, states in (("a1", ["finished", "stopped"]), (attempt.identifier, ["finished"])):
        (folder / "manifest.json").write_text(manifest(identifier))
        assert [one["state"] for one in statuses(str(folder.parent))] == states


def test_a_run_that_is_finished_while_it_is_looked_at_is_finished(attempt: Attempt) -> None:
    folder = Path(attempt.run_folder)
    process = Path(attempt.folder, "process.json")
    process.unlink()
    os.mkfifo(process)  # who reads it waits for what is written
    manifest_text = manifest(attempt.identifier)

    def finish() -> None:
        with process.open("w") as note:
            (folder / "manifest.json").write_text(manifest_text)
            shutil.rmtree(attempt.folder)
            note.write("{}")

    with ThreadPoolExecutor(1) as pool:
        finished = pool.submit(finish)
        assert [one["state"] for one in statuses(str(folder.parent))] == ["finished"]
        finished.result()
