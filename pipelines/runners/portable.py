"""Run on an engine that people operate (Flink, Dataflow, …): one pipeline, many workers.

The same graph as on this machine. The engine cuts the work, holds the state and restarts what
fails, so there is one chunk, and no home-made processes. Who submits the pipeline waits for it and
finishes the run; with `--no_wait_until_finish` the graph's last step does.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from uuid import uuid4

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pipelines.graph import evaluate, finish_in_graph
from pipelines.options.beam_flags import waits, workers_of
from pipelines.runners.engine import CHUNK, COUNTS, LiveCounts, end_earlier, job_of
from pipelines.runners.local import is_interrupt, of_step
from pipelines.runners.parts import check_whole, keep_engines_counters, written
from pipelines.runs.attempt import Attempt
from pipelines.runs.finish import FinishSpec
from pipelines.runs.inputs import Chunk
from pipelines.runs.progress import Progress, deciders
from schemas import storage
from schemas.errors import Interrupted
from schemas.records import Part
from transforms.splits import Split

SHARDS_A_WORKER = 4
# A batch of responses, and a part file, is what a worker holds in memory at once.
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
    """Evaluate everything as one pipeline on the runner that `flags` name; returns its parts, or
    None where the flags say not to wait: then the pipeline finishes the run, as `spec` tells.

    `workers` is how many processes there are where the flags do not tell.

    Raises:
        Interrupted: by Ctrl-C or SIGTERM; the job on the engine is ended, too.
        RunError: the runner reports that the pipeline failed.
    """
    job = spec.job
    splits = tuple(split for chunk in chunks for split in chunk.splits)
    whole = Chunk(0, splits, sum(chunk.n_lines for chunk in chunks))
    done = attempt.done(CHUNK)
    if done is not None:
        progress.chunk(whole.n_lines, done, False, deciders(done, job.mode))
        return done
    folder = storage.absolute(attempt.chunk_folder(CHUNK))
    end_earlier(folder, progress.say)
    # A try that was stopped may have left parts there, and its job may still be writing.
    storage.delete(folder)
    all_tries, folder = folder, storage.join(folder, uuid4().hex[:8])
    storage.make_folder(storage.join(folder, COUNTS))
    # Workers have working folders of their own.
    placed = [replace(split, path=storage.absolute(split.path)) for split in splits]
    # An engine's processes are on machines of their own, so they can only be counted.
    workers = workers_of(flags, workers)
    shards = max(job.shards, SHARDS_A_WORKER * workers, ceil(whole.n_lines / RESPONSES_A_SHARD))
    files = max(workers, ceil(whole.n_lines / RESPONSES_A_PART))
    names = [source.name for source in job.sources]
    there = job_of(flags, attempt.run_folder, folder, names, job.mode, whole.n_lines)
    job = replace(job.elsewhere().among(workers), parts=files, shards=shards, counts=there.counts)
    result = None
    try:
        pipeline = beam.Pipeline(options=PipelineOptions([*flags, *there.flags()]))
        source = pipeline | "splits" >> beam.Create(placed).with_output_types(Split)
        parts = evaluate(source | "spread" >> beam.Reshuffle(), job, folder)
        if not waits(flags):
            finish_in_graph(parts, replace(spec, job=job))
        there.keep(all_tries)
        progress.say(f"{there.runner} has the job {there.name}.")
        with progress.watching(LiveCounts(there), priced=False):
            result = pipeline.run()
            if not waits(flags):
                there.until_there(result)
                return None
            result.wait_until_finish()
    except (Exception, KeyboardInterrupt) as error:
        ended = there.cancel(result)
        if is_interrupt(error):
            raise Interrupted(
                f"interrupted{ended and '; '}{ended}; the same command completes the run"
            ) from None
        raise of_step(error, attempt, "the pipeline") from error
    keep_engines_counters(result, attempt.chunk_folder(CHUNK))
    found = written(folder)
    check_whole(found, job)
    attempt.mark_done(CHUNK, found)
    progress.chunk(whole.n_lines, found, True, deciders(found, job.mode))
    return found
