"""The graph in windows: each response's rows stay in its own, and none waits for a later one."""

from collections.abc import Callable
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
from apache_beam.testing import test_stream
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.trigger import AccumulationMode, AfterCount, AfterWatermark
from apache_beam.transforms.window import FixedWindows, TimestampedValue

from ufo.schemas.records import InputRecord
from ufo.transforms.beam.check import CheckSources
from ufo.transforms.beam.extract import Extract
from ufo.transforms.job import Job
from ufo.transforms.sources.base import FactSource
from ufo.transforms.sources.registry import SourceSpec

ASKED: list[tuple[str, str]] = []


class Asked(FactSource):
    """Has an answer to the claims with a word in them; notes what it is asked, in order."""

    def __init__(self, name: str, inner: Any, waits: bool) -> None:
        self.name = name
        self.inner = inner
        self.remote = waits  # type: ignore[misc]

    async def find(self, unit: Any) -> Any:
        ASKED.append((self.name, unit.response_id))
        return self.inner.find(unit)


@pytest.fixture
def checked(
    scripted_source: Callable[..., Any],
    scripted_judge: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[Any, bool], Any]:
    """Records → verdicts by two sources in Multi-Seq, of which the first knows of ants alone."""
    for module in ("check", "extract"):
        monkeypatch.setattr(
            f"ufo.transforms.beam.{module}.make_judge", lambda name: scripted_judge()
        )
    ASKED.clear()

    def apply(records: Any, waits: bool) -> Any:
        answers = [{"Ants eat.": ["supported"]}, {"Bees fly.": ["refuted"]}]
        sources = [
            Asked(f"s{number}", scripted_source(f"s{number}", found), waits)
            for number, found in enumerate(answers)
        ]
        specs = [SourceSpec(one.name, "object", instance=one) for one in sources]
        job = Job(tuple(specs))
        extracted = records | "extract" >> Extract(job)
        rows = extracted.open_units | "check" >> CheckSources(job)
        return (
            rows
            | "all rows" >> beam.Flatten()
            | "verdicts" >> beam.FlatMap(lambda found: found.get("verdicts", []))
        )

    return apply


def record(number: int) -> InputRecord:
    return InputRecord(f"in:{number}", f"r{number}", "Ants eat. Bees fly. Cats nap.")


def pipeline() -> beam.Pipeline:
    # The runner of Beam's that has a test stream and needs no other process.
    options = PipelineOptions(["--streaming", "--no_pipeline_type_check"])
    return beam.Pipeline(runner=BundleBasedDirectRunner(), options=options)


def placed(verdict: Any, window: Any = beam.DoFn.WindowParam) -> tuple[str, str, float]:
    return verdict.response_id, verdict.source, float(window.start)


@pytest.mark.parametrize("waits", [False, True], ids=["plain", "waiting"])
def test_a_response_goes_through_all_sources_before_the_next_window_has_come(
    checked: Callable[[Any, bool], Any], waits: bool
) -> None:
    events = (
        test_stream.TestStream()
        .advance_watermark_to(0)
        .add_elements([TimestampedValue(record(0), 5)])
        .advance_watermark_to(60)
        .add_elements([TimestampedValue(record(1), 65)])
        .advance_watermark_to_infinity()
    )
    with pipeline() as graph:
        records = graph | events | "windows" >> beam.WindowInto(FixedWindows(60))
        found = checked(records, waits) | "placed" >> beam.Map(placed)
        expected = [
            (f"r{number}", source, 60.0 * number)
            for number in (0, 1)
            for source in ("s0", "s1", "none")
        ]
        assert_that(found, equal_to(expected))
    order = [response for _, response in ASKED]
    assert order == sorted(order)
    assert {source for source, response in ASKED if response == "r0"} == {"s0", "s1"}


def test_what_comes_late_is_in_its_window_too(checked: Callable[[Any, bool], Any]) -> None:
    events = (
        test_stream.TestStream()
        .advance_watermark_to(0)
        .add_elements([TimestampedValue(record(0), 5)])
        .advance_watermark_to(100)
        .add_elements([TimestampedValue(record(1), 10)])
        .advance_watermark_to_infinity()
    )
    with pipeline() as graph:
        windows = beam.WindowInto(
            FixedWindows(60),
            trigger=AfterWatermark(late=AfterCount(1)),
            accumulation_mode=AccumulationMode.DISCARDING,
            allowed_lateness=3600,
        )
        found = checked(graph | events | windows, False) | "placed" >> beam.Map(placed)
        expected = [(f"r{n}", source, 0.0) for n in (0, 1) for source in ("s0", "s1", "none")]
        assert_that(found, equal_to(expected))
