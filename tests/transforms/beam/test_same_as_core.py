"""The pipeline against `check_text`: row for row the same, in every mode, with any sharding."""

import asyncio
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.transforms.scripted import ScriptedJudge, ScriptedSource
from ufo.pipelines.runs.chunks import in_chunks
from ufo.pipelines.runs.inputs import PlainFile
from ufo.pipelines.runs.workers import run_chunk
from ufo.schemas.records import FactUnit, InputRecord, Passage
from ufo.schemas.tables import OF_EVALUATE, from_arrow, sort_key, to_arrow
from ufo.transforms.check_text import check_text
from ufo.transforms.job import Job
from ufo.transforms.llm.usage_log import UsageReader
from ufo.transforms.read import parse
from ufo.transforms.sources.fact_source import FactSource, SourceSpec

ANSWERS: list[dict[str, Any]] = [
    {
        "Ants eat.": ["supported"],
        "Bees fly.": ["noans"],
        "Cats nap.": OSError("down"),
        "Dogs bark.": ["refuted", "supported"],
    },
    {
        "Ants eat.": ["refuted"],
        "Bees fly.": ["refuted", "noans", "supported", "refuted"],
        "Cats nap.": ["supported"],
    },
    {"Bees fly.": ["supported"], "Eels swim.": ["noans"], "Fish jump.": ["error"]},
]


class Waiting(FactSource):
    """The same answers from a source that waits for each."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.name = inner.name

    async def find(self, unit: FactUnit) -> Iterable[Passage]:
        await asyncio.sleep(0)
        passages: Iterable[Passage] = self.inner.find(unit)
        return passages


CLAIM = '{"claim": "Ants eat.", "query": "?"}'  # given ones are all kept
INPUT = f"""{{"id": "r0", "response": "Ants eat. Bees fly. Cats nap."}}
{{"id": "r1", "response": "Dogs bark. Eels swim. Fish jump."}}
{{"id": "r2", "response": "Ants eat. Ants eat. Ants eat.", "claims": [{CLAIM}, {CLAIM}, {CLAIM}]}}
{{"id": "r3", "response": "Cats nap. Fish jump."}}
{{"id": "r4", "response": "Goats climb."}}
{{"id": "r5", "response": "Ants eat. Bees fly.", "claims": []}}
{{"id": "r0", "response": "again."}}
{{"response": ""}}"""


@pytest.fixture(scope="module")
def responses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("input") / "responses.jsonl"
    path.write_text(INPUT)
    return path


def rows_by_table(parts: Iterable[Any]) -> dict[str, list[Any]]:
    by_table: dict[str, list[Any]] = {table: [] for table in OF_EVALUATE}
    for part in parts:
        rows = from_arrow(part.table, pq.read_table(part.path))
        assert rows == sorted(rows, key=sort_key(part.table)), f"{part.path} is not sorted"
        by_table[part.table] += rows
    return {table: sorted(rows, key=sort_key(table)) for table, rows in by_table.items()}


def parts_of(responses: Path, folder: Path, job: Job) -> list[Any]:
    folder.mkdir(exist_ok=True)
    size = responses.stat().st_size
    (chunk,) = in_chunks([PlainFile(responses.name, str(responses), size)], 100, 10_000)
    return [*run_chunk(chunk, job, str(folder)).parts]


def through_beam(responses: Path, folder: Path, job: Job) -> dict[str, list[Any]]:
    return rows_by_table(parts_of(responses, folder, job))


def through_core(responses: Path, sources: list[FactSource], mode: str) -> dict[str, list[Any]]:
    by_table: dict[str, set[Any]] = {table: set() for table in OF_EVALUATE}
    for line in responses.read_bytes().splitlines()[:6]:
        record = parse("k", line)
        assert isinstance(record, InputRecord)
        rows = asyncio.run(check_text(record, sources, ScriptedJudge(), Job((), mode=mode)))
        by_table["responses"].add(rows.response)
        for table in set(OF_EVALUATE) - {"responses", "sources"}:
            by_table[table] |= set(getattr(rows, table))
    return {table: sorted(rows, key=sort_key(table)) for table, rows in by_table.items()}


def make_sources(remote: bool = False) -> list[FactSource]:
    plain = [ScriptedSource(f"s{n}", answers) for n, answers in enumerate(ANSWERS)]
    # One of them waits: both kinds stand in one pipeline.
    return [plain[0], Waiting(plain[1]), plain[2]] if remote else [*plain]


@pytest.fixture(autouse=True)
def _scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ufo.transforms.beam.calls.make_judge", lambda name: ScriptedJudge())


def job_of(sources: list[FactSource], **options: Any) -> Job:
    specs = [SourceSpec(source.name, "object", instance=source) for source in sources]
    return Job(tuple(specs), **options)


@pytest.mark.parametrize("remote", [False, True], ids=["plain", "waiting"])
@pytest.mark.parametrize("mode", ["seq", "mv", "single", "all"])
def test_the_pipeline_gives_the_rows_of_check_text(
    responses: Path, tmp_path: Path, mode: str, remote: bool
) -> None:
    sources = make_sources(remote)
    job = job_of(sources, mode=mode)
    by_table = through_beam(responses, tmp_path / "parts", job)
    expected = through_core(responses, sources, mode)
    report = [row for row in by_table["failures"] if row.step == "read"]
    assert [(row.key, row.error_type) for row in report] == [
        ("responses.jsonl:7", "repeated_id"),
        ("responses.jsonl:8", "unusable_record"),
    ]
    by_table["failures"] = [row for row in by_table["failures"] if row.step != "read"]
    for table in OF_EVALUATE:
        assert by_table[table] == expected[table], table
    assert {row.step for row in by_table["failures"]} == {"source:s0"}
    assert len(by_table["verdicts"]) >= 10


def test_neither_shards_nor_parts_change_a_row(responses: Path, tmp_path: Path) -> None:
    job = job_of(make_sources(), mode="all")
    expected = through_beam(responses, tmp_path / "0", job)
    for shards, parts in ((1, 1), (7, 3)):
        folder = tmp_path / str(parts)
        by_table = through_beam(responses, folder, replace(job, shards=shards, parts=parts))
        assert by_table == expected
    assert 1 < len(list(folder.glob("evidence-*.parquet"))) <= 3


def test_stale_parts(responses: Path, tmp_path: Path) -> None:
    job = job_of(make_sources()[1:])
    expected = through_beam(responses, tmp_path, job)
    shutil.copy(tmp_path / "evidence-00000.parquet", tmp_path / "evidence-00009.parquet")
    pq.write_table(to_arrow("usage", []), tmp_path / "usage-00000.parquet")
    again = parts_of(responses, tmp_path, job)
    assert rows_by_table(again) == expected
    assert "usage" not in [part.table for part in again]


COUNTS = """read.lines 8, read.records 6, read.failures 2
extract.responses 6, extract.sentences 14, extract.units 12, extract.no_claims 1
extract.claims_repeated 2
source:s0.responses 5, source:s0.units_in 12, source:s0.answered 5, source:s0.noans 5
source:s0.errors 2, source:s0.passages 5, source:s0.evidence 13, source:s0.failures 2
source:s0.units_out 7, source:s0.responses_out 4
source:s1.responses 4, source:s1.units_in 7, source:s1.answered 3, source:s1.noans 4
source:s1.passages 6, source:s1.evidence 10, source:s1.units_out 4, source:s1.responses_out 3
source:s2.responses 3, source:s2.units_in 4, source:s2.noans 2, source:s2.errors 2
source:s2.passages 3, source:s2.evidence 4, source:s2.units_out 4, source:s2.responses_out 3"""


def test_each_step_counts_what_it_gets_and_makes(responses: Path, tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    parts_of(responses, tmp_path / "parts", job_of(make_sources(), usage_log=log))
    pairs = [one.split() for one in COUNTS.replace("\n", ", ").split(", ")]
    assert UsageReader(log).totals() == {name: int(count) for name, count in pairs}
