"""The job of a run on an engine: its name, its end, its rows and how its work is spread."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.local_server import JsonHandler, LocalServer
from tests.pipelines.conftest import evaluation, ok, tables
from ufo.pipelines.runs import engine

RUN = "/out/run=My_Run.2"
TRY = "/out/run=My_Run.2/.attempt-1/chunks/portable/0a1b2c3d"
NAME = "ufo-my-run-2-0a1b2c3d"


def a_job(*flags: str) -> engine.EngineJob:
    return engine.job_of(["--runner=FlinkRunner", *flags], RUN, TRY)


def test_a_job_is_called_by_its_run_and_try() -> None:
    job = a_job("--flink_master=localhost:8081")
    assert job.name == NAME
    assert job.url == "http://localhost:8081"
    assert job.flags() == [f"--job_name={NAME}"]
    named = a_job("--job_name", "mine", "--flink_master=https://flink.example:443")
    assert named.name == "mine"
    assert named.url == "https://flink.example:443"
    assert named.flags() == []
    for flags in ((), ("--flink_master=[local]",), ("--flink_master=[auto]",)):
        assert a_job(*flags).url is None


class Flink(LocalServer):
    """Flink's address for jobs: those that it has, and what was asked of them."""

    def __init__(self, *jobs: tuple[str, str, int, str]) -> None:
        names = ("jid", "name", "start-time", "state")
        self.jobs = [dict[str, Any](zip(names, job, strict=True)) for job in jobs]
        self.asked: list[str] = []
        flink = self

        class Handler(JsonHandler):
            def do_GET(self) -> None:
                self.reply(200, {"jobs": flink.jobs})

            def do_PATCH(self) -> None:
                flink.asked.append(self.path)
                (job,) = (job for job in flink.jobs if job["jid"] in self.path)
                job["state"] = "CANCELED"
                self.reply(200, {})

        super().__init__(Handler)

    @property
    def flag(self) -> str:
        return f"--flink_master=127.0.0.1:{self.port}"


class Result:
    """Beam's handle of a job, whose cancellation fails or does not."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True
        if self.fails:
            raise NotImplementedError


def test_the_newest_job_of_the_name_is_cancelled_on_flink() -> None:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    jobs = (("j1", NAME, 1, "FAILED"), ("j2", NAME, 2, "RUNNING"), ("j3", "other", 3, "RUNNING"))
    with Flink(*jobs) as there:
        assert a_job(there.flag).cancel(Result(fails=True)) == f"the job {NAME} is cancelled"
        assert there.asked == ["/jobs/j2?mode=cancel"]
        there.jobs = []
        told = a_job(there.flag).cancel(None, sleep, lambda: now[0])
    assert told == f"the job {NAME} is cancelled"
    assert 3 <= now[0] < 4, "it may be on its way for a moment"


def test_a_job_of_which_nothing_is_known_is_named() -> None:
    # Nobody listens at port 1.
    told = a_job("--flink_master=127.0.0.1:1").cancel(Result())
    assert told == f"the job {NAME} may still run: cancel it at http://127.0.0.1:1"
    # Other engines are reported by Beam.
    result = Result()
    assert a_job().cancel(result) == f"the job {NAME} is asked to stop"
    assert result.cancelled
    assert a_job().cancel(Result(fails=True)) == "", "nothing is said that is not known"


def test_the_job_of_a_try_that_was_killed_is_ended(tmp_path: Path) -> None:
    told: list[str] = []
    with Flink(("j1", NAME, 1, "RUNNING"), ("j2", "mine", 2, "RUNNING")) as there:
        engine.end_earlier(str(tmp_path), told.append)
        assert engine.started_job(str(tmp_path)) is None
        # A name that the user has chosen may be another run's by now.
        for flags in ((there.flag, "--job_name=mine"), (there.flag,), (there.flag,)):
            (tmp_path / engine.FILE).write_text(json.dumps(asdict(a_job(*flags))))
            engine.end_earlier(str(tmp_path), told.append)
    assert told == [f"An earlier try was killed; the job {NAME} is cancelled."]
    assert there.asked == ["/jobs/j1?mode=cancel"]


# --- The pipeline as it is for an engine: how work and budgets are spread, and what the user sees.


def test_a_run_on_another_runner_has_the_rows_and_tells_how_it_went(
    responses: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(index.parent)
    run: tuple[object, ...] = ("evaluate", "--input", responses, "--judge", "offline", "--run", "r")
    run += ("--sources", "reference,wikipedia", "--index", index.name)
    ok(*run, "--output", tmp_path / "here")
    other = ("--output", tmp_path / "other", "--runner=FnApiRunner", "--parallelism=3")
    done = ok(*run, *other)
    assert "22/22 responses" in done.err
    assert "Submitted the job ufo-r-" in done.err
    assert "reference" in done.err.splitlines()[-1]
    assert tables(tmp_path / "other") == tables(tmp_path / "here")
    assert len(list(tmp_path.glob("other/run=r/evidence/*.parquet"))) == 3


def test_what_is_doubtful_in_the_input_is_reported_on_another_runner_too(tmp_path: Path) -> None:
    claims = [{"claim": "Oslo is big.", "sentence_index": 7}] * 2
    record = {"response": "Oslo is big.", "claims": claims, "prompt": "Which?"}
    counted = []
    for flags in ((), ("--runner=FnApiRunner", "--fresh")):
        done = ok(*evaluation(tmp_path, [record], "--run", "r", *flags))
        assert "prompt (1 record; did you mean question?" in done.err
        assert "2 name a sentence that their response does not have" in done.err
        assert "1 repeat an earlier claim of their response" in done.err
        manifest = json.loads((tmp_path / "out/run=r/manifest.json").read_text())
        counted.append({step: manifest["counters"][step] for step in ("read", "extract")})
    assert counted[0] == counted[1]


def test_an_engine_without_counters_loses_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    class Silent:
        def metrics(self) -> None:
            raise ConnectionError("no service")

    assert engine.engine_counters(Silent()) == {}
    assert "does not report its counters: ConnectionError: no service" in capsys.readouterr().err
