"""Run `ufo evaluate` or `ufo recall`: plan → attempt → chunks → finish, in this order.

1. `plan_of` fixes the settings, and everything that results depend on.
2. `Attempt.open` resumes an unfinished attempt at the run, or begins one.
3. `_evaluate` cuts the input into chunks. Processes of this machine evaluate them, or an engine
evaluates all as one chunk.
4. `finish` moves the parts into the run's folder and writes the manifest.

A window of a stream is such a run, too. The two commands differ in the fields of a `Plan`.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final

from ufo.pipelines import logs
from ufo.pipelines.options.beam_flags import IN_PROCESS, runner_of
from ufo.pipelines.options.choose_sources import ChosenSources, choose_sources, snapshot_folders
from ufo.pipelines.options.jobs import job_of, recall_job_of
from ufo.pipelines.options.settings import RecallSettings, Settings
from ufo.pipelines.runs import endpoints
from ufo.pipelines.runs.attempt import (
    Attempt,
    Fingerprint,
    Written,
    checked_name,
    differences,
    fingerprint_of,
    name_of,
    run_lock,
    unrecorded_usage,
)
from ufo.pipelines.runs.chunks import Chunk, default_chunk_size, in_chunks
from ufo.pipelines.runs.comparison import check_baseline
from ufo.pipelines.runs.engine import run_on_engine
from ufo.pipelines.runs.finish import (
    RECALL,
    earlier_manifest,
    finish,
    finish_recordings,
    move_in,
    ready_to_move,
    remove_duplicate_passages,
)
from ufo.pipelines.runs.input_report import InputReport, input_warnings
from ufo.pipelines.runs.inputs import (
    InputFile,
    PlainFile,
    copies_folder,
    empty_input,
    find_inputs,
    read_inputs,
)
from ufo.pipelines.runs.progress import Progress
from ufo.pipelines.runs.reachable import check_engine
from ufo.pipelines.runs.remote_results import open_results
from ufo.pipelines.runs.reuse import REUSED, Reuse, copy_reused, reuse_from, since_run
from ufo.pipelines.runs.window_inputs import BadFile, Window, read_window
from ufo.pipelines.runs.workers import run_chunks
from ufo.schemas import storage
from ufo.schemas.dependencies import CORE, need
from ufo.schemas.errors import (
    NothingUsable,
    RunError,
    UfoError,
    UsageError,
    has_cause,
    lacks_memory,
)
from ufo.schemas.records import Part
from ufo.schemas.tables import Manifest, to_arrow
from ufo.schemas.text import quantity
from ufo.transforms.job import Job
from ufo.transforms.llm.shared import end_run
from ufo.transforms.llm.usage_log import UsageLog, UsageReader
from ufo.transforms.loop import wait_for
from ufo.transforms.read import is_used, parse
from ufo.transforms.recall import recall_input as recall_read
from ufo.transforms.recall.sheet import sheet
from ufo.transforms.verifiers.by_name import make_verifier

SHEET = "facts.csv"
"""The sheet of facts to annotate that `--facts_only` writes into the output folder."""


_RESUMES: Final = re.compile(r"\b([Tt]he same command)\b")


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run. `skipped` if it was finished before and was not evaluated again."""

    name: str
    folder: str
    manifest: Mapping[str, Any]
    seconds: float
    skipped: bool = False

    @contextmanager
    def explain_memory_errors(self) -> Iterator[None]:
        """Report that the run is finished if memory runs out while its results are shown."""
        try:
            yield
        except Exception as error:
            if not has_cause(error, lacks_memory):
                raise
            raise RunError(
                f"run {self.name} is finished, and no memory is left to show its results; give the "
                f"process more, and show them by `ufo report`"
            ) from error


@dataclass(frozen=True, slots=True)
class Plan:
    """A run before anything is written: input, settings and fingerprint.

    `chosen` has its sources, none in a recall run. `parse` converts a line to a record or a
    failure. `models` are the models that it asks; the price of `unpriced` ones is unknown. `facts`
    are the fields of the manifest that describe the run. A window of a stream may leave out some
    `bad` files.
    """

    settings: Settings
    chosen: ChosenSources
    name: str
    folder: str
    files: tuple[InputFile, ...]
    fingerprint: Fingerprint
    parse: Callable[..., Any]
    models: tuple[str, ...]
    unpriced: tuple[str, ...]
    facts: Mapping[str, Any]
    window: Window | None = None
    bad: tuple[BadFile, ...] = ()

    @property
    def piped(self) -> list[str]:
        """The names of inputs that can be read only once."""
        return [file.name for file in self.files if file.piped]

    @property
    def command(self) -> str:
        """The name of the command, which is also the verb of messages."""
        return RECALL if self.facts["mode"] == RECALL else "evaluate"


def run_evaluate(settings: Settings, quiet: bool = False, window: Window | None = None) -> Finished:
    """Evaluate the input and finish the run, or resume an unfinished attempt.

    Progress goes to stderr, unless `quiet`. The input is that of a `window` of a stream, if given,
    in place of that of the settings.

    Raises:
        UsageError: the command is wrong; found before the first response is evaluated.
        RunError: the run could not be finished; the same command resumes it.
    """
    started = time.monotonic()
    paths = find_inputs(settings.input) if window is None else ()
    for name in ("dry_run", "streaming"):
        if getattr(settings, name):
            raise UsageError(f"--{name} is of the command `ufo evaluate --{name}`")
    with copies_folder() as folder:
        plan = plan_of(settings, paths, choose_sources(settings), folder, window)
        if settings.baseline is not None:
            begin = (
                f" The first run has no --baseline: to begin, evaluate once without it and with "
                f"--run {settings.baseline}."
            )
            check_baseline(settings.output, settings.baseline, plan.name, begin)
        return _execute(plan, quiet, started)


def run_recall(settings: RecallSettings, quiet: bool = False) -> Finished:
    """Verify the facts of the input and finish the run, or resume an unfinished attempt.

    Progress goes to stderr, unless `quiet`. With `facts_only` the sheet `facts.csv` is written
    beside the run.

    Raises:
        UsageError: the command is wrong; found before the first record is read.
        RunError: the run could not be finished; the same command resumes it.
    """
    started = time.monotonic()
    paths = find_inputs(settings.input)
    if settings.max_cost is not None and not settings.models_asked(()):
        raise UsageError("--max_cost: nothing is asked that costs; leave it out")
    path = storage.join(settings.output, SHEET)
    if settings.facts_only and storage.exists(path):
        raise UsageError(
            f"{path} is there already, and people may have annotated it; move it away, or give "
            "another --output"
        )
    with copies_folder() as folder:
        done = _execute(plan_of(settings, paths, ChosenSources(), folder), quiet, started)
    if settings.facts_only and not done.skipped:
        with open_results(settings.output, done.name) as results:
            storage.write(path, sheet(results).encode())
    return done


def plan_of(
    settings: Settings,
    paths: Sequence[str],
    chosen: ChosenSources,
    folder: str,
    window: Window | None = None,
) -> Plan:
    """Read the files, or those of a `window`, and return the plan of a run over them.

    Copies of files go into `folder`. The run's name is added to the log lines from now on.

    Raises:
        UsageError: a file cannot be read, the name given with `--run` is invalid, `--max_cost`
            cannot be kept, or Apache Beam is not installed.
    """
    recall = settings if isinstance(settings, RecallSettings) else None
    need(CORE, "`ufo recall`" if recall else "`ufo evaluate`", ["apache_beam"])
    models = tuple(settings.models_asked(chosen.specs))
    unpriced = tuple(settings.unpriced(models))
    settings.check_batch(models)
    used = recall_read.is_used if recall else partial(is_used, settings.map)
    check_engine(settings.beam)
    local = runner_of(settings.beam) in IN_PROCESS
    bad: tuple[BadFile, ...] = ()
    if settings.run is not None:
        logs.name_run(checked_name(settings.run))
    logs.event("reading")
    if window is None:
        files = read_inputs(paths, folder, used, "recall" if recall else "evaluate", local)
    else:
        most = settings.max_line_bytes
        usable = partial(parse, max_line_bytes=most, columns=settings.map)
        files, bad = read_window(window, folder, used, usable)
    chunk_size = settings.chunk_size or default_chunk_size(files, bool(models))
    sources = None if recall else chosen.fingerprint
    fingerprint = fingerprint_of(settings.affecting(), files, chunk_size, sources)
    name = name_of(fingerprint) if settings.run is None else checked_name(settings.run)
    logs.name_run(name)
    facts = {
        "run": name,
        "mode": RECALL if recall else settings.mode,
        "sources": [spec.name for spec in chosen.specs],
        "tie": settings.tie,
        "judge": settings.judge.name,
        **({"formulations": list(recall.formulations)} if recall else {}),
        **({"title": settings.title} if settings.title else {}),
        **({"accuracy": accuracy} if (accuracy := settings.verifier_accuracy()) else {}),
    }
    return Plan(
        settings,
        chosen,
        name,
        storage.join(settings.output, f"run={name}"),
        files,
        fingerprint,
        recall_read.parse_recall if recall else partial(parse, columns=settings.map),
        models,
        unpriced,
        facts,
        window,
        bad,
    )


def _execute(plan: Plan, quiet: bool, started: float) -> Finished:
    """Evaluate a plan, with correct advice on resuming where its input can be read only once."""
    try:
        return _run_plan(plan, quiet, started)
    except UfoError as error:
        if plan.piped:
            error.message = _RESUMES.sub(r"\1 with the same input", error.message)
            error.args = (error.message,)
        raise


def _run_plan(plan: Plan, quiet: bool, started: float) -> Finished:
    settings = plan.settings
    n_lines = sum(file.lines for file in plan.files)
    progress = Progress(n_lines, plan.facts["mode"], plan.facts["sources"], quiet)
    if plan.piped:
        progress.say(
            f"{' and '.join(plan.piped)} can be read only once: if the run is stopped, the same "
            "command cannot resume it without the same input."
        )
    with run_lock(settings.output, plan.folder, plan.name):
        earlier, stopped = earlier_manifest(plan.folder)
        if earlier and settings.if_finished == "skip":
            _report_skipped(plan, earlier, progress)
            seconds = time.monotonic() - started
            return Finished(plan.name, plan.folder, earlier, seconds, skipped=True)
        again = settings.fresh or settings.if_finished == "retry_errors"
        if earlier and stopped and not again and earlier["fingerprint"] == plan.fingerprint:
            # To evaluate it anew would pay again for what the cache does not have.
            progress.say(f"Run {plan.name} was finished when its command was stopped.")
            return Finished(plan.name, plan.folder, earlier, time.monotonic() - started)
        reuse = _reuse(plan, earlier, progress)
        source = reuse.source if reuse else None
        anew = partial(_say_anew, plan.window) if plan.window else None
        attempt = Attempt.open(plan.folder, plan.fingerprint, settings.fresh, source, anew)
        batch = settings.batches(storage.absolute(plan.folder))
        if batch is None and plan.window is None and (path := attempt.batches()):
            from ufo.transforms.llm.batch_store import BatchStore  # of runs by batches alone

            with closing(BatchStore(path, storage.absolute(plan.folder))) as store:
                if store.under_way():
                    raise UsageError(
                        "batches of this run are under way; give --batch as before, or --fresh to "
                        "start over and pay for them again"
                    )
        # Without its input, the command as typed would not go on.
        command = () if plan.piped else settings.command
        attempt.write_process(n_lines, batch.path if batch else None, command)
        _report_judging(plan, progress)
        with _explain_errors(attempt):
            ready = ready_to_move(attempt)
            if ready is not None:  # an earlier process was stopped while finishing
                manifest, moves = ready
                progress.chunk(n_lines, manifest["counters"], False)
                progress.say(progress.line())
                move_in(attempt, manifest, moves)
            else:
                written = _evaluate(plan, attempt, reuse, progress)
                progress.say(progress.line())
                manifest = finish(attempt, written, plan.facts, plan.chosen.statuses)
    for warning in input_warnings(manifest["counters"]):
        progress.say(warning)
    return Finished(plan.name, plan.folder, manifest, time.monotonic() - started)


def _say_anew(window: Window, why: str) -> None:
    window.say(f"it was stopped, and is evaluated anew, since it was begun otherwise: {why}")


def _report_skipped(plan: Plan, earlier: Manifest, progress: Progress) -> None:
    """Report that a finished run is left unchanged, and how it differs from this command."""
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
    prices = settings.client.prices
    if settings.batch and any(prices[name].batch is None for name in {*plan.models} & {*prices}):
        progress.say("The price of batches is not known, and half the usual one is assumed.")


def _reuse(plan: Plan, earlier: Manifest | None, progress: Progress) -> Reuse | None:
    """Return the results to reuse: of the run in `--since`, or of this run to retry errors."""
    settings, output = plan.settings, plan.settings.output
    if settings.since is not None:
        base = checked_name(settings.since)
        reuse = reuse_from(output, base, since_run(output, base), plan.fingerprint, since=True)
        progress.say(f"Unchanged responses are reused from run {base}.")
        return reuse
    if earlier is None or settings.if_finished != "retry_errors":
        return None
    reuse = reuse_from(output, plan.name, earlier, plan.fingerprint, since=False)
    same, again = len(reuse.hashes), reuse.again
    progress.say(
        f"Run {plan.name}: {quantity(same, 'response')} kept, {again:,} with errors evaluated "
        "again."
    )
    return reuse


@contextmanager
def _explain_errors(attempt: Attempt) -> Iterator[None]:
    """Convert a file error, or a lack of memory outside of chunks, to a RunError with advice.

    After an error of usage, an attempt without a finished chunk is deleted.
    """
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


def _evaluate(plan: Plan, attempt: Attempt, reuse: Reuse | None, progress: Progress) -> Written:
    """Evaluate the remaining chunks; return the parts of all tables but `sources`."""
    if not plan.files:  # of a window whose files are all bad
        return Written(_failures_of_bad_files(plan, attempt), {})
    in_process = runner_of(plan.settings.beam) in IN_PROCESS
    # What a worker on another machine paid before it was lost is in the log alone.
    log = attempt.usage_log() if in_process else attempt.shared_usage_log()
    evaluate = _in_process if in_process else _on_engine
    try:
        written = evaluate(plan, attempt, reuse, progress, log)
    finally:
        wait_for(end_run(attempt.identifier))  # closes its connections
    # Only after the input was read are the responses to reuse known.
    reused = _reused_parts(plan, attempt, reuse, progress)
    parts = [*reused, *written.parts, *_failures_of_bad_files(plan, attempt)]
    parts += unrecorded_usage(parts, attempt, log)
    finish_recordings(snapshot_folders(plan.settings, plan.chosen.specs))
    return replace(written, parts=remove_duplicate_passages(parts))


def _failures_of_bad_files(plan: Plan, attempt: Attempt) -> list[Part]:
    """Return a part with a failure for each file that a window leaves out."""
    rows = [bad.failure for bad in plan.bad]
    return [attempt.write_part("failures", to_arrow("failures", rows))] if rows else []


def _in_process(
    plan: Plan, attempt: Attempt, reuse: Reuse | None, progress: Progress, log: str
) -> Written:
    settings, specs = plan.settings, plan.chosen.specs
    UsageLog(log).begin(reuse.spent if reuse else None)
    client = endpoints.probe_endpoints(settings, specs, log) if plan.models else None
    if client is not None:
        client = replace(client, batch=settings.batches(storage.absolute(plan.folder)))
    if isinstance(settings, RecallSettings):
        job: Job = recall_job_of(settings, client, log)
    else:
        job = job_of(settings, specs, client, attempt.identifier, log)
    chunks = _chunks_of(plan, attempt, progress, reuse)
    workers = settings.processes(plan.models)
    evaluate = partial(run_chunks, job=job, attempt=attempt, workers=workers, progress=progress)
    try:
        with progress.watching(UsageReader(log), bool(plan.models) and not plan.unpriced):
            if client is None or client.batch is None:
                return evaluate(chunks)
            from ufo.pipelines.runs.batches import Rounds  # `openai` is slow to import

            rounds = Rounds(client, client.batch, settings.rounds(specs), progress, log)
            with closing(rounds):
                if settings.fresh:
                    rounds.forget()
                return rounds.evaluate(chunks, attempt, evaluate)
    finally:
        wait_for(end_run(log))


def _on_engine(
    plan: Plan, attempt: Attempt, reuse: Reuse | None, progress: Progress, log: str
) -> Written:
    settings, specs = plan.settings, plan.chosen.specs
    client = endpoints.probe_endpoints(settings, specs, log)
    job = job_of(settings, specs, client, attempt.identifier)
    calls = replace(job.context.calls, usage_log=log)
    job = replace(job, context=replace(job.context, calls=calls))
    chunks = list(_chunks_of(plan, attempt, progress, reuse, local=False))
    return run_on_engine(chunks, attempt, settings.beam, settings.processes(), job, progress)


def _reused_parts(
    plan: Plan, attempt: Attempt, reuse: Reuse | None, progress: Progress
) -> list[Part]:
    """Return parts with the reused results of responses in the input."""
    if reuse is None:
        return []
    parts = copy_reused(plan.settings.output, reuse, attempt.chunk_folder(REUSED))
    if reuse.compared:
        progress.say(f"{quantity(len(reuse.taken), 'response')} reused from run {reuse.run}.")
    return parts


def _chunks_of(
    plan: Plan, attempt: Attempt, progress: Progress, reuse: Reuse | None, local: bool = True
) -> Iterator[Chunk]:
    """Return the chunks of the input, which is read lazily; `local` if workers of this machine
    evaluate them.

    Raises:
        NothingUsable: the input has no record, or none that is usable.
        UsageError: `--map` names a column that no record has.
    """
    settings = plan.settings
    plain = [file.plain if local else _shared_file(file, attempt) for file in plan.files]
    report = InputReport(plain, settings.map)
    read = plan.parse
    if plan.command != RECALL:
        read = partial(read, unknown=report.add_unknown, keys=report.add_keys)
    size = attempt.fingerprint["chunk_size"]
    takes = reuse.takes if reuse else lambda record: False
    chunks_read = in_chunks(plain, size, settings.max_line_bytes, takes, report.wrap_parse(read))
    if plan.window is not None:  # each of its files was looked at alone
        return report.with_warnings(chunks_read, plan.window.say)
    chunks = report.check_chunks(chunks_read, [file.path for file in plan.files], progress.say)
    first = next(chunks, None)
    if first is None:
        raise empty_input(plan.files, plan.command)
    return chain([first], chunks)


def _shared_file(file: InputFile, attempt: Attempt) -> PlainFile:
    """Return the file for the workers of an engine: the input, or a copy in the attempt's folder.

    The input is copied if its lines are in a local copy.
    """
    if file.plain.path == file.path:
        return file.plain
    path = storage.join(attempt.folder, "input", f"{file.sha256[:16]}.jsonl")
    if not storage.exists(path):
        storage.send(file.plain.path, path)
    return replace(file.plain, path=path)
