"""Evaluate an input, for both `ufo evaluate` and `ufo.evaluate`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ufo.pipelines.logs import quiet_beam
from ufo.pipelines.options.beam_flags import IN_PROCESS, check_detached, runner_of
from ufo.pipelines.options.command_line import settings_of
from ufo.pipelines.options.settings import Settings
from ufo.pipelines.runs.attempt import Attempt, checked_name
from ufo.pipelines.runs.compare import check_baseline
from ufo.pipelines.runs.finish import FinishSpec, Manifest, each_passage_once, finish
from ufo.pipelines.runs.inputs import find_inputs, input_files
from ufo.pipelines.runs.progress import Progress
from ufo.pipelines.runs.results import open_results
from ufo.pipelines.runs.reuse import REUSED, Reuse, copy_reused, reuse_from, since_run
from ufo.pipelines.runs.run import (
    Finished,
    Plan,
    chunks_of,
    evaluate_here,
    execute,
    make_plan,
    start_usage_log,
)
from ufo.pipelines.runs.sources import Chosen, choose, job_of, recorded
from ufo.pipelines.services import endpoints
from ufo.schemas import storage
from ufo.schemas.errors import UsageError
from ufo.schemas.records import Part, Usage
from ufo.schemas.results import Results
from ufo.schemas.tables import to_arrow
from ufo.transforms.job import Job
from ufo.transforms.llm.settings import ClientSettings
from ufo.transforms.llm.shared import end_run
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.base import FactSource
from ufo.transforms.sources.web.snapshot import finish_recording


def run_evaluate(settings: Settings, quiet: bool = False) -> Finished:
    """Evaluate the input and finish the run, or resume an unfinished attempt.

    Progress goes to stderr, unless `quiet`. With Beam's `--no_wait_until_finish` the run is
    submitted to the engine, whose job finishes it.

    Raises:
        UsageError: the command is wrong; found before the first response is evaluated.
        RunError: the run could not be finished; the same command resumes it.
    """
    started = time.monotonic()
    check_detached(settings.beam, settings.given("fail_under", "max_error_share", "baseline"))
    paths = find_inputs(settings.input)
    if settings.dry_run:
        raise UsageError("--dry_run evaluates nothing; use the command `ufo evaluate --dry_run`")
    if settings.streaming:
        raise UsageError("--streaming has no end; use the command `ufo evaluate --streaming`")
    chosen = choose(settings)
    models = settings.models_asked(chosen.specs)
    asked = models, settings.unpriced(models), chosen.remote
    files = input_files(paths, "evaluate")
    plan = make_plan(settings, settings.mode, files, *asked, chosen.fingerprint)
    if settings.baseline is not None:
        begin = (
            f" The first run has no --baseline: to begin, evaluate once without it and with --run "
            f"{settings.baseline}."
        )
        check_baseline(settings.output, settings.baseline, plan.name, begin)

    def finished(attempt: Attempt, parts: list[Part]) -> Manifest:
        return finish(attempt, parts, chosen.statuses, run_facts(settings, chosen, plan.name))

    evaluate = partial(_evaluate, chosen, plan)
    return execute(plan, evaluate, finished, partial(_reuse, plan), quiet, started)


def evaluated(
    values: Mapping[str, Any],
    quiet: bool,
    sources: Sequence[str | Mapping[str, Any] | FactSource] | None,
) -> tuple[Results, str]:
    """Evaluate with options given as Python keywords; return the results and the run's folder."""
    settings = settings_of(values, sources)
    done = run_evaluate(settings, quiet)
    return open_results(settings.output, done.name), done.folder


def run_facts(settings: Settings, chosen: Chosen, name: str) -> dict[str, Any]:
    """Return the fields of a manifest that describe the run."""
    return {
        "run": name,
        "mode": settings.mode,
        "sources": [spec.name for spec in chosen.specs],
        "tie": settings.tie,
        "judge": settings.judge.name,
    }


def _reuse(plan: Plan, earlier: Manifest | None, progress: Progress) -> Reuse | None:
    """Return the results to reuse: of the run in `--since`, or of this run to retry errors."""
    settings, output = plan.settings, plan.settings.output
    if settings.since is not None:
        base = checked_name(settings.since)
        found = reuse_from(output, base, since_run(output, base), plan.fingerprint, since=True)
        progress.say(f"Unchanged responses are reused from run {base}.")
        return found
    if earlier is None or settings.if_finished != "retry_errors":
        return None
    found = reuse_from(output, plan.name, earlier, plan.fingerprint, since=False)
    same, again = len(found.hashes), found.again
    progress.say(
        f"Run {plan.name}: {same:,} responses kept, {again:,} with errors evaluated again."
    )
    return found


def _evaluate(
    chosen: Chosen, plan: Plan, attempt: Attempt, reuse: Reuse | None, progress: Progress
) -> list[Part] | None:
    """Evaluate what is not evaluated yet; return the parts of all tables but `sources`.

    None if an engine finishes the run without this command.
    """
    in_process = runner_of(plan.settings.beam) in IN_PROCESS
    try:
        evaluate = _in_process if in_process else _on_engine
        parts = evaluate(chosen, plan, attempt, reuse, progress)
    finally:
        wait_for(end_run(attempt.identifier))  # closes its connections
    if parts is not None:
        for folder in recorded(plan.settings, chosen.specs):
            finish_recording(folder)
    return parts and each_passage_once(parts)


def _in_process(
    chosen: Chosen, plan: Plan, attempt: Attempt, reuse: Reuse | None, progress: Progress
) -> list[Part]:
    settings = plan.settings
    log = start_usage_log(plan, attempt, reuse.spent if reuse else None)
    client, _ = endpoints.probed(settings, chosen.specs, log) if plan.models else (None, [])
    job = job_of(settings, chosen.specs, client, attempt.identifier, log)
    chunks = chunks_of(plan, attempt, "evaluate", progress, reuse=reuse)
    parts = evaluate_here(chunks, job, plan, attempt, progress)
    # After the input was read, which finds the responses to reuse.
    return [*_reused(settings.output, attempt, reuse, progress), *parts]


def _on_engine(
    chosen: Chosen, plan: Plan, attempt: Attempt, reuse: Reuse | None, progress: Progress
) -> list[Part] | None:
    settings = plan.settings
    client, probes = endpoints.probed(settings, chosen.specs)
    job, probed = engine_job(settings, chosen, attempt, client, probes)
    chunks = list(chunks_of(plan, attempt, "evaluate", progress, local=False, reuse=reuse))
    written = [*_reused(settings.output, attempt, reuse, progress), *probed]
    spec = finish_spec(settings, chosen, attempt, plan.name, job, written)
    quiet_beam()  # before the import, which logs
    # Beam is slow to import, and only an engine needs it in this process.
    from ufo.pipelines.runners.portable import run_portable

    workers = settings.processes()
    found = run_portable(chunks, attempt, settings.beam, workers, spec, progress)
    return None if found is None else [*written, *found]


def _reused(output: str, attempt: Attempt, reuse: Reuse | None, progress: Progress) -> list[Part]:
    """Return parts with the reused results of the responses that the input has."""
    if reuse is None:
        return []
    parts = copy_reused(output, reuse, attempt.chunk_folder(REUSED))
    if reuse.compared:
        progress.say(f"{len(reuse.taken):,} responses reused from run {reuse.run}.")
    return parts


def engine_job(
    settings: Settings,
    chosen: Chosen,
    attempt: Attempt,
    client: ClientSettings | None,
    probes: Sequence[Usage],
) -> tuple[Job, list[Part]]:
    """Return the job of an engine's workers, and a part with the requests that probed endpoints."""
    parts = [attempt.write_part("usage", to_arrow("usage", probes))] if probes else []
    return job_of(settings, chosen.specs, client, attempt.identifier), parts


def finish_spec(
    settings: Settings,
    chosen: Chosen,
    attempt: Attempt,
    name: str,
    job: Job,
    parts: Sequence[Part],
) -> FinishSpec:
    """Return what the last step of an engine's job needs; `parts` are written already."""
    return FinishSpec(
        storage.absolute(attempt.run_folder),
        attempt.identifier,
        attempt.fingerprint,
        chosen.statuses,
        run_facts(settings, chosen, name),
        job,
        tuple(replace(part, path=storage.absolute(part.path)) for part in parts),
        tuple(map(storage.absolute, recorded(settings, chosen.specs))),
    )
