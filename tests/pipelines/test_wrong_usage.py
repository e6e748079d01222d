"""Wrong usage is exit code 2 with a message, and nothing is written: wrong_usage.yaml."""

import shlex
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml

from tests.conftest import rows_of, write_run
from tests.pipelines import other_judges
from tests.pipelines.conftest import ufo
from tests.pipelines.llm_runs import EXAMPLE
from tests.transforms.judges.stated import STATED

CASES = yaml.safe_load(Path(__file__).with_name("wrong_usage.yaml").read_text(encoding="utf-8"))
PLACES = "--input gs://b/in.jsonl --output gs://b/out/"
JOB = "--project=p --region=r --temp_location=gs://b/t --sdk_container_image=registry/ufo:1"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("eve", "day"):
        rows = rows_of({"a": {"u": {"ref": "s", "wiki": "r"}}}, mode="all")
        write_run(folder, rows, name, mode="all", finished_at=f"2025-01-0{len(name)}T00:00:00Z")
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.get("run") or case["config"])
def test_what_is_wrong_is_said_and_nothing_is_written(
    tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch, case: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UFO_CACHE")
    record = '{"response": "Etna is in Sicily.", "reference_answers": "Etna is in Sicily."}\n'
    (tmp_path / "good.jsonl").write_text(record)
    (tmp_path / "ufo.yaml").write_text(case.get("config", ""))
    names = {"RUNS": runs, "JUDGES": other_judges.__file__, "DEAD": "http://127.0.0.1:9/v1"}
    names |= {"STATED": STATED.partition(":")[0], "PLACES": PLACES}
    names |= {"DATAFLOW": f"{PLACES} --runner=DataflowRunner {JOB}"}
    line = Template(case.get("run", "evaluate --config ufo.yaml")).substitute(names)
    command, *words = shlex.split(line)
    if command in ("evaluate", "recall"):
        given = EXAMPLE if command == "recall" else "good.jsonl"
        ours = {"--input": given, "--output": "out"}
        missing = [] if len(words) == 2 and words[0] in ours else ours.keys() - set(words)
        words = [*(word for name in sorted(missing) for word in (name, str(ours[name]))), *words]
    done = ufo(command, *words)
    assert (done.code, done.out) == (2, ""), done
    assert [said for said in case["says"] if said not in done.err] == [], done.err
    assert "ufo: " in done.err
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) <= 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.jsonl", "ufo.yaml"]
