"""Run on a distributed engine (Flink, Dataflow, …): one pipeline, many workers.

    DIR/run=NAME/.attempt-ID/chunks/portable/job.json       the newest job
                                            /TRY/…          its parts

The graph is the same as on this machine. The engine divides the work, keeps the state, restarts
failed workers and shows the progress on its own page. So the whole input is one chunk. The command
that submits the pipeline waits for it and finishes the run. Beam's job server for Flink does not
cancel jobs, so they are cancelled by Flink's REST interface.
"""

import json
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from http.client import HTTPException
from math import ceil
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener
from uuid import uuid4

from ufo.pipelines import logs
from ufo.pipelines.options.beam_flags import runner_of, value_of, workers_of
from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.finish import check_complete
from ufo.pipelines.runs.progress import Progress
from ufo.pipelines.runs.workers import check_ipython, error_of_step, is_interrupt
from ufo.schemas import storage
from ufo.schemas.errors import Interrupted
from ufo.schemas.state_files import read_state, write_state
from ufo.schemas.tables import registered_parts
from ufo.transforms.job import Job
from ufo.transforms.splits import Split

CHUNK = "portable"
FILE = "job.json"

_END_IT = "it names a job: cancel that on the engine if it still runs, then delete the file"

# Remedies for Beam's errors where it cannot download a file.
_REMEDIES = {
    "Unable to fetch remote job server jar": (
        "\nFetch the jar where there is a network, and name it with --flink_job_server_jar (or "
        "--spark_job_server_jar), or start the job server yourself and name it with --runner "
        "PortableRunner --job_endpoint HOST:PORT."
    ),
    "Unable to fetch remote prism binary": (
        "\nFetch or build Prism where there is a network, and name its file with "
        "--prism_location: see docs/running.md, Engines."
    ),
}
_SHARDS_A_WORKER = 4
# A worker holds one batch of responses and one part file in memory.
_RESPONSES_A_SHARD = 500
_RESPONSES_A_PART = 20_000
_ENDED = ("CANCELED", "FAILED", "FINISHED")
_SECONDS_TO_APPEAR = 3.0
_SECONDS_TO_END = 30.0
_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_TO_ANSWER = 10.0

Say = Callable[[str], None]


def run_on_engine(
    chunks: Sequence[Chunk],
    attempt: Attempt,
    flags: Sequence[str],
    workers: int,
    job: Job,
    progress: Progress,
) -> Written:
    """Evaluate all chunks as one pipeline on the runner in `flags`.

    `workers` is the number of processes if the flags do not set one.

    Raises:
        Interrupted: by Ctrl-C or SIGTERM; the job on the engine is cancelled too.
        UsageError: Beam cannot build a pipeline in this process.
        RunError: the runner reports that the pipeline failed.
    """
    logs.quiet_beam()  # before the import, which logs
    # Beam is slow to import, and only an engine needs it in this process.
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions

    from ufo.pipelines.graph import evaluate

    check_ipython()
    n_lines = sum(chunk.n_lines for chunk in chunks)
    done = attempt.done(CHUNK)
    if done is not None:
        progress.chunk(n_lines, done.counters, False)
        return done
    folder = storage.absolute(attempt.chunk_folder(CHUNK))
    cancel_earlier_job(folder, progress.say)
    # An earlier try may have left parts, and its job may still be writing: use a new folder.
    storage.delete(folder)
    tries_folder, name = folder, uuid4().hex[:8]
    folder = storage.join(tries_folder, name)
    storage.make_folder(folder)
    # A worker has another working directory.
    splits = [
        replace(split, path=storage.absolute(split.path))
        for chunk in chunks
        for split in chunk.splits
    ]
    # Workers on other machines share no limiter: each gets its share of the limits.
    workers = workers_of(flags, workers)
    shards = max(job.shards, _SHARDS_A_WORKER * workers, ceil(n_lines / _RESPONSES_A_SHARD))
    files = max(workers, ceil(n_lines / _RESPONSES_A_PART))
    job = replace(job.elsewhere().among(workers), parts=files, shards=shards)
    engine_job = job_of(flags, attempt.run_folder, folder)
    result = None
    try:
        pipeline = beam.Pipeline(options=PipelineOptions([*flags, *engine_job.flags()]))
        source = pipeline | "splits" >> beam.Create(splits).with_output_types(Split)
        evaluate(source | "spread" >> beam.Reshuffle(), job, folder)
        write_state(storage.join(tries_folder, FILE), asdict(engine_job))
        progress.say(f"Submitted the job {engine_job.name} to {engine_job.place}.")
        with progress.watching():
            result = pipeline.run()
            result.wait_until_finish()
    except (Exception, KeyboardInterrupt) as error:
        ended = engine_job.cancel(result)
        if is_interrupt(error):
            raise Interrupted(
                f"interrupted{ended and '; '}{ended}; the same command completes the run"
            ) from None
        failed = error_of_step(error, attempt, "the pipeline")
        remedy = next((said for words, said in _REMEDIES.items() if words in failed.message), "")
        failed.reword(failed.message + remedy)
        raise failed from error
    written = Written(registered_parts(folder), engine_counters(result))
    check_complete(written.parts, job)
    attempt.mark_done(CHUNK, written, name)
    progress.chunk(n_lines, written.counters, True)
    return written


def engine_counters(result: Any) -> dict[str, dict[str, int]]:
    """Return the counters of an engine's job; report an engine without them, and return {}."""
    from ufo.pipelines.graph import counters_of  # imports Beam

    try:
        return counters_of(result)
    except Exception as error:  # whatever the runner's service raises; the results are written
        logs.tell(f"The engine does not report its counters: {type(error).__name__}: {error}")
        return {}


@dataclass(frozen=True, slots=True)
class EngineJob:
    """A job on an engine, by its `name` there; `named` if the user chose it with `--job_name`.

    `url` is the address of Flink's REST interface, None without one.
    """

    runner: str
    name: str
    named: bool
    url: str | None

    @property
    def place(self) -> str:
        """Where the job runs, for messages: its runner, and the address of its page if known."""
        return f"{self.runner}, {self.url}" if self.url else self.runner

    def flags(self) -> list[str]:
        """Return the Beam flags that name the job."""
        return [] if self.named else [f"--job_name={self.name}"]

    def cancel(
        self,
        result: Any,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> str:
        """Cancel the job and return a message; `result` is Beam's, None before submission."""
        cancelled = False
        with suppress(Exception):  # whatever the runner raises; Flink is asked below
            if result is not None:
                result.cancel()
                cancelled = True
        if self.url is None:
            return f"the job {self.name} is asked to stop" if cancelled else ""
        if _cancel_on_flink(self.url, self.name, sleep, clock):
            return f"the job {self.name} is cancelled"
        return f"the job {self.name} may still run: cancel it at {self.url}"


def job_of(flags: Sequence[str], run_folder: str, folder: str) -> EngineJob:
    """Return the job that evaluates the run in `run_folder` into `folder`, new for each attempt."""
    name = value_of(flags, "job_name")
    run, token = (re.split(r"[/\\]", path.rstrip("/\\"))[-1] for path in (run_folder, folder))
    # Dataflow allows lower-case letters, digits and hyphens.
    default_name = re.sub(r"[^a-z0-9]+", "-", f"ufo-{run.removeprefix('run=')}-{token}".lower())
    return EngineJob(runner_of(flags), name or default_name, bool(name), flink_url(flags))


def flink_url(flags: Sequence[str]) -> str | None:
    """Return the address of Flink's REST interface in Beam's flags, or None."""
    master = value_of(flags, "flink_master") or ""
    if not master or master.startswith("["):  # [local], [auto]
        return None
    return master if "://" in master else f"http://{master}"


def started_job(folder: str) -> EngineJob | None:
    """Return the job started last for a run, or None.

    Raises:
        RunError: the file that names it is damaged.
    """
    path = storage.join(folder, FILE)
    return read_state(path, _END_IT, lambda content: EngineJob(**content))


def cancel_earlier_job(folder: str, say: Say) -> None:
    """Cancel the job of an earlier, killed command if it still runs; its results are not used."""
    earlier = started_job(folder)
    if earlier is None or earlier.url is None or earlier.named:
        return
    state = None
    with suppress(OSError, ValueError, KeyError):  # submitting the new job reports what is wrong
        state = _state(earlier.url, earlier.name)[1]
    if state in (None, *_ENDED):
        return
    say(f"An earlier try was killed; {earlier.cancel(None)}.")


def _cancel_on_flink(
    url: str, name: str, sleep: Callable[[float], None], clock: Callable[[], float]
) -> bool:
    """Cancel the newest job of that name; return whether it has certainly ended."""
    started, asked = clock(), False
    while clock() - started < _SECONDS_TO_END:
        try:
            number, state = _state(url, name)
        except (OSError, ValueError, KeyError):
            return False
        if state in _ENDED:
            return True
        if state is None and clock() - started > _SECONDS_TO_APPEAR:
            return True  # it was never submitted
        if number is not None and not asked:
            with suppress(OSError):
                ask_flink(f"{url}/jobs/{number}?mode=cancel", "PATCH")
                asked = True
        sleep(_SECONDS_BETWEEN_LOOKS)
    return False


def _state(url: str, name: str) -> tuple[str | None, str | None]:
    """Return the id and the state of the newest job of that name."""
    jobs = [job for job in ask_flink(f"{url}/jobs/overview")["jobs"] if job["name"] == name]
    newest = max(jobs, key=lambda job: job["start-time"], default=None)
    return (newest["jid"], newest["state"]) if newest else (None, None)


def ask_flink(url: str, method: str = "GET", seconds: float = _SECONDS_TO_ANSWER) -> Any:
    """Return the JSON reply of Flink's REST interface.

    Raises:
        OSError: it cannot be reached, or refuses.
        ValueError: what answers is not Flink.
    """
    if not url.startswith(("http://", "https://")):
        raise OSError(f"{url} is not the address of Flink's REST interface")
    direct = build_opener(ProxyHandler({}))
    try:
        with direct.open(Request(url, method=method), timeout=seconds) as reply:  # noqa: S310
            return json.load(reply)
    except HTTPException as error:
        raise OSError(str(error)) from error
