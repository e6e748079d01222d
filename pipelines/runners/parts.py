"""Read what a pipeline has written: its parts, and what Beam's counters say of each step.

Counters are kept with the chunk whose parts are kept, so that a try that was stopped counts nothing
twice, and summed in the manifest. A runner that has lost elements is found out by its parts.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines import logs
from schemas import storage
from schemas.errors import RunError
from schemas.records import Part
from transforms.job import COUNTED, Job
from transforms.recall.job import RecallJob
from transforms.votes import ALL, MV, SEQ, SINGLE

COUNTERS = "counters.json"

Counters = dict[str, dict[str, int]]
"""Step → name → number, as `transforms.beam.counting` declares them."""

_REPORT = "the runner lost some. Please report it with Beam's version and the command."


def read_rows(path: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the rows of a part file; of these columns, in this order."""
    with storage.open_read(path) as stream:
        # `read_table` imports the whole of pyarrow.dataset.
        rows = pq.ParquetFile(stream).read(columns=columns and list(columns))
    return rows if columns is None else rows.select(columns)


def write_rows(path: str, rows: pa.Table) -> None:
    """Write a part file."""
    sink = io.BytesIO()
    pq.write_table(rows, sink, compression="zstd")
    storage.write(path, sink.getvalue())


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
    records = _rows(parts, "recall_records", "n_facts", "n_answers")
    wanted = len(job.formulations) * sum(row["n_facts"] * row["n_answers"] for row in records)
    verdicts = _rows(parts, "recall_verdicts", "formulation")
    found = sum(row["formulation"] in job.formulations for row in verdicts)
    if found != wanted:
        raise RunError(f"there are {found:,} verdicts, not {wanted:,}: {_REPORT}")


def _rows(parts: Sequence[Part], table: str, *names: str) -> list[dict[str, Any]]:
    tables = [read_rows(part.path, names) for part in parts if part.table == table]
    return [row for rows in tables for row in rows.to_pylist()]


def keep_counters(result: Any, folder: str) -> None:
    """Write what a finished pipeline counted into the folder of its chunk."""
    found: Counters = {}
    for counter in result.metrics().query()["counters"]:
        metric = counter.key.metric
        if metric.namespace.startswith(COUNTED):
            step = found.setdefault(metric.namespace.removeprefix(COUNTED), {})
            step[metric.name] = step.get(metric.name, 0) + int(counter.result)
    storage.write(storage.join(folder, COUNTERS), json.dumps(found).encode())


def keep_engines_counters(result: Any, folder: str) -> None:
    """Do so for an engine's job. That its service does not answer is told, and no reason to lose
    what the job has written."""
    try:
        keep_counters(result, folder)
    except Exception as error:
        logs.tell(f"The engine does not tell its counters: {type(error).__name__}: {error}")


def summed(folders: Iterable[str]) -> Counters:
    """Return the sum over finished chunks; a chunk of before there were counters adds none."""
    paths = (storage.join(folder, COUNTERS) for folder in folders)
    return summed_files(path for path in paths if storage.exists(path))


def summed_files(paths: Iterable[str]) -> Counters:
    """Return the sum of the counters in some files; one that went away meanwhile adds none."""
    found: dict[str, Counter[str]] = {}
    for path in paths:
        with suppress(FileNotFoundError):
            for step, counts in json.loads(storage.read(path)).items():
                found.setdefault(step, Counter()).update(counts)
    return {step: dict(counts) for step, counts in sorted(found.items())}
