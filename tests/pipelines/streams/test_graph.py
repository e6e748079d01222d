"""The steps of an unbounded pipeline: who gives its windows, and what each becomes. That the whole
of it runs as a stream is shown on Flink, see tests/flink."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.window import TimestampedValue

from ufo.pipelines.options.arguments import Parser
from ufo.pipelines.options.command_line import settings
from ufo.pipelines.options.flags import GROUPS
from ufo.pipelines.options.settings import Settings
from ufo.pipelines.runs.attempt import Attempt
from ufo.pipelines.streams import graph as stream_graph
from ufo.pipelines.streams.gathering import Arrivals
from ufo.pipelines.streams.graph import Stream, finished, watched
from ufo.pipelines.streams.portable import engine_flags, stream_of, stream_portable
from ufo.pipelines.streams.windows import Taken, Windows, number_of
from ufo.schemas.errors import Interrupted
from ufo.schemas.records import Usage
from ufo.schemas.tables import to_arrow

ENGINE = ("--runner=FlinkRunner", "--parallelism=2")


def settings_of(folder: Path, *more: object) -> Any:
    parser = Parser(prog="ufo evaluate")
    parser.add_options(GROUPS)
    flags = ["--streaming", "--judge", "offline", "--sources", "reference", "--run", "s"]
    places = ["--input", f"{folder}/in/*.jsonl*", "--output", f"{folder}/out"]
    return settings(Settings, parser, [*flags, *places, *map(str, more)])


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


def test_of_two_who_close_a_window_with_a_file_one_does(stream: Any, arrive: Any) -> None:
    told = stream()
    file = Arrivals(told.patterns, told.windows.taken(told.patterns), print)
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


def run(stream: Stream, windows: list[str] | None, tmp_path: Path) -> list[str]:
    """Evaluate closed windows, or those that the stream closes until it ends; returns what the last
    step gives."""
    told = tmp_path / "told"
    told.mkdir(exist_ok=True)

    def tell(window: str) -> None:
        (told / window).touch()

    options = PipelineOptions(["--no_pipeline_type_check"])
    with beam.Pipeline(runner=FnApiRunner(), options=options) as pipeline:
        if windows is None:
            given = watched(stream, pipeline)
        else:
            at = beam.Map(lambda window: TimestampedValue(window, number_of(window)))
            given = pipeline | beam.Create(windows) | at.with_output_types(str)
        _ = finished(given, stream) | beam.Map(tell)
    found = sorted(path.name for path in told.iterdir())
    for path in told.iterdir():
        path.unlink()
    return found


def ids(tables: Any, output: Path, window: str) -> list[str]:
    return [row[0] for row in tables(output, window)["responses"]]


def test_a_stream_gives_its_windows_until_it_has_been_quiet(
    stream: Any, arrive: Any, tables: Any, tmp_path: Path
) -> None:
    arrive("a.jsonl", "r1")
    first = stream("--idle_seconds", "0.05")
    assert run(first, None, tmp_path) == ["s.w000001"]
    assert first.windows.ended(first.identifier)
    arrive("b.jsonl", "r2")
    waiting = closed(first, tmp_path / "in/b.jsonl")  # by a command that was killed then
    arrive("c.jsonl", "r3")
    second = stream("--idle_seconds", "0.05")
    assert run(second, None, tmp_path) == [*waiting, "s.w000003"]
    assert [ids(tables, tmp_path / "out", f"s.w00000{n}") for n in (1, 2, 3)] == [
        *(["r1"], ["r2"], ["r3"])
    ]


def test_a_stream_ends_when_another_command_takes_over(
    stream: Any, arrive: Any, tmp_path: Path
) -> None:
    first = stream()
    stream()
    arrive("a.jsonl", "r1")
    assert run(first, None, tmp_path) == []
    assert list(first.windows.all()) == []


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
    bad.write_bytes(b"\x1f\x8b and no more")
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


def test_flink_is_reported_what_a_stream_needs(tmp_path: Path) -> None:
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
            "ufo.schemas.errors.RunError: no space left [while running 'finish']\n\tat java"
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


def test_ctrl_c_cancels_the_job(job: Any, tmp_path: Path) -> None:
    made = job("RUNNING")

    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    chosen = settings_of(tmp_path, *ENGINE)
    windows = Windows(chosen.output, "s")
    with pytest.raises(Interrupted, match="the same command resumes"):
        stream_portable(chosen, windows, print, print, interrupted)
    assert made.cancelled


def command(ufo: Any, folder: Path, *more: str) -> Any:
    places = ("--input", folder / "*.jsonl", "--output", folder / "out", "--run", "s")
    flags = ("--streaming", "--judge", "offline", "--sources", "reference")
    return ufo("evaluate", *flags, *places, *ENGINE, *more)


def test_probes_are_reported_with_the_first_window_alone(
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
