"""The graphs: what Beam is told to do with the splits of an input.

    splits ─ read ─ extract ─ open units ─ source 1 ─ noans → source 2 ─ … ─ undecided
                                               └ evidence, verdicts, … ─ write ─ Parquet parts

    splits ─ read ─ facts ─ verdicts of every answer by every formulation ─ write ─ Parquet parts

What a step does is in `transforms`, how it lives on Beam in `transforms.beam`, and how a run is
cut, resumed and finished in `pipelines.runs`. The same graph runs in process and on a portable
runner.
"""

from collections.abc import Iterable, Iterator
from functools import partial

import apache_beam as beam

from pipelines.runs.finish import FinishSpec
from schemas.recall import RecallInput
from schemas.records import Failure, Part
from transforms.beam import check, extract, read, write
from transforms.beam import recall as recall_steps
from transforms.job import Job
from transforms.recall.job import RecallJob
from transforms.recall.read import parse_recall
from transforms.splits import Split


def evaluate(
    splits: "beam.PCollection[Split]",
    job: Job,
    folder: str,
    unread: "beam.PCollection[Failure] | None" = None,
) -> "beam.PCollection[Part]":
    """Evaluate the responses in `splits`; every table is written below `folder`.

    `unread` are the failures of files of which there are no splits.
    """
    found = splits | "read" >> read.ReadRecords(job)
    extracted = found.records | "extract" >> extract.Extract(job)
    checked = extracted.open_units | "check" >> check.CheckSources(job)
    rows = [
        ("failures", found.failures),
        *((table, extracted[table]) for table in extract.TAGS),
        *checked,
        *([("failures", unread)] if unread is not None else []),
    ]
    return write.labelled(rows) | "write" >> write.WriteTables(job, folder)


def recall(
    splits: "beam.PCollection[Split]", job: RecallJob, folder: str
) -> "beam.PCollection[Part]":
    """Recall the records in `splits`; every table is written below `folder`."""
    found = splits | "read" >> read.ReadRecords(job, parse_recall, RecallInput)
    recalled = found.records | "recall" >> recall_steps.Recall(job)
    rows = [
        ("failures", found.failures),
        *((table, recalled[table]) for table in (recall_steps.MAIN, *recall_steps.TAGS)),
    ]
    return write.labelled(rows) | "write" >> write.WriteTables(job, folder)


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
