"""A pipeline on its way to an engine: there before the command ends.

Flink's REST interface is a server of this test that speaks as Flink does.
"""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest

from ufo.pipelines.runs.engine import EngineJob, job_of

Jobs = list[dict[str, Any]]


class Flink:
    """Answers with the next of `overviews`, the last again and again; keeps what is cancelled."""

    def __init__(self) -> None:
        self.overviews: list[Jobs] = [[]]
        self.cancelled: list[str] = []
        flink = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                told = flink.overviews
                jobs = told.pop(0) if len(told) > 1 else told[0]
                self.answer(json.dumps({"jobs": jobs}).encode())

            def do_PATCH(self) -> None:
                flink.cancelled.append(self.path)
                self.answer(b"{}")

            def answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("localhost", 0), Handler)
        self.flags = ["--runner=FlinkRunner", f"--flink_master=localhost:{self.port}"]

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])


@pytest.fixture
def flink() -> Iterator[Flink]:
    found = Flink()
    thread = threading.Thread(target=found.server.serve_forever, args=(0.01,))
    thread.start()
    yield found
    found.server.shutdown()
    found.server.server_close()
    thread.join()


def job(identifier: str, name: str) -> dict[str, Any]:
    return {"jid": identifier, "name": name, "state": "RUNNING", "start-time": 1}


class Result:
    """What Beam gives for a pipeline that was handed in."""

    def __init__(self, state: str = "RUNNING") -> None:
        self.state = state
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    def wait_until_finish(self) -> None:
        raise RuntimeError("no slots")


def there(flink: Flink, *more: str) -> EngineJob:
    return job_of([*flink.flags, *more], "out/run=s1", "try/ab")


def test_the_command_waits_until_flink_has_the_job(flink: Flink) -> None:
    mine, other = job("2", "ufo-s1-ab"), job("3", "ufo-s2-ab")
    flink.overviews = [[], [other], [other, mine]]
    slept: list[float] = []
    there(flink).until_there(Result(), slept.append)
    assert len(slept) == 2
    assert len(flink.overviews) == 1


def test_an_earlier_job_of_the_users_name_is_not_waited_for(flink: Flink) -> None:
    earlier = {**job("1", "mine"), "state": "FINISHED"}
    flink.overviews = [[earlier], [earlier, {**job("2", "mine"), "start-time": 2}]]
    slept: list[float] = []
    there(flink, "--job_name=mine").until_there(Result(), slept.append)
    assert len(slept) == 1


def test_a_job_that_fails_on_its_way_is_an_error(flink: Flink) -> None:
    slept: list[float] = []
    with pytest.raises(RuntimeError, match="no slots"):
        there(flink).until_there(Result("FAILED"), slept.append)
    assert slept == []


def test_other_engines_are_taken_at_their_word() -> None:
    flags = ["--runner=DataflowRunner"]
    slept: list[float] = []
    job_of(flags, "run=s1", "ab").until_there(Result(), slept.append)
    assert slept == []


@pytest.fixture
def command(ufo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr(beam.Pipeline, "run", lambda self: Result())

    def run(*flags: object) -> Any:
        places = ("--input", tmp_path / "*.jsonl", "--output", tmp_path / "out", "--run", "s")
        common = ("--streaming", "--judge", "offline", "--sources", "reference")
        return ufo("evaluate", *common, *places, "--no_wait_until_finish", *flags)

    return run


@pytest.mark.parametrize(
    "flags", [(), ("--runner=FnApiRunner",), ("--runner=FlinkRunner",)], ids=str
)
def test_what_would_end_with_the_command_is_refused(
    command: Callable[..., Any], flags: tuple[str, ...]
) -> None:
    done = command(*flags)
    assert done.code == 2
    assert "--no_wait_until_finish" in done.err
