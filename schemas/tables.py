"""Define the result tables, their files on disk, and the manifests of runs.

A finished run's folder never changes, but for the title in its manifest. So later labels are in a
separate table beside the runs: `DIR/labels/SHEET.parquet`. Its keys, response and unit, depend only
on the content. So a label applies to every run in the folder that has the unit.
`DIR/label_populations/SHEET.parquet` has the units from which a sheet was drawn, which outlive the
run.
"""

import dataclasses
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from ufo.schemas import records, storage
from ufo.schemas.errors import REMEDY, RunError, damaged_part
from ufo.schemas.file_systems import RemoteError
from ufo.schemas.labels import Label, LabelPopulation
from ufo.schemas.records import Part
from ufo.schemas.state_files import entry, read_state, write_state

SCHEMA_VERSION = 1
# Labels by people are beside the runs of a folder and belong to none of them.
LABELS = "labels"
LABEL_POPULATIONS = "label_populations"
BESIDE_RUNS = (LABELS, LABEL_POPULATIONS)
PAGE_SHEET = "page"  # the labels given on the page of `ufo serve`


TABLES: dict[str, type] = {
    "responses": records.Response,
    "sentences": records.Sentence,
    "fact_units": records.FactUnit,
    "evidence": records.Evidence,
    "passages": records.Passage,
    "verdicts": records.Verdict,
    "sources": records.SourceStatus,
    "failures": records.Failure,
    "usage": records.Usage,
    "recall_records": records.RecallRecord,
    "recall_answers": records.RecallAnswer,
    "recall_facts": records.RecallFact,
    "recall_verdicts": records.RecallVerdict,
}
# The tables of a run by command; views over a table that a run lacks find it empty.
OF_RECALL = (
    "recall_records",
    "recall_answers",
    "recall_facts",
    "recall_verdicts",
    "failures",
    "usage",
)
OF_EVALUATE = tuple(name for name in TABLES if not name.startswith("recall_"))
RECORDS: dict[str, type] = {**TABLES, LABELS: Label, LABEL_POPULATIONS: LabelPopulation}

# The key of a row, and the order of rows in a part file. So equal inputs give equal files, whatever
# order the runner uses in between.
KEYS: dict[str, tuple[str, ...]] = {
    "responses": ("response_id",),
    "sentences": ("response_id", "sentence_index"),
    "fact_units": ("response_id", "sentence_index", "unit_id"),
    "evidence": ("response_id", "unit_id", "source", "rank", "passage_id", "sample_index"),
    "passages": ("passage_id",),
    "verdicts": ("response_id", "unit_id", "mode", "source"),
    "sources": ("position",),
    "failures": ("step", "key", "error_type", "message"),
    "usage": ("step", "source", "response_id", "request_id"),
    "recall_records": ("record_id",),
    "recall_answers": ("record_id", "variant"),
    "recall_facts": ("record_id", "fact_index"),
    "recall_verdicts": ("record_id", "variant", "fact_id", "formulation"),
    LABELS: ("response_id", "unit_id", "sheet", "annotator"),
    LABEL_POPULATIONS: ("run", "response_id", "unit_id", "sheet"),
}


@cache
def arrow_schema(table: str) -> pa.Schema:
    """Return the Arrow schema of a table, in which only optional fields are nullable."""
    plain = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    hints = get_type_hints(RECORDS[table])
    fields = []
    for name, hint in hints.items():
        kind = next((plain[t] for t in plain if hint == t | None), None)
        fields.append(pa.field(name, kind or plain[hint], nullable=kind is not None))
    return pa.schema(fields)


@cache
def values_of(table: str) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function from a record of the table's type to its values, in order."""
    names = [field.name for field in dataclasses.fields(RECORDS[table])]
    return attrgetter(*names)


def to_arrow(table: str, rows: Iterable[Any]) -> pa.Table:
    """Return the rows (records of the table's type) as an Arrow table."""
    return values_to_arrow(table, map(values_of(table), rows))


def values_to_arrow(table: str, rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    """Return rows (the values of each record) as an Arrow table."""
    schema = arrow_schema(table)
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def from_arrow(table: str, data: pa.Table) -> list[Any]:
    """Return the rows of an Arrow table as records; columns that the record lacks are left out."""
    record = RECORDS[table]
    names = [field.name for field in dataclasses.fields(record)]
    columns: Sequence[list[Any]] = [data.column(name).to_pylist() for name in names]
    return [record(*values) for values in zip(*columns, strict=True)]


def sort_key(table: str) -> Callable[[Any], tuple[Any, ...]]:
    """Return a key function that orders records as a part file does, None first."""
    names = KEYS[table]

    def key(row: Any) -> tuple[Any, ...]:
        return tuple([(value is not None, value) for value in values(row)])

    values = attrgetter(*names) if len(names) > 1 else lambda row: (getattr(row, names[0]),)
    return key


def read_rows(path: str, columns: Sequence[str] | None = None, remedy: str = REMEDY) -> pa.Table:
    """Return the rows of a Parquet file, or only these columns in this order.

    Raises:
        RunError: it is damaged.
    """
    with storage.open_read(path) as stream:
        try:
            # `pq.read_table` would import pyarrow.dataset, which is slow.
            rows = pq.ParquetFile(stream).read(columns=columns and list(columns))
        except RemoteError:
            raise
        except (OSError, ValueError) as error:  # Arrow's errors are subclasses
            raise damaged_part(path, error, remedy) from error
    return rows if columns is None else rows.select(columns)


def write_part(table: str, path: str, rows: pa.Table) -> Part:
    """Write rows of a table to a Parquet file; after an error there is no file."""
    buffer = io.BytesIO()
    write_rows(rows, buffer)
    content = buffer.getvalue()
    with storage.writing(path) as sink:
        sink.write(content)
    return Part(table, path, rows.num_rows, sha256(content).hexdigest())


def write_rows(rows: pa.Table, file: BinaryIO | Path) -> None:
    """Write rows to a Parquet file; without rows it has a schema and no row group. An empty row
    group, which Arrow writes by itself, stops Hugging Face's `datasets`."""
    with pq.ParquetWriter(file, rows.schema, compression="zstd") as writer:
        if rows.num_rows:
            writer.write_table(rows)


_NOTE = ".note"


def register_part(part: Part) -> Part:
    """Write a note of a part file beside it, with its rows and checksum, and return the part."""
    content = dataclasses.asdict(part)
    del content["path"]  # the folder may be moved
    write_state(part.path + _NOTE, content)
    return part


def registered_parts(folder: str) -> list[Part]:
    """Return the part files in a folder that have a note, ordered by path.

    Raises:
        RunError: a note is damaged.
    """
    notes = (path for path in storage.files_below(folder) if path.endswith(_NOTE))
    remedy = "the same command evaluates its chunk again"
    parts = (read_state(path, remedy, partial(_part_of, path)) for path in notes)
    return [part for part in parts if part is not None]


def _part_of(note: str, content: dict[str, Any]) -> Part:
    return Part(path=note.removesuffix(_NOTE), **content)


def label_files(directory: Path, table: str = LABELS) -> tuple[Path, ...]:
    """Return the files of a table of labels in a folder of runs, one for each sheet, by name."""
    return tuple(sorted((directory / table).glob("*.parquet")))


# --- runs ----------------------------------------------------------------------------------------


MANIFEST = "manifest.json"
FORMAT = "ufo-run"
RUN_PREFIX = "run="
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its folder and its manifest.

    `finished_at` is in UTC. `sources` are in the user's order. `counts` has the numbers of
    responses, units and failures. `files` maps each table to its part files, and `checksums` maps
    these to their SHA-256 (empty for runs of older schema versions). `llm` has the options of a
    model that judged, empty without one. `title` is for people: the name that the user
    gave, else the name of the input and the time of the end (in UTC). `accuracy` is what a verifier
    of the user's own file says of how often it is right.
    """

    name: str
    folder: Path
    schema_version: int
    ufo_version: str
    mode: str
    tie: str
    judge: str
    sources: tuple[str, ...]
    finished_at: datetime
    counts: dict[str, int]
    files: dict[str, tuple[Path, ...]]
    llm: Mapping[str, Any] = field(default_factory=dict)
    checksums: Mapping[Path, str] = field(default_factory=dict)
    title: str = ""
    accuracy: str = ""


Manifest = dict[str, Any]
"""The content of a run's manifest. `tables` has the rows, the part files and their SHA-256 of each
table, `counters` the counts of the steps, and `fingerprint` everything that results depend on."""


def check_part(path: str, sha256: str | None, remedy: str = REMEDY) -> None:
    """Check that a part file is unchanged; without a checksum, that it can be read.

    Raises:
        RunError: it is damaged, or gone.
    """
    try:
        if sha256 is None:
            read_rows(path, remedy=remedy)
        elif storage.sha256_of(path) != sha256:
            raise damaged_part(path, "it is not what was written, by its checksum", remedy)
    except RemoteError:
        raise
    except OSError as error:
        raise damaged_part(path, error, remedy) from error


def damage_of(folder: str, tables: Mapping[str, Any]) -> list[str]:
    """Return the faults of the part files that the `tables` of a run's manifest list."""
    faults = []
    for table in tables.values():
        for file in table["files"]:
            try:
                check_part(storage.join(folder, file), table.get("sha256", {}).get(file))
            except RunError as error:
                faults.append(error.message)
    return faults


def _title(fingerprint: Mapping[str, Any], folder: str, finished: datetime) -> str:
    names = [str(one["name"]).rsplit("/", 1)[-1] for one in fingerprint.get("inputs", [])]
    more = f" and {len(names) - 1} more" if names[1:] else ""
    called = f"{names[0]}{more}" if names else folder.removeprefix(RUN_PREFIX)
    return f"{called}, {finished.astimezone(UTC):%d %B %Y, %H:%M} UTC"


def tables_of_mode(mode: str) -> tuple[str, ...]:
    """Return the tables that a run of this mode has."""
    return OF_RECALL if mode == "recall" else OF_EVALUATE


def manifest_of(folder: str) -> Manifest | None:
    """Return the manifest of the finished run in a folder, or None if there is none.

    Raises:
        RunError: it is damaged, or newer than this version can read.
    """
    return _read(folder, check_manifest)


def retitle(folder: str, title: str) -> None:
    """Give the finished run in a folder another title; "" takes the names of the input and the time
    of the end. Everything else in its manifest stays.

    Raises:
        RunError: the manifest is damaged.
        OSError: it cannot be written.
    """
    manifest = manifest_of(folder)
    if manifest is not None:
        write_state(storage.join(folder, MANIFEST), manifest | {"title": title})


def run_in(folder: Path) -> Run | None:
    """Return the finished run in a folder. Returns None and raises as `manifest_of` does."""
    return _read(str(folder), lambda content: _run(folder, check_manifest(content)))


def _read(folder: str, make: Callable[[Manifest], T]) -> T | None:
    remedy = f"remove {folder!r}, and evaluate it again"
    return read_state(storage.join(folder, MANIFEST), remedy, make)


def check_manifest(manifest: Manifest) -> Manifest:
    """Return a manifest after a check of its entries."""
    if manifest["format"] != FORMAT:
        raise ValueError(f"format is {manifest['format']!r}, expected {FORMAT!r}")
    version = entry(manifest, "schema_version", int)
    if version > SCHEMA_VERSION:
        run = manifest.get("run", "")
        raise RunError(
            f"run {run!r} has schema version {version}, and this ufo reads up to "
            f"{SCHEMA_VERSION}; install the ufo that wrote it "
            f"({manifest.get('ufo_version', 'a newer one')}) or a later one."
        )
    for name in ("attempt", "ufo_version", "mode", "tie", "judge"):
        entry(manifest, name, str)
    entry(manifest, "sources", list)
    entry(manifest, "fingerprint", dict)
    time_of(manifest)
    for name in entry(manifest, "counts", dict):
        entry(manifest["counts"], name, int)
    # A run of an older schema version may lack a table.
    needed = tables_of_mode(manifest["mode"]) if version == SCHEMA_VERSION else ()
    tables = entry(manifest, "tables", dict)
    for table in dict.fromkeys([*needed, *tables]):
        listed = entry(tables, table, dict)
        entry(listed, "rows", int)
        files = entry(listed, "files", list)
        if table not in TABLES:
            raise ValueError(f"there is no table {table!r}")
        if not files or any(file.rpartition("/")[0] != table for file in files):
            raise ValueError(f"it does not list the files of the table {table!r}")
    return manifest


def time_of(manifest: Manifest) -> datetime:
    """Return when the run of a manifest was finished, in UTC."""
    finished = datetime.fromisoformat(manifest["finished_at"])
    return (finished if finished.tzinfo else finished.replace(tzinfo=UTC)).astimezone(UTC)


def _run(folder: Path, manifest: Manifest) -> Run:
    """Return the run of a manifest in its folder."""
    finished, tables = time_of(manifest), manifest["tables"]
    # Checksums have the same paths: 10,000 take a tenth of a second.
    paths = {file: folder / file for listed in tables.values() for file in listed["files"]}
    return Run(
        name=folder.name.removeprefix(RUN_PREFIX),
        folder=folder,
        schema_version=manifest["schema_version"],
        ufo_version=manifest["ufo_version"],
        mode=manifest["mode"],
        tie=manifest["tie"],
        judge=manifest["judge"],
        sources=tuple(map(str, manifest["sources"])),
        finished_at=finished,
        counts=manifest["counts"],
        files={
            table: tuple(paths[file] for file in tables[table]["files"])
            for table in TABLES
            if table in tables
        },
        llm=manifest["fingerprint"].get("options", {}).get("llm") or {},
        checksums={
            paths[file]: digest
            for listed in tables.values()
            for file, digest in listed.get("sha256", {}).items()
        },
        accuracy=str(manifest.get("accuracy") or ""),
        title=str(manifest.get("title") or _title(manifest["fingerprint"], folder.name, finished)),
    )
