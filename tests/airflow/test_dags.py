"""The DAGs in a real Airflow: parsed, serialised, and run to their ends."""

import json
import sys
from pathlib import Path

from tests.airflow.conftest import EXAMPLES, Airflow
from tests.llm_server import LlmServer

RESPONSES = EXAMPLES / "responses.jsonl"

# Kills the command as soon as its first chunk is finished, the first time.
KILLED_ONCE = """#!/usr/bin/env bash
if [ "$1" != evaluate ] || [ -e {folder}/was-killed ]; then exec {ufo} "$@"; fi
touch {folder}/was-killed
setsid {ufo} "$@" --chunk_size 10 --workers 1 & pid=$!
until ls {folder}/out/run=*/.attempt-*/chunks/*/done.json >{folder}/done 2>/dev/null; do
  kill -0 $pid || exit 90
done
kill -9 -- -$pid
exit 137
"""

# The first evaluation is lost once it has submitted its batches.
LOST_ONCE = """#!/usr/bin/env bash
if [ "$1" != evaluate ] || [ -e {folder}/was-lost ]; then exec {ufo} "$@"; fi
touch {folder}/was-lost
{ufo} "$@"
echo "ended with $?" >{folder}/was-lost
exit 137
"""


def test_they_are_parsed_and_survive_serialisation(airflow_beam: Airflow) -> None:
    report = airflow_beam(UFO_RUNNER="DataflowRunner")
    assert report["errors"] == {}
    tasks = {name: set(dag["tasks"]) for name, dag in report["dags"].items()}
    nightly = {"plan", "evaluate", "gate", "report", "publish"}
    assert tasks["ufo_nightly"] == tasks["ufo_batch"] == nightly
    assert tasks["ufo_beam"] == nightly | {"options", "run_on_beam"}
    assert report["dags"]["ufo_index"]["tasks"] == ["build", "switch"]
    assert report["dags"]["ufo_nightly"]["schedule"] == "0 2 * * *"


def test_two_nights_on_a_new_index(airflow: Airflow, tmp_path: Path) -> None:
    root, out = tmp_path / "indexes", tmp_path / "out"
    built = airflow("ufo_index", {"dump": EXAMPLES / "encyclopaedia.xml", "index_root": root})
    assert built["state"] == "success", built["log"][-3000:]
    assert (root / "current").is_symlink()

    responses = RESPONSES.read_text().splitlines()
    input_file = tmp_path / "in.jsonl"
    input_file.write_text("\n".join(responses[:30]))
    night = {"input": input_file, "output": out, "index_root": root, "fail_under": "0.5"}
    first = airflow("ufo_nightly", night)
    assert first["state"] == "success", first["log"][-3000:]
    assert set(first["tasks"].values()) == {"success"}
    (event,) = first["events"]
    assert event["asset"] == "ufo_runs"
    assert event["responses"] == 30
    assert event["cost_usd"] == 0
    assert event["score"] > 0.5

    input_file.write_text("\n".join(responses))
    second = airflow("ufo_nightly", night)
    (event,) = second["events"]
    assert event["responses"] == len(responses)
    assert f"30 responses reused from run {first['events'][0]['run']}" in second["log"]
    assert "factuality score" in second["log"], "the report"


def test_a_bad_night_does_not_pass_the_gate(airflow: Airflow, tmp_path: Path) -> None:
    input_file = tmp_path / "in.jsonl"
    text = "Mount Etna is in Sicily."
    true = json.dumps({"response": text, "reference_answers": [text]})
    silent = [json.dumps({"response": f"Hm, {n}?"}) for n in range(3)]
    input_file.write_text("\n".join([true, *silent, "not json"]))
    night = {
        "input": input_file,
        "output": tmp_path / "out",
        "fail_under": "0.99",
        "no_claim": "fail",
    }
    report = airflow("ufo_nightly", night)
    assert report["state"] == "failed"
    expected = {"evaluate": "success", "gate": "failed", "report": "success"}
    assert report["tasks"] == {"plan": "success", **expected, "publish": "upstream_failed"}
    assert report["tries"]["gate"] == 1, "no retry makes it better"
    assert "the score is 0.25, below 0.99" in report["log"]
    assert "1 failures are a share of 0.200, above 0.05" in report["log"]
    assert report["events"] == []


def test_a_killed_attempt_is_gone_on_with(airflow: Airflow, tmp_path: Path) -> None:
    ufo = tmp_path / "ufo"
    real = Path(sys.executable).parent / "ufo"
    ufo.write_text(KILLED_ONCE.format(folder=tmp_path, ufo=real))
    ufo.chmod(0o755)
    config = tmp_path / "ufo.yaml"
    config.write_text("sources: [reference]\nchunk_size: 10\nworkers: 1\n")
    night = {"input": RESPONSES, "output": tmp_path / "out", "config": config}
    report = airflow("ufo_nightly", night, UFO_BIN=str(ufo))
    assert report["state"] == "success", report["log"][-3000:]
    assert report["tries"]["evaluate"] == 2
    kept = (tmp_path / "done").read_text()
    (path,) = (tmp_path / "out").glob("run=*/manifest.json")
    manifest = json.loads(path.read_text())
    assert f".attempt-{manifest['attempt']}/" in kept, "the attempt that was killed was completed"
    assert manifest["counts"]["responses"] == 38


def test_a_night_by_batches_looks_until_all_are_done(airflow: Airflow, tmp_path: Path) -> None:
    ufo = tmp_path / "ufo"
    ufo.write_text(LOST_ONCE.format(folder=tmp_path, ufo=Path(sys.executable).parent / "ufo"))
    ufo.chmod(0o755)
    config = tmp_path / "ufo.yaml"
    with LlmServer() as server:
        server.batches.polls = 2
        config.write_text(
            "sources: [reference]\njudge: llm\nmodel: offline-judge\n"
            f"base_url: {server.base_url}\ncache: {tmp_path}/cache.sqlite\n"
        )
        night = {"input": RESPONSES, "output": tmp_path / "out", "config": config}
        variables = {"UFO_BIN": str(ufo), "UFO_BATCH_SECONDS": "0", "OPENAI_API_KEY": server.key}
        report = airflow("ufo_batch", night, **variables)
    assert report["state"] == "success", report["log"][-3000:]
    assert set(report["tasks"].values()) == {"success"}
    assert (tmp_path / "was-lost").read_text() == "ended with 5\n"
    assert report["tries"]["evaluate"] == 2, "the one that was lost, and one of several looks"
    assert report["rescheduled"]["evaluate"] >= 2
    assert server.batches.sent > 0
    assert server.batches.repeated() == []
    (event,) = report["events"]
    assert event["responses"] == 38
    assert event["failures"] == 0
