"""The job of a run on an engine: its name, its end, its rows and how its work is spread."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from apache_beam.runners.runner import PipelineRunner

from tests.local_web.pages import Reply
from tests.local_web.server import LocalWeb
from tests.pipelines.conftest import evaluation, ok, tables, ufo, write_lines
from ufo.pipelines.options.jobs import job_of_text
from ufo.pipelines.runs import engine
from ufo.pipelines.runs.attempt import Attempt
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.progress import Progress
from ufo.transforms.splits import Split

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


STARTED = ("jid", "name", "start-time", "state")
Jobs = Sequence[tuple[str, str, int, str]]


def listed(jobs: Jobs) -> Reply:
    """What Flink's REST interface says of its jobs."""
    rows = [dict(zip(STARTED, job, strict=True)) for job in jobs]
    return Reply(json.dumps({"jobs": rows}).encode())


@contextmanager
def flink(before: Jobs, after: Jobs = (), times: int = 1) -> Iterator[LocalWeb]:
    """Flink's address for jobs: those that it has the first `times` it is asked, and then."""
    with LocalWeb() as web:
        web.pages["/jobs/overview"] = replace(listed(before), times=times, then=listed(after))
        web.pages |= {f"/jobs/{job}?mode=cancel": Reply(b"{}", 202) for job, *_ in before}
        yield web


def cancelled(web: LocalWeb) -> list[str]:
    """What was asked to be cancelled."""
    return [asked.path for asked in web.requests if asked.method == "PATCH"]


def flag(web: LocalWeb) -> str:
    return f"--flink_master=127.0.0.1:{web.port}"


class Result:
    """Beam's handle of a job, whose cancellation fails or does not."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True
        if self.fails:
            raise NotImplementedError


class Time:
    """A clock that goes on while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def clock(self) -> float:
        return self.now


def test_the_newest_job_of_the_name_is_cancelled_on_flink() -> None:
    others = [("j1", NAME, 1, "FAILED"), ("j3", "other", 3, "RUNNING")]
    time = Time()
    with flink(
        [*others, ("j2", NAME, 2, "RUNNING")], [*others, ("j2", NAME, 2, "CANCELED")]
    ) as web:
        message = a_job(flag(web)).cancel(Result(fails=True), time.sleep, time.clock)
        assert cancelled(web) == ["/jobs/j2?mode=cancel"]
    assert message == f"the job {NAME} is cancelled"


def test_a_job_that_takes_a_while_to_end_is_asked_once() -> None:
    time = Time()
    running, ended = (("j1", NAME, 1, state) for state in ("CANCELLING", "CANCELED"))
    with flink([running], [ended], times=4) as web:
        message = a_job(flag(web)).cancel(None, time.sleep, time.clock)
        assert cancelled(web) == ["/jobs/j1?mode=cancel"]
    assert message == f"the job {NAME} is cancelled"


def test_a_job_that_flink_does_not_know_may_be_on_its_way_for_a_moment() -> None:
    time = Time()
    with flink([]) as web:
        message = a_job(flag(web)).cancel(None, time.sleep, time.clock)
    assert message == f"the job {NAME} is cancelled"
    assert 3 <= time.now < 4


def test_a_job_of_which_nothing_is_known_is_named() -> None:
    # Nobody listens at port 1.
    message = a_job("--flink_master=127.0.0.1:1").cancel(Result())
    assert message == f"the job {NAME} may still run: cancel it at http://127.0.0.1:1"
    # Other engines are reported by Beam.
    result = Result()
    assert a_job().cancel(result) == f"the job {NAME} is asked to stop"
    assert result.cancelled
    assert a_job().cancel(Result(fails=True)) == "", "nothing is said that is not known"


def test_the_job_of_a_try_that_was_killed_is_ended(tmp_path: Path) -> None:
    messages: list[str] = []
    mine = ("j2", "mine", 2, "RUNNING")
    running, ended = (("j1", NAME, 1, state) for state in ("RUNNING", "CANCELED"))
    with flink([running, mine], [ended, mine], times=2) as web:
        engine.cancel_earlier_job(str(tmp_path), messages.append)
        assert engine.started_job(str(tmp_path)) is None
        # A name that the user has chosen may be another run's by now.
        for flags in ((flag(web), "--job_name=mine"), (flag(web),), (flag(web),)):
            (tmp_path / engine.FILE).write_text(json.dumps(asdict(a_job(*flags))))
            engine.cancel_earlier_job(str(tmp_path), messages.append)
        assert cancelled(web) == ["/jobs/j1?mode=cancel"]
    assert messages == [f"An earlier try was killed; the job {NAME} is cancelled."]


@pytest.mark.parametrize("state", ["CANCELED", "FAILED", "FINISHED"])
def test_the_job_of_a_try_that_has_ended_is_left_alone(tmp_path: Path, state: str) -> None:
    messages: list[str] = []
    with flink([("j1", NAME, 1, state)]) as web:
        (tmp_path / engine.FILE).write_text(json.dumps(asdict(a_job(flag(web)))))
        engine.cancel_earlier_job(str(tmp_path), messages.append)
        assert cancelled(web) == []
    assert messages == []


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


class Watching(Progress):
    """Reads the note of the started job whenever the run tells something."""

    def __init__(self, folder: str) -> None:
        super().__init__(1, quiet=True)
        self.folder = folder
        self.noted: list[engine.EngineJob | None] = []
        self.told: list[str] = []

    def say(self, text: str) -> None:
        self.told.append(text)
        self.noted.append(engine.started_job(self.folder))


def test_a_job_is_noted_before_it_is_submitted(tmp_path: Path) -> None:
    record = {"response": "Oslo is big.", "reference_answers": ["Oslo is big."]}
    path = write_lines(tmp_path / "in.jsonl", [record])
    split = Split("in.jsonl", str(path), 0, path.stat().st_size, first_line=1)
    attempt = Attempt.open(str(tmp_path / "run=r"), {})
    watching = Watching(attempt.chunk_folder(engine.CHUNK))
    job = job_of_text({"judge": "offline"}, ["reference"])
    flags = ["--runner=FnApiRunner"]
    engine.run_on_engine([Chunk(0, (split,), 1)], attempt, flags, 1, job, watching)
    (noted,) = watching.noted
    assert noted is not None
    assert noted.name.startswith("ufo-r-")
    assert noted.runner == "FnApiRunner"
    assert not noted.named
    assert noted.url is None
    assert watching.told == [f"Submitted the job {noted.name} to FnApiRunner."]


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


class WithoutPrism(PipelineRunner):
    """A runner whose program cannot be fetched."""

    def run_pipeline(self, *_: object) -> None:
        raise RuntimeError("Unable to fetch remote prism binary at https://example.org: no network")


def test_what_beam_cannot_fetch_is_named_with_what_to_do(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", [{"response": "Oslo is in Norway."}])
    run = ("evaluate", "--input", source, "--judge", "offline", "--output", tmp_path / "out")
    done = ufo(*run, f"--runner={__name__}.WithoutPrism")
    assert done.code == 1
    assert "Unable to fetch remote prism binary at https://example.org: no network" in done.err
    assert "name its file with --prism_location" in done.err


def test_an_engine_without_counters_loses_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    class Silent:
        def metrics(self) -> None:
            raise ConnectionError("no service")

    assert engine.engine_counters(Silent()) == {}
    assert "does not report its counters: ConnectionError: no service" in capsys.readouterr().err
