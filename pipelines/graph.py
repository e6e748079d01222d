"""The Beam graphs of a run, for a chunk in this process or for an engine.

    splits ─ read ─ extract ─ open units ─ source 1 ─ noans → source 2 ─ … ─ undecided
                                               └ evidence, verdicts, … ─ write ─ Parquet parts

    splits ─ read ─ facts ─ verdicts of every answer by every formulation ─ write ─ Parquet parts

The steps are in `ufo.transforms`, and their Beam wrappers in `ufo.transforms.beam`.
`ufo.pipelines.runs` cuts, resumes and finishes a run. The same graph runs in process and on a
portable runner.
"""

import os
import time
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from ufo.pipelines import logs
from ufo.pipelines.runs.attempt import Written
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.finish import check_complete
from ufo.schemas import storage
from ufo.schemas.records import Part, RecallInput
from ufo.schemas.tables import registered_parts
from ufo.transforms.beam.calls import CheckSources, Extract, RecallAnswers
from ufo.transforms.beam.files import ReadRecords, WriteTables
from ufo.transforms.job import COUNTED, Job
from ufo.transforms.recall.recall_input import parse_recall
from ufo.transforms.recall.recallers import RecallJob
from ufo.transforms.splits import Split


def evaluate(splits: "beam.PCollection[Split]", job: Job, folder: str) -> "beam.PCollection[Part]":
    """Evaluate the responses in `splits`; every table is written below `folder`."""
    records_read = splits | "read" >> ReadRecords(job)
    extracted = records_read.records | "extract" >> Extract(job)
    checked = extracted.open_units | "check" >> CheckSources(job)
    rows = (records_read.rows, extracted.rows, *checked)
    return rows | "write" >> WriteTables(job, folder)


def recall(
    splits: "beam.PCollection[Split]", job: RecallJob, folder: str
) -> "beam.PCollection[Part]":
    """Verify the recall records in `splits`; every table is written below `folder`."""
    records_read = splits | "read" >> ReadRecords(job, parse_recall, RecallInput)
    recalled = records_read.records | "recall" >> RecallAnswers(job)
    return (records_read.rows, recalled) | "write" >> WriteTables(job, folder)


def evaluate_chunk(chunk: Chunk, job: Any, folder: str) -> Written:
    """Evaluate or recall one chunk in this process; every table is written below `folder`."""
    # A stopped try may have left parts of tables for which this try has no row.
    storage.delete(folder)
    storage.make_folder(folder)
    # FnApiRunner by name: DirectRunner would try to download another runner. Flags are given:
    # otherwise Beam reads the flags of the program that imports us. The graph is the same for every
    # chunk: its types are checked by the tests, not each time.
    options = PipelineOptions(["--no_pipeline_type_check"])
    pipeline = beam.Pipeline(runner=FnApiRunner(), options=options)
    # Beam makes it for steps in other languages. There are none, and a killed process would leave
    # it.
    os.rmdir(pipeline.local_tempdir)
    splits = pipeline | "splits" >> beam.Create(chunk.splits).with_output_types(Split)
    (recall if isinstance(job, RecallJob) else evaluate)(splits, job, folder)
    started = time.monotonic()
    logs.event("chunk started", chunk=chunk.number, lines=chunk.n_lines)
    result = pipeline.run()
    result.wait_until_finish()
    written = Written(registered_parts(folder), counters_of(result))
    if not written.waiting:
        check_complete(written.parts, job)
    logs.event(
        "chunk finished",
        chunk=chunk.number,
        lines=chunk.n_lines,
        rows={part.table: part.rows for part in written.parts},
        counts=written.counters,
        seconds=round(time.monotonic() - started, 3),
    )
    return written


def counters_of(result: Any) -> dict[str, dict[str, int]]:
    """Return the counts of the steps of a finished pipeline: step → name → number."""
    steps: dict[str, dict[str, int]] = {}
    for counter in result.metrics().query()["counters"]:
        metric = counter.key.metric
        if metric.namespace.startswith(COUNTED):
            step = steps.setdefault(metric.namespace.removeprefix(COUNTED), {})
            step[metric.name] = step.get(metric.name, 0) + int(counter.result)
    return steps
