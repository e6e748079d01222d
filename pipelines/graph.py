"""Build the Beam graphs of a run, and run one over a chunk in this process.

    splits ─ read ─ extract ─ open units ─ source 1 ─ noans → source 2 ─ … ─ undecided
                                               └ evidence, verdicts, … ─ write ─ Parquet parts

    splits ─ read ─ facts ─ verdicts of every answer by every formulation ─ write ─ Parquet parts

What a step does is in `transforms`, how it lives on Beam in `ufo.transforms.beam`, and how a run is
cut, resumed and finished in `ufo.pipelines.runs`. The same graph runs in process and on a portable
runner.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from ufo.pipelines import logs
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.finish import COUNTERS, Counters, FinishSpec, check_complete
from ufo.schemas import storage
from ufo.schemas.recall import RecallInput
from ufo.schemas.records import Part
from ufo.transforms.beam import check, extract, read, write
from ufo.transforms.beam import recall as recall_steps
from ufo.transforms.job import COUNTED, Job
from ufo.transforms.recall.read import parse_recall
from ufo.transforms.recall.recallers import RecallJob
from ufo.transforms.splits import Split

Graph = Callable[[Any, Any, str], Any]
"""Splits, job, folder: applies the steps of a run, the last of which writes below the folder."""


def evaluate(
    splits: "beam.PCollection[Split]",
    job: Job,
    folder: str,
    unread: "beam.PCollection[write.Rows] | None" = None,
) -> "beam.PCollection[Part]":
    """Evaluate the responses in `splits`; every table is written below `folder`.

    `unread` are the failures of files of which there are no splits.
    """
    found = splits | "read" >> read.ReadRecords(job)
    extracted = found.records | "extract" >> extract.Extract(job)
    checked = extracted.open_units | "check" >> check.CheckSources(job)
    rows = (found.rows, extracted.rows, *checked, *(() if unread is None else (unread,)))
    return rows | "write" >> write.WriteTables(job, folder)


def recall(
    splits: "beam.PCollection[Split]", job: RecallJob, folder: str
) -> "beam.PCollection[Part]":
    """Recall the records in `splits`; every table is written below `folder`."""
    found = splits | "read" >> read.ReadRecords(job, parse_recall, RecallInput)
    recalled = found.records | "recall" >> recall_steps.Recall(job)
    return (found.rows, recalled) | "write" >> write.WriteTables(job, folder)


def finish_in_graph(parts: "beam.PCollection[Part]", spec: FinishSpec) -> "beam.PCollection[str]":
    """Have the graph's last step finish the run; gives the run's name once it is finished."""
    return (
        parts
        | "all parts" >> beam.WithKeys(None).with_output_types(tuple[None, Part])
        | "together" >> beam.GroupByKey()
        | "finish" >> beam.FlatMap(partial(_finish, spec)).with_output_types(str)
    )


def _finish(spec: FinishSpec, item: tuple[None, Iterable[Part]]) -> Iterator[str]:
    yield str(spec.finish(item[1])["run"])


def evaluate_chunk(chunk: Chunk, job: Any, folder: str) -> list[Part]:
    """Evaluate one chunk, or recall it; returns the parts that it wrote below `folder`."""
    steps = recall if isinstance(job, RecallJob) else evaluate
    parts = run_graph(steps, chunk, job, folder)
    check_complete(parts, job)
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
    # A folder for other languages' steps, of which there are none; a killed process would leave it.
    os.rmdir(pipeline.local_tempdir)
    splits = pipeline | "splits" >> beam.Create(chunk.splits).with_output_types(Split)
    steps(splits, job, folder)
    started = time.monotonic()
    logs.event("chunk started", chunk=chunk.number, lines=chunk.n_lines)
    result = pipeline.run()
    result.wait_until_finish()
    keep_counters(result, folder)
    parts = write.written_parts(folder)
    logs.event(
        "chunk finished",
        chunk=chunk.number,
        lines=chunk.n_lines,
        rows={part.table: part.rows for part in parts},
        seconds=round(time.monotonic() - started, 3),
    )
    return parts


def keep_counters(result: Any, folder: str) -> None:
    """Write the Beam counters of a finished pipeline into the folder of its chunk."""
    found: Counters = {}
    for counter in result.metrics().query()["counters"]:
        metric = counter.key.metric
        if metric.namespace.startswith(COUNTED):
            step = found.setdefault(metric.namespace.removeprefix(COUNTED), {})
            step[metric.name] = step.get(metric.name, 0) + int(counter.result)
    storage.write(storage.join(folder, COUNTERS), json.dumps(found).encode())
