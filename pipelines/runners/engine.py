"""Monitor and cancel the job of a run on an engine.

    DIR/run=NAME/.attempt-ID/chunks/portable/job.json       the newest job
                                            /TRY/…          its parts
                                            /TRY/counts/…   the counters of each of its workers

Beam's job server for Flink does not cancel jobs, so they are cancelled by Flink's REST interface.
"""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from http.client import HTTPException
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

from ufo.pipelines.options.beam_flags import runner_of, value_of, waits
from ufo.pipelines.runs.finish import Counters, sum_counters
from ufo.schemas import storage
from ufo.schemas.errors import RunError
from ufo.transforms.llm.usage_log import DECIDED, EXTRACTED, FAILURES, REQUESTS, RESPONSES, UNITS
from ufo.transforms.votes import SEQ, SINGLE

CHUNK = "portable"
FILE = "job.json"
COUNTS = "counts"

_ENDED = ("CANCELED", "FAILED", "FINISHED")
_SECONDS_TO_APPEAR = 3.0
_SECONDS_TO_END = 30.0
_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_BETWEEN_REMOTE_LOOKS = 10.0
_SECONDS_TO_ANSWER = 10.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class EngineJob:
    """A job on an engine, by its `name` there; `named` if the user chose it with `--job_name`.

    `url` is the address of Flink's REST interface, None without one. `counts` is the folder in
    which its workers write their counters; `sources`, `mode` and `lines` (of input) are the run's.
    `waited` if the command waits for the end of the job.
    """

    runner: str
    name: str
    named: bool
    url: str | None
    counts: str
    sources: tuple[str, ...]
    mode: str
    lines: int
    waited: bool = True

    def flags(self) -> list[str]:
        """Return the Beam flags that name the job."""
        return [] if self.named else [f"--job_name={self.name}"]

    def keep(self, folder: str) -> None:
        """Write the job into a folder, for `started_job`."""
        storage.write(storage.join(folder, FILE), json.dumps(asdict(self)).encode())

    def until_there(self, result: Any, sleep: Callable[[float], None] = time.sleep) -> None:
        """Wait until the engine has accepted the job, or it has ended; `result` is Beam's.

        Beam's job server reports a running job before it has submitted it to Flink, and ends with
        this process.

        Raises:
            RuntimeError: the runner reports that it failed.
        """
        from apache_beam.runners.runner import PipelineState

        while self.url is not None and not self._is_there():
            if PipelineState.is_terminal(result.state):
                result.wait_until_finish()
                return
            sleep(_SECONDS_BETWEEN_LOOKS)

    def _is_there(self) -> bool:
        assert self.url is not None
        state = None
        with suppress(OSError, ValueError, KeyError):
            state = _state(self.url, self.name)[1]
        # An earlier job may have the same name if the user chose it.
        return state is not None and not (self.named and state in _ENDED)

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


def job_of(
    flags: Sequence[str],
    run_folder: str,
    folder: str,
    sources: Sequence[str],
    mode: str,
    lines: int,
) -> EngineJob:
    """Return the job that evaluates the run in `run_folder` into `folder`, new for each attempt."""
    name = value_of(flags, "job_name")
    run, token = (re.split(r"[/\\]", path.rstrip("/\\"))[-1] for path in (run_folder, folder))
    # Dataflow allows lower-case letters, digits and hyphens.
    ours = re.sub(r"[^a-z0-9]+", "-", f"ufo-{run.removeprefix('run=')}-{token}".lower())
    master = value_of(flags, "flink_master") or ""
    url = None
    if master and not master.startswith("["):
        url = master if "://" in master else f"http://{master}"
    counts = storage.join(folder, COUNTS)
    return EngineJob(
        runner_of(flags),
        name or ours,
        bool(name),
        url,
        counts,
        tuple(sources),
        mode,
        lines,
        waits(flags),
    )


def started_job(folder: str) -> EngineJob | None:
    """Return the job started last for a run, or None."""
    path = storage.join(folder, FILE)
    with suppress(OSError, ValueError, TypeError):
        if storage.exists(path):
            found = json.loads(storage.read(path))
            return EngineJob(**{**found, "sources": tuple(found["sources"])})
    return None


def end_earlier(folder: str, say: Say) -> None:
    """Cancel the job of a killed command if it still runs, since its results are not used.

    Raises:
        RunError: the job runs and finishes the run by itself (`--no_wait_until_finish`).
    """
    earlier = started_job(folder)
    if earlier is None or earlier.url is None or earlier.named:
        return
    state = None
    with suppress(OSError, ValueError, KeyError):  # submitting the new job reports what is wrong
        state = _state(earlier.url, earlier.name)[1]
    if state in (None, *_ENDED):
        return
    if not earlier.waited:
        raise RunError(
            f"the job {earlier.name} evaluates this run already; wait for it, or cancel it at "
            f"{earlier.url}"
        )
    say(f"An earlier try was killed; {earlier.cancel(None)}.")


class LiveCounts:
    """The live counters of a job's workers, under the names of a usage log."""

    exact = False  # work that was lost with its worker and repeated is counted twice

    def __init__(self, job: EngineJob) -> None:
        self._job = job
        self._found: dict[str, float] = {}
        self._next = 0.0

    def totals(self) -> dict[str, float]:
        """Return the sums; those of a remote folder may be some seconds old."""
        now = time.monotonic()
        if now >= self._next:
            far = storage.is_remote(self._job.counts)
            self._next = now + (_SECONDS_BETWEEN_REMOTE_LOOKS if far else 0)
            self._found = totals_of(self._job, counted(self._job))
        return self._found

    def messages(self) -> list[str]:
        """Return no messages: the engine logs those of its workers."""
        return []


def counted(job: EngineJob) -> Counters:
    """Return the counters of a job's workers so far: step → name → number."""
    return sum_counters(path for path in storage.files_below(job.counts) if path.endswith(".json"))


def totals_of(job: EngineJob, counters: Counters) -> dict[str, float]:
    """Convert counters by step to totals under the names of a usage log.

    A response without claims is done after extraction, others after their last source.
    """
    if not counters:
        return {}
    extract = counters.get("extract", {})
    stages = [counters.get(f"source:{name}", {}) for name in job.sources]
    last: Mapping[str, int] = stages[-1] if stages else {}
    done = extract.get("no_claims", 0) + last.get("responses", 0)
    if job.mode == SEQ:
        done += sum(one.get("responses", 0) - one.get("responses_out", 0) for one in stages[:-1])
    found: dict[str, float] = {
        RESPONSES: min(done, job.lines),
        EXTRACTED: min(extract.get("responses", 0), job.lines),
        UNITS: extract.get("units", 0),
        FAILURES: sum(one.get("failures", 0) for one in counters.values()),
        REQUESTS: sum(one.get("requests", 0) for one in counters.values()),
    }
    for name, one in zip(job.sources, stages, strict=True):
        found[f"{DECIDED}{name}"] = one.get("answered", 0)
    if job.mode in (SEQ, SINGLE):
        left = last.get("units_out", last.get("units_in", 0) - last.get("answered", 0))
        found[f"{DECIDED}none"] = left
    return {name: float(number) for name, number in found.items() if number}


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
                _ask(f"{url}/jobs/{number}?mode=cancel", "PATCH")
                asked = True
        sleep(_SECONDS_BETWEEN_LOOKS)
    return False


def _state(url: str, name: str) -> tuple[str | None, str | None]:
    """Return the id and the state of the newest job of that name."""
    found = [job for job in _ask(f"{url}/jobs/overview")["jobs"] if job["name"] == name]
    newest = max(found, key=lambda job: job["start-time"], default=None)
    return (newest["jid"], newest["state"]) if newest else (None, None)


def _ask(url: str, method: str = "GET") -> Any:
    """Return the JSON reply of Flink's REST interface.

    Raises:
        OSError: it cannot be reached, or refuses.
        ValueError: what answers is not Flink.
    """
    if not url.startswith(("http://", "https://")):
        raise OSError(f"{url} is not the address of Flink's REST interface")
    direct = build_opener(ProxyHandler({}))
    try:
        with direct.open(Request(url, method=method), timeout=_SECONDS_TO_ANSWER) as reply:  # noqa: S310
            return json.load(reply)
    except HTTPException as error:
        raise OSError(str(error)) from error
