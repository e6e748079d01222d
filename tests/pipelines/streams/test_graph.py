"""The steps of an unbounded pipeline: who gives its windows, and what each becomes. That the whole
of it runs as a stream is shown on Flink, see tests/flink."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.io.restriction_trackers import OffsetRange
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from pipelines.options.arguments import Parser
from pipelines.options.command_line import settings
from pipelines.options.flags import add_evaluate_options
from pipelines.runs.attempt import Attempt
from pipelines.streams import graph as stream_graph
from pipelines.streams import portable as stream_portable
from pipelines.streams.arrivals import Taken
from pipelines.streams.graph import Stream, finished
from pipelines.streams.portable import engine_flags, stream_of
from pipelines.streams.windows import Windows, number_of
from schemas.records import Usage
from schemas.tables import to_arrow

ENGINE = ("--runner=FlinkRunner", "--parallelism=2")


def settings_of(folder: Path, *more: object) -> Any:
    parser = Parser(prog="ufo evaluate")
    add_evaluate_options(parser)
    flags = ["--streaming", "--judge", "offline", "--sources", "reference", "--run", "s"]
    places = ["--input", f"{folder}/in/*.jsonl*", "--output", f"{folder}/out"]
    return settings(parser, [*flags, *places, *map(str, more)])


@pytest.fixture
def arrive(tmp_path: Path, write_lines: Any) -> Callable[..., Path]:
    (tmp_path / "in").mkdir()

    def add(name: str, *ids: str) -> Path:
        lines = [{"id": one, "response": f"{one} is big."} for one in ids]
        path: Path = write_lines(tmp_path / "in" / name, lines)
        return path

    return add


@pytest.fixture
def stream(tmp_path: Path) -> Callable[..., Stream]:
    def make(*more: object) -> Stream:
        chosen = settings_of(tmp_path, *ENGINE, "--window_seconds", "0.01", *more)
        return stream_of(chosen, Windows(chosen.output, "s"))

    return make


class Watching:
    """One element of the watching step as an engine drives it: look by look."""

    def __init__(self, stream: Stream, first: int | None = None) -> None:
        self.stream = stream
        self.tracker = stream_graph._Numbers(OffsetRange(first or stream.first, 1 << 40))
        self.at: Timestamp | None = None
        self.deferred = False

    # What the step sees of its tracker and its watermark.
    def current_restriction(self) -> Any:
        return self.tracker.current_restriction()

    def try_claim(self, number: int) -> bool:
        return bool(self.tracker.try_claim(number))

    def defer_remainder(self, wait: Any) -> None:
        self.deferred = True
        _, rest = self.tracker.try_split(0)
        self.tracker = stream_graph._Numbers(rest)

    def set_watermark(self, at: Timestamp) -> None:
        self.at = at

    def look(self) -> list[tuple[str, int]]:
        """The windows that one look gives, with their event times."""
        self.deferred = False
        given = []
        for value in stream_graph._Watch().process(self.stream, self, self):
            given.append((value.value, int(value.timestamp.micros // 1_000_000)))
            assert self.at is None or value.timestamp >= self.at, "late"
        return given

    def until_given(self) -> list[tuple[str, int]]:
        while not (given := self.look()):
            assert self.deferred
        return given


@pytest.fixture(autouse=True)
def _of_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_graph, "_gathering", {})


def test_windows_are_given_as_they_close_and_never_late(stream: Any, arrive: Any) -> None:
    watching = Watching(stream())
    assert watching.look() == []
    assert watching.deferred
    arrive("a.jsonl", "r1")
    assert watching.until_given() == [("s.w000001", 1)]
    assert watching.at == Timestamp(2)
    arrive("b.jsonl", "r2")
    assert watching.until_given() == [("s.w000002", 2)]


def test_nobody_but_the_step_itself_can_take_numbers(stream: Any) -> None:
    tracker = Watching(stream()).tracker
    assert tracker.try_split(0.5) is None
    assert not tracker.is_bounded()


def test_from_a_checkpoint_the_same_windows_come_again(stream: Any, arrive: Any) -> None:
    told = stream()
    before = Watching(told)
    arrive("a.jsonl", "r1")
    assert before.until_given() == [("s.w000001", 1)]
    arrive("b.jsonl", "r2")
    assert before.until_given() == [("s.w000002", 2)]
    stream_graph._gathering.clear()  # another process
    again = Watching(told)
    assert again.look() == [("s.w000001", 1), ("s.w000002", 2)]


def test_a_stream_ends_after_a_quiet_time_or_when_another_command_takes_over(
    stream: Any, arrive: Any
) -> None:
    first = stream()
    watching = Watching(first)
    arrive("a.jsonl", "r1")
    watching.until_given()
    second = stream("--idle_seconds", "0")
    assert watching.look() == []
    assert not watching.deferred
    watching.tracker.check_done()
    ending = Watching(second, first=2)
    while ending.look() == [] and ending.deferred:
        pass
    ending.tracker.check_done()
    assert second.windows.ended(second.identifier)


def test_of_two_who_close_a_window_with_a_file_one_does(stream: Any, arrive: Any) -> None:
    told = stream()
    file = stream_graph.Gathering.begin(told.windows, told.patterns, print).arrivals
    arrive("a.jsonl", "r1")
    file.look()
    waiting = file.look()
    assert len(waiting) == 1
    assert told.windows.close(waiting) == "s.w000001"
    assert told.windows.close(waiting) is None
    assert [name for name, _ in told.windows.all()] == ["s.w000001"]


def closed(stream: Stream, *names: Path) -> list[str]:
    """Close a window for each of these files; returns the windows' names."""
    found = [stream.windows.close([Taken(str(one), one.stat().st_size)]) for one in names]
    assert all(found)
    return [one for one in found if one]


def run(stream: Stream, windows: list[str], tmp_path: Path) -> list[str]:
    """Evaluate closed windows; returns what the last step gives."""
    told = tmp_path / "told"
    told.mkdir(exist_ok=True)

    def tell(window: str) -> None:
        (told / window).touch()

    options = PipelineOptions(["--no_pipeline_type_check"])
    with beam.Pipeline(runner=FnApiRunner(), options=options) as pipeline:
        at = beam.Map(lambda window: TimestampedValue(window, number_of(window)))
        given = pipeline | beam.Create(windows) | at.with_output_types(str)
        _ = finished(given, stream) | beam.Map(tell)
    found = sorted(path.name for path in told.iterdir())
    for path in told.iterdir():
        path.unlink()
    return found


def ids(tables: Any, output: Path, window: str) -> list[str]:
    return [row[0] for row in tables(output, window)["responses"]]


def test_each_window_is_a_run_of_its_own_and_is_finished_once(
    stream: Any, arrive: Any, ufo: Any, tables: Any, tmp_path: Path
) -> None:
    told = stream()
    files = [arrive("a.jsonl", "r1", "r2", "r1"), arrive("b.jsonl", "r1")]
    windows = closed(told, *files)
    assert run(told, windows, tmp_path) == windows
    for window, file in zip(windows, files, strict=True):
        here = ("--input", file, "--output", tmp_path / "here", "--run", window)
        flags = ("--judge", "offline", "--sources", "reference")
        assert ufo("evaluate", *here, *flags).code == 0
        assert tables(tmp_path / "out", window) == tables(tmp_path / "here", window)
        found, want = (
            json.loads((tmp_path / place / f"run={window}/manifest.json").read_text())
            for place in ("out", "here")
        )
        for key in ("run", "mode", "sources", "counts", "fingerprint"):
            assert found[key] == want[key], key
    assert not list((tmp_path / "out/.streaming/s").glob("run=*"))
    before = [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("out/run=*/**/*"))]
    assert run(told, windows, tmp_path) == []
    assert [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("out/run=*/**/*"))] == before
    states = {one["run"]: one["state"] for one in ufo("status", tmp_path / "out", "--json").json}
    assert states == dict.fromkeys(windows, "finished")


def test_a_file_that_cannot_be_read_and_one_without_a_line_do_not_end_the_stream(
    stream: Any, arrive: Any, tables: Any, tmp_path: Path
) -> None:
    told = stream()
    bad, blank = tmp_path / "in/bad.jsonl.gz", tmp_path / "in/blank.jsonl"
    bad.write_bytes(b"no gzip")
    blank.write_text("\n\n")
    windows = closed(told, bad, blank, arrive("a.jsonl", "r1"))
    assert run(told, windows, tmp_path) == windows
    (failure,) = tables(tmp_path / "out", windows[0])["failures"]
    assert failure[:3] == ("read", "bad.jsonl.gz", "unreadable_file")
    assert not (tmp_path / "out" / f"run={windows[1]}").exists()
    assert told.windows.unfinished() == []
    assert ids(tables, tmp_path / "out", windows[2]) == ["r1"]


def test_a_window_under_way_is_seen_and_goes_on_in_process(
    stream: Any, arrive: Any, ufo: Any, tables: Any, tmp_path: Path
) -> None:
    told = stream()
    (window,) = closed(told, arrive("a.jsonl", "r1"))
    opening = stream_graph._Open(told)
    assert list(opening.process(window))
    (status,) = ufo("status", tmp_path / "out", "--json").json
    assert (status["run"], status["state"]) == (window, "elsewhere")
    assert "FlinkRunner has it" in status["next"]
    places = ("--input", tmp_path / "in/*.jsonl*", "--output", tmp_path / "out", "--run", "s")
    flags = ("--streaming", "--window_seconds", "0.02", "--idle_seconds", "0.02")
    alone = ("--judge", "offline", "--sources", "reference")
    done = ufo("evaluate", *flags, *places, *alone)
    assert done.code == 0, done.err
    assert ids(tables, tmp_path / "out", window) == ["r1"]


def test_flink_is_told_what_a_stream_needs(tmp_path: Path) -> None:
    flags = engine_flags(settings_of(tmp_path, *ENGINE, "--checkpointing_interval", "500"))
    assert "--streaming" in flags
    assert "--finish_bundle_before_checkpointing" in flags
    assert [flag for flag in flags if "checkpointing_interval" in flag] == [
        "--checkpointing_interval"
    ]
    assert "--max_bundle_time_mills=200" in flags


class Job:
    """What a runner gives for a pipeline that it was handed."""

    def __init__(self, states: Iterator[str]) -> None:
        self.cancelled = False
        self._states = states

    @property
    def state(self) -> str:
        return next(self._states)

    def cancel(self) -> None:
        self.cancelled = True

    def wait_until_finish(self) -> None:
        raise RuntimeError(
            "java.lang.RuntimeException: Traceback\n  File x\n"
            "schemas.errors.RunError: no space left [while running 'finish']\n\tat java"
        )


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Job]:
    def give(*states: str) -> Job:
        made = Job(iter(states))
        monkeypatch.setattr(beam.Pipeline, "run", lambda self: made)
        return made

    return give


def test_a_job_that_fails_ends_the_command_with_what_the_step_said(
    ufo: Any, job: Any, tmp_path: Path
) -> None:
    job("RUNNING", "FAILED")
    done = command(ufo, tmp_path)
    assert done.code == 1
    assert "the stream failed: no space left\n" in done.err
    assert "Traceback" not in done.err


def test_ctrl_c_cancels_the_job(
    ufo: Any, job: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = job("RUNNING")

    def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stream_portable, "_news", interrupted)
    done = command(ufo, tmp_path)
    assert (done.code, made.cancelled) == (1, True)
    assert "the same command goes on" in done.err


def command(ufo: Any, folder: Path, *more: str) -> Any:
    places = ("--input", folder / "*.jsonl", "--output", folder / "out", "--run", "s")
    flags = ("--streaming", "--judge", "offline", "--sources", "reference")
    return ufo("evaluate", *flags, *places, *ENGINE, *more)


def test_probes_are_told_with_the_first_window_alone(
    stream: Any, arrive: Any, tables: Any, tmp_path: Path
) -> None:
    told = stream()
    windows = closed(told, arrive("a.jsonl", "r1"), arrive("b.jsonl", "r2"))
    probe = Usage("q1", "probe", None, "m", None, None, "ok", False, False, 0, 1, 1, 0.1, None)
    attempt = Attempt(told.windows.lock, told.identifier, {})
    parts = (attempt.write_part("usage", to_arrow("usage", [probe])),)
    told = replace(told, ending=replace(told.ending, parts=parts))
    run(told, windows, tmp_path)
    assert [len(tables(tmp_path / "out", one)["usage"]) for one in windows] == [1, 0]
