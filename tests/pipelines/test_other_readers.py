"""The tables of a run, as other software reads them: by DIR/run=*/TABLE/*.parquet."""

import json
from collections.abc import Callable, Iterator
from glob import glob
from pathlib import Path
from typing import Any

import datasets
import duckdb
import fastparquet
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from datasets import disable_progress_bars, enable_progress_bars

import ufo
from ufo.schemas.tables import tables_of_mode

pytestmark = [
    pytest.mark.slow,
    # fastparquet leaves it to Python to close its files.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Exception ignored:pytest.PytestUnraisableExceptionWarning"),
]
REFERENCE = "Mount Etna is a volcano in Sicily."
# Each chunk writes the passage that the first has; one record cannot be used.
RESPONSES = [
    {"response": f"Etna is a volcano. It has {n} craters.", "reference_answers": REFERENCE}
    for n in range(4)
]
EVALUATE = tables_of_mode("seq")
RECALL = tables_of_mode("recall")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a run of evaluate and one of recall."""
    folder = tmp_path_factory.mktemp("runs")
    records = [*RESPONSES, {"id": "empty"}]
    flags: dict[str, Any] = {"output": folder, "quiet": True, "judge": "offline"}
    flags |= {"chunk_size": 1, "workers": 1}
    evaluated = ufo.evaluate(records, "reference", run="evaluate", **flags)
    assert len(evaluated.failures) == 1
    facts = [{"question": "Where?", "ground_truth": REFERENCE, "answers": {"rag": REFERENCE}}]
    ufo.recall(facts, run="recall", **flags)
    disable_progress_bars()
    yield folder
    enable_progress_bars()


def with_datasets(pattern: str, folder: Path) -> int:
    if not rows_of(pattern):  # docs/tables.md: it makes no dataset of nothing
        stream = datasets.load_dataset("parquet", data_files=pattern, split="train", streaming=True)
        return len(list(stream))
    dataset = datasets.load_dataset(
        "parquet", data_files=pattern, split="train", cache_dir=str(folder)
    )
    return int(dataset.num_rows)


def with_fastparquet(pattern: str, folder: Path) -> int:
    return sum(len(fastparquet.ParquetFile(path).to_pandas()) for path in glob(pattern))


def with_duckdb(pattern: str, _: Path) -> int:
    # Not by the connection of the process, on which another test may have a query under way.
    with duckdb.connect() as connection:
        return len(connection.sql(f"FROM '{pattern}'").fetchall())


READERS: dict[str, Callable[[str, Path], int]] = {
    "datasets": with_datasets,
    "duckdb": with_duckdb,
    "fastparquet": with_fastparquet,
    "pandas": lambda pattern, _: sum(len(pd.read_parquet(path)) for path in glob(pattern)),
    "polars": lambda pattern, _: pl.read_parquet(pattern).height,
    "polars, lazily": lambda pattern, _: pl.scan_parquet(pattern).collect().height,
}


def rows_of(pattern: str) -> int:
    """The rows of a table by its manifest."""
    folder = Path(pattern).parents[1]
    (run,) = folder.parent.glob(folder.name)
    manifest = json.loads((run / "manifest.json").read_text())
    return int(manifest["tables"][Path(pattern).parent.name]["rows"])


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("run", "table"),
    [("evaluate", name) for name in EVALUATE] + [("recall", name) for name in RECALL],
)
def test_every_table_is_read(runs: Path, tmp_path: Path, reader: str, run: str, table: str) -> None:
    pattern = f"{runs}/run={run[:3]}*/{table}/*.parquet"
    assert READERS[reader](pattern, tmp_path) == rows_of(pattern)


def test_no_part_has_an_empty_row_group(runs: Path) -> None:
    groups: dict[str, list[Any]] = {}
    for path in sorted(runs.glob("run=*/*/*.parquet")):
        metadata = pq.ParquetFile(path).metadata
        sizes = [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)]
        groups.setdefault(f"{path.parts[-3]}/{path.parts[-2]}", []).append(sizes)
    assert all(0 not in sizes for parts in groups.values() for sizes in parts)
    empty = {table for table, parts in groups.items() if [] in parts}
    assert empty == {"run=evaluate/usage", "run=recall/failures", "run=recall/usage"}
    # A table without rows is one file, and the same passage of four chunks is in one part.
    assert all(groups[table] == [[]] for table in empty)
    assert groups["run=evaluate/passages"] == [[1]]
