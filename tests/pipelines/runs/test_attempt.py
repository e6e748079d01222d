"""An attempt at a run: its fingerprint and name, what resumes it, and what is kept of it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.conftest import blank
from tests.pipelines.conftest import settings_of, write_lines
from ufo.pipelines.options.choose_sources import choose_sources
from ufo.pipelines.runs.attempt import (
    Attempt,
    Written,
    checked_name,
    differences,
    fingerprint_of,
    name_of,
    unrecorded_usage,
)
from ufo.pipelines.runs.inputs import InputFile, PlainFile, find_inputs
from ufo.pipelines.runs.run import Plan, plan_of
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.records import Usage
from ufo.schemas.state_files import state_bytes, state_in
from ufo.schemas.tables import read_rows, register_part, to_arrow, write_part
from ufo.transforms.job import WAITING
from ufo.transforms.llm.usage_log import UsageLog

# --- the fingerprint, and the name of a run that is given none

PATH = "folder/in.jsonl"
FILE = InputFile(PATH, "in.jsonl", 10, "abc", 3, PlainFile("in.jsonl", PATH, 10))
OPTIONS = {"mode": "seq", "judge": {"name": "offline"}}
SOURCES = [{"name": "reference"}, {"name": "llm"}]


def printed(
    files: Any = (FILE,), options: Any = OPTIONS, chunk_size: int = 500, sources: Any = SOURCES
) -> Any:
    return fingerprint_of(options, files, chunk_size, sources)


# Of each difference, whether the results may differ and whether the default name does.
DIFFERENT: dict[str, tuple[dict[str, Any], bool, bool]] = {
    "the name of a file": ({"files": [replace(FILE, name="b.jsonl")]}, True, True),
    "the size of a file": ({"files": [replace(FILE, size=11)]}, True, False),
    "the content of a file": ({"files": [replace(FILE, sha256="abd")]}, True, False),
    "another file beside it": ({"files": [FILE, replace(FILE, name="b.jsonl")]}, True, True),
    "an option": ({"options": {**OPTIONS, "mode": "mv"}}, True, True),
    "a part of an option": ({"options": {**OPTIONS, "judge": {"name": "llm"}}}, True, True),
    "an option more": ({"options": {**OPTIONS, "no_share": True}}, True, True),
    "the size of chunks": ({"chunk_size": 501}, True, False),
    "a source less": ({"sources": SOURCES[:1]}, True, True),
    "the order of sources": ({"sources": SOURCES[::-1]}, True, True),
    "no sources, as in a recall": ({"sources": None}, True, True),
    "the folder of a file": ({"files": [replace(FILE, path="b/in.jsonl")]}, False, False),
    "the order of options": ({"options": dict(reversed(OPTIONS.items()))}, False, False),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_fingerprint_differs_by(what: str) -> None:
    change, results, _ = DIFFERENT[what]
    assert (printed(**change) != printed()) == results


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_default_name_differs_by(what: str) -> None:
    change, _, name = DIFFERENT[what]
    assert (name_of(printed(**change)) != name_of(printed())) == name


@pytest.mark.parametrize("version", ["schema_version", "ufo_version"])
def test_a_fingerprint_and_a_default_name_are_of_a_version(version: str) -> None:
    other = {**printed(), version: "another"}
    assert version in printed()
    assert name_of(other) != name_of(printed())


@pytest.fixture(name="plan")
def _plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Plans the run of these flags over a file."""
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "in.jsonl", [{"response": "Oslo is big."}])

    def plan(*flags: object) -> Plan:
        words = ("--input", "in.jsonl", "--output", "out", "--sources", "reference", *flags)
        settings = settings_of(*map(str, words))
        return plan_of(settings, find_inputs(settings.input), choose_sources(settings), "copies")

    return plan


@pytest.mark.parametrize(
    ("flags", "other"),
    [
        pytest.param(("--chunk_size", 7), False, id="the size of chunks"),
        pytest.param(("--workers", 7), False, id="the number of processes"),
        pytest.param(("--title", "A title"), False, id="a title"),
        pytest.param(("--if_finished", "skip"), False, id="what is done if it is finished"),
        pytest.param(("--output", "elsewhere"), False, id="the folder of results"),
        pytest.param(("--tie", "factual"), True, id="an option of results"),
        pytest.param(("--sources", "llm,reference", "--knowledge_model", "m", "--base_url",
                      "http://127.0.0.1:9/v1", "--judge", "offline"), True, id="another source"),
    ],
)  # fmt: skip
def test_the_default_name_of_a_planned_run_differs_by(
    plan: Any, flags: tuple[object, ...], other: bool
) -> None:
    assert (plan(*flags).name != plan().name) == other


def test_the_size_of_chunks_is_in_the_fingerprint_of_a_planned_run(plan: Any) -> None:
    assert plan("--chunk_size", 7).fingerprint["chunk_size"] == 7


def test_a_run_that_is_named_has_that_name(plan: Any) -> None:
    planned = plan("--run", "nightly", "--title", "A title", "--mode", "mv", "--tie", "factual")
    assert planned.name == "nightly"
    assert planned.folder == "out/run=nightly"
    assert planned.facts == {
        "run": "nightly",
        "title": "A title",
        "mode": "mv",
        "tie": "factual",
        "sources": ["reference"],
        "judge": "offline",
    }


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        pytest.param("a", True, id="a letter"),
        pytest.param("7", True, id="a digit"),
        pytest.param("A-b_c.9", True, id="all that may follow"),
        pytest.param("a" * 100, True, id="100 characters"),
        pytest.param("a" * 101, False, id="101 characters"),
        pytest.param("", False, id="nothing"),
        pytest.param(".a", False, id="a dot first"),
        pytest.param("_a", False, id="an underline first"),
        pytest.param("-a", False, id="a hyphen first"),
        pytest.param("a/b", False, id="a slash"),
        pytest.param("a b", False, id="a space"),
        pytest.param("a\n", False, id="a line end"),
        pytest.param("é", False, id="a letter beyond ASCII"),
    ],
)
def test_the_name_of_a_run(name: str, valid: bool) -> None:
    if valid:
        assert checked_name(name) == name
    else:
        with pytest.raises(UsageError, match="a run's name is 1 to 100 letters"):
            checked_name(name)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="none"),
        pytest.param({"a": 1}, {"a": 2}, ["a: 1 → 2"], id="a value"),
        pytest.param({"a": 1}, {}, ["a: 1 → null"], id="what is gone"),
        pytest.param({}, {"a": 1}, ["a: null → 1"], id="what is new"),
        pytest.param({"a": {"b": 1, "c": 1}}, {"a": {"b": 2, "c": 1}}, ["a.b: 1 → 2"], id="nested"),
        pytest.param({"b": 1, "a": 1}, {"b": 2, "a": 2}, ["a: 1 → 2", "b: 1 → 2"], id="in order"),
        pytest.param({}, {"a": "x" * 158}, [f'a: null → "{"x" * 158}"'], id="a text of 160"),
        pytest.param({}, {"a": "x" * 159}, [f'a: null → "{"x" * 156}…'], id="a longer text"),
    ],
)
def test_differences_are_told(old: Any, new: Any, lines: list[str]) -> None:
    assert differences(old, new) == lines


# --- resumed or begun


def test_the_same_command_resumes_an_attempt(tmp_path: Path) -> None:
    begun = Attempt.open(str(tmp_path), printed())
    assert Attempt.open(str(tmp_path), printed()).identifier == begun.identifier


def test_another_command_is_refused_with_the_difference(tmp_path: Path) -> None:
    Attempt.open(str(tmp_path), printed())
    with pytest.raises(UsageError, match="chunk_size: 500 → 501"):
        Attempt.open(str(tmp_path), printed(chunk_size=501))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("one@a1", None, id="of none"),
        pytest.param("one@a1", "one@a2", id="of another attempt"),
        pytest.param(None, "one@a1", id="of a run, where it was of none"),
    ],
)
def test_an_attempt_is_not_resumed_with_the_results(
    tmp_path: Path, first: str | None, second: str | None
) -> None:
    Attempt.open(str(tmp_path), printed(), reused_from=first)
    with pytest.raises(UsageError, match="reused_from: "):
        Attempt.open(str(tmp_path), printed(), reused_from=second)


def test_fresh_begins_anew_and_deletes_the_earlier_attempt(tmp_path: Path) -> None:
    begun = Attempt.open(str(tmp_path), printed())
    fresh = Attempt.open(str(tmp_path), printed(chunk_size=501), fresh=True)
    assert fresh.identifier != begun.identifier
    assert [path.name for path in tmp_path.iterdir()] == [Path(fresh.folder).name]


# --- finished chunks


@pytest.fixture(name="attempt")
def _attempt(tmp_path: Path) -> Attempt:
    return Attempt.open(str(tmp_path), printed())


def usage_of(requests: int) -> pa.Table:
    same = {"worker_id": "w", "step": "verify", "status": "ok", "retries": 0, "seconds": 1.0}
    fields = {**same, "cached": False, "coalesced": False}
    rows = [blank(Usage, request_id=f"r{n}", **fields) for n in range(requests)]
    return to_arrow("usage", rows)


def finished(attempt: Attempt, chunk: int | str = 0) -> Written:
    folder = attempt.chunk_folder(chunk)
    part = write_part("usage", f"{folder}/usage.parquet", usage_of(2))
    written = Written([register_part(part)], {"read": {"same": 1}})
    attempt.mark_done(chunk, written)
    return written


def test_an_attempt_whose_fingerprint_is_damaged_is_only_started_over(
    attempt: Attempt, tmp_path: Path
) -> None:
    Path(attempt.folder, "attempt.json").write_text("{")
    with pytest.raises(RunError, match=r"attempt\.json' is damaged: .*--fresh"):
        Attempt.open(str(tmp_path), printed())
    fresh = Attempt.open(str(tmp_path), printed(), fresh=True)
    assert Attempt.open(str(tmp_path), printed()).identifier == fresh.identifier
    assert not Path(attempt.folder).exists()


def test_a_finished_chunk_is_known_with_its_parts_and_counts(attempt: Attempt) -> None:
    written = finished(attempt, 3)
    assert attempt.done(3) == written
    assert attempt.done(4) is None


def test_a_chunk_with_a_damaged_part_is_not_finished(
    attempt: Attempt, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(finished(attempt).parts[0].path)
    path.write_bytes(path.read_bytes()[:-1])
    assert attempt.done(0) is None
    assert f"{str(path)!r} is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("note", ["{", "{}"])
def test_a_chunk_with_a_note_that_says_nothing_is_not_finished(
    attempt: Attempt, capsys: pytest.CaptureFixture[str], note: str
) -> None:
    finished(attempt)
    Path(attempt.chunk_folder(0), "done.json").write_text(note)
    assert attempt.done(0) is None
    assert "done.json' is damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"chunk": "1"}, id="another chunk"),
        pytest.param({"checksum_of_parts": ""}, id="other parts"),
        pytest.param({"below": 5}, id="a folder that is no name"),
        pytest.param({"counters": None}, id="no counts"),
    ],
)
def test_a_chunk_is_not_finished_by_a_note_of(
    attempt: Attempt, capsys: pytest.CaptureFixture[str], change: dict[str, Any]
) -> None:
    finished(attempt)
    note = Path(attempt.chunk_folder(0), "done.json")
    note.write_bytes(state_bytes(state_in(note.read_bytes()) | change))
    assert attempt.done(0) is None
    assert "done.json' is damaged" in capsys.readouterr().err


def test_a_chunk_stays_finished_where_the_folder_is_moved(tmp_path: Path) -> None:
    attempt = Attempt.open(str(tmp_path / "before"), printed())
    written = finished(attempt)
    (tmp_path / "before").rename(tmp_path / "after")
    moved = Attempt.open(str(tmp_path / "after"), printed()).done(0)
    assert moved is not None
    assert moved.counters == written.counters
    assert [Path(part.path).parents[3] for part in moved.parts] == [tmp_path / "after"]


def test_an_attempt_without_a_finished_chunk_is_abandoned(attempt: Attempt) -> None:
    attempt.abandon()
    assert not Path(attempt.folder).exists()


def test_an_attempt_with_a_finished_chunk_is_kept(attempt: Attempt) -> None:
    finished(attempt)
    attempt.abandon()
    assert attempt.done(0) is not None


def test_responses_that_wait_are_counted_over_steps() -> None:
    counters = {
        "extract": {WAITING: 2, "responses": 9},
        "verify": {WAITING: 3},
        "read": {"same": 1},
    }
    assert Written([], counters).waiting == 5


# --- what is written beside it


def test_the_note_of_a_process_has_no_secrets(attempt: Attempt) -> None:
    words = ["evaluate", "--base_url", "https://me:pass@host/v1?key=k", "--run", "a?b", "x@y"]
    attempt.write_process(7, "/caches/b", words)
    note = json.loads((Path(attempt.folder) / "process.json").read_text())
    assert note["command"] == [
        "evaluate",
        "--base_url",
        "https://…host/v1?…",
        "--run",
        "a?b",
        "x@y",
    ]
    assert note["lines"] == 7
    assert note["batches"] == "/caches/b"


def test_the_batches_of_an_attempt_are_known_while_their_file_is_there(
    attempt: Attempt, tmp_path: Path
) -> None:
    assert attempt.batches() is None
    path = tmp_path / "cache.batches"
    attempt.write_process(1, str(path))
    assert attempt.batches() is None
    path.touch()
    assert attempt.batches() == str(path)


def test_requests_that_only_the_log_has_are_added_once(attempt: Attempt) -> None:
    """A request is the same by its id, its process and its time."""
    parts = finished(attempt).parts
    (known, _) = read_rows(parts[0].path).to_pylist()
    known = {name: value for name, value in known.items() if name != "run"}
    log = UsageLog(attempt.usage_log())
    for change in ({}, {"request_id": "new"}, {"worker_id": "new"}, {"seconds": 2.0}) * 2:
        log.add({}, Usage(**{**known, **change}))
    log.close()
    (part,) = unrecorded_usage(parts, attempt, attempt.usage_log())
    rows = read_rows(part.path).to_pylist()
    assert [(row["request_id"], row["worker_id"], row["seconds"]) for row in rows] == [
        ("new", "w", 1.0),
        ("r0", "new", 1.0),
        ("r0", "w", 2.0),
    ]


def test_a_log_without_more_requests_adds_no_part(attempt: Attempt) -> None:
    assert unrecorded_usage(finished(attempt).parts, attempt, attempt.usage_log()) == []
