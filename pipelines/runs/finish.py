"""Finish a run: check its parts, move them into the run's folder, write the manifest last.

    DIR/run=NAME/.attempt-ID/ready.json         the manifest, and the present paths of its parts
    DIR/run=NAME/<table>/part-ID-….parquet
    DIR/run=NAME/manifest.json                  lists the parts that readers read

An earlier finished run of the same name stays readable until the manifest is replaced; its parts
are deleted right after.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ufo.pipelines.runs.attempt import AGAIN, Attempt, Written, read_note
from ufo.pipelines.version import VERSION
from ufo.schemas import storage
from ufo.schemas.errors import RunError
from ufo.schemas.file_systems import is_remote
from ufo.schemas.records import Part, SourceStatus
from ufo.schemas.state_files import entry, write_state
from ufo.schemas.tables import (
    FORMAT,
    MANIFEST,
    SCHEMA_VERSION,
    TABLES,
    Manifest,
    check_manifest,
    check_part,
    manifest_of,
    read_rows,
    tables_of_mode,
    to_arrow,
    write_part,
)
from ufo.schemas.text import quantity
from ufo.transforms.job import Job
from ufo.transforms.recall.recallers import RecallJob
from ufo.transforms.votes import ALL, MV, SEQ, SINGLE

_COUNTS = {"responses": "responses", "units": "fact_units", "failures": "failures"}
_COUNTS_OF_RECALL = {
    "responses": "recall_records",
    "units": "recall_facts",
    "answers": "recall_answers",
    "failures": "failures",
}

RECALL = "recall"
"""The mode of a run of `ufo recall`."""

_READY = "ready.json"


def earlier_manifest(folder: str) -> tuple[Manifest | None, bool]:
    """Return the manifest of the finished run in a folder, or None, and whether it was stopped.

    It was stopped if its process wrote the manifest and did not clean up. That is done here.

    Raises:
        RunError: the manifest is damaged.
    """
    manifest = manifest_of(folder)
    if manifest is None:
        return None, False
    attempt = Attempt(folder, manifest["attempt"], manifest["fingerprint"]).folder
    stopped = storage.exists(attempt)
    if stopped:
        sweep(folder, manifest["tables"])
        storage.delete(attempt)  # also where no file is left in it
    return manifest, stopped


def finish(
    attempt: Attempt,
    written: Written,
    facts: Mapping[str, Any],
    statuses: Sequence[SourceStatus] = (),
) -> Manifest:
    """Finish a run with these parts; return its manifest.

    `facts` are further fields of the manifest, such as the mode; `statuses` the rows of `sources`.
    The manifest is first written into the attempt, with the path of each part. If the run is
    stopped after that, `ready_to_move` finds it, and `move_in` completes the run.
    """
    tables: dict[str, dict[str, Any]] = {
        table: {"rows": 0, "files": [], "sha256": {}} for table in tables_of_mode(facts["mode"])
    }
    moves: dict[str, str] = {}
    for part in written.parts:
        _list_part(attempt, part, tables, moves)
    for table, listed in tables.items():
        if not listed["files"]:
            # DuckDB cannot read a folder without a file.
            rows = statuses if table == "sources" else []
            _list_part(attempt, attempt.write_part(table, to_arrow(table, rows)), tables, moves)
    storage.flush(moves.values())
    counts = _COUNTS_OF_RECALL if facts["mode"] == RECALL else _COUNTS
    manifest = {
        "format": FORMAT,
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
    state = {"manifest": manifest, "moves": moves}
    write_state(storage.join(attempt.folder, _READY), state)
    return move_in(attempt, manifest, moves)


def _list_part(
    attempt: Attempt, part: Part, tables: Mapping[str, dict[str, Any]], moves: dict[str, str]
) -> None:
    listed = tables[part.table]
    file = f"{part.table}/part-{attempt.identifier}-{len(listed['files']):05d}.parquet"
    moves[file] = part.path
    listed["files"].append(file)
    listed["rows"] += part.rows
    if part.sha256:
        listed["sha256"][file] = part.sha256


def ready_to_move(attempt: Attempt) -> tuple[Manifest, dict[str, str]] | None:
    """Return the manifest and the moves of an attempt that was stopped in `finish`, or None.

    None also stands for an attempt with a damaged part.
    """
    return read_note(storage.join(attempt.folder, _READY), partial(_ready, attempt))


def _ready(attempt: Attempt, content: dict[str, Any]) -> tuple[Manifest, dict[str, str]]:
    """Return the manifest and the moves in a file, after a check of the parts.

    Parts on other file systems are not read back: those systems check their files themselves.
    """
    manifest, moves = check_manifest(content["manifest"]), entry(content, "moves", dict)
    if manifest["attempt"] != attempt.identifier or manifest["fingerprint"] != attempt.fingerprint:
        raise ValueError("it is of another attempt")
    for listed in manifest["tables"].values():
        for file in listed["files"]:
            moved = storage.join(attempt.run_folder, file)
            here = moves[file] if storage.exists(moves[file]) else moved
            if not is_remote(here):
                check_part(here, listed["sha256"].get(file), AGAIN)
    return manifest, moves


def move_in(attempt: Attempt, manifest: Manifest, moves: Mapping[str, str]) -> Manifest:
    """Move the parts into the run's folder, write the manifest, and delete all other files.

    If the run is stopped in this function, the same command calls it again.
    """
    for table in manifest["tables"]:
        storage.make_folder(storage.join(attempt.run_folder, table))
    for file, path in moves.items():
        target = storage.join(attempt.run_folder, file)
        if storage.exists(path) or not storage.exists(target):
            storage.move(path, target)
    write_state(storage.join(attempt.run_folder, MANIFEST), manifest)
    sweep(attempt.run_folder, manifest["tables"])
    storage.delete(attempt.local_folder())
    return manifest


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


def remove_duplicate_passages(parts: Sequence[Part]) -> list[Part]:
    """Remove duplicate passages from all parts but the first that has them.

    Every chunk writes the passages that it retrieved. Takes about 100 bytes of memory for each
    distinct passage.
    """
    if sum(part.table == "passages" for part in parts) < 2:
        return list(parts)
    seen: set[str] = set()
    kept = []
    for part in parts:
        if part.table != "passages":
            kept.append(part)
            continue
        ids = read_rows(part.path, ["passage_id"])["passage_id"].to_pylist()
        repeated = [passage_id for passage_id in ids if passage_id in seen]
        seen.update(ids)
        if repeated:
            rows = read_rows(part.path)
            rows = rows.filter(
                pc.invert(pc.is_in(rows["passage_id"], value_set=pa.array(repeated)))
            )
            if not len(rows):
                continue
            # A new file: if the run is stopped here, the resumed attempt needs the original.
            part = write_part(part.table, part.path + ".once", rows)
        kept.append(part)
    return kept


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
            f"the run has {quantity(n_verdicts, 'verdict')}, not {wanted:,}: the runner lost some. "
            "Please report it with Beam's version and the command."
        )


def _read(parts: Sequence[Part], table: str, *columns: str) -> list[dict[str, Any]]:
    tables = [read_rows(part.path, columns) for part in parts if part.table == table]
    return [row for rows in tables for row in rows.to_pylist()]


def finish_recordings(folders: Iterable[str]) -> None:
    """Finish the web snapshots that a run has recorded in these folders."""
    for folder in folders:
        from ufo.transforms.sources.web.snapshot import Snapshot  # of the extra `web`

        Snapshot(folder).finish()
