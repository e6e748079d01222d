"""Step `recall` on Beam: records into the rows of the recall tables."""

from collections.abc import Iterable
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from schemas.recall import (
    RecallAnswer,
    RecallFact,
    RecallInput,
    RecallRecord,
    RecallVerdict,
)
from schemas.records import Failure, Usage
from transforms.beam.coroutines import CoroutineDoFn
from transforms.beam.counting import StepCounters
from transforms.llm import spans
from transforms.llm.usage_log import RESPONSES, UsageLog
from transforms.recall.job import RecallJob, make_recaller
from transforms.recall.step import Recalled, recall

TAGS = {
    "recall_answers": RecallAnswer,
    "recall_facts": RecallFact,
    "recall_verdicts": RecallVerdict,
    "failures": Failure,
    "usage": Usage,
}
MAIN = "recall_records"


class _Recall(CoroutineDoFn[RecallInput, RecallInput, Recalled]):
    def __init__(self, job: RecallJob) -> None:
        super().__init__(job.in_flight)
        self._job = job

    def setup(self) -> None:
        self._recaller = make_recaller(self._job.judge, self._job.formulations)
        self._recaller.open()
        self.remote = self._recaller.remote
        self._log = UsageLog(self._job.usage_log)
        self.counters = StepCounters("recall")

    def teardown(self) -> None:
        self._log.close()
        self._recaller.close()

    def items(self, element: RecallInput) -> Iterable[RecallInput]:
        return (element,)

    async def call(self, item: RecallInput) -> Recalled:
        with spans.step("recall"):
            return await recall(item, self._recaller, self._job.formulations)

    def outputs(self, result: Recalled) -> Iterable[RecallRecord | TaggedOutput]:
        tables = {
            "recall_answers": result.answers,
            "recall_facts": result.facts,
            "recall_verdicts": result.verdicts,
            "failures": result.failures,
            "usage": result.usage,
        }
        self.counters.add(records=1, **{table: len(rows) for table, rows in tables.items()})
        for tag, rows in tables.items():
            for row in rows:
                yield TaggedOutput(tag, row)
        yield result.record
        self._log.add({RESPONSES: 1})


class Recall(beam.PTransform):  # type: ignore[misc]
    """Records → the rows of `recall_records` and of the tables in TAGS, under their names."""

    def __init__(self, job: RecallJob) -> None:
        super().__init__()
        self._job = job

    def expand(self, records: "beam.PCollection[RecallInput]") -> Any:
        """Apply the step."""
        typed = beam.ParDo(_Recall(self._job)).with_output_types(RecallRecord, **TAGS)
        return records | "judge" >> typed.with_outputs(*TAGS, main=MAIN)
