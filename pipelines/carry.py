"""Results taken over from an earlier run, and passages that several chunks found."""

import os
from collections.abc import Sequence
from uuid import uuid4

from schemas.records import Part
from schemas.results import open_results
from schemas.tables import arrow_schema

CARRIED = "carried"

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
    import pyarrow.parquet as pq

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
            rows = pq.read_table(path)
            rows = rows.filter(pc.is_in(rows[key], value_set=wanted))
            if table == "evidence":
                cited.update(filter(None, rows["passage_id"].to_pylist()))
            target = os.path.join(folder, f"{table}-{number:05d}.parquet")
            _write(target, rows.select(arrow_schema(table).names))
            parts.append(Part(table, target, rows.num_rows))
    return parts


def each_passage_once(parts: Sequence[Part]) -> list[Part]:
    """Return the parts with each passage in the first part that has it, and in no other.

    Chunks find the same passages of an index; each wrote its own.
    """
    import duckdb
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    passages = [part for part in parts if part.table == "passages"]
    if len(passages) < 2:
        return list(parts)
    order = {os.path.abspath(part.path): place for place, part in enumerate(passages)}
    with duckdb.connect(":memory:", config={"memory_limit": "1GB", "threads": "2"}) as database:
        repeated = database.execute(
            "SELECT passage_id, list(filename) AS files FROM read_parquet(?, filename = true) "
            "GROUP BY passage_id HAVING count(*) > 1",
            [[path.replace("[", "[[]") for path in order]],
        ).fetchall()
    again: dict[int, list[str]] = {}
    for passage_id, files in repeated:
        for place in sorted({order[os.path.abspath(file)] for file in files})[1:]:
            again.setdefault(place, []).append(passage_id)
    rewritten: dict[str, Part] = {}
    for place, ids in again.items():
        part = passages[place]
        rows = pq.read_table(part.path)
        rows = rows.filter(pc.invert(pc.is_in(rows["passage_id"], value_set=pa.array(ids))))
        # Beside the first writing: an attempt that is resumed in here starts from that again.
        target = part.path.replace(".parquet", ".once")
        _write(target, rows)
        rewritten[part.path] = Part(part.table, target, rows.num_rows)
    return [rewritten.get(part.path, part) for part in parts]


def _write(path: str, rows: object) -> None:
    import pyarrow.parquet as pq

    temporary = f"{path}.{uuid4().hex[:8]}.tmp"
    pq.write_table(rows, temporary, compression="zstd")
    os.replace(temporary, path)
