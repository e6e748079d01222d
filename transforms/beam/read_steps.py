"""Step `read` on Beam: stretches of input files into records, and rows of failures for the rest."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from ufo.schemas import storage
from ufo.schemas.records import Failure, InputRecord
from ufo.transforms.beam.counters import StepCounters
from ufo.transforms.beam.write_steps import ROWS, Rows
from ufo.transforms.job import Job
from ufo.transforms.read import Split, failure, lines
from ufo.transforms.read import parse as parse_line

Parse = Callable[[str, bytes, int], Any]


class Records(NamedTuple):
    """The two outputs of `ReadRecords`."""

    records: "beam.PCollection[Any]"
    rows: "beam.PCollection[Rows]"


class _Read(beam.DoFn):  # type: ignore[misc]
    def __init__(self, job: Job, parse: Parse | None) -> None:
        self._max_line_bytes = job.max_line_bytes
        self._columns = job.columns
        self._usage_log = job.usage_log
        self._given = parse

    def setup(self) -> None:
        self._counters = StepCounters("read", self._usage_log)
        self._left_out: list[Failure] = []
        self._parse = self._given or partial(
            parse_line,
            columns=self._columns,
            unknown=self._unknown,
            left_out=self._left_out.append,
        )

    def _unknown(self, others: Mapping[str, Any]) -> None:
        self._counters.add(records_with_unknown_keys=1)

    def process(self, split: Split) -> Iterator[Any]:
        with storage.open_read(split.path) as stream:
            for number, line in enumerate(lines(stream, split, self._max_line_bytes)):
                if number in split.same:
                    self._counters.add(lines=1, same=1)
                    continue
                self._left_out.clear()
                found = self._parse(line.key, line.data, self._max_line_bytes)
                if not isinstance(found, Failure) and number in split.repeated:
                    message = f"the id {found.response_id!r} was used by an earlier record"
                    found = failure(line.key, "repeated_id", message, line.data)
                if isinstance(found, Failure):
                    self._counters.add(lines=1, failures=1)
                    yield TaggedOutput(ROWS, {"failures": [found]})
                    continue
                if self._left_out:
                    self._counters.add(claims_left_out=len(self._left_out))
                    yield TaggedOutput(ROWS, {"failures": [*self._left_out]})
                if number in split.skipped:
                    self._counters.add(lines=1, carried_over=1)
                else:
                    self._counters.add(lines=1, records=1)
                    yield found

    def finish_bundle(self) -> None:
        self._counters.flush()

    def teardown(self) -> None:
        self._counters.close()


class ReadRecords(beam.PTransform):  # type: ignore[misc]
    """Splits → `Records`; `parse` makes a record of type `kind`, or a failure, of a line."""

    def __init__(self, job: Job, parse: Parse | None = None, kind: type = InputRecord) -> None:
        super().__init__()
        self._job = job
        self._parse = parse
        self._kind = kind

    def expand(self, splits: Any) -> Any:
        """Apply the step."""
        step = beam.ParDo(_Read(self._job, self._parse))
        typed = step.with_output_types(self._kind, **{ROWS: Rows})
        parsed = splits | "parse" >> typed.with_outputs(ROWS, main="records")
        return Records(parsed.records, parsed[ROWS])
