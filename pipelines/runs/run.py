"""One run from settings to a finished folder: what `ufo evaluate` and `ufo.evaluate` both do."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from pipelines import logs, storage
from pipelines.options.beam_flags import IN_PROCESS, runner_of, waits
from pipelines.options.handing import check_handing
from pipelines.options.settings import Settings
from pipelines.runs.attempt import Attempt, checked_name, name_of
from pipelines.runs.inputs import InputFile, find_inputs, lines_of, measure, shown_names, spool
from pipelines.runs.job_of import fingerprint_of, job_of, usual_chunk_size
from pipelines.runs.plan import Chunk, PlainFile, plan
from pipelines.runs.progress import POOLED, Progress, deciders
from pipelines.runs.run_folder import earlier_manifest, only_one, tell_changes
from pipelines.runs.sources import Chosen, choose, recorded
from pipelines.runs.spent import left_out
from pipelines.runs.status import note_process
from pipelines.services import endpoints
from schemas.errors import NothingToEvaluate, RunError, UsageError
from schemas.records import Part
from schemas.tables import to_arrow
from transforms.job import Job
from transforms.llm.spans import around
from transforms.llm.usage_log import UsageLog, UsageReader

if TYPE_CHECKING:
    from pipelines.runs.carry import Carry


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run. `skipped` where it had been finished before and was left as it is.

    `submitted` where an engine has it and nobody waits: it is not finished, and has no manifest.
    """

    name: str
    folder: str
    manifest: Mapping[str, Any]
    seconds: float
    skipped: bool = False
    submitted: bool = False


def run(settings: Settings, quiet: bool = False) -> Finished:
    """Evaluate the input and finish the run's folder, or complete an unfinished attempt.

    Progress goes to stderr, unless `quiet`. With Beam's `--no_wait_until_finish` the run is handed
    to the engine, whose job finishes the folder by itself.

    Raises:
        UsageError: whatever can be told before the first response is evaluated.
        RunError: the run could not be finished; the same command goes on where it stopped.
    """
    started = time.monotonic()
    check_handing(settings)
    paths = find_inputs(settings.input)
    if settings.dry_run:
        raise UsageError("--dry_run evaluates nothing; use the command `ufo evaluate --dry_run`")
    if settings.streaming:
        raise UsageError("--streaming has no end; use the command `ufo evaluate --streaming`")
    chosen = choose(settings)
    models = endpoints.models_asked(settings, chosen.specs)
    unpriced = endpoints.unpriced(settings, models)
    files = [measure(path, name) for path, name in zip(paths, shown_names(paths), strict=True)]
    if not any(file.size for file in files):
        raise NothingToEvaluate(f"--input {', '.join(paths)}: empty; there is nothing to evaluate")
    chunk_size = settings.chunk_size or usual_chunk_size(files, bool(models))
    fingerprint = fingerprint_of(settings, chosen, files, chunk_size)
    name = name_of(fingerprint) if settings.run is None else checked_name(settings.run)
    if settings.baseline is not None:
        from pipelines.runs.compare import check_baseline

        check_baseline(settings.output, settings.baseline, name)
    logs.name_run(name)
    folder = storage.join(settings.output, f"run={name}")
    progress = Progress(sum(file.lines for file in files), quiet, settings.mode in POOLED)
    say = progress.say
    with only_one(settings.output, folder, name):
        earlier = earlier_manifest(folder)
        if earlier and settings.if_finished == "skip":
            tell_changes(say, name, earlier, fingerprint)
            return Finished(name, folder, earlier, time.monotonic() - started, skipped=True)
        carry = _carried_over(settings, name, earlier, fingerprint, say)
        base = carry.source if carry else None
        attempt = Attempt.open(folder, fingerprint, settings.fresh, base)
        engine = None if waits(settings.beam) else runner_of(settings.beam)
        note_process(attempt, lines_of(files), engine)
        if settings.verifier_used():
            from transforms.judges.offline import judged_by

            how = (
                "and by a model what is open"
                if settings.judge_class.needs_endpoint
                else "without a language model"
            )
            say(f"Judging offline, {how}. {judged_by(settings.verifier)}")
        if unpriced:
            say(
                f"No price is known of {', '.join(unpriced)}: its cost is left empty. Give one "
                "with --prices FILE."
            )
        try:
            traced = around("ufo.run", **{"ufo.run": name, "ufo.mode": settings.mode})
            with traced, _web(attempt.identifier):
                manifest = _evaluate(settings, chosen, files, attempt, name, carry, progress)
        except UsageError:
            attempt.abandon()
            raise
        except OSError as error:
            raise RunError(
                f"the run stopped: {error}. What was finished is kept in {attempt.folder}; the "
                "same command goes on from there."
            ) from error
    seconds = time.monotonic() - started
    return Finished(name, folder, manifest or {}, seconds, submitted=manifest is None)


def _carried_over(
    settings: Settings,
    name: str,
    earlier: Mapping[str, Any] | None,
    fingerprint: Mapping[str, Any],
    say: Callable[[str], None],
) -> "Carry | None":
    """Return what is taken over from another run, or from an earlier writing of this one."""
    from pipelines.runs.carry import carry_from, since_run

    output = settings.output
    if settings.since is not None:
        base = checked_name(settings.since)
        found = carry_from(output, base, since_run(output, base), fingerprint, since=True)
        say(f"Responses that are as they were in run {base} are taken over from it.")
        return found
    if earlier is None or settings.if_finished != "retry_errors":
        return None
    found = carry_from(output, name, earlier, fingerprint, since=False)
    kept, again = len(found.hashes), found.again
    say(f"Run {name}: {kept:,} responses kept, {again:,} with errors evaluated again.")
    return found


@contextmanager
def _web(run: str) -> Iterator[None]:
    """Close what the run opens to the web, however it ends."""
    from transforms.llm.shared import end_run
    from transforms.loop import wait_for

    try:
        yield
    finally:
        wait_for(end_run(run))


def _evaluate(
    settings: Settings,
    chosen: Chosen,
    files: Sequence[InputFile],
    attempt: Attempt,
    name: str,
    carry: "Carry | None",
    progress: Progress,
) -> dict[str, Any] | None:
    """Return the manifest, None where an engine has the run and nobody waits."""
    from pipelines.runs.carry import FINAL
    from pipelines.runs.finish import facts_of, finish
    from transforms.sources.web.snapshot import finish_recording

    facts = facts_of(settings, chosen, name)
    final = attempt.done(FINAL)
    if final is None:
        final = _evaluated(settings, chosen, files, attempt, facts, carry, progress)
        if final is None:
            return None
        for folder in recorded(settings, chosen.specs):
            finish_recording(folder)
        # Recorded before the first part moves: a run that is stopped while they do, and goes on,
        # finds some of them moved.
        attempt.mark_done(FINAL, final)
    else:
        decided = deciders(final, settings.mode)
        progress.chunk(sum(file.lines for file in files), final, False, decided)
    progress.say(progress.line())
    return finish(attempt, final, chosen.statuses, facts)


def _evaluated(
    settings: Settings,
    chosen: Chosen,
    files: Sequence[InputFile],
    attempt: Attempt,
    facts: Mapping[str, Any],
    carry: "Carry | None",
    progress: Progress,
) -> list[Part] | None:
    """Evaluate what is not evaluated yet; returns the parts of all tables but `sources`, None where
    an engine has the run and nobody waits."""
    from pipelines.runners.local import run_chunks
    from pipelines.runners.portable import run_portable
    from pipelines.runs.carry import CARRIED, carry_over, each_passage_once
    from pipelines.runs.finish import Ending

    here = runner_of(settings.beam) in IN_PROCESS
    plain = [
        PlainFile(file.name, path, storage.size(path))
        for file in files
        for path in [file.path if file.plain(here) else spool(file, attempt.input_folder(here))]
    ]
    models = endpoints.models_asked(settings, chosen.specs)
    log = attempt.usage_log() if here and models else None
    if log:
        UsageLog(log).begin(carry.spent if carry else None)
    client, probes = endpoints.probed(settings, chosen.specs, log)
    job = job_of(settings, chosen, client, attempt.identifier, log)

    def on_done(chunk: Chunk, parts: Sequence[Part], fresh: bool) -> None:
        progress.chunk(chunk.n_lines, parts, fresh, deciders(parts, settings.mode))

    takes = carry.takes if carry else lambda record: False
    planned = plan(plain, attempt.fingerprint["chunk_size"], settings.max_line_bytes, takes)
    first = next(planned, None)
    if first is None:
        names_given = ", ".join(file.path for file in files)
        raise NothingToEvaluate(f"--input {names_given}: empty; there is nothing to evaluate")
    chunks = chain([first], planned)

    def beside() -> list[Part]:
        # Once the input was gone through, which tells what is taken over.
        parts = []
        if carry is not None:
            parts += carry_over(settings.output, carry, attempt.chunk_folder(CARRIED))
            if carry.compared:
                progress.say(f"{len(carry.taken):,} responses taken over from run {carry.run}.")
        if probes and not log:
            parts.append(attempt.write_part("usage", to_arrow("usage", probes)))
        return parts

    def ending(job: Job) -> Ending:
        return Ending(
            storage.absolute(attempt.run_folder),
            attempt.identifier,
            attempt.fingerprint,
            chosen.statuses,
            facts,
            job,
            tuple(replace(part, path=storage.absolute(part.path)) for part in beside()),
            tuple(map(storage.absolute, recorded(settings, chosen.specs))),
        )

    if here:
        priced = not endpoints.unpriced(settings, models)
        try:
            with progress.watching(UsageReader(log), priced) if log else nullcontext():
                parts = run_chunks(chunks, job, attempt, settings.processes(models), on_done)
        finally:
            if log:
                from transforms.llm.shared import end_run
                from transforms.loop import wait_for

                wait_for(end_run(log))
        parts += left_out(parts, attempt, log) if log else []
    else:
        found = run_portable(
            chunks, job, attempt, settings.beam, settings.processes(), on_done, ending, progress
        )
        if found is None:
            return None
        parts = found
    parts = [*beside(), *parts]
    return each_passage_once(parts)
