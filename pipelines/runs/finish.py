"""Finish a run: its parts are moved in, and its manifest is written last.

    DIR/run=NAME/<table>/part-ID-….parquet      moved in at the end
    DIR/run=NAME/manifest.json                  written last: what readers read is what it lists

Until the manifest is replaced, an earlier finished run of the name stays readable; what it does not
list any more is deleted right after. Where nobody waits for an engine (`--no_wait_until_finish`, a
template's launcher, a stream), the graph's last step finishes the run. Its manifest then has no
counters: these are the engine's to show.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.runners.parts import check_whole, read_rows, summed, write_rows
from pipelines.runs.attempt import DONE, Attempt, Fingerprint
from pipelines.version import VERSION
from schemas import storage
from schemas.errors import RunError
from schemas.records import Part, SourceStatus
from schemas.tables import OF_EVALUATE, SCHEMA_VERSION, TABLES, to_arrow
from transforms.job import Job
from transforms.llm.usage_log import UsageReader
from transforms.sources.web.snapshot import finish_recording

_MANIFEST = "manifest.json"
_NEEDED = ("attempt", "counts", "finished_at", "fingerprint", "tables")
_COUNTS = {"responses": "responses", "units": "fact_units", "failures": "failures"}
_OF_A_REQUEST = ("request_id", "worker_id", "seconds")

Manifest = dict[str, Any]


def manifest_of(folder: str) -> Manifest | None:
    """Return the manifest of the finished run in a folder, None where there is none.

    Raises:
        RunError: there is one, and it is damaged.
    """
    path = storage.join(folder, _MANIFEST)
    if not storage.exists(path):
        return None
    try:
        manifest: Manifest = json.loads(storage.read(path))
        lacking = [name for name in _NEEDED if name not in manifest]
    except (ValueError, TypeError) as error:
        raise _damaged(path, folder, str(error)) from error
    if lacking or not isinstance(manifest, dict):
        raise _damaged(path, folder, f"it lacks {', '.join(lacking)}")
    return manifest


def _damaged(path: str, folder: str, why: str) -> RunError:
    return RunError(f"{path!r} is damaged: {why}; remove {folder!r}, and evaluate it again.")


def earlier_manifest(folder: str) -> Manifest | None:
    """Return the manifest of the finished run in a folder, None where there is none; what a run
    left that was stopped between its manifest and its end is deleted.

    Raises:
        RunError: there is one, and it is damaged.
    """
    manifest = manifest_of(folder)
    if manifest is not None:
        attempt = Attempt(folder, manifest["attempt"], manifest["fingerprint"])
        if storage.exists(attempt.folder):
            sweep(folder, manifest["tables"])
    return manifest


def finish_tables(
    attempt: Attempt,
    parts: Iterable[Part],
    facts: Mapping[str, Any],
    counts: Mapping[str, str],
    among: Iterable[str],
    again: bool = False,
) -> Manifest:
    """Move the parts in, write the manifest, delete what it does not list; returns it.

    `facts` is what the manifest says beside what is counted: `counts` names the tables whose rows
    are. `among` are the tables that the run has, those without rows included.

    A run that is stopped in here is completed by the same command: parts that were moved already
    are found where they went. With `again` they are copied, and deleted at the end, so that an
    engine that has forgotten how far it was may begin anew.
    """
    tables: dict[str, dict[str, Any]] = {table: {"rows": 0, "files": []} for table in among}
    for part in parts:
        _move_in(attempt, part, tables[part.table], again)
    for table, entry in tables.items():
        if not entry["files"]:
            # Plain DuckDB over the folder fails on a table without a file.
            _move_in(attempt, attempt.write_part(table, to_arrow(table, [])), entry)
    chunks = storage.files_below(storage.join(attempt.folder, "chunks"))
    manifest = {
        "format": "ufo-run",
        "schema_version": SCHEMA_VERSION,
        "ufo_version": VERSION,
        "attempt": attempt.identifier,
        "finished_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        **facts,
        "counts": {label: tables[table]["rows"] for label, table in counts.items()},
        "counters": summed(path[: -len(DONE)] for path in chunks if path.endswith(DONE)),
        "fingerprint": attempt.fingerprint,
        "tables": tables,
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False, default=str)
    storage.write(storage.join(attempt.run_folder, _MANIFEST), text.encode())
    sweep(attempt.run_folder, tables)
    storage.delete(attempt.here())
    return manifest


def _move_in(attempt: Attempt, part: Part, entry: dict[str, Any], again: bool = False) -> None:
    folder = storage.join(attempt.run_folder, part.table)
    storage.make_folder(folder)
    name = f"part-{attempt.identifier}-{len(entry['files']):05d}.parquet"
    target = storage.join(folder, name)
    if again:
        storage.copy(part.path, target)
    elif storage.exists(part.path) or not storage.exists(target):
        storage.move(part.path, target)
    entry["files"].append(f"{part.table}/{name}")
    entry["rows"] += part.rows


def sweep(run_folder: str, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Delete the run's parts that these tables of a manifest do not list, and all attempts."""
    kept = {name for entry in tables.values() for name in entry["files"]}
    # A run of this name may have been another command's, with other tables.
    for table in TABLES:
        for path in storage.files_below(storage.join(run_folder, table)):
            name = re.split(r"[/\\]", path)[-1]
            if f"{table}/{name}" not in kept:
                storage.delete(path)
    for path in storage.files_below(run_folder):
        match = re.search(r"^(.*\.attempt-[0-9a-f]+)[/\\]", path)
        if match:
            storage.delete(match[1])


def finish(
    attempt: Attempt,
    parts: Sequence[Part],
    statuses: Sequence[SourceStatus],
    facts: Mapping[str, Any],
    again: bool = False,
) -> Manifest:
    """Finish an evaluation of these parts, to which the table `sources` is added; returns its
    manifest. With `again` it can be done any number of times: see `finish_tables`."""
    parts = [*parts, attempt.write_part("sources", to_arrow("sources", statuses))]
    return finish_tables(attempt, parts, facts, _COUNTS, OF_EVALUATE, again)


def each_passage_once(parts: Sequence[Part]) -> list[Part]:
    """Return the parts with each passage in the first part that has it, and in no other.

    Chunks find the same passages of an index, and each wrote its own. Takes some 100 bytes of
    memory a distinct passage.
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
        again = [passage_id for passage_id in ids if passage_id in seen]
        seen.update(ids)
        if again:
            rows = read_rows(part.path)
            rows = rows.filter(pc.invert(pc.is_in(rows["passage_id"], value_set=pa.array(again))))
            # Beside the first writing: an attempt that is resumed in here starts from that again.
            part = replace(part, path=part.path + ".once", rows=rows.num_rows)
            write_rows(part.path, rows)
        found.append(part)
    return found


def left_out(parts: Sequence[Part], attempt: Attempt, usage_log: str) -> list[Part]:
    """Return a part with the requests that the run paid for and that are in none of `parts`.

    A killed or stopped process has paid for requests, and those who go on find the answers in the
    cache and pay nothing: without these rows nobody would be told of them. That is one part, with
    the probes of this process too, or none. Takes some 50 bytes of memory a request.
    """
    told: set[int] = set()
    for part in parts:
        if part.table == "usage":
            columns = read_rows(part.path, _OF_A_REQUEST).to_pydict()
            told.update(map(hash, zip(*columns.values(), strict=True)))
    rows = [
        row
        for row in UsageReader(usage_log).rows()
        if hash(tuple(getattr(row, name) for name in _OF_A_REQUEST)) not in told
    ]
    return [attempt.write_part("usage", to_arrow("usage", rows))] if rows else []


@dataclass(frozen=True, slots=True)
class FinishSpec:
    """What the last step of a graph needs to finish a run: plain values that travel to a worker.

    `parts` are there already: of responses taken over from another run, of probes. `recorded` are
    the folders of the web's snapshots that the run adds to.
    """

    run_folder: str
    identifier: str
    fingerprint: Fingerprint
    statuses: tuple[SourceStatus, ...]
    facts: Mapping[str, Any]
    job: Job
    parts: tuple[Part, ...] = ()
    recorded: tuple[str, ...] = ()

    def finish(self, parts: Iterable[Part]) -> Manifest:
        """Finish the run, whose graph wrote these parts; returns its manifest.

        An engine may run the last step again, where it has lost that it was done: then the run is
        left as it is.

        Raises:
            RunError: the parts are not whole, see `check_whole`.
        """
        earlier = earlier_manifest(self.run_folder)
        if earlier is not None and earlier["attempt"] == self.identifier:
            return earlier
        found = sorted(parts, key=lambda part: part.path)
        check_whole(found, self.job)
        for folder in self.recorded:
            finish_recording(folder)
        attempt = Attempt(self.run_folder, self.identifier, self.fingerprint)
        once = each_passage_once([*self.parts, *found])
        return finish(attempt, once, self.statuses, self.facts, again=True)
