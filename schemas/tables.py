"""Declare the result tables, and convert rows between records, Arrow and Parquet.

A run's folder is never changed once it is finished, so labels that come later have a table of their
own beside the runs: `DIR/labels/SHEET.parquet`. Its keys, response and unit, are functions of the
content: a label holds for every run in the folder that has the unit.
"""

import dataclasses
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from ufo.schemas import records, storage
from ufo.schemas.errors import REMEDY, damaged_part
from ufo.schemas.records import Part
from ufo.schemas.storage import RemoteError

SCHEMA_VERSION = 1
# Beside the runs of a folder, and of none of them: what people said of their units.
LABELS = "labels"
PAGE_SHEET = "page"  # what people said on the page of `ufo serve`
# Why a verdict is wrong, as a person tags it.
TAGS = ("wrong_claim", "wrong_evidence", "wrong_judgement")


@dataclass(frozen=True, slots=True)
class Label:
    """A row of `labels`: what one sheet says of one fact unit.

    `run` is the run that the sheet was drawn from. `label` is 1 (true), 0 (false) or None, `tag`
    one of TAGS or None. `weight` is how many units of its `stratum` a labelled one stands for; None
    where the sheet was not drawn as a sample.
    """

    run: str
    response_id: str
    unit_id: str
    label: int | None
    tag: str | None
    note: str | None
    stratum: str | None
    weight: float | None
    annotator: str
    sheet: str


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
# Which tables a run of each command has; views over one that a run lacks find it empty.
OF_RECALL = (
    *("recall_records", "recall_answers", "recall_facts", "recall_verdicts"),
    *("failures", "usage"),
)
OF_EVALUATE = tuple(name for name in TABLES if not name.startswith("recall_"))
RECORDS: dict[str, type] = {**TABLES, LABELS: Label}

# What makes a row unique, and the order in which a part file holds its rows: equal inputs give
# equal files whatever the runner did with the order in between.
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
    LABELS: ("response_id", "unit_id", "sheet"),
}


@cache
def arrow_schema(table: str) -> pa.Schema:
    """Return the Arrow schema of a table; an optional field is nullable, no other is."""
    plain = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    hints = get_type_hints(RECORDS[table])
    fields = []
    for name, hint in hints.items():
        kind = next((plain[t] for t in plain if hint == t | None), None)
        fields.append(pa.field(name, kind or plain[hint], nullable=kind is not None))
    return pa.schema(fields)


@cache
def values_of(table: str) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function from a record of the table's type to its values, in their order."""
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
        except (OSError, ValueError) as error:  # Arrow's are among these
            raise damaged_part(path, error, remedy) from error
    return rows if columns is None else rows.select(columns)


def write_part(table: str, path: str, rows: pa.Table) -> Part:
    """Write rows of a table to a Parquet file: whole, or not there."""
    buffer = io.BytesIO()
    pq.write_table(rows, buffer, compression="zstd")
    content = buffer.getvalue()
    with storage.writing(path) as sink:
        sink.write(content)
    return Part(table, path, rows.num_rows, sha256(content).hexdigest())


def label_files(directory: Path) -> tuple[Path, ...]:
    """Return the imported sheets of a folder of runs, by name."""
    return tuple(sorted((directory / LABELS).glob("*.parquet")))
