"""The main job: `ufo evaluate`, or `python -m pipelines.evaluate`.

    splits ─ read ─ extract ─ open units ─ source 1 ─ noans → source 2 ─ … ─ undecided
                                               └ evidence, verdicts, … ─ write ─ Parquet parts

This file is the graph; what a step does is in `transforms`, how it lives on Beam in
`transforms.beam`, and how a run is cut, resumed and finished in `pipelines.runners.local` and
`pipelines.runs.attempt`. The same graph runs in process and on a portable runner.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apache_beam as beam

    from schemas.records import Failure, Part
    from transforms.job import Job
    from transforms.splits import Split


def evaluate(
    splits: "beam.PCollection[Split]",
    job: "Job",
    folder: str,
    unread: "beam.PCollection[Failure] | None" = None,
) -> "beam.PCollection[Part]":
    """Evaluate the responses in `splits`; every table is written below `folder`.

    `unread` are the failures of files of which there are no splits.
    """
    from transforms.beam import check, extract, read, write

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


if __name__ == "__main__":
    import sys

    from pipelines.cli import program

    sys.argv.insert(1, "evaluate")
    program()
