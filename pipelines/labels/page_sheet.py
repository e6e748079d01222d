"""Store labels given on the page in a sheet beside the runs, one unit at a time."""

from pathlib import Path

import pyarrow.parquet as pq
from filelock import FileLock

from ufo.pipelines.labels.import_sheets import write_sheet
from ufo.schemas.labels import FOLDER, Label
from ufo.schemas.tables import LABELS, from_arrow


def keep_label(directory: Path, label: Label) -> None:
    """Store a label in its sheet, replacing the unit's earlier one; an empty one removes it.

    Safe with several services on one folder of runs.
    """
    folder = directory / FOLDER
    folder.mkdir(exist_ok=True)
    with FileLock(folder / f".{label.sheet}.lock"):
        path = folder / f"{label.sheet}.parquet"
        before = from_arrow(LABELS, pq.read_table(path)) if path.exists() else []
        of = label.response_id, label.unit_id
        rows = [row for row in before if (row.response_id, row.unit_id) != of]
        if label.label is not None or label.tag is not None:
            rows.append(label)
        write_sheet(directory, label.sheet, rows)
