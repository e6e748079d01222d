"""The statistics as functions of the database: a list of rows in, one row out.

A view counts and groups; what it gives to a function is a list of STRUCTs, whose fields are the
function's arguments, and what comes back is a STRUCT or a list of them. Values travel as Arrow.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from ufo.schemas.statistics.estimates import (
    Correlation,
    Interval,
    Test,
    correlations,
    mean_interval,
    paired_t,
    ratio_interval,
    unpaired_t,
    wilson,
)
from ufo.schemas.statistics.labelled import Corrected, Kappa, corrected, kappa

Row = tuple[Any, ...]

_CLUSTERS = ("cluster", "stratum")
_TEXTS = ("metric", "method")
_NUMBER = "DOUBLE"

# A function, the fields of each list that it takes, and the row that it returns.
_FUNCTIONS: Sequence[tuple[Callable[..., Any], Sequence[str], type[Any]]] = (
    (mean_interval, ["value weight cluster"], Interval),
    (ratio_interval, ["above below above_2 below_2 cluster"], Interval),
    (paired_t, ["difference"], Test),
    (unpaired_t, ["score cluster", "score cluster"], Test),
    (kappa, ["n n_equal n_a n_b cluster"], Kappa),
    (corrected, ["score cluster", "label verdict share weight stratum cluster"], Corrected),
)


def add_statistics(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the statistics functions of the database."""
    connection.create_function(
        "wilson",
        _wilson,
        ["DOUBLE", "DOUBLE"],
        "STRUCT(low DOUBLE, high DOUBLE)",
        type="arrow",
        null_handling="special",
    )
    for function, lists, kind in _FUNCTIONS:
        _add(connection, function, lists, _sql(kind._fields), kind)
    rows = f"{_sql(Correlation._fields)}[]"
    _add(connection, correlations, ["x y cluster"], rows, Correlation)


def _add(
    connection: duckdb.DuckDBPyConnection,
    function: Callable[..., Any],
    lists: Sequence[str],
    returned: str,
    kind: type[Any],
) -> None:
    one = pa.struct([(f, pa.string() if f in _TEXTS else pa.float64()) for f in kind._fields])
    many = returned.endswith("[]")

    def call(*columns: pa.ChunkedArray) -> pa.Array:
        found = []
        for row in zip(*columns, strict=True):
            result = function(*(array for rows in row for array in _arrays(rows)))
            found.append([_plain(r) for r in result] if many else _plain(result))
        return pa.array(found, pa.list_(one) if many else one)

    connection.create_function(
        function.__name__,
        # The database counts parameters, and `*columns` is one.
        call if len(lists) == 1 else lambda first, second: call(first, second),
        [f"{_sql(fields.split())}[]" for fields in lists],
        returned,
        type="arrow",
        null_handling="special",
    )


def _sql(fields: Iterable[str]) -> str:
    kinds = dict.fromkeys(_TEXTS, "VARCHAR") | dict.fromkeys(_CLUSTERS, "UBIGINT")
    return f"STRUCT({', '.join(f'{name} {kinds.get(name, _NUMBER)}' for name in fields)})"


def _arrays(rows: pa.ListScalar) -> list[Any]:
    """Return the fields of a list of STRUCTs, one array each; nothing is an empty list."""
    values = rows.values
    if values is None:
        values = pa.array([], rows.type.value_type)
    return [field.to_numpy(zero_copy_only=False) for field in values.flatten()]


def _plain(row: Any) -> dict[str, Any]:
    """Return a row by the names of its fields, NaN as NULL."""
    return {
        name: None if isinstance(value, float) and np.isnan(value) else value
        for name, value in row._asdict().items()
    }


def _wilson(k: pa.ChunkedArray, n: pa.ChunkedArray) -> pa.Array:
    low, high = wilson(*(one.to_numpy().astype(float) for one in (k, n)))
    columns = [pa.array(one, from_pandas=True) for one in (low, high)]
    return pa.StructArray.from_arrays(columns, ["low", "high"])
