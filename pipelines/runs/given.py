"""Write what a Python program gives to be evaluated as an input file: a list, or a table."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from ufo.schemas.errors import UsageError

_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


class Table(Protocol):
    """A table or data frame that gives its rows to Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Given = str | Path | Table | Iterable[Mapping[str, Any] | str]


def input_path(given: Given, name: str, folder: str) -> str:
    """Return the path of the input: a file in `folder` unless a path was given. `name` is what the
    parameter is called.

    Raises:
        UsageError: it is no path, list or table, or is empty, or no file can hold it.
    """
    if isinstance(given, (str, Path)):
        return str(given)
    table = _table(given, name)
    if table is None:
        path = f"{folder}/{name}.jsonl"
        n = _write_records(given, path, name)
    else:
        path, n = f"{folder}/{name}.parquet", table.num_rows
        try:
            pq.write_table(table, path)
        except pa.ArrowNotImplementedError:  # of views, or of categories of them, as Polars has
            pq.write_table(pa.Table.from_pylist(table.to_pylist()), path)
    if not n:
        raise UsageError(f"{name} is empty; there is nothing to evaluate")
    return path


def _table(given: Any, name: str) -> pa.Table | None:
    """Return a table or data frame as Arrow; None for what is none, as a list or one column."""
    if not (hasattr(given, "__arrow_c_stream__") or hasattr(given, "columns")):
        return None
    try:
        table = pa.table(given)
    except (TypeError, ValueError, pa.ArrowException) as error:
        if isinstance(error, pa.ArrowInvalid) and not hasattr(given, "columns"):
            return None
        raise UsageError(
            f"{name} is no table that Arrow can hold: {error} (of a data frame, a list of records "
            "can: frame.to_dict('records'))"
        ) from error
    # pandas numbers its rows where no column does, and keeps even numbers as a range.
    for index in (table.schema.pandas_metadata or {}).get("index_columns", []):
        if isinstance(index, dict) and index["name"]:
            numbers = range(index["start"], index["stop"], index["step"])
            table = table.append_column(index["name"], pa.array(numbers))
    return table.drop_columns([one for one in table.column_names if _UNNAMED_INDEX.fullmatch(one)])


def _write_records(given: object, path: str, name: str) -> int:
    """Write texts and records as JSON Lines; returns how many there are."""
    # A mapping would be taken for a list of texts: those of its keys.
    if not isinstance(given, Iterable) or isinstance(given, (Mapping, bytes)):
        raise UsageError(
            f"{name} is a path, a list of texts and records, or a table, not {type(given).__name__}"
        )
    n = 0
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as sink:
        for n, item in enumerate(given, start=1):
            record = {"response": item} if isinstance(item, str) else item
            try:
                # The NaN of a data frame is read as nothing.
                sink.write(json.dumps(dict(record), ensure_ascii=True) + "\n")
            except (TypeError, ValueError) as error:
                raise UsageError(
                    f"{name}[{n - 1}] is neither a text nor a record for JSON: {error}"
                ) from error
    return n
