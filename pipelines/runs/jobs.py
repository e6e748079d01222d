"""Write the list or table of a Python call to an input file."""

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
    """Return the path of the input: a new file in `folder`, unless a path was given. `name` is the
    name of the parameter.

    Raises:
        UsageError: it is not a path, list or table, or it is empty or cannot be written to a file.
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
        except pa.ArrowNotImplementedError:  # Parquet has no string views, which Polars uses
            pq.write_table(pa.Table.from_pylist(table.to_pylist()), path)
    if not n:
        raise UsageError(f"{name} is empty; there is nothing to evaluate")
    return path


def _table(given: Any, name: str) -> pa.Table | None:
    """Return a table or data frame as Arrow; None for anything else, such as a list."""
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
    # pandas keeps an index of evenly spaced numbers as a range in the metadata.
    for index in (table.schema.pandas_metadata or {}).get("index_columns", []):
        if isinstance(index, dict) and index["name"]:
            numbers = range(index["start"], index["stop"], index["step"])
            table = table.append_column(index["name"], pa.array(numbers))
    return table.drop_columns([one for one in table.column_names if _UNNAMED_INDEX.fullmatch(one)])


def _write_records(given: object, path: str, name: str) -> int:
    """Write texts and records as JSON Lines; returns how many there are."""
    # A mapping is iterable, too: its keys would be taken for texts.
    if not isinstance(given, Iterable) or isinstance(given, (Mapping, bytes)):
        raise UsageError(
            f"{name} is a path, a list of texts and records, or a table, not {type(given).__name__}"
        )
    n = 0
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as sink:
        for n, item in enumerate(given, start=1):
            record = {"response": item} if isinstance(item, str) else item
            try:
                # `read` takes the NaN of a data frame for a missing value.
                sink.write(json.dumps(dict(record), ensure_ascii=True) + "\n")
            except (TypeError, ValueError) as error:
                raise UsageError(
                    f"{name}[{n - 1}] is neither a text nor a record for JSON: {error}"
                ) from error
    return n
