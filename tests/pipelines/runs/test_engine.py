"""The job of a run on an engine: its name, and how it is ended."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.runs.engine import FILE, EngineJob, end_earlier, job_of, started_job

RUN = "/out/run=My_Run.2"
TRY = "/out/run=My_Run.2/.attempt-1/chunks/portable/0a1b2c3d"


def a_job(*flags: str) -> EngineJob:
    return job_of(["--runner=FlinkRunner", *flags], RUN, TRY)


def keep(job: EngineJob, folder: Path) -> None:
    (folder / FILE).write_text(json.dumps(asdict(job)))


def test_a_job_is_called_by_its_run_and_try() -> None:
    job = a_job("--flink_master=localhost:8081")
    assert (job.name, job.url) == ("ufo-my-run-2-0a1b2c3d", "http://localhost:8081")
    assert job.flags() == ["--job_name=ufo-my-run-2-0a1b2c3d"]
    named = a_job("--job_name", "mine", "--flink_master=https://flink.example:443")
    assert (named.name, named.url, named.flags()) == ("mine", "https://flink.example:443", [])
    for flags in ((), ("--flink_master=[local]",), ("--flink_master=[auto]",)):
        assert a_job(*flags).url is None


class Flink:
    """Flink's address for jobs: those that it has, and what was asked of them."""

    def __init__(self, *jobs: tuple[str, str, int, str]) -> None:
        names = ("jid", "name", "start-time", "state")
        self.jobs = [dict[str, Any](zip(names, job, strict=True)) for job in jobs]
        self.asked: list[str] = []
        flink = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer({"jobs": flink.jobs})

            def do_PATCH(self) -> None:
                flink.asked.append(self.path)
                (job,) = (job for job in flink.jobs if job["jid"] in self.path)
                job["state"] = "CANCELED"
                self.answer({})

            def answer(self, content: Any) -> None:
                data = json.dumps(content).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.flag = f"--flink_master=127.0.0.1:{self.server.server_port}"


@pytest.fixture
def flink() -> Iterator[Callable[..., Flink]]:
    servers = []

    def start(*jobs: tuple[str, str, int, str]) -> Flink:
        started = Flink(*jobs)
        servers.append(started.server)
        threading.Thread(target=started.server.serve_forever, args=(0.01,)).start()
        return started

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


class Result:
    """Beam's handle of a job, whose cancellation fails or does not."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True
        if self.fails:
            raise NotImplementedError


def test_the_newest_job_of_the_name_is_cancelled_on_flink(flink: Callable[..., Flink]) -> None:
    name = "ufo-my-run-2-0a1b2c3d"
    there = flink(
        ("j1", name, 1, "FAILED"), ("j2", name, 2, "RUNNING"), ("j3", "other", 3, "RUNNING")
    )
    assert a_job(there.flag).cancel(Result(fails=True)) == f"the job {name} is cancelled"
    assert there.asked == ["/jobs/j2?mode=cancel"]
    there.jobs, now = [], [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    assert a_job(there.flag).cancel(None, sleep, lambda: now[0]) == f"the job {name} is cancelled"
    assert 3 <= now[0] < 4, "it may be on its way for a moment"


def test_a_job_of_which_nothing_is_known_is_named() -> None:
    # Nobody listens at port 1.
    told = a_job("--flink_master=127.0.0.1:1").cancel(Result())
    assert told == "the job ufo-my-run-2-0a1b2c3d may still run: cancel it at http://127.0.0.1:1"


def test_other_engines_are_reported_by_beam() -> None:
    result = Result()
    assert a_job().cancel(result) == "the job ufo-my-run-2-0a1b2c3d is asked to stop"
    assert result.cancelled
    assert a_job().cancel(Result(fails=True)) == "", "nothing is said that is not known"


def test_the_job_of_a_try_that_was_killed_is_ended(
    flink: Callable[..., Flink], tmp_path: Path
) -> None:
    told: list[str] = []
    there = flink(("j1", "ufo-my-run-2-0a1b2c3d", 1, "RUNNING"), ("j2", "mine", 2, "RUNNING"))
    end_earlier(str(tmp_path), told.append)
    assert started_job(str(tmp_path)) is None
    keep(a_job(there.flag, "--job_name=mine"), tmp_path)
    end_earlier(str(tmp_path), told.append)
    assert not told, "a name that the user has chosen may be another run's by now"
    keep(a_job(there.flag), tmp_path)
    for _ in range(2):
        end_earlier(str(tmp_path), told.append)
    assert told == ["An earlier try was killed; the job ufo-my-run-2-0a1b2c3d is cancelled."]
    assert there.asked == ["/jobs/j1?mode=cancel"]
