"""The whole graph in windows: each has its own parts, complete before a later one begins."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import apache_beam as beam
import pyarrow.parquet as pq
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
from apache_beam.testing import test_stream
from apache_beam.transforms.trigger import AccumulationMode, AfterCount, AfterWatermark
from apache_beam.transforms.window import FixedWindows, TimestampedValue

from ufo.pipelines.graph import evaluate, run_graph
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.finish import check_complete
from ufo.schemas.records import Part
from ufo.schemas.tables import KEYS
from ufo.transforms.job import Job
from ufo.transforms.sources.registry import SourceSpec
from ufo.transforms.splits import Split

Rows = dict[str, list[Any]]


@pytest.fixture(params=["seq", "mv"])
def job(request: Any, index: Path) -> Job:
    wikipedia = SourceSpec("wikipedia", "wikipedia", {"index": str(index)})
    sources = (SourceSpec("reference", "reference"), wikipedia)
    return Job(sources, mode=request.param, parts=2)


@pytest.fixture
def splits(tmp_path: Path, write_lines: Any, records: list[Any]) -> list[Split]:
    """Two files, with an unusable line in the second."""
    found = []
    for name, lines in (("a", records[:6]), ("b", [*records[6:11], "not json"])):
        path = write_lines(tmp_path / f"{name}.jsonl", lines)
        found.append(Split(name, str(path), 0, path.stat().st_size, 1))
    return found


def note(element: Any, log: str, window: Any = beam.DoFn.WindowParam) -> Any:
    """Note in a file, as steps are copied, what came in which window."""
    what = f"{element.table} {element.path}" if isinstance(element, Part) else "come"
    with open(log, "a", encoding="utf-8") as out:
        out.write(f"{float(window.start):g} {what}\n")
    return element


def rows_of(parts: list[Part]) -> Rows:
    found: Rows = defaultdict(list)
    for part in parts:
        found[part.table] += pq.read_table(part.path).to_pylist()
    for table, rows in found.items():
        rows.sort(key=lambda row: [str(row[name]) for name in KEYS[table]])
    return found


def alone(split: Split, job: Job, folder: Path) -> Rows:
    """What the graph gives for one file without windows."""
    return rows_of(run_graph(evaluate, Chunk(0, (split,), 6), job, str(folder)))


def in_windows(events: Any, job: Job, folder: Path, **windowing: Any) -> dict[str, list[Part]]:
    """Run the graph over a stream; returns the parts by the folder that they are in."""
    folder.mkdir(parents=True)
    options = PipelineOptions(["--streaming", "--no_pipeline_type_check"])
    with beam.Pipeline(runner=BundleBasedDirectRunner(), options=options) as graph:
        placed = graph | events | beam.WindowInto(FixedWindows(60), **windowing)
        come = placed | "come" >> beam.Map(note, str(folder / "log"))
        written = evaluate(come, job, str(folder / "parts"))
        _ = written | "written" >> beam.Map(note, str(folder / "log"))
    parts = defaultdict(list)
    for _, table, path in (line.split() for line in happened(folder) if "/parts/" in line):
        rows = pq.read_metadata(path).num_rows
        parts[Path(path).parent.name].append(Part(table, path, rows))
    return parts


def happened(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


def test_each_window_has_its_rows_before_the_next_has_come(
    job: Job, splits: list[Split], tmp_path: Path
) -> None:
    events = (
        test_stream.TestStream()
        .advance_watermark_to(0)
        .add_elements([TimestampedValue(splits[0], 5)])
        .advance_watermark_to(60)
        .add_elements([TimestampedValue(splits[1], 65)])
        .advance_watermark_to_infinity()
    )
    found = in_windows(events, job, tmp_path / "stream")
    assert list(found) == ["0", "60000"]
    for number, folder in enumerate(found):
        check_complete(found[folder], job)
        want = alone(splits[number], job, tmp_path / f"alone{number}")
        assert rows_of(found[folder]) == want
    order = happened(tmp_path / "stream")
    assert order.count("0 come") == order.count("60 come") == 1
    second = order.index("60 come")
    assert second == 1 + len(found["0"])
    assert all(line.startswith("0 ") for line in order[:second])
    assert all(line.startswith("60 ") for line in order[second:])


def test_what_is_late_replaces_nothing_of_its_window(
    job: Job, splits: list[Split], tmp_path: Path
) -> None:
    events = (
        test_stream.TestStream()
        .advance_watermark_to(0)
        .add_elements([TimestampedValue(splits[0], 5)])
        .advance_watermark_to(100)
        .add_elements([TimestampedValue(splits[1], 10)])
        .advance_watermark_to_infinity()
    )
    late = AfterWatermark(late=AfterCount(1))
    windowing = {"trigger": late, "accumulation_mode": AccumulationMode.DISCARDING}
    found = in_windows(events, job, tmp_path / "stream", allowed_lateness=3600, **windowing)
    assert {folder.split(".")[0] for folder in found} == {"0"}
    parts = [part for folder in found.values() for part in folder]
    assert len({part.path for part in parts}) == len(parts)
    check_complete(parts, job)
    want = [alone(split, job, tmp_path / f"alone{n}") for n, split in enumerate(splits)]
    both = rows_of(parts)
    for table in ("responses", "fact_units", "evidence", "verdicts", "failures"):
        rows = [row for one in want for row in one.get(table, [])]
        assert len(both.get(table, [])) == len(rows), table
        assert all(row in rows for row in both.get(table, [])), table
