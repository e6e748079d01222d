"""The job of a run on an engine: its name, its end, its rows and how its work is spread."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tests.pipelines.conftest import ok, tables, write_lines
from ufo.pipelines.graph import evaluate
from ufo.pipelines.runs.engine import (
    FILE,
    EngineJob,
    end_earlier,
    engine_counters,
    job_of,
    started_job,
)
from ufo.pipelines.runs.finish import check_complete
from ufo.pipelines.runs.jobs import job_of_text
from ufo.schemas.errors import RunError
from ufo.schemas.records import Part
from ufo.transforms.job import Job, Split
from ufo.transforms.sources.fact_source import SourceSpec

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


# --- The pipeline as it is for an engine: how work and budgets are spread, and what the user sees.


GROUPED = {"beam:transform:group_by_key:v1", "beam:transform:reshuffle:v1"}


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
    path = write_lines(tmp_path / "in.jsonl", [record])
    run = ("evaluate", "--input", path, "--output", tmp_path, "--run", "r", "--judge", "offline")
    counted = []
    for flags in ((), ("--runner=FnApiRunner", "--fresh")):
        done = ok(*run, "--sources", "reference", *flags)
        assert "prompt (1 record; did you mean question?" in done.err
        assert "2 name a sentence that their response does not have" in done.err
        assert "1 repeat an earlier claim of their response" in done.err
        manifest = json.loads((tmp_path / "run=r/manifest.json").read_text())
        counted.append({step: manifest["counters"][step] for step in ("read", "extract")})
    assert counted[0] == counted[1]


def upstream(transforms: Any, made_by: dict[str, str], step: str, found: set[str]) -> None:
    for collection in transforms[step].inputs.values():
        maker = made_by.get(collection)
        if maker and maker not in found:
            found.add(maker)
            if transforms[maker].spec.urn not in GROUPED:
                upstream(transforms, made_by, maker, found)


def test_no_engine_can_fuse_a_source_with_what_comes_before_it(tmp_path: Path) -> None:
    """Else whoever reads a file would ask every source for all of its responses."""
    sources = tuple(SourceSpec(name, "reference") for name in ("one", "two", "three"))
    pipeline = beam.Pipeline(runner=FnApiRunner())
    splits = pipeline | beam.Create([Split("a", "a", 0, 1)]).with_output_types(Split)
    evaluate(splits, Job(sources, shards=2), str(tmp_path))
    transforms = pipeline.to_runner_api().components.transforms
    leaves = {key: step for key, step in transforms.items() if not step.subtransforms}
    made_by = {made: key for key, step in leaves.items() for made in step.outputs.values()}
    asked = [key for key, step in leaves.items() if "/ask/" in step.unique_name]
    assert len(asked) == 3
    for step in asked:
        before: set[str] = set()
        upstream(leaves, made_by, step, before)
        names = [leaves[key].unique_name for key in before]
        assert any(leaves[key].spec.urn in GROUPED for key in before), names
        assert not [name for name in names if name.startswith("extract") or "/ask/" in name]


def test_an_engine_without_counters_loses_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    class Silent:
        def metrics(self) -> None:
            raise ConnectionError("no service")

    assert engine_counters(Silent()) == {}
    assert "does not report its counters: ConnectionError: no service" in capsys.readouterr().err


def test_parts_that_lack_a_verdict_are_no_run() -> None:
    parts = [Part(table, "", 5) for table in ("fact_units", "verdicts")]
    job = job_of_text({"judge": "offline"}, ["reference"])
    check_complete(parts, job)
    with pytest.raises(RunError, match="the runner lost some"):
        check_complete([parts[0], replace(parts[1], rows=4)], job)
