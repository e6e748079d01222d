"""What the processes of a run spent whose chunks were never finished: rows of `usage` all the same.

A killed or stopped process has paid for requests, and those who go on find the answers in the cache
and pay nothing. Without these rows nobody would be told of them.
"""

from collections.abc import Sequence

import pyarrow.parquet as pq

from pipelines.runs.attempt import Attempt
from schemas import storage
from schemas.records import Part
from schemas.tables import to_arrow
from transforms.llm.usage_log import UsageReader

_SAME = ["request_id", "worker_id", "seconds"]


def left_out(parts: Sequence[Part], attempt: Attempt, usage_log: str) -> list[Part]:
    """Return a part with the requests that the run paid for and that are in none of `parts`.

    That is one part with the probes of this process and whatever earlier ones spent in vain, or
    none. Takes some 50 bytes of memory a request.
    """
    told: set[int] = set()
    for part in parts:
        if part.table == "usage":
            with storage.open_read(part.path) as stream:
                columns = pq.ParquetFile(stream).read(columns=_SAME).select(_SAME).to_pydict()
            told.update(map(hash, zip(*columns.values(), strict=True)))
    rows = [
        row
        for row in UsageReader(usage_log).rows()
        if hash((row.request_id, row.worker_id, row.seconds)) not in told
    ]
    return [attempt.write_part("usage", to_arrow("usage", rows))] if rows else []
