"""A run that is stopped anywhere is completed by the same command, as if nothing had been."""

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.cities import CITIES, Scene, end
from tests.pipelines.conftest import ok, ufo, ufo_process
from ufo.schemas import storage

pytestmark = pytest.mark.slow


@pytest.fixture
def scene(tmp_path: Path, recording: str) -> Iterator[Scene]:
    scene = Scene(tmp_path, recording)
    yield scene
    for process in scene.processes:
        if process.poll() is None:
            end(process, signal.SIGKILL)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, recording: str) -> Any:
    """The tables of a run that nothing disturbed."""
    scene = Scene(tmp_path_factory.mktemp("undisturbed"), recording)
    scene.gate.touch()
    ok(*scene.arguments())
    return scene.tables()


def nothing_stale(run: Path) -> bool:
    manifest = json.loads((run / "manifest.json").read_text())
    listed = {name for entry in manifest["tables"].values() for name in entry["files"]}
    files = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    return files == listed | {"manifest.json"} and not any(run.glob(".attempt-*"))


def completes(scene: Scene, expected: Any) -> None:
    """The same command completes the run, and does nothing again that was finished."""
    scene.gate.touch()
    scene.asked()
    ok(*scene.arguments())
    assert "Rome" not in scene.asked()
    assert scene.tables() == expected
    assert nothing_stale(scene.run)


# --- a run that is under way, of which two of six responses are finished


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, recording: str) -> Iterator[Scene]:
    scene = Scene(tmp_path_factory.mktemp("running"), recording)
    process = scene.start("--workers", 2)
    yield scene
    end(process, signal.SIGKILL)


def status(scene: Scene) -> Any:
    return ufo("status", scene.output, "--json").json[-1]  # an earlier run may be there, too


def test_the_status_of_a_running_process(running: Scene) -> None:
    run_status = status(running)
    assert run_status["state"] == "running"
    assert run_status["pid"] == running.processes[0].pid
    assert run_status["lines"] in (2, 4)  # the other worker may have finished a second chunk
    assert run_status["of_lines"] == 6
    assert run_status["of_chunks"] == 3
    assert run_status["started_at"] <= run_status["changed_at"]
    assert " of 3 chunks" in ufo("status", running.output).out


def test_a_second_process_is_refused(running: Scene) -> None:
    second = ufo_process(*running.arguments(), timeout=60)
    assert second.code == 2
    assert "is being written by another process" in second.err


# --- a run that was killed, where another one of its name was finished before


@dataclass
class Killed:
    """A scene whose run was killed, its output as it was then, and the earlier run's tables."""

    scene: Scene
    left: Path
    before: Any


@pytest.fixture(scope="module")
def _killed(tmp_path_factory: pytest.TempPathFactory, recording: str) -> Killed:
    scene = Scene(tmp_path_factory.mktemp("killed"), recording)
    scene.gate.touch()
    ok(*scene.arguments("--mode", "mv"))
    before = scene.tables()
    scene.gate.unlink()
    scene.asked()
    code, _ = end(scene.start("--workers", 2), signal.SIGKILL)
    assert code == -signal.SIGKILL
    left = tmp_path_factory.mktemp("left") / "out"
    shutil.copytree(scene.output, left)
    return Killed(scene, left, before)


@pytest.fixture
def killed(_killed: Killed) -> Killed:
    """The scene as the kill left it, with what stopped it out of the way."""
    shutil.rmtree(_killed.scene.output)
    shutil.copytree(_killed.left, _killed.scene.output)
    _killed.scene.gate.touch()
    _killed.scene.asked()
    return _killed


def test_the_earlier_run_is_readable_until_the_new_one_is_whole(killed: Killed) -> None:
    assert killed.scene.tables() == killed.before


def test_the_command_of_the_status_completes_a_killed_run(killed: Killed, expected: Any) -> None:
    scene = killed.scene
    finished = {city for number, city in enumerate(CITIES) if scene.done(number // 2)}
    assert "Rome" in finished
    stopped = status(scene)
    assert stopped["state"] == "stopped"
    assert stopped["chunks"] == len(finished) // 2
    ok(*stopped["next"].split()[1:])
    assert scene.asked() == set(CITIES) - finished, "what was finished is not done again"
    assert scene.tables() == expected
    assert nothing_stale(scene.run)
    (done,) = ufo("status", scene.folder, "--json").json  # in a folder below
    assert done["state"] == "finished"
    assert done["rows"] == {"responses": 6, "units": 6, "failures": 0}


# --- other ways to be stopped


@pytest.mark.parametrize(
    ("how", "whom"),
    # As a terminal does, and as containers end their first process.
    [(signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)],
    ids=["Ctrl-C in a terminal", "the end of a container"],
)
def test_a_signal_that_asks_to_stop(scene: Scene, expected: Any, how: int, whom: Any) -> None:
    code, err = end(scene.start("--workers", 2), how, whom)
    assert code == 1
    assert "Traceback" not in err
    assert "interrupted" in err
    assert "the same command completes the run" in err
    completes(scene, expected)


def test_a_worker_that_is_killed(scene: Scene, expected: Any) -> None:
    process = scene.start("--workers", 2)
    worker = scene.process_of("Lima")
    assert worker != process.pid
    os.kill(worker, signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in err
    assert "a worker process died" in err
    assert re.search(r"at chunk \d+(, \d+)*; a smaller --chunk_size or fewer --workers", err)
    assert "the same command resumes it" in err
    completes(scene, expected)


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
    words = scene.arguments("--if_finished", "retry_errors", "--chunk_size", 3)
    scene.gate.touch()
    scene.down.touch()
    ok(*words)
    before = scene.tables()
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
        assert scene.tables() in (before, expected), number
        done = ufo(*words)
        assert done.code == 0, (number, done.err)
        assert scene.tables() == expected, number
        assert nothing_stale(scene.run), number
    assert number > 20
    assert scene.tables() == expected
