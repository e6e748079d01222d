"""Finish a run: check its parts, move them into the run's folder, write the manifest last.

    DIR/run=NAME/<table>/part-ID-….parquet
    DIR/run=NAME/manifest.json                  lists the parts that readers read

An earlier finished run of the same name stays readable until the manifest is replaced; its parts
are deleted right after.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.version import VERSION
from ufo.schemas import storage
from ufo.schemas.errors import RunError
from ufo.schemas.records import Part, SourceStatus
from ufo.schemas.tables import (
    OF_EVALUATE,
    OF_RECALL,
    SCHEMA_VERSION,
    TABLES,
    read_rows,
    to_arrow,
    write_part,
)
from ufo.transforms.job import Job
from ufo.transforms.recall.recallers import RecallJob
from ufo.transforms.votes import ALL, MV, SEQ, SINGLE

_MANIFEST = "manifest.json"
_NEEDED = ("attempt", "counts", "finished_at", "fingerprint", "tables")
_COUNTS = {"responses": "responses", "units": "fact_units", "failures": "failures"}
_COUNTS_OF_RECALL = {
    "responses": "recall_records",
    "units": "recall_facts",
    "answers": "recall_answers",
    "failures": "failures",
}

RECALL = "recall"
"""The mode of a run of `ufo recall`."""

Manifest = dict[str, Any]


def manifest_of(folder: str) -> Manifest | None:
    """Return the manifest of the finished run in a folder, or None if there is none.

    Raises:
        RunError: the manifest is damaged.
    """
    path = storage.join(folder, _MANIFEST)
    if not storage.exists(path):
        return None
    try:
        manifest: Manifest = json.loads(storage.read(path))
        missing = [name for name in _NEEDED if name not in manifest]
    except (ValueError, TypeError) as error:
        raise _damaged(path, folder, str(error)) from error
    if missing or not isinstance(manifest, dict):
        raise _damaged(path, folder, f"it lacks {', '.join(missing)}")
    return manifest


def _damaged(path: str, folder: str, why: str) -> RunError:
    return RunError(f"{path!r} is damaged: {why}; remove {folder!r}, and evaluate it again.")


def earlier_manifest(folder: str) -> Manifest | None:
    """Return the manifest of the finished run in a folder, or None if there is none.

    If the run was stopped just after its manifest was written, finish its clean-up.

    Raises:
        RunError: the manifest is damaged.
    """
    manifest = manifest_of(folder)
    if manifest is not None:
        attempt = Attempt(folder, manifest["attempt"], manifest["fingerprint"])
        if storage.exists(attempt.folder):
            sweep(folder, manifest["tables"])
    return manifest


def finish(
    attempt: Attempt,
    written: Written,
    facts: Mapping[str, Any],
    statuses: Sequence[SourceStatus] = (),
) -> Manifest:
    """Move the parts in, write the manifest, delete all other files; return the manifest.

    `facts` are further fields of the manifest, such as the mode; `statuses` the rows of `sources`.

    If the run is stopped in this function, the same command completes it, and finds the parts that
    were already moved.
    """
    recall = facts["mode"] == RECALL
    counts = _COUNTS_OF_RECALL if recall else _COUNTS
    tables: dict[str, dict[str, Any]] = {
        table: {"rows": 0, "files": [], "sha256": {}}
        for table in (OF_RECALL if recall else OF_EVALUATE)
    }
    for part in written.parts:
        _move_in(attempt, part, tables[part.table])
    for table, entry in tables.items():
        if not entry["files"]:
            # DuckDB cannot read a folder without a file.
            rows = statuses if table == "sources" else []
            _move_in(attempt, attempt.write_part(table, to_arrow(table, rows)), entry)
    manifest = {
        "format": "ufo-run",
        "schema_version": SCHEMA_VERSION,
        "ufo_version": VERSION,
        "attempt": attempt.identifier,
        "finished_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        **facts,
        "counts": {label: tables[table]["rows"] for label, table in counts.items()},
        "counters": written.counters,
        "fingerprint": attempt.fingerprint,
        "tables": tables,
    }
    listed = (file for entry in tables.values() for file in entry["files"])
    storage.flush(storage.join(attempt.run_folder, file) for file in listed)
    text = json.dumps(manifest, indent=1, ensure_ascii=False, default=str)
    storage.write(storage.join(attempt.run_folder, _MANIFEST), text.encode())
    sweep(attempt.run_folder, tables)
    storage.delete(attempt.local_folder())
    return manifest


def _move_in(attempt: Attempt, part: Part, entry: dict[str, Any]) -> None:
    storage.make_folder(storage.join(attempt.run_folder, part.table))
    file = attempt.file(part.table, len(entry["files"]))
    target = storage.join(attempt.run_folder, file)
    if storage.exists(part.path) or not storage.exists(target):
        storage.move(part.path, target)
    entry["files"].append(file)
    entry["rows"] += part.rows
    if part.sha256:
        entry["sha256"][file] = part.sha256


def sweep(run_folder: str, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Delete the parts that the tables of a manifest do not list, and all attempts."""
    kept = {name for entry in tables.values() for name in entry["files"]}
    # An earlier run of this name may have other tables, such as those of `ufo recall`.
    for table in TABLES:
        for path in storage.files_below(storage.join(run_folder, table)):
            name = re.split(r"[/\\]", path)[-1]
            if f"{table}/{name}" not in kept:
                storage.delete(path)
    for path in storage.files_below(run_folder):
        match = re.search(r"^(.*\.attempt-[0-9a-f]+)[/\\]", path)
        if match:
            storage.delete(match[1])


def each_passage_once(parts: Sequence[Part]) -> list[Part]:
    """Remove duplicate passages: each stays in the first part that has it.

    Every chunk writes the passages that it retrieved. Takes about 100 bytes of memory for each
    distinct passage.
    """
    if sum(part.table == "passages" for part in parts) < 2:
        return list(parts)
    seen: set[str] = set()
    found = []
    for part in parts:
        if part.table != "passages":
            found.append(part)
            continue
        ids = read_rows(part.path, ["passage_id"])["passage_id"].to_pylist()
        repeated = [passage_id for passage_id in ids if passage_id in seen]
        seen.update(ids)
        if repeated:
            rows = read_rows(part.path)
            rows = rows.filter(
                pc.invert(pc.is_in(rows["passage_id"], value_set=pa.array(repeated)))
            )
            # A new file: if the run is stopped here, the resumed attempt needs the original.
            part = write_part(part.table, part.path + ".once", rows)
        found.append(part)
    return found


def check_complete(parts: Sequence[Part], job: Job) -> None:
    """Check that every fact unit, or fact of a recall run, has its verdicts.

    Raises:
        RunError: some are missing, because the runner lost elements.
    """
    if isinstance(job, RecallJob):
        records = _read(parts, "recall_records", "n_facts", "n_answers")
        wanted = len(job.formulations) * sum(row["n_facts"] * row["n_answers"] for row in records)
        rows = _read(parts, "recall_verdicts", "formulation")
        n_verdicts = sum(row["formulation"] in job.formulations for row in rows)
    else:
        n_rows: Counter[str] = Counter()
        for part in parts:
            n_rows[part.table] += part.rows
        n_sources = len(job.sources)
        for_each_unit = {SEQ: 1, MV: 1, SINGLE: n_sources, ALL: 2 + n_sources}[job.mode]
        n_verdicts, wanted = n_rows["verdicts"], for_each_unit * n_rows["fact_units"]
    if n_verdicts != wanted:
        raise RunError(
            f"there are {n_verdicts:,} verdicts, not {wanted:,}: the runner lost some. Please "
            "report it with Beam's version and the command."
        )


def _read(parts: Sequence[Part], table: str, *columns: str) -> list[dict[str, Any]]:
    tables = [read_rows(part.path, columns) for part in parts if part.table == table]
    return [row for rows in tables for row in rows.to_pylist()]


def finish_recordings(folders: Iterable[str]) -> None:
    """Finish the web snapshots that a run has recorded in these folders."""
    for folder in folders:
        from ufo.transforms.sources.web.snapshot import Snapshot  # of the extra `web`

        Snapshot(folder).finish()
