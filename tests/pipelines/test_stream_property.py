"""Whatever happens to the files of a stream and to its process, each usable line is evaluated once,
and each bad file is one failure."""

import bz2
import csv
import gzip
import io
import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.pipelines.conftest import settings_of
from tests.pipelines.killed import FILE, started
from ufo.pipelines import streaming
from ufo.pipelines.runs.run import Finished
from ufo.pipelines.runs.window_inputs import Window, read_window
from ufo.pipelines.streaming import stream
from ufo.schemas.records import Failure
from ufo.transforms.read import parse
from ufo.transforms.splits import Split, lines

WORDS = ("--judge", "offline", "--sources", "reference", "--workers", "1", "--run", "s")
FORMS = ("lines", "lines without an end", "csv", "gzip", "bzip2", "array")


class Killed(BaseException):
    """The process is gone."""


class Files:
    """A folder in which files arrive, grow, are written again, renamed and deleted."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.chance = chance
        self.made = 0
        self.written = 10**18
        self.holds: dict[Path, list[str]] = {}  # the ids of the lines of each file
        self.forms: dict[Path, str] = {}
        self.unfinished: dict[Path, tuple[str, bytes]] = {}  # the rest of a line, and its id
        self.bad: dict[Path, list[str]] = {}  # the names that each has had
        folder.mkdir()

    def happen(self) -> None:
        """Let one thing happen."""
        acts = (self.add, self.grow, self.grow, self.add_bad, self.again, self.rename, self.delete)
        self.chance.choice(acts)()

    def add(self) -> None:
        form = self.chance.choice(FORMS)
        path = self._new_path()
        self.forms[path] = form
        self._write(path, self._ids(self.chance.randint(1, 3)))

    def add_bad(self) -> None:
        path = self._new_path()
        kind = self.chance.choice(["blank", "no json", "cut", "array", "folder", "link", "parquet"])
        if kind == "folder":
            path.mkdir()
        elif kind == "link":
            path.symlink_to(self.folder / "nowhere")
        else:
            whole = os.urandom(3_000).hex().encode()
            path.write_bytes(
                {
                    "blank": b"\n" * self.made,  # another number than of any other such file
                    "no json": b"not json\nat all %d\n" % self.made,
                    "cut": gzip.compress(whole)[:-9],
                    "array": b'[{"id": %d' % self.made,
                    "parquet": b"PAR1" + whole[:900],
                }[kind]
            )
            self._date(path)
        self.bad[path] = [path.name]

    def grow(self) -> None:
        path = self._one()
        if path is None or self.forms[path] == "array":
            return
        form = self.forms[path]
        if path in self.unfinished:
            identifier, rest = self.unfinished.pop(path)
            self._append(path, rest)
            self.holds[path].append(identifier)
            return
        added = self._ids(self.chance.randint(1, 2))
        if form == "csv":
            self._append(path, rows(added))
        elif form in ("gzip", "bzip2"):
            pack = gzip.compress if form == "gzip" else bz2.compress
            self._append(path, pack(json_lines(added)))
        else:
            begin = b"\n" if form == "lines without an end" else b""
            self._append(path, begin + json_lines(added))
            self.forms[path] = "lines"
            if self.chance.random() < 0.4:
                (more,) = self._ids(1)
                line = json_lines([more])
                at = self.chance.randint(1, len(line) - 2)
                self._append(path, line[:at])
                self.unfinished[path] = more, line[at:]
        self.holds[path] += added

    def again(self) -> None:
        """Write a file again: others have the same number of bytes where they are as many."""
        path = self._one()
        if path is not None:
            self.unfinished.pop(path, None)
            self._write(path, self._ids(len(self.holds[path])))

    def rename(self) -> None:
        path = self.chance.choice([*self.holds, *self.bad, None])
        if path is None or not path.is_file():  # what has no content is not recognised by it
            return
        new = self._new_path()
        path.rename(new)
        tables: list[dict[Path, Any]] = [self.holds, self.forms, self.unfinished, self.bad]
        for table in tables:
            if path in table:
                table[new] = table.pop(path)
        if new in self.bad:
            self.bad[new].append(new.name)
        if new in self.holds and self.chance.random() < 0.3:
            self.grow()

    def delete(self) -> None:
        path = self._one()
        if path is not None and self.chance.random() < 0.5:
            path.unlink()
            self.unfinished.pop(path, None)
            del self.holds[path], self.forms[path]

    def _one(self) -> Path | None:
        return self.chance.choice([*self.holds, None])

    def _new_path(self) -> Path:
        self.made += 1
        return self.folder / f"{self.chance.randint(0, 9)}-{self.made}.data"

    def _ids(self, number: int) -> list[str]:
        self.made += number
        return [f"r{self.made - one:04d}" for one in range(number)]

    def _write(self, path: Path, names: list[str]) -> None:
        form = self.forms[path]
        if form == "csv":
            content = b"id,response\n" + rows(names)
        elif form == "array":
            content = json.dumps([record(one) for one in names]).encode()
        else:
            content = json_lines(names)
            if form == "lines without an end":
                content = content[:-1]
            elif form != "lines":
                content = (gzip.compress if form == "gzip" else bz2.compress)(content)
        path.write_bytes(content)
        self.holds[path] = [*names]
        self._date(path)

    def _append(self, path: Path, data: bytes) -> None:
        with path.open("ab") as file:
            file.write(data)
        self._date(path)

    def _date(self, path: Path) -> None:
        self.written += 1
        os.utime(path, ns=(self.written, self.written))


def record(identifier: str) -> dict[str, str]:
    return {"id": identifier, "response": f"{identifier} is\na large city."}


def json_lines(ids: list[str]) -> bytes:
    return "".join(json.dumps(record(one)) + "\n" for one in ids).encode()


def rows(ids: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(record(one).values() for one in ids)
    return text.getvalue().encode()


def evaluated_quickly(settings: Any, quiet: bool, window: Window) -> Finished:
    """Read a window as a run does, and write which lines it has in place of tables."""
    folder = Path(settings.output) / f"run={settings.run}"
    copies = folder / "copies"
    copies.mkdir(exist_ok=True)
    files, bad = read_window(
        window, str(copies), lambda column: True, lambda key, line: parse(key, line)
    )
    keys: dict[str, list[str]] = {"responses": [], "failures": []}
    for file in files:
        plain = file.plain
        with open(plain.path, "rb") as stream:
            for line in lines(stream, Split(plain.name, plain.path, 0, plain.size), 1 << 20):
                record = parse(line.key, line.data)
                if not isinstance(record, Failure):
                    keys["responses"].append(record.response_id)
    keys["failures"] = [one.failure.key for one in bad]
    window.say("evaluated")  # it may be killed here, too
    (folder / "manifest.json").write_text(json.dumps(keys))
    return Finished(settings.run, str(folder), {}, 0.0)


class World:
    """A stream over such files; its process is killed now and then."""

    def __init__(self, folder: Path, seed: int, killed: float) -> None:
        self.chance = random.Random(seed)
        self.files = Files(folder / "in", self.chance)
        self.output = folder / "out"
        self.now = 0.0
        self.killed = killed
        self.happens = 0.5

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self._perhaps()

    def say(self, text: str) -> None:
        for refused in ("--fresh", "--if_finished", "--batch"):
            assert refused not in text
        self._perhaps()

    def _perhaps(self) -> None:
        if self.chance.random() < self.killed:
            raise Killed
        if self.chance.random() < self.happens:
            self.files.happen()

    def run(self) -> None:
        settings = settings_of(
            "--streaming",
            *WORDS,
            "--window_seconds",
            "4",
            "--idle_seconds",
            "9",
            "--input",
            f"{self.files.folder}/*.data",
            "--output",
            str(self.output),
        )
        stream(
            settings,
            lambda finished: self._perhaps(),
            self.say,
            quiet=True,
            sleep=self.sleep,
            clock=lambda: self.now,
        )

    def live(self, starts: int, acts: int) -> None:
        """Start the stream again and again while things happen, then once in peace."""
        for _ in range(starts):
            self.happens = 0.5
            for _ in range(self.chance.randint(0, acts)):
                self.files.happen()  # while no stream runs
            left = 40
            try:
                while left:
                    left -= 1
                    self.run()
                    self.files.happen()
            except Killed:
                pass
        self.happens = self.killed = 0.0
        for path in [*self.files.unfinished]:
            while path in self.files.unfinished:
                identifier, rest = self.files.unfinished.pop(path)
                with path.open("ab") as file:
                    file.write(rest)
                self.files.holds[path].append(identifier)
        self.run()
        before = [*self.output.glob("run=*")]
        self.run()
        assert [*self.output.glob("run=*")] == before

    def check(self, responses: list[str], failures: list[str]) -> None:
        twice = [one for one, times in Counter(responses).items() if times > 1]
        assert not twice
        there = {one for ids in self.files.holds.values() for one in ids}
        assert there - {*responses} == set()
        times = {path: sum(map(failures.count, names)) for path, names in self.files.bad.items()}
        assert times == dict.fromkeys(self.files.bad, 1)


@pytest.mark.parametrize("seed", range(24))
def test_each_usable_line_is_read_once_whatever_happens(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "run_evaluate", evaluated_quickly)
    world = World(tmp_path, seed, killed=0.03)
    world.live(starts=4, acts=4)
    keys: dict[str, list[str]] = {"responses": [], "failures": []}
    for path in world.output.glob("run=*/manifest.json"):
        for name, of_window in json.loads(path.read_text()).items():
            keys[name] += of_window
    world.check(**keys)


def tables(output: Path) -> dict[str, list[str]]:
    """The ids of all responses, and the keys of all failures."""
    keys = {}
    for table, column in (("responses", "response_id"), ("failures", "key")):
        query = f"SELECT {column} FROM read_parquet(?)"
        rows = duckdb.execute(query, [f"{output}/run=*/{table}/*.parquet"]).fetchall()
        keys[table] = [row[0] for row in rows]
    return keys


@pytest.mark.parametrize("seed", range(2))
def test_each_usable_line_is_evaluated_once_by_a_real_stream(tmp_path: Path, seed: int) -> None:
    world = World(tmp_path, seed, killed=0.06)
    world.live(starts=3, acts=2)
    world.check(**tables(world.output))


@pytest.mark.parametrize("number", [2, 6, 10])
def test_each_line_is_evaluated_once_by_a_command_that_is_killed(
    tmp_path: Path, number: int
) -> None:
    """It is killed at a file that it writes or moves; its input is then added to and renamed."""
    world = World(tmp_path, number, killed=0.0)
    world.happens = 0.0
    files = world.files
    for _ in range(2):
        files.add()
        files.add_bad()
    quick = ("--window_seconds", "0.1", "--idle_seconds", "0.3")
    places = ("--input", f"{files.folder}/*.data", "--output", world.output)
    killed = started(("evaluate", "--streaming", *WORDS, *places, *quick), FILE, number)
    killed.join(60)
    assert killed.exitcode is not None
    for _ in range(4):
        files.grow()
        files.rename()
    world.live(starts=0, acts=0)
    world.check(**tables(world.output))
