"""Execute a run: plan → attempt → evaluate → finish.

Shared by `ufo evaluate` (`evaluate.py`) and `ufo recall` (`recall.py`), which pass in their own
evaluation.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from ufo.pipelines import logs
from ufo.pipelines.options.beam_flags import runner_of, waits
from ufo.pipelines.options.settings import Settings
from ufo.pipelines.runners.local import run_chunks
from ufo.pipelines.runs.attempt import (
    FINAL,
    Attempt,
    Fingerprint,
    checked_name,
    differences,
    name_of,
    run_lock,
    unrecorded_usage,
)
from ufo.pipelines.runs.chunks import (
    Chunk,
    InputReport,
    check_columns,
    default_chunk_size,
    given_claims_warning,
    in_chunks,
)
from ufo.pipelines.runs.finish import Manifest, earlier_manifest
from ufo.pipelines.runs.inputs import InputFile, empty_input, plain_file, total_lines
from ufo.pipelines.runs.progress import POOLED, Progress, deciders
from ufo.pipelines.runs.reuse import Reuse
from ufo.pipelines.version import VERSION
from ufo.schemas import storage
from ufo.schemas.errors import NothingUsable, RunError, UsageError, lacks_memory
from ufo.schemas.records import Part
from ufo.schemas.tables import SCHEMA_VERSION
from ufo.transforms.columns import is_used
from ufo.transforms.job import Job
from ufo.transforms.llm.shared import end_run
from ufo.transforms.llm.usage_log import UsageLog, UsageReader
from ufo.transforms.loop import wait_for
from ufo.transforms.read import parse as parse_line
from ufo.transforms.verifiers.registry import make_verifier


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run. `skipped` if it was finished before and was not evaluated again.

    `submitted` if an engine finishes it without this command: it has no manifest yet.
    """

    name: str
    folder: str
    manifest: Mapping[str, Any]
    seconds: float
    skipped: bool = False
    submitted: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A run before anything is written: its input, its settings and its fingerprint.

    `models` are those that it asks; the price of the `unpriced` ones is unknown. `sends_requests`
    if it may send requests, which are then written to the usage log.
    """

    settings: Settings
    name: str
    folder: str
    mode: str
    files: tuple[InputFile, ...]
    fingerprint: Fingerprint
    models: tuple[str, ...]
    unpriced: tuple[str, ...]
    sends_requests: bool

    @property
    def n_lines(self) -> int:
        """The number of input lines, without those of compressed files."""
        return sum(file.lines for file in self.files)


def fingerprint_of(
    settings: Settings,
    files: Sequence[InputFile],
    asks_models: bool,
    sources: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return everything that affects the results, as plain JSON: equal ones have equal results."""
    found: dict[str, Any] = {
        "inputs": [{"name": f.name, "size": f.size, "sha256": f.sha256} for f in files],
        "options": settings.affecting(),
        "chunk_size": settings.chunk_size or default_chunk_size(files, asks_models),
        "schema_version": SCHEMA_VERSION,
        "ufo_version": VERSION,
    }
    if sources is not None:
        found["sources"] = [dict(one) for one in sources]
    plain: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return plain


def make_plan(
    settings: Settings,
    mode: str,
    files: tuple[InputFile, ...],
    models: Sequence[str],
    unpriced: Sequence[str],
    remote: bool = False,
    sources: Sequence[Mapping[str, Any]] | None = None,
) -> Plan:
    """Return the plan of a run, and add its name to the log lines from now on.

    `remote` if one of its sources sends requests.

    Raises:
        UsageError: the name given with `--run` is invalid.
    """
    fingerprint = fingerprint_of(settings, files, bool(models), sources)
    name = name_of(fingerprint) if settings.run is None else checked_name(settings.run)
    logs.name_run(name)
    folder = storage.join(settings.output, f"run={name}")
    asked = tuple(models), tuple(unpriced), remote or bool(models)
    return Plan(settings, name, folder, mode, files, fingerprint, *asked)


def execute(
    plan: Plan,
    evaluate: Callable[[Attempt, Reuse | None, Progress], list[Part] | None],
    finish: Callable[[Attempt, list[Part]], Manifest],
    reuse: Callable[[Manifest | None, Progress], Reuse | None] = lambda earlier, progress: None,
    quiet: bool = False,
    started: float | None = None,
) -> Finished:
    """Execute a planned run, or complete an unfinished attempt at it.

    `reuse` returns the results to reuse, given the earlier manifest of this run, if any. `evaluate`
    returns the parts of all tables, or None if an engine finishes the run without this command.

    Raises:
        UsageError: the command is wrong; found before the first record is evaluated.
        RunError: the run could not be finished; the same command resumes it.
    """
    started = time.monotonic() if started is None else started
    settings = plan.settings
    progress = Progress(plan.n_lines, quiet, plan.mode in POOLED)
    manifest: Manifest | None = None
    with run_lock(settings.output, plan.folder, plan.name):
        earlier = earlier_manifest(plan.folder)
        if earlier and settings.if_finished == "skip":
            _report_skipped(plan, earlier, progress)
            seconds = time.monotonic() - started
            return Finished(plan.name, plan.folder, earlier, seconds, skipped=True)
        reused = reuse(earlier, progress)
        source = reused.source if reused else None
        attempt = Attempt.open(plan.folder, plan.fingerprint, settings.fresh, source)
        attempt.write_process(
            total_lines(plan.files), None if waits(settings.beam) else runner_of(settings.beam)
        )
        _report_judging(plan, progress)
        with _errors_explained(attempt):
            parts = attempt.done(FINAL)
            if parts is not None:  # an earlier process was stopped while finishing
                progress.chunk(plan.n_lines, parts, False, deciders(parts, plan.mode))
            else:
                parts = evaluate(attempt, reused, progress)
                if parts is not None:
                    # Before the first part moves, so that a run stopped meanwhile is not evaluated
                    # again.
                    attempt.mark_done(FINAL, parts)
            if parts is not None:
                progress.say(progress.line())
                manifest = finish(attempt, parts)
                if warning := given_claims_warning(manifest["counters"]):
                    progress.say(warning)
    seconds = time.monotonic() - started
    return Finished(plan.name, plan.folder, manifest or {}, seconds, submitted=manifest is None)


def _report_skipped(plan: Plan, earlier: Manifest, progress: Progress) -> None:
    """Report that a finished run is left as it is, and how it differs from this command."""
    progress.say(f"Run {plan.name} is finished; left as it is (--if_finished skip).")
    changed = differences(earlier["fingerprint"], plan.fingerprint)
    if changed:
        progress.say("  It was made with other inputs or options: " + "; ".join(changed))


def _report_judging(plan: Plan, progress: Progress) -> None:
    """Report the verifier that judges, if any, and the models without a price."""
    settings = plan.settings
    if verifier := settings.verifier_used():
        how = "without a language model"
        if settings.judge_class.needs_endpoint:
            how = "and by a model where the judge asks one"
        progress.say(f"Judging offline, {how}. Verifier: {make_verifier(verifier).name}.")
    if plan.unpriced:
        progress.say(
            f"No price is known for {', '.join(plan.unpriced)}: its cost is left empty. Give one "
            "with --prices FILE."
        )


@contextmanager
def _errors_explained(attempt: Attempt) -> Iterator[None]:
    """Report by a RunError what is kept when a file error, or a lack of memory outside of chunks,
    stops the run; delete an attempt that has not begun."""
    try:
        yield
    except (UsageError, NothingUsable):
        attempt.abandon()
        raise
    except (OSError, MemoryError) as error:
        less = "no memory left after the last chunk; a smaller --chunk_size or fewer --workers help"
        why = f"the run stopped: {less if lacks_memory(error) else error}"
        kept = f"What was finished is kept in {attempt.folder}; the same command resumes it."
        raise RunError(f"{why}. {kept}") from error


def chunks_of(
    plan: Plan,
    attempt: Attempt,
    action: str,
    progress: Progress,
    local: bool = True,
    reuse: Reuse | None = None,
    parse: Callable[[str, bytes, int], Any] | None = None,
    used: Callable[[str], bool] | None = None,
) -> Iterator[Chunk]:
    """Return the chunks of the input, which is read lazily.

    `local` if workers of this machine evaluate them. `parse` and `used` replace how it is read.

    Raises:
        NothingUsable: the input has no record, or none that is usable.
        UsageError: `--map` names a column that no record has.
    """
    report = InputReport()
    if parse is None:
        parse = partial(parse_line, columns=plan.settings.map, unknown=report.add_unknown)
    folder = attempt.input_folder(local)
    reads = used or partial(is_used, plan.settings.map)
    plain = [plain_file(file, folder, reads, local) for file in plan.files]
    report.add_left_out(plain)
    size, most = attempt.fingerprint["chunk_size"], plan.settings.max_line_bytes
    check_columns(plain, plan.settings.map, most)
    takes = reuse.takes if reuse else lambda record: False
    found = in_chunks(plain, size, most, takes, report.observed(parse))
    names = [file.path for file in plan.files]
    chunks = report.checked(found, names, progress.say)
    first = next(chunks, None)
    if first is None:
        raise empty_input(plan.files, action)
    return chain([first], chunks)


def start_usage_log(
    plan: Plan, attempt: Attempt, spent: Mapping[str, float] | None = None
) -> str | None:
    """Start the usage log, with what was `spent` before; None if the run sends no requests."""
    if not plan.sends_requests:
        return None
    log = attempt.usage_log()
    UsageLog(log).begin(spent)
    return log


def evaluate_here(
    chunks: Iterable[Chunk],
    job: Job,
    plan: Plan,
    attempt: Attempt,
    progress: Progress,
) -> list[Part]:
    """Evaluate the chunks in processes of this machine and return all parts."""
    workers = plan.settings.processes(plan.models)
    log = job.usage_log
    if log is None:
        with progress.watching():
            return run_chunks(chunks, job, attempt, workers, progress)
    try:
        priced = bool(plan.models) and not plan.unpriced
        with progress.watching(UsageReader(log), priced):
            parts = run_chunks(chunks, job, attempt, workers, progress)
    finally:
        wait_for(end_run(log))
    return parts + unrecorded_usage(parts, attempt, log)
