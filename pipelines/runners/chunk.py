"""One chunk of a run, evaluated by Beam in this process."""

import time
from collections.abc import Callable
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from pipelines import graph, logs
from pipelines.runners.counters import keep_counters
from pipelines.runners.parts import check_whole, written
from pipelines.runs.plan import Chunk
from schemas import storage
from schemas.records import Part
from transforms.llm import spans
from transforms.recall.job import RecallJob
from transforms.splits import Split

Graph = Callable[[Any, Any, str], Any]
"""Splits, job, folder: applies the steps of a run, the last of which writes below the folder."""


def evaluate_chunk(chunk: Chunk, job: Any, folder: str) -> list[Part]:
    """Evaluate one chunk, or recall it; returns the parts that it wrote below `folder`."""
    steps = graph.recall if isinstance(job, RecallJob) else graph.evaluate
    parts = run_graph(steps, chunk, job, folder)
    check_whole(parts, job)
    return parts


def run_graph(steps: Graph, chunk: Chunk, job: Any, folder: str) -> list[Part]:
    """Run a graph over one chunk; returns the parts that it wrote below `folder`."""
    # A try that was stopped may have left parts of tables that this one has no row for.
    storage.delete(folder)
    storage.make_folder(folder)
    # FnApiRunner by name: DirectRunner would try to download another runner. Flags are given, as
    # Beam else reads those of whatever program we are imported into.
    # The graph is the same for every chunk: its types are checked by the tests, not each time.
    options = PipelineOptions(["--no_pipeline_type_check"])
    pipeline = beam.Pipeline(runner=FnApiRunner(), options=options)
    splits = pipeline | "splits" >> beam.Create(chunk.splits).with_output_types(Split)
    steps(splits, job, folder)
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
