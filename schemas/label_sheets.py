"""Keep the labels of people beside the runs of a folder, a Parquet file for each sheet."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq
from filelock import FileLock

from ufo.schemas.storage import join, make_folder, writing
from ufo.schemas.tables import LABELS, Label, from_arrow, sort_key, to_arrow


def write_sheet(directory: str, sheet: str, labels: Iterable[Label]) -> str:
    """Write a sheet's labels, replacing its earlier ones; equal labels give equal files."""
    make_folder(join(directory, LABELS))
    path = join(directory, LABELS, f"{sheet}.parquet")
    with writing(path) as file:
        pq.write_table(to_arrow(LABELS, sorted(labels, key=sort_key(LABELS))), file)
    return path


def keep_label(directory: Path, label: Label) -> None:
    """Store a label in its sheet, replacing the unit's earlier label; an empty one removes it.

    Safe with several services on one folder of runs.
    """
    folder = directory / LABELS
    folder.mkdir(exist_ok=True)
    with FileLock(folder / f".{label.sheet}.lock"):
        path = folder / f"{label.sheet}.parquet"
        before = from_arrow(LABELS, pq.read_table(path)) if path.exists() else []
        of = label.response_id, label.unit_id
        rows = [row for row in before if (row.response_id, row.unit_id) != of]
        if label.label is not None:
            rows.append(label)
        write_sheet(str(directory), label.sheet, rows)
