"""`--streaming`: windows of files as they arrive, whole or not there, nothing lost or repeated."""

import bz2
import gzip
import io
import json
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.pipelines.conftest import city_records, ok, settings_of, write_lines
from tests.pipelines.killed import DELETION, FILE, started
from ufo.pipelines import streaming
from ufo.pipelines.arrivals import Arrivals
from ufo.pipelines.runs.attempt import run_lock
from ufo.pipelines.runs.run import Finished, run_evaluate
from ufo.pipelines.runs.window_files import READ, UNUSABLE, ArrivedFile, Content, WindowFile
from ufo.pipelines.streaming import StreamWindows, stream
from ufo.schemas import storage
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
    rows = duckdb.execute(query, [f"{folders}responses/*.parquet"]).fetchall()
    return [row[0] for row in rows]


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
        30: lambda: world.add("a", "r1", "r2", "r9"),
        # After the window of the first has closed: late, and not lost.
        40: lambda: world.add("0-late", "r4"),
    }
    assert world.run(*engine) == 4
    assert world.windows == [
        ("s.w000001", []),
        ("s.w000002", ["r1", "r2", "r3"]),
        ("s.w000003", ["r9"]),
        ("s.w000004", ["r4"]),
    ]
    manifest = json.loads((world.folder / "out/run=s.w000002/manifest.json").read_text())
    assert manifest["counts"]["responses"] == 3
    blank, added, in_all = world.said
    assert (
        blank
        == "window s.w000001: 1 of 1 file cannot be used: blank.jsonl (there is no record in it)"
    )
    assert added.startswith(
        "window s.w000003: it reads the 39 bytes that were added to a.jsonl after"
    )
    assert in_all.startswith(
        "The windows of this stream went without 1 file that could not be used"
    )


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


def failures(world: World) -> list[tuple[Any, ...]]:
    """The window, key and type of each failure, with the beginning of its reason."""
    query = """
        SELECT regexp_extract(filename, 'run=([^/]+)', 1), key, error_type, message
        FROM read_parquet(?, filename = true) WHERE step = 'read' ORDER BY ALL
    """
    files = f"{world.folder}/out/run=*/failures/*.parquet"
    return duckdb.execute(query, [files]).fetchall()


def test_a_file_without_a_usable_record_does_not_end_a_stream(world: World) -> None:
    (world.folder / "in" / "bad.jsonl").write_text("not json\n")
    world.happens = {20: lambda: world.add("a", "r1")}
    assert world.run() == 2
    assert world.windows == [("s.w000001", []), ("s.w000002", ["r1"])]
    ((window, key, kind, reason),) = failures(world)
    assert (window, key, kind) == ("s.w000001", "bad.jsonl", "nothing_usable")
    assert reason.startswith("no record of it can be used, of 1. bad.jsonl:1: not JSON")
    # It is another file once it has changed.
    write_lines(world.folder / "in" / "bad.jsonl", ["not json", {"id": "r2", "response": "Big."}])
    world.said.clear()
    world.run()
    assert world.windows[2:] == [("s.w000003", ["r2"])]
    assert [row[1] for row in failures(world)] == ["bad.jsonl", "bad.jsonl:1"]
    assert world.said[0].startswith("Earlier windows went without 1 file")


def of_parquet(**columns: list[Any]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


LINE = b'{"id": "r%d", "response": "Oslo is a large city."}\n'
MANY = b"".join(LINE % number for number in range(3_000))
BAD = {
    "a cut gzip file": gzip.compress(MANY)[:-12],
    "a cut bzip2 file": bz2.compress(MANY)[:-12],
    "a cut zstd file": pa.compress(MANY, "zstd", asbytes=True)[:-12],
    "Parquet that is cut": of_parquet(response=["Oslo is big."])[:-20],
    "Parquet without a row": of_parquet(response=pa.array([], "string")),
    "an array that is no JSON": b"[{,]",
    "CSV with an open quote": b'id,response\n1,"Oslo',
    "CSV with a bad header": b'id,"response\n1,Oslo',
    "text that is not UTF-8": b'{"response": "\xff\xfe"}\n' * 2,
    "blank lines": b"\n \n",
    "an archive": b"PK\x03\x04" + MANY[:500],
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_a_bad_file_costs_itself(world: World, content: bytes) -> None:
    (world.folder / "in" / "bad.jsonl").write_bytes(content)
    world.add("a", "r1")
    assert world.run() == 1
    assert world.windows == [("s.w000001", ["r1"])]
    ((_, key, kind, reason),) = failures(world)
    assert key == "bad.jsonl"
    assert kind in ("unreadable_file", "nothing_usable")
    assert reason
    assert world.run() == 0


def make_folder(path: Path) -> None:
    path.mkdir()


def make_link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


@pytest.mark.parametrize("make", [make_folder, make_link_to_nothing])
def test_what_is_no_file_costs_itself(world: World, make: Callable[[Path], None]) -> None:
    make(world.folder / "in" / "bad.jsonl")
    assert world.run() == 1
    assert world.windows == [("s.w000001", [])]
    assert [row[1:3] for row in failures(world)] == [("bad.jsonl", "unreadable_file")]
    for words in (("report",), ("status",), ("report", "--run", "s.w000001")):
        ok(words[0], world.folder / "out", *words[1:])
    asked = ok("sql", world.folder / "out", "SELECT count(*) AS n FROM responses", "--json")
    assert asked.json == [{"n": 0}]
    assert world.run() == 0


def test_what_was_added_while_the_stream_was_stopped_is_for_a_later_window(world: World) -> None:
    world.add("a", "r1")
    killed = started(world.words(), FILE, 3)  # once its fingerprint and process are written
    killed.join(60)
    assert killed.exitcode == -signal.SIGKILL
    assert list((world.folder / "out" / "run=s.w000001").glob(".attempt-*/attempt.json"))
    world.add("a", "r1", "r2")
    assert world.run() == 2
    assert world.windows == [("s.w000001", ["r1"]), ("s.w000002", ["r2"])]
    assert world.said[0] == (
        "window s.w000001: it reads 39 bytes of a.jsonl; the 39 that were added since are for a "
        "later window"
    )


def closed_window(world: World, name: str) -> Path:
    """Close a window with a file, as a stream that is stopped then."""
    path = world.folder / "in" / f"{name}.jsonl"
    content = Content(str(path), path.stat().st_size)
    StreamWindows(str(world.folder / "out"), "s").close([content.arrived_file(0, content.size)])
    return path


def test_a_file_that_is_gone_costs_itself(world: World) -> None:
    world.add("a", "r1")
    path = closed_window(world, "a")
    path.unlink()
    world.add("b", "r2")
    assert world.run() == 2
    assert world.windows == [("s.w000001", []), ("s.w000002", ["r2"])]
    assert [row[1:3] for row in failures(world)] == [("a.jsonl", "unreadable_file")]
    world.add("a", "r1")  # it is back, and was not evaluated
    assert world.run() == 1
    assert world.windows[2:] == [("s.w000003", ["r1"])]


def test_a_file_that_is_gone_before_its_window_closes_is_told(world: World) -> None:
    world.add("a", "r1")
    world.happens = {4: (world.folder / "in" / "a.jsonl").unlink}
    assert world.run() == 1
    assert [row[1:3] for row in failures(world)] == [("a.jsonl", "unreadable_file")]


def test_a_renamed_file_is_read_where_it_is(world: World) -> None:
    world.add("a", "r1")
    path = closed_window(world, "a")
    path.rename(path.with_name("z.jsonl"))
    assert world.run() == 1
    assert world.windows == [("s.w000001", ["r1"])]
    assert failures(world) == []


def test_a_renamed_file_is_recognised(world: World) -> None:
    world.add("a", "r1")
    assert world.run() == 1
    path = world.folder / "in" / "a.jsonl"
    path.rename(path.with_name("z.jsonl"))
    assert world.run() == 0
    assert [text.partition(" is ")[2] for text in world.said] == [
        f"{path}, renamed or moved, which window s.w000001 has taken."
    ]
    world.add("a", "r1")  # a file of the same content is another one
    assert world.run() == 1
    assert world.windows[1:] == [("s.w000002", ["r1"])]


def test_a_replaced_file_of_the_same_size_is_a_new_file(world: World) -> None:
    world.add("a", "r1")
    path = world.folder / "in" / "a.jsonl"
    before = path.stat()

    def replaced() -> None:
        world.add("a", "r2")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    world.happens = {12: replaced}
    assert world.run() == 2
    assert world.windows == [("s.w000001", ["r1"]), ("s.w000002", ["r2"])]


def appends(path: Path, data: bytes) -> Step:
    def append() -> None:
        with path.open("ab") as file:
            file.write(data)

    return append


HEADER = b"id,response\n"
FEW = b"".join(LINE % number for number in range(20))
GROWN = {
    "rows of CSV": (HEADER + b'r1,"Oslo\nis big."\n', b"r2,Lima is big.\n", ["r1", "r2"]),
    "a row after one without an end": (HEADER + b"r1,Oslo.", b"\nr2,Lima.\n", ["r1", "r2"]),
    # It cannot be known that there is more of it.
    "a row that was cut": (HEADER + b"r1,Oslo", b" is big.\nr2,Lima.\n", ["r1", "r2"]),
    "a row that was cut within quotes": (HEADER + b'r0,A.\nr1,"Os', b'lo"\n', ["r0", "r1"]),
    "a gzip file in which there are rows": (
        gzip.compress(HEADER + b"r1,Oslo.\n"),
        gzip.compress(b"r2,Lima.\n"),
        ["r1", "r2"],
    ),
    "a gzip file that was cut": (
        gzip.compress(FEW)[:90],
        gzip.compress(FEW)[90:],
        sorted(f"r{number}" for number in range(20)),
    ),
    "an array that was cut": (
        b'[{"id": "r1", "response": "A."}, {"id": "r2", "resp',
        b'onse": "B."}, {"id": "r3", "response": "C."}]',
        ["r1", "r2", "r3"],
    ),
    "a line that was cut in a letter": (
        LINE % 1 + b'{"id": "r\xc3',
        b'\xa9", "response": "B."}\n',
        ["r1", "ré"],
    ),
    "values on one line": (
        b'{"id": "r1", "response": "A."}',
        b'{"id": "r2", "response": "B."}\n',
        ["r1", "r2"],
    ),
}


@pytest.mark.parametrize(("before", "added", "keys"), GROWN.values(), ids=GROWN.keys())
def test_what_is_added_to_a_file_of_any_format_is_evaluated_once(
    world: World, before: bytes, added: bytes, keys: list[str]
) -> None:
    path = world.folder / "in" / "a.jsonl"
    path.write_bytes(before)
    world.happens = {12: appends(path, added)}
    assert world.run() == 2
    assert ids(f"{world.folder}/out/run=*/") == keys


def test_lines_that_were_added_have_the_numbers_of_the_file(world: World) -> None:
    for name, header, row in (("a", b"", LINE % 1), ("b", HEADER, b"s1,Oslo.\n")):
        path = world.folder / "in" / f"{name}.jsonl"
        path.write_bytes(header + row)
        more = LINE % 2 + b"not json\n" if name == "a" else b"s2,Lima.\ns3,,\n"
        world.happens[12 if name == "a" else 13] = appends(path, more)
    assert world.run() == 2
    assert [row[1] for row in failures(world)] == ["a.jsonl:3", "b.jsonl:3"]


def test_a_file_of_two_names_is_read_once(world: World) -> None:
    folder = world.folder / "in"
    latest = folder / "latest.jsonl"

    def next_night() -> None:
        world.add("night2", "r2")
        latest.unlink()
        latest.symlink_to(folder / "night2.jsonl")

    world.add("night1", "r1")
    latest.symlink_to(folder / "night1.jsonl")
    world.happens = {12: next_night}
    assert world.run() == 2
    assert world.windows == [("s.w000001", ["r1"]), ("s.w000002", ["r2"])]
    assert (
        f"{latest} and {folder}/night1.jsonl are one file: it is read as the latter." in world.said
    )
    assert world.run() == 0


def test_a_log_that_is_rotated_is_evaluated_once(world: World) -> None:
    latest = world.folder / "in" / "latest.jsonl"

    def rotate() -> None:
        world.add("latest", "r1", "r2")  # since the last window
        latest.rename(latest.with_name("latest.1.jsonl"))
        world.add("latest", "r3")

    world.add("latest", "r1")
    world.happens = {12: rotate}
    assert world.run() == 2
    assert world.windows == [("s.w000001", ["r1"]), ("s.w000002", ["r2", "r3"])]
    assert world.run() == 0


def test_a_column_of_map_that_a_window_lacks_is_said(world: World) -> None:
    world.add("a", "r1")
    assert world.run("--map", "model=nowhere") == 1
    assert world.windows == [("s.w000001", ["r1"])]
    assert world.said == ["window s.w000001: No record has the column of --map model=nowhere."]


@pytest.mark.parametrize("scheme", ["file://", "memory://stream"])
def test_files_of_another_file_system(world: World, scheme: str) -> None:
    at = f"{scheme}{world.folder}/in/"
    messages: list[str] = []

    def put(name: str, *names: str) -> Step:
        content = b"".join(LINE.replace(b"r%d", one.encode()) for one in names)
        return lambda: storage.write(f"{at}{name}", content)

    def again() -> int:
        places = ("--input", f"{at}*.jsonl", "--output", str(world.folder / "out"))
        quick = ("--window_seconds", "8", "--idle_seconds", "20")
        settings = settings_of("--streaming", *OFFLINE, *places, *quick)
        clock = world.sleep, lambda: world.now
        return stream(settings, world.ended, messages.append, True, *clock)

    put("a.jsonl", "r1")()
    storage.write(f"{at}bad.jsonl", gzip.compress(MANY)[:-12])
    world.happens = {
        12: put("a.jsonl", "r1", "r2"),
        25: put("a.jsonl", "s1", "s2"),
        40: lambda: storage.move(f"{at}a.jsonl", f"{at}z.jsonl"),
    }
    assert again() == 3
    assert [found for _, found in world.windows] == [["r1"], ["r2"], ["s1", "s2"]]
    assert [row[1] for row in failures(world)] == ["bad.jsonl"]
    assert f"{at}z.jsonl is {at}a.jsonl, renamed or moved" in "".join(messages)
    assert again() == 0


def test_a_window_of_an_earlier_version_is_read(world: World) -> None:
    world.add("a", "r1")
    world.add("b", "r2")
    folder = world.folder / "out" / "run=s.w000001"
    folder.mkdir(parents=True)
    path = world.folder / "in" / "a.jsonl"
    files = [{"path": str(path), "size": path.stat().st_size}]
    (folder / "window.json").write_text(json.dumps({"stream": "s", "files": files}))
    assert world.run() == 2
    assert world.windows == [("s.w000001", ["r1"]), ("s.w000002", ["r2"])]
    world.add("a", "r1", "r3")
    assert world.run() == 1
    assert world.windows[2:] == [("s.w000003", ["r3"])]


def test_a_stopped_window_goes_on_with_other_options(world: World) -> None:
    world.add("a", "r1")
    killed = started(world.words(), FILE, 3)
    killed.join(60)
    assert world.run("--tie", "factual") == 1
    assert world.windows == [("s.w000001", ["r1"])]
    assert "tie" in world.said[0]
    assert "--fresh" not in "".join(world.said)


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


def test_a_folder_in_place_of_files_is_refused(tmp_path: Path) -> None:
    places = ("--input", str(tmp_path), "--output", str(tmp_path / "out"))
    with pytest.raises(UsageError, match=r"is a folder; name its files, as in '.*/\*\.jsonl'"):
        stream(settings_of("--streaming", *OFFLINE, *places), print, print)


def test_a_folder_beside_files_costs_itself(world: World) -> None:
    """A shell names each of them, where the pattern is not in quotes."""
    world.add("a", "r1")
    folder = world.folder / "in" / "b.jsonl"
    folder.mkdir()
    assert world.run("--input", f"{world.folder}/in/a.jsonl", str(folder)) == 1
    assert world.windows == [("s.w000001", ["r1"])]
    assert [row[1:3] for row in failures(world)] == [("b.jsonl", "unreadable_file")]


def test_a_pattern_that_no_file_matches_yet_is_said(world: World) -> None:
    world.happens = {3: lambda: world.add("a", "r1")}
    assert world.run() == 1
    pattern = f"{world.folder}/in/*.jsonl"
    assert world.said == [f"No file matches --input {pattern!r} yet; the stream waits for files."]


@pytest.mark.parametrize(
    "changes",
    [
        {"since": "r"},
        {"baseline": "r"},
        {"fail_under": 0.0},
        {"fresh": True},
        {"min_scored": 0.0},
        {"dry_run": True},
        {"batch": True},
        {"if_finished": "skip"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_option_of_one_run_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    places = ("--input", "x", "--output", str(tmp_path))
    settings = replace(settings_of("--streaming", *OFFLINE, *places), **changes)
    with pytest.raises(UsageError, match=f"--{next(iter(changes))} is for a run with an end"):
        stream(settings, print, print)


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
def messages() -> list[str]:
    return []


@pytest.fixture
def arrivals(file: Path, messages: list[str]) -> Arrivals:
    return Arrivals([f"{file.parent}/*.jsonl"], {}, messages.append)


def test_a_file_has_arrived_where_a_second_look_finds_it_unchanged(
    arrivals: Arrivals, file: Path
) -> None:
    assert arrivals.look() == []
    assert arrivals.unsettled
    for _ in range(2):
        assert [(one.path, one.start, one.size) for one in arrivals.look()] == [(str(file), 0, 3)]
        assert not arrivals.unsettled


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


def test_what_was_added_to_a_taken_file_is_new_from_the_line_that_was_cut(
    arrivals: Arrivals, file: Path
) -> None:
    def ranges() -> list[tuple[int, int]]:
        arrivals.look()
        return [(one.start, one.size) for one in arrivals.look()]

    def take() -> None:
        taken.extend(WindowFile("w", one) for one in arrivals.take_waiting())
        arrivals.know(taken)

    taken: list[WindowFile] = []
    whole, cut = '{"response": "Oslo"}\n', '{"respo'
    file.write_text(whole + cut)
    assert ranges() == [(0, len(whole + cut))]
    take()
    assert ranges() == []
    file.write_text(whole + whole)
    assert ranges() == [(len(whole), len(whole) * 2)]
    take()
    file.write_text(whole + whole + "\n")  # nothing is in what was added
    assert ranges() == []


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
    (tmp_path / f"run={first}" / "empty").touch()  # as some folders have it
    (tmp_path / f"run={second}" / "manifest.json").touch()
    assert windows.unfinished() == [third]
    assert [one.outcome for one in windows.taken()] == [UNUSABLE, READ, READ]


def test_the_command_tells_of_each_window(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", city_records())
    flags = ("--streaming", "--window_seconds", "0.02", "--idle_seconds", "0.02", "--json")
    places = ("--input", tmp_path / "*.jsonl", "--output", tmp_path / "out")
    done = ok("evaluate", *flags, *places, *OFFLINE)
    (printed,) = map(json.loads, done.out.splitlines())
    assert printed["run"] == "s.w000001"
    assert printed["responses"] == 20
    assert printed["path"] == str(tmp_path / "out/run=s.w000001")
