"""The DAG with Airflow's own Beam operator, in a real Airflow and on a real Flink."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.airflow.conftest import EXAMPLES, Airflow

BIN = Path(sys.executable).parent

# Python of ufo's environment, but the first evaluation is killed once its job runs on the engine.
KILLED_ONCE = """#!{bin}/python
import glob, json, os, signal, subprocess, sys, time, urllib.request

python, killed = "{bin}/python", "{folder}/was-killed"
if sys.argv[1:3] != ["-m", "ufo.pipelines.evaluate"] or os.path.exists(killed):
    os.execv(python, [python, *sys.argv[1:]])
process = subprocess.Popen([python, *sys.argv[1:]], start_new_session=True)
jobs = []
while not any(job["name"].startswith("ufo-") and job["state"] == "RUNNING" for job in jobs):
    if process.poll() is not None:
        sys.exit(90)
    time.sleep(0.05)
    with urllib.request.urlopen("{url}/jobs/overview") as reply:
        jobs = json.load(reply)["jobs"]
with open(killed, "w") as kept:
    kept.write(str(glob.glob("{folder}/out/run=*/.attempt-*/")))
os.killpg(process.pid, signal.SIGKILL)
sys.exit(137)
"""


def test_a_night_on_flink_whose_first_attempt_is_killed(
    cluster: Any, airflow_beam: Airflow, tmp_path: Path
) -> None:
    python, ufo = tmp_path / "python", tmp_path / "ufo"
    python.write_text(KILLED_ONCE.format(folder=tmp_path, bin=BIN, url=cluster.url))
    python.chmod(0o755)
    ufo.symlink_to(BIN / "ufo")
    config = tmp_path / "ufo.yaml"
    config.write_text("sources: [reference]\n")
    flags = (flag.removeprefix("--").split("=", 1) for flag in cluster.flags)
    options = {name: value for name, value in flags if name != "runner"}
    night = {"input": EXAMPLES / "responses.jsonl", "output": tmp_path / "out", "config": config}
    on_flink = {"UFO_RUNNER": "FlinkRunner", "UFO_BEAM_OPTIONS": json.dumps(options)}
    report = airflow_beam("ufo_beam", night, UFO_BIN=str(ufo), **on_flink)
    assert report["state"] == "success", report["log"][-3000:]
    assert report["tries"]["run_on_beam"] == 2
    assert "Submitted the job ufo-nightly-" in report["log"]
    (event,) = report["events"]
    assert event["asset"] == "ufo_runs"
    assert event["responses"] == 38
    assert "factuality score" in report["log"], "the report"
    kept = (tmp_path / "was-killed").read_text()
    (path,) = (tmp_path / "out").glob("run=*/manifest.json")
    manifest = json.loads(path.read_text())
    assert f".attempt-{manifest['attempt']}/" in kept, "the attempt was completed"
    jobs = [job for job in cluster.get("jobs/overview")["jobs"] if "ufo-nightly" in job["name"]]
    jobs.sort(key=lambda job: job["start-time"])
    assert jobs[-1]["state"] == "FINISHED"
    assert all(job["state"] != "RUNNING" for job in jobs), "what was killed goes on for nobody"
