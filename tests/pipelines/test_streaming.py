"""`--streaming`: windows of files as they arrive, whole or not there, nothing lost or repeated."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.pipelines.conftest import city_records, ok, settings_of, write_lines
from ufo.pipelines import streaming
from ufo.pipelines.runs.run import run_evaluate
from ufo.pipelines.streaming import ArrivedFile, StreamWindows, stream
from ufo.schemas.errors import RunError

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
        (folder / "in").mkdir()

    def sleep(self, seconds: float) -> None:
        before, self.now = self.now, self.now + seconds
        for second in range(int(before) + 1, int(self.now) + 1):
            self.happens.pop(second, lambda: None)()

    def add(self, name: str, *ids: str) -> None:
        lines = [{"id": one, "response": f"{one} is big."} for one in ids]
        write_lines(self.folder / "in" / f"{name}.jsonl", lines)

    def run(self, *more: str) -> int:
        places = ("--input", f"{self.folder}/in/*.jsonl", "--output", f"{self.folder}/out")
        seconds = ("--window_seconds", "8", "--idle_seconds", "20")
        return stream(
            settings_of("--streaming", *OFFLINE, *places, *seconds, *more),
            lambda window: self.windows.append((window.name, ids(f"{window.folder}/"))),
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


def test_a_file_that_is_being_written_is_waited_for(world: World) -> None:
    def write(number: int) -> Step:
        return lambda: world.add("slow", *(f"r{n}" for n in range(number)))

    write(0)()
    world.happens = {second: write(second) for second in range(1, 13)}
    world.run()
    assert [len(ids) for _, ids in world.windows] == [12]


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


def test_a_stream_may_have_a_name_of_ninety_characters(world: World) -> None:
    assert world.run("--run", "s" * 90) == 0


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
