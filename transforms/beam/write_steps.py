"""Step `write` on Beam: rows of every table into Parquet parts that are the same on every runner.

Beam's own file sinks put 100,000 rows into one file and left stale shards on a re-run. Rows become
Arrow blocks where they are made, so that few large elements are shuffled instead of many small
ones; each (table, part) is then sorted and written by one call, under a temporary name first. A
file that exists is therefore whole.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any
from zlib import crc32

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.transforms.window import GlobalWindow, WindowedValue

from ufo.schemas import storage
from ufo.schemas.records import Part
from ufo.schemas.tables import KEYS, values_of, values_to_arrow, write_part
from ufo.transforms.beam.counters import StepCounters
from ufo.transforms.job import Job

_BLOCK_ROWS = 2_000
_ALL = GlobalWindow()

Key = tuple[str, int]
Rows = dict[str, Sequence[Any]]
"""The rows of one response that a step makes, by table."""
NOTE = ".note"
"""What follows a part's name in that of the file beside it, which has its rows and checksum."""
ROWS = "rows"
"""The name of the output that gives them."""


class _Pack(beam.DoFn):  # type: ignore[misc]
    """Rows → ((table, part), Arrow IPC bytes), a block of a table at a time.

    A row's part is a function of what it belongs to: its response, or the passage itself.
    """

    def __init__(self, parts: int) -> None:
        self._parts = parts

    def start_bundle(self) -> None:
        # Tuples of plain values, which cost the garbage collector nothing while they wait here.
        self._gathered: dict[Key, list[tuple[Any, ...]]] = {}

    def process(self, rows: Rows) -> list[tuple[Key, bytes]]:
        blocks = []
        for table, found in rows.items():
            for part, those in self._by_part(table, found):
                gathered = self._gathered.setdefault((table, part), [])
                gathered += map(values_of(table), those)
                if len(gathered) >= _BLOCK_ROWS:
                    blocks.append(_block(table, part, gathered))
                    gathered.clear()
        return blocks

    def _by_part(self, table: str, rows: Sequence[Any]) -> Iterable[tuple[int, Sequence[Any]]]:
        if self._parts == 1 or not rows:
            return [(0, rows)] if rows else []
        key = KEYS[table][0]
        parts: dict[int, list[Any]] = {}
        for row in rows:
            part = crc32(str(getattr(row, key)).encode()) % self._parts
            parts.setdefault(part, []).append(row)
        return parts.items()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for (table, part), rows in self._gathered.items():
            if rows:
                block = _block(table, part, rows)
                yield WindowedValue(block, _ALL.max_timestamp(), (_ALL,))
        self._gathered = {}


def _block(table: str, part: int, rows: list[tuple[Any, ...]]) -> tuple[Key, bytes]:
    data = values_to_arrow(table, rows)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, data.schema) as writer:
        writer.write_table(data)
    return (table, part), sink.getvalue().to_pybytes()


class _WritePart(beam.DoFn):  # type: ignore[misc]
    """((table, part), blocks) → the part file, sorted; yields where it is and its rows."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def setup(self) -> None:
        self._counters = StepCounters("write")

    def process(self, item: tuple[Key, Iterable[bytes]]) -> Iterator[Part]:
        (table, part), blocks = item
        data = pa.concat_tables(pa.ipc.open_stream(block).read_all() for block in blocks)
        data = whole(table, data)
        self._counters.add(rows=data.num_rows, files=1)
        path = storage.join(self._folder, f"{table}-{part:05d}.parquet")
        written = write_part(table, path, data)
        with storage.writing(path + NOTE) as note:
            note.write(json.dumps(asdict(written)).encode())
        yield written

    def finish_bundle(self) -> None:
        self._counters.flush()


def whole(table: str, data: pa.Table) -> pa.Table:
    """Return the rows of a part in their order, each passage once."""
    order = pc.sort_indices(data, [(name, "ascending") for name in KEYS[table]])
    if table == "passages":
        ids = data.column("passage_id").to_pylist()
        first = {ids[row]: row for row in reversed(order.to_pylist())}
        order = pa.array(reversed(first.values()), pa.uint64())
    return data.take(order)


def written_parts(folder: str) -> list[Part]:
    """Return the parts that a pipeline wrote below a folder, ordered by path."""
    notes = (path for path in storage.files_below(folder) if path.endswith(NOTE))
    return [Part(**json.loads(storage.read(path))) for path in notes]


class WriteTables(beam.PTransform):  # type: ignore[misc]
    """Collections of rows → one `Part` for each file written below `folder`."""

    def __init__(self, job: Job, folder: str) -> None:
        super().__init__()
        self._job = job
        self._folder = folder

    def expand(self, rows: Any) -> "beam.PCollection[Part]":
        """Apply the step; `rows` is a tuple of collections, each of `Rows`."""
        blocks = []
        for number, collection in enumerate(rows, 1):
            pack = beam.ParDo(_Pack(self._job.parts)).with_output_types(tuple[Key, bytes])
            blocks.append(collection | f"pack {number}" >> pack)
        write = beam.ParDo(_WritePart(self._folder)).with_output_types(Part)
        together = blocks | "blocks" >> beam.Flatten() | "group" >> beam.GroupByKey()
        return together | "write" >> write
