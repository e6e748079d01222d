"""The pipeline as it is for an engine: how work and budgets are spread, and what the user sees."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tests.pipelines.conftest import tables, ufo, write_lines
from ufo.pipelines.graph import evaluate
from ufo.pipelines.runs.engine import engine_counters
from ufo.pipelines.runs.finish import check_complete
from ufo.pipelines.runs.jobs import job_of_text
from ufo.schemas.errors import RunError
from ufo.schemas.records import Part
from ufo.transforms.job import Job, Split
from ufo.transforms.sources.fact_source import SourceSpec

GROUPED = {"beam:transform:group_by_key:v1", "beam:transform:reshuffle:v1"}


def test_a_run_on_another_runner_has_the_rows_and_tells_how_it_went(
    responses: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(index.parent)
    run: tuple[object, ...] = ("evaluate", "--input", responses, "--judge", "offline", "--run", "r")
    run += ("--sources", "reference,wikipedia", "--index", index.name)
    assert ufo(*run, "--output", tmp_path / "here").code == 0
    other = ("--output", tmp_path / "other", "--runner=FnApiRunner", "--parallelism=3")
    done = ufo(*run, *other)
    assert done.code == 0, done.err
    assert "22/22 responses" in done.err
    assert "Submitted the job ufo-r-" in done.err
    assert "reference" in done.err.splitlines()[-1]
    assert tables(tmp_path / "other") == tables(tmp_path / "here")
    assert len(list(tmp_path.glob("other/run=r/evidence/*.parquet"))) == 3


def test_what_is_doubtful_in_the_input_is_reported_on_another_runner_too(tmp_path: Path) -> None:
    claims = [{"claim": "Oslo is big.", "sentence_index": 7}] * 2
    record = {"response": "Oslo is big.", "claims": claims, "prompt": "Which?"}
    path = write_lines(tmp_path / "in.jsonl", [record])
    run = ("evaluate", "--input", path, "--output", tmp_path, "--run", "r", "--judge", "offline")
    counted = []
    for flags in ((), ("--runner=FnApiRunner", "--fresh")):
        done = ufo(*run, "--sources", "reference", *flags)
        assert done.code == 0, done.err
        assert "prompt (1 record; did you mean question?" in done.err
        assert "2 name a sentence that their response does not have" in done.err
        assert "1 repeat an earlier claim of their response" in done.err
        manifest = json.loads((tmp_path / "run=r/manifest.json").read_text())
        counted.append({step: manifest["counters"][step] for step in ("read", "extract")})
    assert counted[0] == counted[1]


def upstream(transforms: Any, made_by: dict[str, str], step: str, found: set[str]) -> None:
    for collection in transforms[step].inputs.values():
        maker = made_by.get(collection)
        if maker and maker not in found:
            found.add(maker)
            if transforms[maker].spec.urn not in GROUPED:
                upstream(transforms, made_by, maker, found)


def test_no_engine_can_fuse_a_source_with_what_comes_before_it(tmp_path: Path) -> None:
    """Else whoever reads a file would ask every source for all of its responses."""
    sources = tuple(SourceSpec(name, "reference") for name in ("one", "two", "three"))
    pipeline = beam.Pipeline(runner=FnApiRunner())
    splits = pipeline | beam.Create([Split("a", "a", 0, 1)]).with_output_types(Split)
    evaluate(splits, Job(sources, shards=2), str(tmp_path))
    transforms = pipeline.to_runner_api().components.transforms
    leaves = {key: step for key, step in transforms.items() if not step.subtransforms}
    made_by = {made: key for key, step in leaves.items() for made in step.outputs.values()}
    asked = [key for key, step in leaves.items() if "/ask/" in step.unique_name]
    assert len(asked) == 3
    for step in asked:
        before: set[str] = set()
        upstream(leaves, made_by, step, before)
        names = [leaves[key].unique_name for key in before]
        assert any(leaves[key].spec.urn in GROUPED for key in before), names
        assert not [name for name in names if name.startswith("extract") or "/ask/" in name]


def test_an_engine_without_counters_loses_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    class Silent:
        def metrics(self) -> None:
            raise ConnectionError("no service")

    assert engine_counters(Silent()) == {}
    assert "does not report its counters: ConnectionError: no service" in capsys.readouterr().err


def test_parts_that_lack_a_verdict_are_no_run() -> None:
    parts = [Part(table, "", 5) for table in ("fact_units", "verdicts")]
    job = job_of_text({"judge": "offline"}, ["reference"])
    check_complete(parts, job)
    with pytest.raises(RunError, match="the runner lost some"):
        check_complete([parts[0], replace(parts[1], rows=4)], job)
