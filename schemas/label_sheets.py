"""Store the labels of people beside the runs of a folder, a Parquet file for each sheet.

Beside each sheet are the units that it was drawn from, so that its labels are never taken for a
sample of others.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock

from ufo.schemas.file_systems import is_remote
from ufo.schemas.labels import Label, LabelPopulation
from ufo.schemas.storage import join, make_folder, writing
from ufo.schemas.tables import (
    LABEL_POPULATIONS,
    LABELS,
    arrow_schema,
    from_arrow,
    sort_key,
    to_arrow,
    write_rows,
)


def write_sheet(directory: str, sheet: str, labels: Iterable[Label]) -> str:
    """Write a sheet's labels, replacing its earlier ones; equal labels give equal files."""
    return _write(directory, LABELS, sheet, labels)


def write_population(directory: str, sheet: str, units: Iterable[LabelPopulation]) -> str:
    """Write the units that a sheet was drawn from, replacing its earlier ones."""
    return _write(directory, LABEL_POPULATIONS, sheet, units)


def _write(
    directory: str, table: str, sheet: str, rows: Iterable[Label] | Iterable[LabelPopulation]
) -> str:
    make_folder(join(directory, table))
    path = join(directory, table, f"{sheet}.parquet")
    with writing(path) as file:
        write_rows(to_arrow(table, sorted(rows, key=sort_key(table))), file)
    return path


def labels_of(rows: pa.Table) -> list[Label]:
    """Return rows of `labels` as records; a file of an older schema version lacks columns."""
    schema = arrow_schema(LABELS)
    for field in fields(Label):
        if field.name not in rows.column_names:
            kind = schema.field(field.name).type
            rows = rows.append_column(field.name, pa.nulls(len(rows), kind))
    return from_arrow(LABELS, rows)


def add_weights(labels: Iterable[Label]) -> list[Label]:
    """Return the labels of a sheet with weights: a stratum's size over its labelled units.

    Units left blank are assumed to be like the labelled ones. A size that is missing, as in files
    of an older schema version, is the sum of the weights.
    """
    rows = list(labels)
    units: dict[tuple[str, str | None], dict[tuple[str, str], float]] = {}
    sizes: dict[tuple[str, str | None], int] = {}
    for row in rows:
        stratum = row.run, row.stratum
        units.setdefault(stratum, {})[row.response_id, row.unit_id] = row.weight or 0.0
        if row.stratum_size is not None:
            sizes[stratum] = row.stratum_size
    for stratum, weights in units.items():
        sizes.setdefault(stratum, round(sum(weights.values())))
    weighted_rows = []
    for row in rows:
        stratum = row.run, row.stratum
        size = sizes[stratum]
        if row.stratum is None or not size:
            weighted_rows.append(replace(row, weight=None, stratum_size=None))
        else:
            weight = size / len(units[stratum])
            weighted_rows.append(replace(row, weight=weight, stratum_size=size))
    return weighted_rows


@contextmanager
def lock_sheet(directory: str, sheet: str) -> Iterator[None]:
    """Lock a sheet against changes by other processes of this machine."""
    if is_remote(directory):
        yield
        return
    folder = Path(directory) / LABELS
    folder.mkdir(exist_ok=True)
    with FileLock(folder / f".{sheet}.lock"):
        yield


def keep_label(
    directory: Path, label: Label, units: Callable[[], Iterable[tuple[str, str]]] | None = None
) -> None:
    """Store a label in its sheet, replacing the unit's earlier label; an empty one removes it.

    Safe with several services on one folder of runs.

    Args:
        directory: the folder of runs.
        label: the label, of a sheet that was not drawn.
        units: gives the ids (response, unit) of all units of its run. These become the sheet's
            population, unless they are that already.
    """
    with lock_sheet(str(directory), label.sheet):
        path = directory / LABELS / f"{label.sheet}.parquet"
        before = labels_of(pq.read_table(path)) if path.exists() else []
        key = label.response_id, label.unit_id, label.annotator
        rows = [row for row in before if (row.response_id, row.unit_id, row.annotator) != key]
        if label.label is not None:
            rows.append(label)
            if units is not None:
                _keep_population(directory, label, units)
        write_sheet(str(directory), label.sheet, rows)


def _keep_population(
    directory: Path, label: Label, units: Callable[[], Iterable[tuple[str, str]]]
) -> None:
    path = directory / LABEL_POPULATIONS / f"{label.sheet}.parquet"
    before = pq.read_table(path) if path.exists() else None
    if before is not None and label.run in before.column("run").unique().to_pylist():
        return
    rows = [] if before is None else from_arrow(LABEL_POPULATIONS, before)
    rows += [LabelPopulation(label.run, *unit, label.sheet) for unit in units()]
    write_population(str(directory), label.sheet, rows)
