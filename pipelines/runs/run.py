"""One run from settings to a finished folder: what `ufo evaluate` and `ufo.evaluate` both do."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pipelines import storage
from pipelines.logs import quiet_beam
from pipelines.options.beam_flags import IN_PROCESS, check_detached, runner_of, waits
from pipelines.options.settings import Settings
from pipelines.runs.attempt import Attempt, checked_name
from pipelines.runs.compare import check_baseline
from pipelines.runs.finish import FinishSpec, facts_of, finish
from pipelines.runs.inputs import find_inputs, lines_of
from pipelines.runs.job_of import fingerprint_of, job_of, usual_chunk_size
from pipelines.runs.progress import POOLED, Progress, deciders
from pipelines.runs.reuse import (
    FINAL,
    REUSED,
    Reuse,
    copy_reused,
    each_passage_once,
    reuse_from,
    since_run,
)
from pipelines.runs.run_folder import earlier_manifest, only_one
from pipelines.runs.sources import Chosen, choose, recorded
from pipelines.runs.status import note_process
from pipelines.runs.steps import (
    Finished,
    Planned,
    chunks_of,
    evaluate_here,
    input_files,
    kept,
    planned,
    skips,
    tell_judging,
)
from pipelines.services import endpoints
from schemas.errors import UsageError
from schemas.records import Part
from schemas.tables import to_arrow
from transforms.llm.shared import end_run
from transforms.llm.spans import around
from transforms.llm.usage_log import UsageLog
from transforms.loop import wait_for
from transforms.sources.web.snapshot import finish_recording

__all__ = ["Finished", "run"]


def run(settings: Settings, quiet: bool = False) -> Finished:
    """Evaluate the input and finish the run's folder, or complete an unfinished attempt.

    Progress goes to stderr, unless `quiet`. With Beam's `--no_wait_until_finish` the run is handed
    to the engine, whose job finishes the folder by itself.

    Raises:
        UsageError: whatever can be told before the first response is evaluated.
        RunError: the run could not be finished; the same command goes on where it stopped.
    """
    started = time.monotonic()
    plan, chosen = _plan(settings)
    progress = Progress(plan.n_lines, quiet, settings.mode in POOLED)
    with only_one(settings.output, plan.folder, plan.name):
        earlier = earlier_manifest(plan.folder)
        if earlier and skips(settings, plan, earlier, progress):
            seconds = time.monotonic() - started
            return Finished(plan.name, plan.folder, earlier, seconds, skipped=True)
        reuse = _reuse(settings, plan, earlier, progress.say)
        source = reuse.source if reuse else None
        attempt = Attempt.open(plan.folder, plan.fingerprint, settings.fresh, source)
        engine = None if waits(settings.beam) else runner_of(settings.beam)
        note_process(attempt, lines_of(plan.files), engine)
        tell_judging(settings, plan, progress)
        traced = around("ufo.run", **{"ufo.run": plan.name, "ufo.mode": settings.mode})
        with kept(attempt), traced, _web(attempt.identifier):
            parts = _final_parts(settings, chosen, plan, attempt, reuse, progress)
            manifest = None
            if parts is not None:
                progress.say(progress.line())
                facts = facts_of(settings, chosen, plan.name)
                manifest = finish(attempt, parts, chosen.statuses, facts)
    seconds = time.monotonic() - started
    return Finished(plan.name, plan.folder, manifest or {}, seconds, submitted=manifest is None)


def _plan(settings: Settings) -> tuple[Planned, Chosen]:
    check_detached(settings.beam, settings.given("fail_under", "baseline"))
    paths = find_inputs(settings.input)
    if settings.dry_run:
        raise UsageError("--dry_run evaluates nothing; use the command `ufo evaluate --dry_run`")
    if settings.streaming:
        raise UsageError("--streaming has no end; use the command `ufo evaluate --streaming`")
    chosen = choose(settings)
    models = endpoints.models_asked(settings, chosen.specs)
    unpriced = endpoints.unpriced(settings, models)
    files = input_files(paths, "evaluate")
    chunk_size = settings.chunk_size or usual_chunk_size(files, bool(models))
    fingerprint = fingerprint_of(settings, chosen, files, chunk_size)
    plan = planned(settings, files, fingerprint, models, unpriced)
    if settings.baseline is not None:
        check_baseline(settings.output, settings.baseline, plan.name)
    return plan, chosen


def _reuse(
    settings: Settings,
    plan: Planned,
    earlier: Mapping[str, Any] | None,
    say: Callable[[str], None],
) -> Reuse | None:
    """Return what is taken over from another run, or from an earlier writing of this one."""
    output = settings.output
    if settings.since is not None:
        base = checked_name(settings.since)
        found = reuse_from(output, base, since_run(output, base), plan.fingerprint, since=True)
        say(f"Responses that are as they were in run {base} are taken over from it.")
        return found
    if earlier is None or settings.if_finished != "retry_errors":
        return None
    found = reuse_from(output, plan.name, earlier, plan.fingerprint, since=False)
    same, again = len(found.hashes), found.again
    say(f"Run {plan.name}: {same:,} responses kept, {again:,} with errors evaluated again.")
    return found


@contextmanager
def _web(run: str) -> Iterator[None]:
    """Close what the run opens to the web, however it ends."""
    try:
        yield
    finally:
        wait_for(end_run(run))


def _final_parts(
    settings: Settings,
    chosen: Chosen,
    plan: Planned,
    attempt: Attempt,
    reuse: Reuse | None,
    progress: Progress,
) -> list[Part] | None:
    """Return the parts of all tables but `sources`, evaluated now or by a process that was stopped
    at its end; None where an engine has the run and nobody waits."""
    final = attempt.done(FINAL)
    if final is not None:
        progress.chunk(plan.n_lines, final, False, deciders(final, settings.mode))
        return final
    final = _evaluate(settings, chosen, plan, attempt, reuse, progress)
    if final is None:
        return None
    for folder in recorded(settings, chosen.specs):
        finish_recording(folder)
    # Recorded before the first part moves: a run that is stopped while they do, and goes on,
    # finds some of them moved.
    attempt.mark_done(FINAL, final)
    return final


def _evaluate(
    settings: Settings,
    chosen: Chosen,
    plan: Planned,
    attempt: Attempt,
    reuse: Reuse | None,
    progress: Progress,
) -> list[Part] | None:
    """Evaluate what is not evaluated yet; returns what `_final_parts` does."""
    here = runner_of(settings.beam) in IN_PROCESS
    log = attempt.usage_log() if here and plan.models else None
    if log:
        UsageLog(log).begin(reuse.spent if reuse else None)
    client, probes = endpoints.probed(settings, chosen.specs, log)
    job = job_of(settings, chosen, client, attempt.identifier, log)
    takes = reuse.takes if reuse else lambda record: False
    chunks = chunks_of(settings, plan, attempt, "evaluate", here, takes)
    if here:
        parts = evaluate_here(chunks, job, settings, plan, attempt, progress)
        # Once the input was gone through, which tells what is taken over.
        return each_passage_once([*_reused(settings, attempt, reuse, progress), *parts])
    all_chunks = list(chunks)
    there_already = _reused(settings, attempt, reuse, progress)
    if probes:
        there_already.append(attempt.write_part("usage", to_arrow("usage", probes)))
    spec = FinishSpec(
        storage.absolute(attempt.run_folder),
        attempt.identifier,
        attempt.fingerprint,
        chosen.statuses,
        facts_of(settings, chosen, plan.name),
        job,
        tuple(replace(part, path=storage.absolute(part.path)) for part in there_already),
        tuple(map(storage.absolute, recorded(settings, chosen.specs))),
    )
    workers = settings.processes()
    quiet_beam()  # which makes remarks while it is imported
    # Here, since only an engine needs Beam in this process.
    from pipelines.runners.portable import run_portable

    found = run_portable(all_chunks, job, attempt, settings.beam, workers, spec, progress)
    return None if found is None else each_passage_once([*there_already, *found])


def _reused(
    settings: Settings, attempt: Attempt, reuse: Reuse | None, progress: Progress
) -> list[Part]:
    """Return the parts with what is taken over, as the input that was gone through has told."""
    if reuse is None:
        return []
    parts = copy_reused(settings.output, reuse, attempt.chunk_folder(REUSED))
    if reuse.compared:
        progress.say(f"{len(reuse.taken):,} responses taken over from run {reuse.run}.")
    return parts
