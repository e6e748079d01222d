"""A run that is stopped anywhere is completed by the same command, as if nothing had been."""

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.conftest import command, ok, tables, ufo, ufo_process
from ufo.schemas import storage

CITIES = ["Rome", "Bonn", "Oslo", "Lima", "Perth", "Quito"]


class Scene:
    """Six responses in three chunks. The source waits at Lima, in the second one, for a file."""

    def __init__(self, folder: Path, plug_in: str, words: Callable[..., list[str]]) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.gate = folder / "gate"
        self.down = folder / "down"
        self.output = folder / "out"
        self.run = self.output / "run=r"
        self.processes: list[subprocess.Popen[str]] = []
        self._words = words
        lines = [{"id": city, "response": f"{city} is a large city."} for city in CITIES]
        path = folder / "in.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        options = {"log": str(self.log), "waits": "Lima", "gate": str(self.gate)}
        mine = {"name": "mine", "type": plug_in, "fails": str(self.down), **options}
        self.config = folder / "ufo.yaml"
        self.config.write_text(
            json.dumps({"input": str(path), "run": "r", "sources": [mine], "chunk_size": 2})
        )

    def arguments(self, *flags: object) -> list[object]:
        return ["evaluate", "--config", self.config, "--output", self.output, *flags]

    def asked(self) -> list[str]:
        """The cities that the source was asked about, in the order of asking."""
        text = self.log.read_text() if self.log.exists() else ""
        return [line.split()[1] for line in text.splitlines()]

    def process_of(self, city: str) -> int:
        (line,) = [line for line in self.log.read_text().splitlines() if f" {city} " in line]
        return int(line.split()[0])

    def start(self, *flags: object) -> subprocess.Popen[str]:
        """Start the command in a group of its own; returns when it waits, the first chunk done."""
        process = subprocess.Popen(
            self._words(*self.arguments(*flags)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.processes.append(process)
        self.until(lambda: "Lima" in self.asked() and self.done(0), process)
        return process

    def done(self, chunk: int) -> bool:
        return any(self.run.glob(f".attempt-*/chunks/{chunk:05d}/done.json"))

    def until(self, condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            if process.poll() is not None:
                raise AssertionError(f"the command ended early: {process.communicate()}")
            assert time.monotonic() < deadline, "the command did not get there"
            time.sleep(0.02)

    def nothing_stale(self) -> bool:
        manifest = json.loads((self.run / "manifest.json").read_text())
        listed = {name for entry in manifest["tables"].values() for name in entry["files"]}
        found = {str(path.relative_to(self.run)) for path in self.run.rglob("*") if path.is_file()}
        return found == listed | {"manifest.json"} and not any(self.run.glob(".attempt-*"))


def end(process: subprocess.Popen[str], how: int, whom: Any = os.killpg) -> tuple[int, str]:
    """Send a signal, to the whole group as a terminal does; returns exit code and stderr."""
    whom(process.pid, how)
    _, err = process.communicate(timeout=60)
    return process.returncode, err


@pytest.fixture
def scene(tmp_path: Path, recording: str) -> Iterator[Scene]:
    scene = Scene(tmp_path, recording, command)
    yield scene
    for process in scene.processes:
        if process.poll() is None:
            end(process, signal.SIGKILL)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, recording: str) -> Any:
    """The tables of a run that nothing disturbed."""
    scene = Scene(tmp_path_factory.mktemp("undisturbed"), recording, command)
    scene.gate.touch()
    ok(*scene.arguments("--workers", 1))
    return without_paths(tables(scene.output))


def without_paths(found: Any) -> Any:
    return {name: rows for name, rows in found.items() if name != "sources"}


def test_kill_9(scene: Scene, expected: Any) -> None:
    # A finished run of that name is there before.
    scene.gate.touch()
    ok(*scene.arguments("--workers", 1, "--mode", "mv"))
    before = tables(scene.output)
    scene.gate.unlink()
    scene.log.unlink()

    process = scene.start("--workers", 2)
    _, running = ufo("status", scene.output, "--json").json  # the earlier run is there, too
    assert (running["state"], running["pid"]) == ("running", process.pid)
    # The other worker may have finished a second chunk.
    assert (running["lines"] in (2, 4), running["of_lines"], running["of_chunks"]) == (True, 6, 3)
    assert running["started_at"] <= running["changed_at"]
    assert " of 3 chunks" in ufo("status", scene.output).out
    (note,) = scene.run.glob(".attempt-*/process.json")
    told = note.read_text()
    for found, state, said in (
        ({**json.loads(told), "host": "other.example"}, "elsewhere", "other.example"),
        (None, "stopped", "the same command"),
    ):
        note.unlink() if found is None else note.write_text(json.dumps(found))
        _, status = ufo("status", scene.output, "--json").json
        assert (status["state"], said in status["next"]) == (state, True)
    note.write_text(told)
    second = ufo_process(*scene.arguments("--workers", 1), timeout=60)
    assert second.code == 2
    assert "is being written by another process" in second.err
    assert end(process, signal.SIGKILL)[0] == -signal.SIGKILL
    assert tables(scene.output) == before, "the earlier run is readable until the new one is whole"

    other = ufo(*scene.arguments("--workers", 1, "--tie", "factual"))
    assert other.code == 2
    assert 'options.tie: "not_factual" → "factual"' in other.err
    assert "--fresh" in other.err

    left = scene.folder / "left"
    shutil.copytree(scene.output, left)
    scene.gate.touch()
    ok(*scene.arguments("--workers", 1, "--mode", "mv", "--fresh"))
    assert set(CITIES) == set(scene.asked())
    assert tables(scene.output) == before
    shutil.rmtree(scene.output)
    shutil.move(left, scene.output)

    finished = [city for number, city in enumerate(CITIES) if scene.done(number // 2)]
    assert "Rome" in finished
    scene.log.unlink()
    # What the status says that completes the run does.
    _, stopped = ufo("status", scene.output, "--json").json
    assert (stopped["state"], stopped["chunks"]) == ("stopped", len(set(finished)) // 2)
    ok(*stopped["next"].split()[1:])
    assert set(scene.asked()) == set(CITIES) - set(finished), "what was finished is not done again"
    (status,) = ufo("status", scene.folder, "--json").json  # in a folder below
    assert status["state"] == "finished"
    assert status["rows"] == {"responses": 6, "units": 6, "failures": 0}
    assert without_paths(tables(scene.output)) == expected
    assert scene.nothing_stale()


@pytest.mark.parametrize(
    ("how", "whom"),
    # As a terminal does, and as containers end their first process.
    [(signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)],
)
def test_a_signal_that_asks_to_stop(scene: Scene, expected: Any, how: int, whom: Any) -> None:
    code, err = end(scene.start("--workers", 2), how, whom)
    assert code == 1
    assert "Traceback" not in err
    assert "interrupted" in err
    assert "the same command completes the run" in err
    scene.gate.touch()
    scene.log.unlink()
    ok(*scene.arguments("--workers", 1))
    assert "Rome" not in scene.asked()
    assert without_paths(tables(scene.output)) == expected


def test_a_worker_that_is_killed(scene: Scene, expected: Any) -> None:
    process = scene.start("--workers", 2)
    worker = scene.process_of("Lima")
    assert worker != process.pid
    os.kill(worker, signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "a worker process died" in err
    assert re.search(r"at chunk \d+(, \d+)*; a smaller --chunk_size or fewer --workers", err)
    assert "the same command resumes it" in err
    assert "Traceback" not in err
    scene.gate.touch()
    scene.log.unlink()
    ok(*scene.arguments("--workers", 1))
    assert "Rome" not in scene.asked()
    assert without_paths(tables(scene.output)) == expected
    assert scene.nothing_stale()


def test_the_next_command_removes_what_a_killed_one_left_and_its_workers_end(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = scene.folder / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    process = scene.start("--workers", 2)

    def left() -> list[str]:
        shared = Path("/dev/shm").glob(f"sem.loky-{process.pid}-*")
        return [path.name for path in (*temporary.iterdir(), *shared)]

    # Its workers have its output too, and end with it: the output ends.
    end(process, signal.SIGKILL, os.kill)
    assert any(name.startswith("ufo-own-") for name in left())
    assert ufo_process("sources", timeout=60).code == 0
    assert not left()


class _Stopped(BaseException):
    """As sudden as `kill -9`: nothing that catches errors catches it."""


def stop_at(patch: pytest.MonkeyPatch, number: int, *kinds: str) -> None:
    """Stop at the n-th file operation of these kinds."""
    left = [number]

    def counted(operate: Callable[..., Any]) -> Callable[..., Any]:
        def count(*arguments: Any) -> Any:
            left[0] -= 1
            if not left[0]:
                raise _Stopped
            return operate(*arguments)

        return count

    for kind in kinds:
        patch.setattr(storage, kind, counted(getattr(storage, kind)))


def test_stopped_at_any_step_of_finishing(
    scene: Scene, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop at file operations of the end of a run, every 17th, and complete it from each."""
    words = scene.arguments("--workers", 1, "--if_finished", "retry_errors", "--chunk_size", 3)
    scene.gate.touch()
    scene.down.touch()
    ok(*words)
    before = tables(scene.output)
    scene.down.unlink()
    with monkeypatch.context() as patch:
        stop_at(patch, 1, "move")  # by the first move all chunks are done
        with pytest.raises(_Stopped):
            ufo(*words)
    state = scene.folder / "state"
    shutil.copytree(scene.output, state)
    for number in itertools.count(1, 17):
        shutil.rmtree(scene.output)
        shutil.copytree(state, scene.output)
        with monkeypatch.context() as patch, contextlib.suppress(_Stopped):
            stop_at(patch, number, "write", "move", "delete")
            ok(*words)
            break
        found = tables(scene.output)
        assert found == before or without_paths(found) == expected, number
        done = ufo(*words)
        assert done.code == 0, (number, done.err)
        assert without_paths(tables(scene.output)) == expected, number
        assert scene.nothing_stale(), number
    assert number > 20
    assert without_paths(tables(scene.output)) == expected
