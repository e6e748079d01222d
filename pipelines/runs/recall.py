"""Compute factual recall of an input, for both `ufo recall` and `ufo.recall`."""

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from ufo.pipelines.options.recall import RecallSettings, recall_settings_of
from ufo.pipelines.runs.attempt import Attempt
from ufo.pipelines.runs.finish import Manifest, finish_tables
from ufo.pipelines.runs.inputs import find_inputs, input_files
from ufo.pipelines.runs.progress import Progress
from ufo.pipelines.runs.results import open_results
from ufo.pipelines.runs.reuse import Reuse
from ufo.pipelines.runs.run import (
    Finished,
    Plan,
    chunks_of,
    evaluate_here,
    execute,
    make_plan,
    start_usage_log,
)
from ufo.pipelines.services import endpoints
from ufo.schemas import storage
from ufo.schemas.errors import UsageError
from ufo.schemas.records import Part
from ufo.schemas.results import Results
from ufo.schemas.tables import OF_RECALL
from ufo.transforms.job import IN_FLIGHT
from ufo.transforms.recall.read import is_used, parse_recall
from ufo.transforms.recall.recallers import RecallJob
from ufo.transforms.recall.sheet import sheet

MODE = "recall"
SHEET = "facts.csv"
_COUNTS = {
    "responses": "recall_records",
    "units": "recall_facts",
    "answers": "recall_answers",
    "failures": "failures",
}


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
    if settings.dry_run:
        raise UsageError("--dry_run recalls nothing; use the command `ufo recall --dry_run`")
    models = settings.models_asked(())
    if settings.max_cost is not None and not models:
        raise UsageError("--max_cost: nothing is asked that costs; leave it out")
    unpriced = settings.unpriced(models)
    if settings.facts_only:
        _refuse_to_overwrite(settings.output)
    plan = make_plan(settings, MODE, input_files(paths, "recall"), models, unpriced)
    evaluate = partial(_evaluate, settings, plan)
    finish = partial(_finish, settings, plan)
    done = execute(plan, evaluate, finish, quiet=quiet, started=started)
    if settings.facts_only and not done.skipped:
        _write_sheet(settings.output, plan.name)
    return done


def recalled(values: Mapping[str, Any], quiet: bool) -> tuple[Results, str]:
    """Run with options given as Python keywords; return the results and the run's folder."""
    settings = recall_settings_of(values)
    done = run_recall(settings, quiet)
    return open_results(settings.output, done.name), done.folder


def _evaluate(
    settings: RecallSettings, plan: Plan, attempt: Attempt, reuse: Reuse | None, progress: Progress
) -> list[Part]:
    """Verify what is not verified yet; return the parts of all tables."""
    log = start_usage_log(plan, attempt)
    client, _ = endpoints.probed(settings, (), log) if plan.models else (None, [])
    job = RecallJob(
        sources=(),
        judge=settings.judge_spec(client),
        mode=MODE,
        max_line_bytes=settings.max_line_bytes,
        usage_log=log,
        in_flight=max(IN_FLIGHT, 4 * settings.concurrency),
        formulations=settings.formulations,
    )
    chunks = chunks_of(plan, attempt, "recall", progress, parse=parse_recall, used=is_used)
    return evaluate_here(chunks, job, plan, attempt, progress)


def _finish(settings: RecallSettings, plan: Plan, attempt: Attempt, parts: list[Part]) -> Manifest:
    facts = {
        "run": plan.name,
        "mode": MODE,
        "sources": [],
        "tie": settings.tie,
        "judge": settings.judge.name,
        "formulations": list(settings.formulations),
    }
    return finish_tables(attempt, parts, facts, _COUNTS, OF_RECALL)


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
