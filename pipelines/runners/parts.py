"""The parts that a pipeline has written, and whether the runner lost anything."""

import re
from collections.abc import Sequence
from typing import Any

import pyarrow.parquet as pq

from schemas import storage
from schemas.errors import RunError
from schemas.records import Part
from transforms.job import Job
from transforms.recall.job import RecallJob
from transforms.votes import ALL, MV, SEQ, SINGLE

_REPORT = "the runner lost some. Please report it with Beam's version and the command."


def written(folder: str) -> list[Part]:
    """Return the parts that a pipeline has written below a folder, in the order of their names."""
    parts = []
    for path in storage.files_below(folder):
        name = re.split(r"[/\\]", path)[-1]
        if name.endswith(".parquet"):
            with storage.open_read(path) as stream:
                rows = pq.ParquetFile(stream).metadata.num_rows
            parts.append(Part(name.rpartition("-")[0], path, rows))
    return parts


def rows_of(parts: Sequence[Part], table: str) -> int:
    """Return how many rows of a table these parts have."""
    return sum(part.rows for part in parts if part.table == table)


def check_whole(parts: Sequence[Part], job: Job) -> None:
    """Raise where a fact unit, or a fact of a recall run, has no verdict: a runner that loses
    elements must not go unseen.

    Raises:
        RunError: the runner has lost some.
    """
    if isinstance(job, RecallJob):
        _check_recall(parts, job)
        return
    units, verdicts = rows_of(parts, "fact_units"), rows_of(parts, "verdicts")
    a_unit = {SEQ: 1, MV: 1, SINGLE: len(job.sources), ALL: 2 + len(job.sources)}[job.mode]
    if verdicts != a_unit * units:
        raise RunError(
            f"{units:,} fact units have {verdicts:,} verdicts, not {a_unit} each: {_REPORT}"
        )


def _check_recall(parts: Sequence[Part], job: RecallJob) -> None:
    records = _columns(parts, "recall_records", "n_facts", "n_answers")
    wanted = len(job.formulations) * sum(row["n_facts"] * row["n_answers"] for row in records)
    verdicts = _columns(parts, "recall_verdicts", "formulation")
    found = sum(row["formulation"] in job.formulations for row in verdicts)
    if found != wanted:
        raise RunError(f"there are {found:,} verdicts, not {wanted:,}: {_REPORT}")


def _columns(parts: Sequence[Part], table: str, *names: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for part in parts:
        if part.table == table:
            with storage.open_read(part.path) as stream:
                found += pq.ParquetFile(stream).read(columns=list(names)).to_pylist()
    return found
