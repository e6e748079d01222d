"""Processes that a user of `ufo` starts: forks, pools, and the workers of servers and queues."""

import itertools
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.cli import main

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

ROOT = Path(__file__).parents[1]
OSLO = "Oslo is the capital of Norway."
SECONDS = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index that knows of Oslo."""
    path = tmp_path_factory.mktemp("forked")
    (path / "pages.jsonl").write_text(json.dumps({"title": "Oslo", "text": OSLO}), "utf-8")
    command = ["index", "build", "--input", str(path / "pages.jsonl"), "--output"]
    assert main([*command, str(path / "index")]) == 0
    return path


@pytest.fixture
def program(folder: Path, llm_server: Any) -> Callable[..., str]:
    """Runs the program `tests.forked`, and returns what it prints."""

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tests.forked", *arguments],
            cwd=folder,
            env={**environment(), "OPENAI_BASE_URL": llm_server.base_url},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.slow
def test_a_fork_of_a_process_that_used_everything_can_use_everything(
    program: Callable[..., str],
) -> None:
    assert program("in_forks") == "as before"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_a_pool_can_check_what_its_parent_checked(program: Callable[..., str], method: str) -> None:
    names = ["offline", "cached", "indexed", "evaluated"] if method == "fork" else ["offline"]
    assert program(method, *names) == "as before"


@pytest.mark.slow
def test_an_executor_can_check_what_its_parent_checked(program: Callable[..., str]) -> None:
    assert program("in_executor", "bundled", "shared") == "as before"


@pytest.mark.slow
def test_a_child_neither_deletes_nor_breaks_the_results_of_its_parent(
    program: Callable[..., str],
) -> None:
    assert program("with_results", "offline") == "as before"


@pytest.mark.slow
def test_a_fork_waits_for_no_lock_that_another_thread_holds(program: Callable[..., str]) -> None:
    assert program("while_busy", "cached") == "as before"


_SERVED = f"""
import ufo

def checked():
    options = {{"judge": "offline", "verifier": "bundled"}}
    return ufo.check_sync({OSLO!r}, references=[{OSLO!r}], **options).score

before = checked()  # before the workers are forked

def app(environ, start_response):
    start_response("200 OK", [])
    return [f"{{before}} {{checked()}}".encode()]
"""


@pytest.mark.slow
def test_workers_of_gunicorn_check_after_a_preloaded_program_did(tmp_path: Path) -> None:
    (tmp_path / "served.py").write_text(_SERVED, "utf-8")
    flags = ["--preload", "--workers", "2", "--bind", "127.0.0.1:0", "--no-control-socket"]
    command = [sys.executable, "-m", "gunicorn", *flags, "served:app"]
    server = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    )
    with server:
        try:
            assert server.stderr is not None
            (listens,) = itertools.islice((line for line in server.stderr if " at: " in line), 1)
            address = listens.partition(" at: ")[2].split()[0]
            with urllib.request.urlopen(address, timeout=SECONDS) as reply:
                assert reply.read() == b"1.0 1.0"
            server.terminate()  # each worker ends as a program does
            assert server.wait(20) == 0
        finally:
            server.kill()


_TASKS = f"""
import celery, ufo

def checked():
    return ufo.check_sync({OSLO!r}, references=[{OSLO!r}], judge="offline").score

before = checked()  # before the workers are forked
places = {{"data_folder_in": "queue", "data_folder_out": "queue", "control_folder": "queue"}}
app = celery.Celery("tasks", broker="filesystem://", backend="file://results")
app.conf.broker_transport_options = places
app.conf.worker_enable_remote_control = False
task = app.task(checked, name="checked")
"""


@pytest.mark.slow
def test_the_forked_workers_of_celery_check_after_their_parent_did(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(_TASKS, "utf-8")
    for name in ("queue", "results"):
        (tmp_path / name).mkdir()
    flags = ["worker", "--pool", "prefork", "--concurrency", "2"]
    flags += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    command = [sys.executable, "-m", "celery", "--quiet", "--app", "tasks", *flags]
    worker = subprocess.Popen(command, cwd=tmp_path, env=environment())
    try:
        asked = "import tasks; print(tasks.task.delay().get(timeout=60))"
        done = subprocess.run(
            [sys.executable, "-c", asked],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.stdout.strip() == "1.0", done.stderr
    finally:
        worker.terminate()
        assert worker.wait(30) == 0
