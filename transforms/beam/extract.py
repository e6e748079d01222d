"""Step `extract` on Beam: records into responses, sentences, fact units and open units."""

from collections.abc import Iterable
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from schemas.records import (
    FactUnit,
    Failure,
    InputRecord,
    OpenUnits,
    Response,
    Sentence,
    Usage,
)
from transforms.beam.coroutines import CoroutineDoFn
from transforms.beam.counting import StepCounters
from transforms.extract import Extracted, extract
from transforms.job import Job
from transforms.judges import make_judge
from transforms.llm import spans
from transforms.llm.usage_log import RESPONSES, UsageLog
from transforms.secrets import into_environment

TAGS = {
    "responses": Response,
    "sentences": Sentence,
    "fact_units": FactUnit,
    "failures": Failure,
    "usage": Usage,
}


class _Extract(CoroutineDoFn[InputRecord, InputRecord, Extracted]):
    def __init__(self, job: Job) -> None:
        super().__init__(job.in_flight)
        self._spec = job.judge
        self._units = job.units
        self._usage_log = job.usage_log
        self._secrets = job.secrets
        self._counts = job.counts

    def setup(self) -> None:
        into_environment(self._secrets)
        self._judge = make_judge(self._spec)
        self._judge.open()
        self.remote = self._judge.remote
        self._log = UsageLog(self._usage_log)
        self.counters = StepCounters("extract", self._counts)

    def teardown(self) -> None:
        self._log.close()
        self._judge.close()

    def items(self, element: InputRecord) -> Iterable[InputRecord]:
        return (element,)

    async def call(self, item: InputRecord) -> Extracted:
        with spans.step("extract", **{"ufo.response_id": item.response_id}):
            return await extract(item, self._judge, self._units)

    def outputs(self, result: Extracted) -> Iterable[OpenUnits | TaggedOutput]:
        self.counters.add(
            responses=1,
            sentences=len(result.sentences),
            units=len(result.open_units.units),
            no_claims=int(not result.open_units.units),
            failures=len(result.failures),
            requests=sum(not (row.cached or row.coalesced) for row in result.usage),
            cached=sum(row.cached or row.coalesced for row in result.usage),
        )
        yield TaggedOutput("responses", result.response)
        for sentence in result.sentences:
            yield TaggedOutput("sentences", sentence)
        for unit in result.open_units.units:
            yield TaggedOutput("fact_units", unit)
        for failure in result.failures:
            yield TaggedOutput("failures", failure)
        for request in result.usage:
            yield TaggedOutput("usage", request)
        if result.open_units.units:
            yield result.open_units
        else:
            self._log.add({RESPONSES: 1})


class Extract(beam.PTransform):  # type: ignore[misc]
    """Records → `open_units`, and the rows of the tables in TAGS under their names."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, records: "beam.PCollection[InputRecord]") -> Any:
        """Apply the step."""
        step = beam.ParDo(_Extract(self._job))
        typed = step.with_output_types(OpenUnits, **TAGS)
        return records | "judge" >> typed.with_outputs(*TAGS, main="open_units")
