"""A recall run from settings to a finished folder: what `ufo recall` and `ufo.recall` both do."""

import json
import time
from collections.abc import Sequence
from typing import Any

from pipelines.options.recall import RecallSettings
from pipelines.runners.parts import rows_of
from pipelines.runs.attempt import Attempt
from pipelines.runs.inputs import InputFile, find_inputs, lines_of
from pipelines.runs.job_of import usual_chunk_size
from pipelines.runs.progress import Progress
from pipelines.runs.results import open_results
from pipelines.runs.run_folder import earlier_manifest, only_one
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
from pipelines.version import VERSION
from schemas import storage
from schemas.errors import UsageError
from schemas.records import Part
from schemas.tables import OF_RECALL, SCHEMA_VERSION
from transforms.job import IN_FLIGHT
from transforms.llm.spans import around
from transforms.llm.usage_log import UsageLog
from transforms.recall.job import RecallJob
from transforms.recall.read import parse_recall
from transforms.recall.sheet import sheet

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
    plan = _plan(settings)
    progress = Progress(plan.n_lines, quiet)
    with only_one(settings.output, plan.folder, plan.name):
        earlier = earlier_manifest(plan.folder)
        if earlier and skips(settings, plan, earlier, progress):
            seconds = time.monotonic() - started
            return Finished(plan.name, plan.folder, earlier, seconds, skipped=True)
        attempt = Attempt.open(plan.folder, plan.fingerprint, settings.fresh)
        note_process(attempt, lines_of(plan.files))
        tell_judging(settings, plan, progress)
        with kept(attempt), around("ufo.run", **{"ufo.run": plan.name, "ufo.mode": MODE}):
            parts = _evaluate(settings, plan, attempt, progress)
            progress.say(progress.line())
            manifest = attempt.finish(parts, _facts(settings, plan, parts), OF_RECALL)
    if settings.facts_only:
        _write_sheet(settings.output, plan.name)
    return Finished(plan.name, plan.folder, manifest, time.monotonic() - started)


def _plan(settings: RecallSettings) -> Planned:
    paths = find_inputs(settings.input)
    if settings.dry_run:
        raise UsageError("--dry_run recalls nothing; use the command `ufo recall --dry_run`")
    models = endpoints.models_asked(settings, ())
    unpriced = endpoints.unpriced(settings, models) if models else []
    if settings.max_cost is not None and not models:
        raise UsageError("--max_cost: nothing is asked that costs; leave it out")
    if settings.facts_only:
        _refuse_to_overwrite(settings.output)
    files = input_files(paths, "recall")
    fingerprint: dict[str, Any] = json.loads(
        json.dumps(_fingerprint(settings, files, bool(models)), default=str)
    )
    return planned(settings, files, fingerprint, models, unpriced)


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


def _evaluate(
    settings: RecallSettings, plan: Planned, attempt: Attempt, progress: Progress
) -> list[Part]:
    """Recall what is not recalled yet; returns the parts of all tables."""
    log = attempt.usage_log() if plan.models else None
    if log:
        UsageLog(log).begin()
    client, _ = endpoints.probed(settings, (), log)
    job = RecallJob(
        sources=(),
        judge=settings.judge_spec(client),
        mode=MODE,
        max_line_bytes=settings.max_line_bytes,
        usage_log=log,
        in_flight=max(IN_FLIGHT, 4 * settings.concurrency),
        formulations=settings.formulations,
    )
    chunks = chunks_of(settings, plan, attempt, "recall", parse=parse_recall)
    return evaluate_here(chunks, job, settings, plan, attempt, progress)


def _facts(settings: RecallSettings, plan: Planned, parts: Sequence[Part]) -> dict[str, Any]:
    """Return what the manifest says of the run."""
    return {
        "run": plan.name,
        "mode": MODE,
        "sources": [],
        "tie": settings.tie,
        "judge": settings.judge.name,
        "formulations": list(settings.formulations),
        "counts": {
            "responses": rows_of(parts, "recall_records"),
            "units": rows_of(parts, "recall_facts"),
            "answers": rows_of(parts, "recall_answers"),
            "failures": rows_of(parts, "failures"),
        },
    }


def _refuse_to_overwrite(output: str) -> None:
    path = storage.join(output, SHEET)
    if storage.exists(path):
        raise UsageError(
            f"{path} is there already, and people may have annotated it; move it away, or give "
            "another --output"
        )


def _write_sheet(output: str, name: str) -> None:
    with open_results(output, name) as results:
        text = sheet(results)
    storage.write(storage.join(output, SHEET), text.encode())
