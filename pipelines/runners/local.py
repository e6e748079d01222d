"""Running on this machine: the input in chunks, each a small pipeline, in worker processes.

DESIGN section 8: one in-process runner holds every shuffle in memory, runs a stage as one bundle
and is bound by the interpreter's lock. So the input is evaluated in chunks, each finished on disk
before the next: memory stays flat, every core works, and a killed run resumes at its chunk.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from typing import Any

from pipelines import logs, storage
from pipelines.quiet import quiet_beam
from pipelines.runners import processes
from pipelines.runners.counters import keep_counters
from pipelines.runs.attempt import Attempt
from pipelines.runs.plan import Chunk
from schemas.errors import Interrupted, RunError, UfoError, ends_run
from schemas.records import Part
from transforms.job import Job
from transforms.llm import spans
from transforms.votes import ALL, MV, SEQ, SINGLE

_ENDING_SECONDS = 8.0  # more than a process takes that waits for its last answers

OnDone = Callable[[Chunk, list[Part], bool], None]
Graph = Callable[[Any, Any, str], Any]
"""Splits, job, folder: applies the steps of a run, the last of which writes below the folder."""
RunChunk = Callable[[Chunk, Any, str], list[Part]]


def run_chunk(chunk: Chunk, job: Any, folder: str) -> list[Part]:
    """Evaluate one chunk in this process; returns the parts it wrote below `folder`."""
    from pipelines.evaluate import evaluate

    parts = run_graph(evaluate, chunk, job, folder)
    check_whole(parts, job)
    return parts


def run_graph(graph: Graph, chunk: Chunk, job: Any, folder: str) -> list[Part]:
    """Run a graph over one chunk in this process; returns the parts it wrote below `folder`."""
    # A try that was stopped may have left parts of tables that this one has no row for.
    storage.delete(folder)
    storage.make_folder(folder)
    quiet_beam()
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner

    from transforms.splits import Split

    # FnApiRunner by name: DirectRunner would try to download another runner. Flags are given, as
    # Beam else reads those of whatever program we are imported into.
    # The graph is the same for every chunk: its types are checked by the tests, not each time.
    options = PipelineOptions(["--no_pipeline_type_check"])
    pipeline = beam.Pipeline(runner=FnApiRunner(), options=options)
    splits = pipeline | "splits" >> beam.Create(chunk.splits).with_output_types(Split)
    graph(splits, job, folder)
    started = time.monotonic()
    logs.event("chunk started", chunk=chunk.number, lines=chunk.n_lines)
    with spans.around("ufo.chunk", **{"ufo.chunk": chunk.number, "ufo.lines": chunk.n_lines}):
        result = pipeline.run()
        result.wait_until_finish()
    spans.flush()
    keep_counters(result, folder)
    parts = written(folder)
    logs.event(
        "chunk finished",
        chunk=chunk.number,
        lines=chunk.n_lines,
        rows={part.table: part.rows for part in parts},
        seconds=round(time.monotonic() - started, 3),
    )
    return parts


def written(folder: str) -> list[Part]:
    """Return the parts that a pipeline has written below a folder, in the order of their names."""
    import pyarrow.parquet as pq

    parts = []
    for path in storage.files_below(folder):
        name = re.split(r"[/\\]", path)[-1]
        if name.endswith(".parquet"):
            with storage.open_read(path) as stream:
                rows = pq.ParquetFile(stream).metadata.num_rows
            parts.append(Part(name.rpartition("-")[0], path, rows))
    return parts


def check_whole(parts: list[Part], job: Job) -> None:
    """Raise where a fact unit has no verdict: a runner that loses elements must not go unseen."""
    rows = dict.fromkeys(("fact_units", "verdicts"), 0)
    for part in parts:
        if part.table in rows:
            rows[part.table] += part.rows
    a_unit = {SEQ: 1, MV: 1, SINGLE: len(job.sources), ALL: 2 + len(job.sources)}[job.mode]
    if rows["verdicts"] != a_unit * rows["fact_units"]:
        raise RunError(
            f"{rows['fact_units']:,} fact units have {rows['verdicts']:,} verdicts, not {a_unit} "
            "each: the runner lost some. Please report it with Beam's version and the command."
        )


def run_chunks(
    chunks: Iterable[Chunk],
    job: Job,
    attempt: Attempt,
    workers: int,
    on_done: OnDone,
    one: RunChunk = run_chunk,
) -> list[Part]:
    """Evaluate all chunks, each by `one`, and return their parts in the chunks' order.

    Chunks that the attempt has finished already are not evaluated again. A single chunk, or one
    worker, needs no other process.

    Raises:
        Interrupted: by Ctrl-C; what was finished is kept.
        RunError: a chunk or a worker process failed; what was finished is kept.
    """
    parts: dict[int, list[Part]] = {}

    def finished(chunk: Chunk, found: list[Part]) -> None:
        attempt.mark_done(chunk.number, found)
        parts[chunk.number] = found
        on_done(chunk, found, True)

    def waiting() -> Iterator[Chunk]:
        for chunk in chunks:
            found = attempt.done(chunk.number)
            if found is None:
                yield chunk
            else:
                parts[chunk.number] = found
                on_done(chunk, found, False)

    todo = waiting()
    if job.client is not None:
        # What a run may cost is kept by one process.
        capped = job.client.max_cost is not None
        workers = 1 if capped else int(min(workers, job.client.limits_of().most_workers))
    try:
        # No more processes than chunks: each has its share of what an endpoint allows.
        first = list(islice(todo, workers))
        if len(first) < 2:
            for chunk in _chain(first, todo):
                finished(chunk, one(chunk, job, attempt.chunk_folder(chunk.number)))
        else:
            share = job.among(len(first))
            _in_processes(_chain(first, todo), share, attempt, len(first), finished, one)
    except (Exception, KeyboardInterrupt) as error:
        if is_interrupt(error):
            raise Interrupted(
                f"interrupted; {len(parts)} finished chunks are kept, and the same command "
                "completes the run"
            ) from None
        raise of_step(error, attempt) from error
    return [part for number in sorted(parts) for part in parts[number]]


def is_interrupt(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C, or SIGTERM, is behind an error."""
    # Beam raises an error of its own for whatever a step did, Ctrl-C in one included.
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def of_step(error: BaseException, attempt: Attempt, what: str = "a chunk") -> UfoError:
    """Return the error that ends the run because of one that a step of `what` raised."""
    # Beam adds in which step an error was raised, which is nothing to the user.
    message = re.sub(r" \[while running '.*?'\]", "", str(getattr(error, "message", error)))
    if isinstance(error, UfoError):
        return type(error)(message)
    kept = f"What was finished is kept in {attempt.folder}; the same command goes on from there."
    if ends_run(error):
        return RunError(f"{message}\n{kept}")
    return RunError(f"{what} failed: {type(error).__name__}: {message}\n{kept}")


def _chain(first: list[Chunk], rest: Iterator[Chunk]) -> Iterator[Chunk]:
    yield from first
    yield from rest


def _in_processes(
    chunks: Iterator[Chunk],
    job: Job,
    attempt: Attempt,
    workers: int,
    finished: Callable[[Chunk, list[Part]], None],
    one: RunChunk,
) -> None:
    pool = processes.pool(workers)
    under_way: dict[Future[list[Part]], Chunk] = {}
    try:
        # One chunk more than workers waits its turn; further ones stay in the file.
        for chunk in chunks:
            folder = attempt.chunk_folder(chunk.number)
            with processes.signals_held_back():
                under_way[pool.submit(one, chunk, job, folder)] = chunk
            if len(under_way) > workers:
                _take(under_way, finished)
        while under_way:
            _take(under_way, finished)
    except Exception as error:
        if not ends_run(error):
            raise
        # Nothing more is sent by anyone, and what was answered is being kept: let them end.
        for future in under_way:
            future.cancel()
        done = wait(under_way, timeout=_ENDING_SECONDS).done
        for future in done:
            chunk = under_way.pop(future)
            if not future.cancelled() and future.exception() is None:
                finished(chunk, future.result())
        raise
    finally:
        pool.shutdown(wait=not under_way, kill_workers=bool(under_way))


def _take(
    under_way: dict[Future[list[Part]], Chunk], finished: Callable[[Chunk, list[Part]], None]
) -> None:
    for future in wait(under_way, return_when=FIRST_COMPLETED).done:
        parts = future.result()
        finished(under_way.pop(future), parts)
