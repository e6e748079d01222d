"""The job of factual recall: `ufo recall`, or `python -m pipelines.recall`.

    splits ─ read ─ facts ─ verdicts of every answer by every formulation ─ write ─ Parquet parts

This file is the graph; what a step does is in `transforms.recall`, how it lives on Beam in
`transforms.beam.recall`, and how a run is cut, resumed and finished in `pipelines.runs.recall`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apache_beam as beam

    from schemas.records import Part
    from transforms.recall.job import RecallJob
    from transforms.splits import Split


def recall(
    splits: "beam.PCollection[Split]", job: "RecallJob", folder: str
) -> "beam.PCollection[Part]":
    """Recall the records in `splits`; every table is written below `folder`."""
    from schemas.recall import RecallInput
    from transforms.beam import read, write
    from transforms.beam import recall as steps
    from transforms.recall.read import parse_recall

    found = splits | "read" >> read.ReadRecords(job, parse_recall, RecallInput)
    recalled = found.records | "recall" >> steps.Recall(job)
    rows = [
        ("failures", found.failures),
        *((table, recalled[table]) for table in (steps.MAIN, *steps.TAGS)),
    ]
    return write.labelled(rows) | "write" >> write.WriteTables(job, folder)


if __name__ == "__main__":
    import sys

    from pipelines.cli import main

    sys.exit(main(["recall", *sys.argv[1:]]))
