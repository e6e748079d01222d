"""Step `extract` on Beam: records into open units, and the rows of what was extracted."""

from collections.abc import Iterable
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from ufo.schemas.records import InputRecord, OpenUnits
from ufo.transforms.beam.counters import CoroutineDoFn, requests_in
from ufo.transforms.beam.write_steps import ROWS, Rows
from ufo.transforms.extract import Extracted, extract
from ufo.transforms.job import Job
from ufo.transforms.judges import make_judge
from ufo.transforms.loop import in_step
from ufo.transforms.secrets import into_environment


class _Extract(CoroutineDoFn[InputRecord, Extracted]):
    def __init__(self, job: Job) -> None:
        super().__init__(job.in_flight)
        self._job = job

    def setup(self) -> None:
        into_environment(self._job.secrets)
        self._judge = make_judge(self._job.judge)
        self.begin("extract", self._job.usage_log, self._judge)

    async def call(self, item: InputRecord) -> Extracted:
        with in_step("extract"):
            return await extract(item, self._judge, self._job.units)

    def outputs(self, result: Extracted) -> Iterable[OpenUnits | TaggedOutput]:
        self.counters.add(
            responses=1,
            sentences=len(result.sentences),
            units=len(result.open_units.units),
            no_claims=int(not result.open_units.units),
            failures=len(result.failures),
            **requests_in(result.usage),
            **result.doubts,
        )
        rows: Rows = {
            "responses": [result.response],
            "sentences": result.sentences,
            "fact_units": result.open_units.units,
            "failures": result.failures,
            "usage": result.usage,
        }
        yield TaggedOutput(ROWS, rows)
        if result.open_units.units:
            yield result.open_units


class Extract(beam.PTransform):  # type: ignore[misc]
    """Records → `open_units` and `rows`."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, records: "beam.PCollection[InputRecord]") -> Any:
        """Apply the step."""
        step = beam.ParDo(_Extract(self._job))
        typed = step.with_output_types(OpenUnits, **{ROWS: Rows})
        return records | "judge" >> typed.with_outputs(ROWS, main="open_units")
