"""Run on a distributed engine (Flink, Dataflow, …): one pipeline, many workers.

The graph is the same as on this machine. The engine divides the work, holds the state and restarts
what fails, so the whole input is one chunk. The command that submits the pipeline waits for it and
finishes the run; with `--no_wait_until_finish` the last step of the graph finishes it.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any
from uuid import uuid4

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from ufo.pipelines import logs
from ufo.pipelines.graph import evaluate, finish_in_graph, keep_counters
from ufo.pipelines.options.beam_flags import waits, workers_of
from ufo.pipelines.runners.engine import CHUNK, COUNTS, LiveCounts, end_earlier, job_of
from ufo.pipelines.runners.local import check_ipython, is_interrupt, of_step
from ufo.pipelines.runs.attempt import Attempt
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.finish import FinishSpec, check_complete
from ufo.pipelines.runs.progress import Progress, deciders
from ufo.schemas import storage
from ufo.schemas.errors import Interrupted
from ufo.schemas.records import Part
from ufo.transforms.beam.write import written_parts
from ufo.transforms.splits import Split

SHARDS_A_WORKER = 4
# A worker holds one batch of responses and one part file in memory.
RESPONSES_A_SHARD = 500
RESPONSES_A_PART = 20_000


def run_portable(
    chunks: Sequence[Chunk],
    attempt: Attempt,
    flags: Sequence[str],
    workers: int,
    spec: FinishSpec,
    progress: Progress,
) -> list[Part] | None:
    """Evaluate all chunks as one pipeline on the runner in `flags` and return its parts.

    With `--no_wait_until_finish` return None once the job is submitted: its last step finishes the
    run by `spec`. `workers` is the number of processes if the flags do not set one.

    Raises:
        Interrupted: by Ctrl-C or SIGTERM; the job on the engine is cancelled too.
        UsageError: Beam builds no pipeline in this process.
        RunError: the runner reports that the pipeline failed.
    """
    check_ipython()
    job = spec.job
    splits = tuple(split for chunk in chunks for split in chunk.splits)
    whole = Chunk(0, splits, sum(chunk.n_lines for chunk in chunks))
    done = attempt.done(CHUNK)
    if done is not None:
        progress.chunk(whole.n_lines, done, False, deciders(done, job.mode))
        return done
    folder = storage.absolute(attempt.chunk_folder(CHUNK))
    end_earlier(folder, progress.say)
    # A stopped try may have left parts, and its job may still be writing: use a new folder.
    storage.delete(folder)
    tries_folder, folder = folder, storage.join(folder, uuid4().hex[:8])
    storage.make_folder(storage.join(folder, COUNTS))
    # The working directory of a worker is another one.
    absolute = [replace(split, path=storage.absolute(split.path)) for split in splits]
    # Workers on other machines share no limiter: each gets its share of the limits.
    workers = workers_of(flags, workers)
    shards = max(job.shards, SHARDS_A_WORKER * workers, ceil(whole.n_lines / RESPONSES_A_SHARD))
    files = max(workers, ceil(whole.n_lines / RESPONSES_A_PART))
    names = [source.name for source in job.sources]
    engine_job = job_of(flags, attempt.run_folder, folder, names, job.mode, whole.n_lines)
    job = replace(
        job.elsewhere().among(workers), parts=files, shards=shards, counts=engine_job.counts
    )
    result = None
    try:
        pipeline = beam.Pipeline(options=PipelineOptions([*flags, *engine_job.flags()]))
        source = pipeline | "splits" >> beam.Create(absolute).with_output_types(Split)
        parts = evaluate(source | "spread" >> beam.Reshuffle(), job, folder)
        if not waits(flags):
            finish_in_graph(parts, replace(spec, job=job))
        engine_job.keep(tries_folder)
        progress.say(f"Submitted the job {engine_job.name} to {engine_job.runner}.")
        with progress.watching(LiveCounts(engine_job), priced=False):
            result = pipeline.run()
            if not waits(flags):
                engine_job.until_there(result)
                return None
            result.wait_until_finish()
    except (Exception, KeyboardInterrupt) as error:
        ended = engine_job.cancel(result)
        if is_interrupt(error):
            raise Interrupted(
                f"interrupted{ended and '; '}{ended}; the same command completes the run"
            ) from None
        raise of_step(error, attempt, "the pipeline") from error
    keep_engine_counters(result, attempt.chunk_folder(CHUNK))
    found = written_parts(folder)
    check_complete(found, job)
    attempt.mark_done(CHUNK, found)
    progress.chunk(whole.n_lines, found, True, deciders(found, job.mode))
    return found


def keep_engine_counters(result: Any, folder: str) -> None:
    """Write the counters of an engine's job, or report that its service does not return them.

    The results are written by then, so the run is finished without counters.
    """
    try:
        keep_counters(result, folder)
    except Exception as error:  # whatever the runner's service raises
        logs.tell(f"The engine does not report its counters: {type(error).__name__}: {error}")
