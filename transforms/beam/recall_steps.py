"""Step `recall` on Beam: records into the rows of the recall tables."""

from collections.abc import Iterable
from typing import Any

import apache_beam as beam

from ufo.schemas.records import RecallInput
from ufo.transforms.beam.counters import CoroutineDoFn
from ufo.transforms.beam.write_steps import Rows
from ufo.transforms.loop import in_step
from ufo.transforms.recall.recallers import RecallJob, make_recaller
from ufo.transforms.recall.step import Recalled, recall


class _AskFacts(CoroutineDoFn[RecallInput, Recalled]):
    def __init__(self, job: RecallJob) -> None:
        super().__init__(job.in_flight)
        self._job = job

    def setup(self) -> None:
        self._recaller = make_recaller(self._job.judge, self._job.formulations)
        self.begin("recall", self._job.usage_log, self._recaller)

    async def call(self, item: RecallInput) -> Recalled:
        with in_step("recall"):
            return await recall(item, self._recaller, self._job.formulations)

    def outputs(self, result: Recalled) -> Iterable[Rows]:
        tables: Rows = {
            "recall_answers": result.answers,
            "recall_facts": result.facts,
            "recall_verdicts": result.verdicts,
            "failures": result.failures,
            "usage": result.usage,
        }
        self.counters.add(records=1, **{table: len(rows) for table, rows in tables.items()})
        yield {"recall_records": [result.record], **tables}


class RecallAnswers(beam.PTransform):  # type: ignore[misc]
    """Records → the rows of the recall tables."""

    def __init__(self, job: RecallJob) -> None:
        super().__init__()
        self._job = job

    def expand(self, records: "beam.PCollection[RecallInput]") -> Any:
        """Apply the step."""
        return records | "judge" >> beam.ParDo(_AskFacts(self._job)).with_output_types(Rows)
