import asyncio
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.pvalue import TaggedOutput
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.window import FixedWindows, TimestampedValue

from ufo.transforms.beam.calls import CoroutineDoFn
from ufo.transforms.job import Job


class Doubles(CoroutineDoFn[Job, int, int]):
    """Doubles each number; where it waits, the later ones are done first."""

    def __init__(self, remote: bool) -> None:
        super().__init__(Job((), in_flight=3))
        self._waits = remote

    def setup(self) -> None:
        self.remote = self._waits

    async def call(self, item: int) -> int:
        if self._waits:
            for _ in range(20 - item):
                await asyncio.sleep(0)
        return 2 * item

    def outputs(self, result: int) -> Iterator[Any]:
        yield result
        yield TaggedOutput("halves", result // 2)


def placed(
    value: int, timestamp: Any = beam.DoFn.TimestampParam, window: Any = beam.DoFn.WindowParam
) -> tuple[int, float, float]:
    return value, float(timestamp), float(window.start)


@pytest.mark.parametrize("remote", [False, True], ids=["at once", "waiting"])
def test_every_result_is_in_the_window_and_at_the_time_of_its_element(remote: bool) -> None:
    elements = [*((item, 5) for item in range(3)), (3, 15), (4, 15), (5, 25), (6, 25), (7, 25)]
    expected = [(2 * item, float(time), float(time // 10 * 10)) for item, time in elements]
    with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([])) as pipeline:
        found = (
            pipeline
            | beam.Create(elements)
            | beam.MapTuple(TimestampedValue)
            | beam.WindowInto(FixedWindows(10))
            | beam.ParDo(Doubles(remote))
            .with_output_types(int, halves=int)
            .with_outputs("halves", main="doubles")
        )
        assert_that(found.doubles | "main" >> beam.Map(placed), equal_to(expected), label="a")
        halves = [(value // 2, time, window) for value, time, window in expected]
        assert_that(found.halves | "side" >> beam.Map(placed), equal_to(halves), label="b")
