"""A recall run from settings to a finished folder: what `ufo recall` and `ufo.recall` both do."""

import json
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain
from typing import Any

from pipelines import logs, storage
from pipelines.options.recall import RecallSettings
from pipelines.runners.local import run_chunks, run_graph
from pipelines.runs.attempt import Attempt, checked_name, name_of
from pipelines.runs.inputs import InputFile, find_inputs, lines_of, measure, shown_names, spool
from pipelines.runs.job_of import usual_chunk_size
from pipelines.runs.plan import Chunk, PlainFile, plan
from pipelines.runs.progress import Progress
from pipelines.runs.run import Finished
from pipelines.runs.run_folder import earlier_manifest, only_one, tell_changes
from pipelines.runs.status import note_process
from pipelines.services import endpoints
from pipelines.version import VERSION
from schemas.errors import RunError, UsageError
from schemas.records import Part
from schemas.tables import OF_RECALL, SCHEMA_VERSION, to_arrow
from transforms.job import IN_FLIGHT
from transforms.llm.spans import around
from transforms.llm.usage_log import UsageLog, UsageReader
from transforms.recall.job import RecallJob

MODE = "recall"
SHEET = "facts.csv"


def run_recall(settings: RecallSettings, quiet: bool = False) -> Finished:
    """Recall the input and finish the run's folder, or complete an unfinished attempt.

    Progress goes to stderr, unless `quiet`. With `facts_only` the sheet `facts.csv` is written
    beside the run.

    Raises:
        UsageError: whatever can be told before the first record.
        RunError: the run could not be finished; the same command goes on where it stopped.
    """
    started = time.monotonic()
    paths = find_inputs(settings.input)
    if settings.dry_run:
        raise UsageError("--dry_run recalls nothing; use the command `ufo recall --dry_run`")
    models = endpoints.models_asked(settings, ())
    unpriced = endpoints.unpriced(settings, models) if models else []
    if settings.max_cost is not None and not models:
        raise UsageError("--max_cost: nothing is asked that costs; leave it out")
    if settings.facts_only:
        _refuse_to_overwrite(settings.output)
    files = [measure(path, name) for path, name in zip(paths, shown_names(paths), strict=True)]
    if not any(file.size for file in files):
        raise UsageError(f"--input {', '.join(paths)}: empty; there is nothing to recall")
    fingerprint: dict[str, Any] = json.loads(
        json.dumps(_fingerprint(settings, files, bool(models)), default=str)
    )
    name = name_of(fingerprint) if settings.run is None else checked_name(settings.run)
    logs.name_run(name)
    folder = storage.join(settings.output, f"run={name}")
    progress = Progress(sum(file.lines for file in files), quiet)
    with only_one(settings.output, folder, name):
        earlier = earlier_manifest(folder)
        if earlier and settings.if_finished == "skip":
            tell_changes(progress.say, name, earlier, fingerprint)
            return Finished(name, folder, earlier, time.monotonic() - started, skipped=True)
        attempt = Attempt.open(folder, fingerprint, settings.fresh)
        note_process(attempt, lines_of(files))
        if settings.verifier_used() and not models:
            from transforms.judges.offline import judged_by

            progress.say(
                f"Judging offline, without a language model. {judged_by(settings.verifier)}"
            )
        if unpriced:
            progress.say(
                f"No price is known of {', '.join(unpriced)}: its cost is left empty. Give one "
                "with --prices FILE."
            )
        try:
            with around("ufo.run", **{"ufo.run": name, "ufo.mode": MODE}):
                manifest = _recall(settings, models, files, attempt, name, progress)
        except UsageError:
            attempt.abandon()
            raise
        except OSError as error:
            raise RunError(
                f"the run stopped: {error}. What was finished is kept in {attempt.folder}; the "
                "same command goes on from there."
            ) from error
    if settings.facts_only:
        _write_sheet(settings.output, name)
    return Finished(name, folder, manifest, time.monotonic() - started)


def run_recall_chunk(chunk: Chunk, job: RecallJob, folder: str) -> list[Part]:
    """Recall one chunk in this process; returns the parts it wrote below `folder`."""
    from pipelines.recall import recall

    parts = run_graph(recall, chunk, job, folder)
    _check_whole(parts, job)
    return parts


def _fingerprint(
    settings: RecallSettings, files: Sequence[InputFile], asks_models: bool
) -> dict[str, Any]:
    return {
        "inputs": [{"name": f.name, "size": f.size, "sha256": f.sha256} for f in files],
        "options": settings.affecting(),
        "chunk_size": settings.chunk_size or usual_chunk_size(files, asks_models),
        "schema_version": SCHEMA_VERSION,
        "ufo_version": VERSION,
    }


def _recall(
    settings: RecallSettings,
    models: Sequence[str],
    files: Sequence[InputFile],
    attempt: Attempt,
    name: str,
    progress: Progress,
) -> dict[str, Any]:
    from transforms.llm.shared import end_run
    from transforms.loop import wait_for
    from transforms.recall.read import parse_recall

    plain = [
        PlainFile(file.name, path, storage.size(path))
        for file in files
        for path in [file.path if file.plain() else spool(file, attempt.input_folder(True))]
    ]
    log = attempt.usage_log() if models else None
    if log:
        UsageLog(log).begin()
    client, probes = endpoints.probed(settings, (), log)
    job = RecallJob(
        sources=(),
        judge=settings.judge_spec(client),
        mode=MODE,
        max_line_bytes=settings.max_line_bytes,
        usage_log=log,
        in_flight=max(IN_FLIGHT, 4 * settings.concurrency),
        formulations=settings.formulations,
    )

    def on_done(chunk: Chunk, parts: Sequence[Part], fresh: bool) -> None:
        progress.chunk(chunk.n_lines, parts, fresh)

    planned = plan(
        plain, attempt.fingerprint["chunk_size"], settings.max_line_bytes, parse=parse_recall
    )
    first = next(planned, None)
    if first is None:
        raise UsageError(f"--input {', '.join(settings.input)}: empty; there is nothing to recall")
    chunks = chain([first], planned)
    priced = not endpoints.unpriced(settings, models) if models else False
    workers = settings.processes(models)
    with progress.watching(UsageReader(log), priced) if log else nullcontext():
        parts = run_chunks(chunks, job, attempt, workers, on_done, run_recall_chunk)
    if log:
        wait_for(end_run(log))
    if probes:
        parts.append(attempt.write_part("usage", to_arrow("usage", probes)))
    progress.say(progress.line())
    count = partial(_rows, parts)
    facts = {
        "run": name,
        "mode": MODE,
        "sources": [],
        "tie": settings.tie,
        "judge": settings.judge.name,
        "formulations": list(settings.formulations),
        "counts": {
            "responses": count("recall_records"),
            "units": count("recall_facts"),
            "answers": count("recall_answers"),
            "failures": count("failures"),
        },
    }
    return attempt.finish(parts, facts, OF_RECALL)


def _rows(parts: Sequence[Part], table: str) -> int:
    return sum(part.rows for part in parts if part.table == table)


def _check_whole(parts: Sequence[Part], job: RecallJob) -> None:
    """Raise where a fact lacks a verdict: a runner that loses elements must not go unseen."""
    import pyarrow.parquet as pq

    def columns(table: str, *names: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for part in parts:
            if part.table == table:
                with storage.open_read(part.path) as stream:
                    found += pq.ParquetFile(stream).read(columns=list(names)).to_pylist()
        return found

    records = columns("recall_records", "n_facts", "n_answers")
    wanted = len(job.formulations) * sum(row["n_facts"] * row["n_answers"] for row in records)
    formulations = [row["formulation"] for row in columns("recall_verdicts", "formulation")]
    found = sum(formulation in job.formulations for formulation in formulations)
    if found != wanted:
        raise RunError(
            f"there are {found:,} verdicts, not {wanted:,}: the runner lost some. Please report it "
            "with Beam's version and the command."
        )


def _refuse_to_overwrite(output: str) -> None:
    path = storage.join(output, SHEET)
    if storage.exists(path):
        raise UsageError(
            f"{path} is there already, and people may have annotated it; move it away, or give "
            "another --output"
        )


def _write_sheet(output: str, name: str) -> None:
    from pipelines.runs.recall_sheet import sheet
    from pipelines.runs.results import open_results

    with open_results(output, name) as results:
        text = sheet(results)
    storage.write(storage.join(output, SHEET), text.encode())
