"""`--streaming`: windows of files as they arrive, whole or not there, nothing lost or repeated."""

import json
import os
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.pipelines.conftest import city_records, ok, settings_of, write_lines
from tests.pipelines.killed import DELETION, FILE, started
from ufo.pipelines import streaming
from ufo.pipelines.runs.attempt import run_lock
from ufo.pipelines.runs.run import Finished, run_evaluate
from ufo.pipelines.streaming import Arrivals, ArrivedFile, StreamWindows, stream
from ufo.schemas.errors import RunError, UfoError, UsageError

Step = Callable[[], None]
OFFLINE = ("--judge", "offline", "--sources", "reference", "--workers", "1", "--run", "s")


class World:
    """Time that passes only where the stream sleeps, and what happens at each second of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = 0.0
        self.happens: dict[int, Step] = {}
        self.said: list[str] = []
        self.windows: list[tuple[str, list[str]]] = []
        self.closed_at: list[float] = []
        (folder / "in").mkdir()

    def sleep(self, seconds: float) -> None:
        before, self.now = self.now, self.now + seconds
        for second in range(int(before) + 1, int(self.now) + 1):
            self.happens.pop(second, lambda: None)()

    def add(self, name: str, *ids: str) -> None:
        lines = [{"id": one, "response": f"{one} is big."} for one in ids]
        write_lines(self.folder / "in" / f"{name}.jsonl", lines)

    def ended(self, window: Finished) -> None:
        self.windows.append((window.name, ids(f"{window.folder}/")))
        self.closed_at.append(self.now)

    def words(self) -> tuple[str, ...]:
        """The words of a stream that ends soon, by the clock on the wall."""
        places = ("--input", f"{self.folder}/in/*.jsonl", "--output", f"{self.folder}/out")
        quick = ("--window_seconds", "0.1", "--idle_seconds", "1")
        return ("evaluate", "--streaming", *OFFLINE, *places, *quick)

    def run(self, *more: str, seconds: Sequence[str] = ("--window_seconds", "8")) -> int:
        places = ("--input", f"{self.folder}/in/*.jsonl", "--output", f"{self.folder}/out")
        return stream(
            settings_of("--streaming", *OFFLINE, *places, *seconds, "--idle_seconds", "20", *more),
            self.ended,
            self.said.append,
            quiet=True,
            sleep=self.sleep,
            clock=lambda: self.now,
        )


def ids(folders: str) -> list[str]:
    query = "SELECT response_id FROM read_parquet(?) ORDER BY ALL"
    found = duckdb.execute(query, [f"{folders}responses/*.parquet"]).fetchall()
    return [row[0] for row in found]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("engine", [(), ("--runner=FnApiRunner",)], ids=["processes", "an engine"])
def test_files_are_evaluated_in_windows_as_they_arrive(
    world: World, engine: tuple[str, ...]
) -> None:
    (world.folder / "in" / "blank.jsonl").write_text("\n\n")  # it ends no stream
    world.happens = {
        13: lambda: world.add("a", "r1", "r2"),
        16: lambda: world.add("b", "r3"),
        30: lambda: world.add("a", "r1", "r2", "r9"),  # it has changed: reported, not taken again
        # After the window of the first has closed: late, and not lost.
        40: lambda: world.add("0-late", "r4"),
    }
    assert world.run(*engine) == 2
    assert world.windows == [("s.w000002", ["r1", "r2", "r3"]), ("s.w000003", ["r4"])]
    manifest = json.loads((world.folder / "out/run=s.w000002/manifest.json").read_text())
    assert manifest["counts"]["responses"] == 3
    empty, changed = world.said
    assert "window s.w000001" in empty
    assert "empty" in empty
    assert "a.jsonl has changed" in changed


def test_a_stream_that_was_stopped_goes_on_with_its_closed_windows(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluate(*arguments: Any) -> Any:
        if world.windows:
            raise KeyboardInterrupt
        return run_evaluate(*arguments)

    world.happens = {1: lambda: world.add("a", "r1"), 20: lambda: world.add("b", "r2")}
    with monkeypatch.context() as patched:
        patched.setattr(streaming, "run_evaluate", evaluate)
        with pytest.raises(KeyboardInterrupt):
            world.run()
    assert ids(f"{world.folder}/out/run=*/") == ["r1"]
    world.happens = {}
    world.add("b", "r2")
    world.add("c", "r3")
    world.run()
    assert ids(f"{world.folder}/out/run=*/") == ["r1", "r2", "r3"]
    assert world.run() == 0


def test_a_file_without_a_usable_record_does_not_end_a_stream(world: World) -> None:
    (world.folder / "in" / "bad.jsonl").write_text("not json\n")
    world.happens = {20: lambda: world.add("a", "r1")}
    assert world.run() == 1
    assert world.windows == [("s.w000002", ["r1"])]
    (told,) = world.said
    assert "window s.w000001" in told
    assert "no record of the input can be used, of 1. bad.jsonl:1: not JSON" in told
    assert "delete the folder of this window" in told
    # As it says, with other options for instance.
    shutil.rmtree(world.folder / "out" / "run=s.w000001")
    write_lines(world.folder / "in" / "bad.jsonl", [{"id": "r2", "response": "Oslo is big."}])
    world.run()
    assert world.windows[1:] == [("s.w000003", ["r2"])]


def test_a_window_whose_file_grew_while_the_stream_was_stopped_is_evaluated_anew(
    world: World,
) -> None:
    world.add("a", "r1")
    killed = started(world.words(), FILE, 3)  # once its fingerprint and process are written
    killed.join(60)
    assert killed.exitcode == -signal.SIGKILL
    assert list((world.folder / "out" / "run=s.w000001").glob(".attempt-*/attempt.json"))
    world.add("a", "r1", "r2")
    assert world.run() == 1
    assert world.windows == [("s.w000001", ["r1", "r2"])]
    assert "window s.w000001: a file has changed since" in world.said[0]


def test_a_window_whose_file_is_gone_says_how_the_stream_goes_on(world: World) -> None:
    world.add("a", "r1")
    path = world.folder / "in" / "a.jsonl"
    StreamWindows(str(world.folder / "out"), "s").close([ArrivedFile(str(path), 39)])
    path.unlink()
    world.add("b", "r2")
    with pytest.raises(UsageError, match=r"w000001 has taken .*a\.jsonl.*put it back, or delete"):
        world.run()
    shutil.rmtree(world.folder / "out" / "run=s.w000001")
    assert world.run() == 1
    assert ids(f"{world.folder}/out/run=*/") == ["r2"]


def test_a_window_that_was_killed_after_its_manifest_is_tidied(world: World) -> None:
    world.add("a", "r1")
    killed = started(world.words(), DELETION, 2)  # the first is of its only chunk's folder
    killed.join(60)
    assert killed.exitcode == -signal.SIGKILL
    window = world.folder / "out" / "run=s.w000001"
    assert (window / "manifest.json").exists()
    assert list(window.glob(".*"))
    assert world.run() == 0
    assert list(window.glob(".*")) == []
    assert ids(f"{window}/") == ["r1"]


def test_a_stream_may_have_a_name_of_ninety_characters(world: World) -> None:
    assert world.run("--run", "s" * 90) == 0


def test_a_stream_ends_after_the_seconds_without_a_file(world: World) -> None:
    assert world.run() == 0
    assert world.now == 20


def test_a_window_closes_its_seconds_after_its_first_file(world: World) -> None:
    # A file has arrived where the look after it finds it unchanged, a second later.
    world.happens = {
        13: lambda: world.add("a", "r1"),
        21: lambda: world.add("b", "r2"),
        22: lambda: world.add("c", "r3"),
    }
    assert world.run() == 2
    assert world.windows == [("s.w000001", ["r1", "r2"]), ("s.w000002", ["r3"])]
    assert world.closed_at == [14 + 8, 22 + 8]
    assert world.now == 30 + 20


@pytest.mark.parametrize(
    ("seconds", "closed_at"),
    [
        pytest.param((), 61.0, id="a minute where nothing is said"),
        pytest.param(("--window_seconds", "2"), 0.5 + 2, id="looks are a quarter of it"),
    ],
)
def test_the_seconds_of_a_window(world: World, seconds: tuple[str, ...], closed_at: float) -> None:
    world.add("a", "r1")
    world.run(seconds=seconds)
    assert world.closed_at == [closed_at]


@pytest.mark.parametrize(
    "changes",
    [
        *({"since": "r"}, {"baseline": "r"}, {"fail_under": 0.0}, {"fresh": True}),
        *({"min_scored": 0.0}, {"dry_run": True}, {"batch": True}, {"if_finished": "skip"}),
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_option_of_one_run_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    places = ("--input", "x", "--output", str(tmp_path))
    given = replace(settings_of("--streaming", *OFFLINE, *places), **changes)
    with pytest.raises(UsageError, match=f"--{next(iter(changes))} is for a run with an end"):
        stream(given, print, print)


def test_a_stream_has_one_command_at_a_time(world: World, tmp_path: Path) -> None:
    output = f"{tmp_path}/out"
    with (
        run_lock(output, f"{output}/.streaming/s", "s"),
        pytest.raises(UfoError, match="is being"),
    ):
        world.run()


# --- files as they arrive


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text("one")
    return path


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def arrivals(file: Path, said: list[str]) -> Arrivals:
    return Arrivals([f"{file.parent}/*.jsonl"], {}, said.append)


def test_a_file_has_arrived_where_a_second_look_finds_it_unchanged(
    arrivals: Arrivals, file: Path
) -> None:
    assert arrivals.look() == []
    assert arrivals.unsettled
    assert arrivals.look() == [ArrivedFile(str(file), 3)]
    assert not arrivals.unsettled
    assert arrivals.look() == [ArrivedFile(str(file), 3)]


def test_a_file_of_the_same_size_that_was_written_again_is_looked_at_again(
    arrivals: Arrivals, file: Path
) -> None:
    arrivals.look()
    os.utime(file, (1, 1))
    assert arrivals.look() == []
    assert len(arrivals.look()) == 1
    os.utime(file, (2, 2))  # it waits, and is written to all the same
    assert arrivals.look() == []


def test_an_empty_file_neither_arrives_nor_keeps_a_stream_waiting(
    arrivals: Arrivals, file: Path
) -> None:
    file.write_text("")
    for _ in range(2):
        assert arrivals.look() == []
        assert not arrivals.unsettled


def test_a_file_that_a_window_has_taken_is_told_once_where_it_changed(
    arrivals: Arrivals, file: Path, said: list[str]
) -> None:
    arrivals.taken = {str(file): 3}
    for _ in range(2):
        assert arrivals.look() == []
    assert said == []
    file.write_text("and one more")
    for _ in range(3):
        assert arrivals.look() == []
        assert not arrivals.unsettled
    assert [text.partition(" has changed")[0] for text in said] == [str(file)]


# --- windows on disk


def closed(windows: StreamWindows, *files: str) -> str:
    return windows.close([ArrivedFile(file, 1) for file in files])


def test_windows_are_numbered_and_in_order_of_their_numbers(tmp_path: Path) -> None:
    windows = StreamWindows(str(tmp_path), "s")
    (tmp_path / "run=s.w999999").mkdir()
    (tmp_path / "run=s.w999999" / "window.json").write_text('{"files": []}')
    assert closed(windows, "a") == "s.w1000000"
    assert closed(windows, "b") == "s.w1000001"
    assert [*StreamWindows(str(tmp_path), "s").closed()] == [
        "s.w999999",
        "s.w1000000",
        "s.w1000001",
    ]


def test_a_file_is_in_one_window(tmp_path: Path) -> None:
    windows = StreamWindows(str(tmp_path), "s")
    closed(windows, "a")
    with pytest.raises(RunError, match="another command takes files of the stream 's'"):
        closed(windows, "b", "a")


def test_a_window_is_of_one_stream(tmp_path: Path) -> None:
    for name in ("s", "s.w000001", "ss"):
        closed(StreamWindows(str(tmp_path), name), "a")
    assert [*StreamWindows(str(tmp_path), "s").closed()] == ["s.w000001"]


def test_a_window_is_unfinished_until_it_has_results_or_is_empty(tmp_path: Path) -> None:
    windows = StreamWindows(str(tmp_path), "s")
    first, second, third = (closed(windows, name) for name in "abc")
    assert windows.unfinished() == [first, second, third]
    windows.mark_empty(first)
    (tmp_path / f"run={second}" / "manifest.json").touch()
    assert windows.unfinished() == [third]


def test_the_command_tells_of_each_window(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", city_records())
    flags = ("--streaming", "--window_seconds", "0.02", "--idle_seconds", "0.02", "--json")
    places = ("--input", tmp_path / "*.jsonl", "--output", tmp_path / "out")
    done = ok("evaluate", *flags, *places, *OFFLINE)
    (told,) = map(json.loads, done.out.splitlines())
    assert told["run"] == "s.w000001"
    assert told["responses"] == 20
    assert told["path"] == str(tmp_path / "out/run=s.w000001")
