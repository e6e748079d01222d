"""Results taken over from an earlier run, and passages that several chunks found."""

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines import storage
from schemas.records import Part
from schemas.results import open_results
from schemas.tables import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

CARRIED = "carried"
FINAL = "final"

# Failures are not carried: those of reading come again with the input, and a response that had one
# of another step is evaluated again.
_BY_RESPONSE = ("responses", "sentences", "fact_units", "evidence", "verdicts", "usage")

_WITH_ERRORS = """
    SELECT response_id FROM evidence WHERE outcome = 'error'
    UNION
    SELECT key FROM failures WHERE step <> 'read'
"""


def responses_without_errors(output: str, run: str) -> tuple[frozenset[str], int]:
    """Return the ids of a run's responses without any error, and how many have one."""
    with open_results(output, run) as results:
        found = results.query(
            f"SELECT response_id FROM responses WHERE response_id NOT IN ({_WITH_ERRORS})"  # noqa: S608
        )
        total = results.query("SELECT count(*) AS n FROM responses")["n"][0].as_py()
    carried = frozenset(found["response_id"].to_pylist())
    return carried, total - len(carried)


def carry_over(output: str, run: str, carried: frozenset[str], folder: str) -> list[Part]:
    """Write the rows of the carried responses, and the passages they cite, below `folder`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = []
    with open_results(output, run) as results:
        (source,) = results.runs
    ids = pa.array(sorted(carried), pa.string())
    cited: set[str] = set()
    for table in (*_BY_RESPONSE, "passages"):
        key, wanted = "response_id", ids
        if table == "passages":
            key, wanted = "passage_id", pa.array(sorted(cited), pa.string())
        for number, path in enumerate(source.files[table]):
            rows = _read(str(path))
            rows = rows.filter(pc.is_in(rows[key], value_set=wanted))
            if table == "evidence":
                cited.update(filter(None, rows["passage_id"].to_pylist()))
            target = storage.join(folder, f"{table}-{number:05d}.parquet")
            _write(target, rows.select(arrow_schema(table).names))
            parts.append(Part(table, target, rows.num_rows))
    return parts


def each_passage_once(parts: Sequence[Part]) -> list[Part]:
    """Return the parts with each passage in the first part that has it, and in no other.

    Chunks find the same passages of an index, and each wrote its own. Takes some 100 bytes of
    memory a distinct passage.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if sum(part.table == "passages" for part in parts) < 2:
        return list(parts)
    seen: set[str] = set()
    found = []
    for part in parts:
        if part.table != "passages":
            found.append(part)
            continue
        ids = _read(part.path, ["passage_id"])["passage_id"].to_pylist()
        again = [passage_id for passage_id in ids if passage_id in seen]
        seen.update(ids)
        if again:
            rows = _read(part.path)
            rows = rows.filter(pc.invert(pc.is_in(rows["passage_id"], value_set=pa.array(again))))
            # Beside the first writing: an attempt that is resumed in here starts from that again.
            part = replace(part, path=part.path + ".once", rows=rows.num_rows)
            _write(part.path, rows)
        found.append(part)
    return found


def _read(path: str, columns: list[str] | None = None) -> "pa.Table":
    import pyarrow.parquet as pq

    with storage.open_read(path) as stream:
        return pq.read_table(stream, columns=columns)


def _write(path: str, rows: "pa.Table") -> None:
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(rows, sink, compression="zstd")
    storage.write(path, sink.getvalue())
