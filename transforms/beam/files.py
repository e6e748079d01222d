"""The steps `read` and `write` on Beam, with the coder for records between steps.

Beam's own file sinks put 100,000 rows into one file and left stale shards on a re-run. Here rows
are packed into Arrow blocks where they are made, so that few large elements are shuffled instead of
many small ones. One call then sorts and writes each (table, part), first under a temporary name. So
a file that exists is whole, and is the same on every runner.
"""

import dataclasses
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any
from zlib import crc32

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam import coders
from apache_beam.coders.row_coder import RowCoder
from apache_beam.metrics import Metrics
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import GlobalWindow, WindowedValue
from apache_beam.typehints.native_type_compatibility import convert_to_beam_type
from apache_beam.typehints.schemas import schema_from_element_type

# A worker's threads import this first: here one waits for another that is importing the package.
# Otherwise each could see modules that the other has half made.
import ufo  # noqa: F401
from ufo.schemas import records, storage
from ufo.schemas.records import Failure, InputRecord, Part
from ufo.schemas.tables import KEYS, register_part, values_of, values_to_arrow, write_part
from ufo.transforms.job import COUNTED, Job
from ufo.transforms.llm.usage_log import UsageLog
from ufo.transforms.read import failure
from ufo.transforms.read import parse as parse_line
from ufo.transforms.splits import Split, lines

_SECONDS_BETWEEN_LINES = 0.1
_BLOCK_ROWS = 2_000
_ALL = GlobalWindow()

Parse = Callable[..., Any]
"""Takes a key, a line, the longest length, and `left_out`, which is called with failures."""
Key = tuple[str, int]
Rows = dict[str, Sequence[Any]]
"""The rows of one response that a step makes, by table."""
ROWS = "rows"
"""The name of the output of a step that has its rows."""


class StepCounters:
    """The counters of one step of a run; a DoFn creates them in `setup`.

    They are Beam metrics, and lines of the run's usage log: up to ten a second, and one at the end
    of a bundle. A path of None discards the lines.
    """

    def __init__(self, step: str, usage_log: str | None = None) -> None:
        self._step = step
        self._log = UsageLog(usage_log)
        self._added: dict[str, int] = {}
        self._told = 0.0

    def add(self, **counts: int) -> None:
        """Add to the counters of these names; adding 0 makes a counter appear."""
        added = self._added
        for name, count in counts.items():
            added[name] = added.get(name, 0) + count
        if time.monotonic() - self._told >= _SECONDS_BETWEEN_LINES:
            self.flush()

    def flush(self) -> None:
        """Write the counts since the last call; for the end of a bundle."""
        for name, count in self._added.items():
            Metrics.counter(COUNTED + self._step, name).inc(count)
        self._log.add({f"{self._step}.{name}": count for name, count in self._added.items()})
        self._added.clear()
        self._told = time.monotonic()

    def close(self) -> None:
        """Close the usage log."""
        self._log.close()


# --- coders --------------------------------------------------------------------------------------


RECORDS: tuple[Any, ...] = tuple(filter(dataclasses.is_dataclass, vars(records).values()))
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "ufo.records")


class RecordCoder(RowCoder):  # type: ignore[misc]
    """The row coder of one record type; decoding imports this module.

    Beam sends a row coder to workers as a schema. A worker that has not imported this module yet
    decodes rows to named tuples. That happens where the step that imports it comes later in the
    same bundle. So this coder is sent as a reference to this module, which registers the records.
    """

    to_runner_api_parameter = coders.Coder.to_runner_api_parameter

    @classmethod
    def from_type_hint(cls, kind: type, registry: Any) -> "RecordCoder":
        """Return the coder of a record."""
        return _coder_of(kind)

    def __reduce__(self) -> tuple[Any, ...]:
        return _coder_of, (self.to_type_hint(),)


def _coder_of(kind: type) -> RecordCoder:
    return RecordCoder(_SCHEMAS[kind])


def typed(collection: Any, kind: Any) -> Any:
    """Declare the element type of a collection, so that Beam uses the coder of that type.

    A pipeline without type checks ignores the types that its steps declare, and pickles what it
    shuffles.
    """
    collection.element_type = convert_to_beam_type(kind)
    return collection


# Beam gives a row type a random id, by which a worker in another process would not find the type:
# it would pass named tuples to our functions. So the id is made from the record's name.
for _kind in RECORDS:
    _kind._beam_schema_id = str(uuid.uuid5(_NAMESPACE, _kind.__name__))
    coders.registry.register_row(_kind)
_SCHEMAS = {kind: schema_from_element_type(kind) for kind in RECORDS}
for _kind in RECORDS:
    coders.registry.register_coder(_kind, RecordCoder)


# --- read ----------------------------------------------------------------------------------------


class _Read(beam.DoFn):  # type: ignore[misc]
    def __init__(self, job: Job, parse: Parse | None) -> None:
        self._job = job
        self._given = parse

    def setup(self) -> None:
        self._counters = StepCounters("read", self._job.counts_log)
        self._left_out: list[Failure] = []
        parse = self._given or partial(parse_line, columns=self._job.columns)
        self._parse = partial(parse, left_out=self._left_out.append)

    def process(self, split: Split) -> Iterator[Any]:
        with storage.open_read(split.path) as stream:
            for number, line in enumerate(lines(stream, split, self._job.max_line_bytes)):
                if number in split.same:
                    self._counters.add(lines=1, same=1)
                    continue
                self._left_out.clear()
                parsed = self._parse(line.key, line.data, self._job.max_line_bytes)
                if not isinstance(parsed, Failure) and number in split.repeated:
                    message = f"the id {parsed.response_id!r} was used by an earlier record"
                    parsed = failure(line.key, "repeated_id", message, line.data)
                if isinstance(parsed, Failure):
                    self._counters.add(lines=1, failures=1)
                    yield TaggedOutput(ROWS, {"failures": [parsed]})
                    continue
                if self._left_out:
                    yield TaggedOutput(ROWS, {"failures": [*self._left_out]})
                if number in split.skipped:
                    self._counters.add(lines=1, carried_over=1)
                else:
                    self._counters.add(lines=1, records=1)
                    yield parsed

    def finish_bundle(self) -> None:
        self._counters.flush()

    def teardown(self) -> None:
        self._counters.close()


@beam.ptransform_fn  # type: ignore[untyped-decorator]
def ReadRecords(splits: Any, job: Job, parse: Parse | None = None, kind: type = InputRecord) -> Any:
    """Read splits → `records` and `rows`; `parse` converts a line to a `kind` or a failure."""
    step = beam.ParDo(_Read(job, parse)).with_output_types(kind, **{ROWS: Rows})
    return splits | "parse" >> step.with_outputs(ROWS, main="records")


# --- write ---------------------------------------------------------------------------------------


class _Pack(beam.DoFn):  # type: ignore[misc]
    """Pack rows → ((table, part), Arrow IPC bytes), a block of a table at a time.

    The part of a row depends only on its response, or for a passage on the passage.
    """

    def __init__(self, parts: int) -> None:
        self._parts = parts

    def start_bundle(self) -> None:
        # Tuples of plain values: the garbage collector does not track them.
        self._gathered: dict[Key, list[tuple[Any, ...]]] = {}

    def process(self, rows: Rows) -> list[tuple[Key, bytes]]:
        blocks = []
        for table, table_rows in rows.items():
            for part, part_rows in self._by_part(table, table_rows):
                gathered = self._gathered.setdefault((table, part), [])
                gathered += map(values_of(table), part_rows)
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
    """Write ((table, part), blocks) → a sorted part file; yields its path and number of rows."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def process(self, item: tuple[Key, Iterable[bytes]]) -> Iterator[Part]:
        (table, part), blocks = item
        data = pa.concat_tables(pa.ipc.open_stream(block).read_all() for block in blocks)
        path = storage.join(self._folder, f"{table}-{part:05d}.parquet")
        yield register_part(write_part(table, path, whole(table, data)))


def whole(table: str, data: pa.Table) -> pa.Table:
    """Return the rows of a part sorted by their key, each passage once."""
    order = pc.sort_indices(data, [(name, "ascending") for name in KEYS[table]])
    if table == "passages":
        ids = data.column("passage_id").to_pylist()
        first = {ids[row]: row for row in reversed(order.to_pylist())}
        order = pa.array(reversed(first.values()), pa.uint64())
    return data.take(order)


@beam.ptransform_fn  # type: ignore[untyped-decorator]
def WriteTables(rows: Any, job: Job, folder: str) -> Any:
    """Collections of `Rows` → one `Part` for each file written in `folder`."""
    pack = beam.ParDo(_Pack(job.parts)).with_output_types(tuple[Key, bytes])
    blocks = [collection | f"pack {number}" >> pack for number, collection in enumerate(rows, 1)]
    write = beam.ParDo(_WritePart(folder)).with_output_types(Part)
    together = blocks | "blocks" >> beam.Flatten() | "group" >> beam.GroupByKey()
    return together | "write" >> write
