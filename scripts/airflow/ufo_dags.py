"""Airflow 3 DAGs: a nightly evaluation, by batches or on Beam too, and a weekly index refresh.

    ufo_nightly   plan → evaluate → gate → report → publish.
    ufo_batch     The same by the batches of models' providers: about half the price, but later.
    ufo_beam      The same, evaluated on Flink or Dataflow by Airflow's Beam operator.
    ufo_index     build → switch.

Put this file into Airflow's folder of DAGs. Airflow needs no package of ufo. `ufo` has a separate
virtual environment (`scripts/setup` makes one) on the machine of Airflow's worker.

A setting is a parameter of the DAG run, else the Airflow Variable `ufo_NAME`, else the environment
variable `UFO_NAME` of the DAG processor. Only the first two can change between runs.

    input              Responses: a file or a pattern. Needed by ufo_nightly.
    output             The folder of all runs. Needed by ufo_nightly.
    config             YAML with any flag of `ufo evaluate`: sources, models, limits.
    index_root         Folder of the weekly indexes; `current` in it is the one in use.
    dump               The input of the index. Needed by ufo_index.
    fail_under         Lowest score to pass the gate (default 0: any).
    no_claim           What a response without a claim means for that gate, as in `ufo evaluate`:
                       left_out (default), pass or fail.
    max_failure_rate   Highest share of failures to pass the gate (default 0.05).
    full               true: evaluate everything, not only new responses (default false).

These are read from the environment only, since they change the DAGs themselves:

    UFO_BIN            The command (default: .venv/bin/ufo beside this project's scripts/).
    UFO_NIGHTLY_SCHEDULE, UFO_INDEX_SCHEDULE
                       cron, default 02:00 each day and 00:00 on Sundays.
    UFO_RETRIES, UFO_RETRY_SECONDS
                       Of a task, default 3 and 300.
    UFO_BATCH_SECONDS, UFO_BATCH_HOURS
                       Between two checks of ufo_batch, and until its task fails;
                       default 300 and 48.
    UFO_RUNNER         FlinkRunner or DataflowRunner: creates ufo_beam. Needs the packages
                       apache-airflow-providers-apache-beam and -google (the operator imports it).
    UFO_BEAM_OPTIONS   JSON object of that runner's options, and of any other of `ufo evaluate`.

Keys of models and search engines are read from the environment of Airflow's worker; no setting has
them. A retried task resumes its run: Airflow stores the planned name of the run and its index.
After an index refresh the first night evaluates everything, since the results of two indexes must
not be mixed.

ufo_nightly and ufo_batch write the same runs and resume each other's, so unpause only one of them.
ufo_batch notes its open batches beside the cache, so every check needs the same cache. If the
workers are several machines, name a .sqlite file on a shared disk (`cache` in the YAML).
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import (
    Asset,
    BaseSensorOperator,
    Metadata,
    Param,
    PokeReturnValue,
    TriggerRule,
    dag,
    task,
)
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

BIN = os.environ.get("UFO_BIN") or str(Path(__file__).resolve().parents[2] / ".venv/bin/ufo")
RUNNER = os.environ.get("UFO_RUNNER", "")
RUNS = Asset("ufo_runs")
INDEX = Asset("ufo_index")
CURRENT = "current"
UNDER_WAY = 5  # the exit code of `ufo evaluate --batch_wait 0` that has batches to wait for
INDEXES_KEPT = 3  # a run that began before the switch may still read the one before

TASK = {
    "retries": int(os.environ.get("UFO_RETRIES", "3")),
    "retry_delay": timedelta(seconds=float(os.environ.get("UFO_RETRY_SECONDS", "300"))),
}
COMMON = {
    "start_date": datetime(2025, 1, 1, tzinfo=UTC),
    "catchup": False,
    "max_active_runs": 1,  # each night builds on the one before
    "default_args": TASK,
    "tags": ["ufo"],
    "doc_md": __doc__,
}


def setting(name: str, default: str = "") -> str:
    """Return the template of a setting; Airflow fills it in when a task runs."""
    value = json.dumps(os.environ.get(f"UFO_{name.upper()}", default))
    return f"{{{{ params.get('{name}') or var.value.get('ufo_{name}', '') or {value} }}}}"


def parameters(*names: str) -> dict[str, Param]:
    """Declare settings as parameters of a DAG, without values."""
    return {name: Param(None, type=["null", "string", "number", "boolean"]) for name in names}


@task
def plan(output: str, index_root: str, full: str, night: str) -> dict[str, str]:
    """Return the name of the run, its index, and the finished run that is reused ("": none)."""
    if not output:
        raise AirflowFailException("the setting 'output' is missing; see the text of the DAG")
    index = os.path.realpath(os.path.join(index_root, CURRENT)) if index_root else ""
    version = f"{Path(index).name}-" if index else ""
    prefix = f"nightly-{version}"
    run = prefix + "".join(letter if letter.isalnum() else "-" for letter in night)
    completed = subprocess.run([BIN, "status", output, "--json"], capture_output=True, text=True)
    runs = (
        json.loads(completed.stdout) if completed.returncode == 0 else []
    )  # the first night has no folder
    finished = [
        status["run"]
        for status in runs
        if status["state"] == "finished"
        and status["run"].startswith(prefix)
        and status["run"] != run
    ]
    again = full.lower() == "true"
    return {"run": run, "since": finished[-1] if finished and not again else "", "index": index}


# The result is the last line of stdout; other output goes to the log of the task.
EVALUATE = """
set -euo pipefail
: "${UFO_INPUT:?the setting 'input' is missing; see the text of the DAG}"
flags=(--input "$UFO_INPUT" --output "$UFO_OUTPUT" --run "$RUN" --if_finished skip)
[ -z "$UFO_CONFIG" ] || flags+=(--config "$UFO_CONFIG")
[ -z "$SINCE" ] || flags+=(--since "$SINCE")
[ -z "$INDEX" ] || flags+=(--index "$INDEX")
"$UFO_BIN" evaluate "${flags[@]}" $MORE --log_format json --json | tail -n 1
"""


@task(retries=0)
def gate(summary: dict[str, Any], fail_under: str, no_claim: str, max_failure_rate: str) -> None:
    """Fail if the score is too low, or if too much could not be evaluated."""
    score, failures = summary["factuality_score"], summary["failures"]
    scored, silent = summary["n_scored"], summary["n_without_claim"] - summary["n_not_extracted"]
    counts_as = {"left_out": None, "pass": 1, "fail": 0}[no_claim]
    if counts_as is not None and silent:
        score = ((score or 0) * scored + counts_as * silent) / (scored + silent)
    rate = failures / max(1, failures + summary["responses"])
    wrong = []
    if float(fail_under) > 0 and (score is None or score < float(fail_under)):
        wrong.append(f"the score is {score}, below {fail_under}")
    if rate > float(max_failure_rate):
        wrong.append(f"{failures} failures are a share of {rate:.3f}, above {max_failure_rate}")
    if wrong:
        raise AirflowFailException(f"run {summary['run']}: {'; '.join(wrong)}")


@task(trigger_rule=TriggerRule.ALL_DONE)
def report(summary: dict[str, Any] | None, output: str) -> str:
    """Print and return the report of the night, even if the gate stopped it."""
    if not summary:
        raise AirflowSkipException("nothing was evaluated; see the log of the task 'evaluate'")
    completed = subprocess.run(
        [BIN, "report", output, "--run", summary["run"]], capture_output=True, text=True
    )
    if completed.returncode:
        raise RuntimeError(completed.stderr)
    print(completed.stdout)
    return completed.stdout


@task(outlets=[RUNS])
def publish(summary: dict[str, Any]) -> Iterator[Metadata]:
    """Attach the run, its score and its cost to the asset event."""
    extra = {
        "run": summary["run"],
        "score": summary["factuality_score"],
        "coverage": summary["coverage"],
        "responses": summary["responses"],
        "failures": summary["failures"],
        "cost_usd": summary["cost_usd"],
    }
    yield Metadata(RUNS, extra=extra)


def planned() -> Any:
    """Return the first task of a night."""
    root = setting("index_root")
    return plan(setting("output"), root, setting("full", "false"), "{{ run_id }}")


def evaluation(first: Any, kind: Any = BashOperator, flags: str = "", **more: Any) -> Any:
    """Return the task that evaluates the planned run, with the output of `ufo evaluate --json`."""
    return kind(
        task_id="evaluate",
        bash_command=EVALUATE,
        env={
            "UFO_BIN": BIN,
            "UFO_INPUT": setting("input"),
            "UFO_OUTPUT": setting("output"),
            "UFO_CONFIG": setting("config"),
            "RUN": first["run"],
            "SINCE": first["since"],
            "INDEX": first["index"],
            "MORE": flags,
        },
        append_env=True,
        output_processor=json.loads,
        **more,
    )


def judged(summary: Any, evaluated: Any) -> None:
    """Return the tasks after an evaluation: gate → report → publish."""
    passed = gate(
        summary,
        setting("fail_under", "0"),
        setting("no_claim", "left_out"),
        setting("max_failure_rate", "0.05"),
    )
    published = publish(summary)
    evaluated >> passed >> report(summary, setting("output")) >> published
    passed >> published


NIGHTLY = (
    "input",
    "output",
    "config",
    "index_root",
    "fail_under",
    "no_claim",
    "max_failure_rate",
    "full",
)


@dag(
    schedule=os.environ.get("UFO_NIGHTLY_SCHEDULE", "0 2 * * *"),
    params=parameters(*NIGHTLY),
    **COMMON,
)
def ufo_nightly() -> None:
    """Evaluate new responses on Airflow's worker."""
    evaluate = evaluation(planned())
    judged(evaluate.output, evaluate)


ufo_nightly()


class BashResultSensor(BaseSensorOperator, BashOperator):
    """Run a command again while it ends with `skip_on_exit_code`; the last output is its result."""

    def poke(self, context: Any) -> PokeReturnValue:
        """Run the command once."""
        try:
            return PokeReturnValue(True, BashOperator.execute(self, context))
        except AirflowSkipException:
            return PokeReturnValue(False)


@dag(
    schedule=os.environ.get("UFO_NIGHTLY_SCHEDULE", "0 2 * * *"),
    params=parameters(*NIGHTLY),
    is_paused_upon_creation=True,  # it writes the same runs as ufo_nightly
    **COMMON,
)
def ufo_batch() -> None:
    """Evaluate new responses by batches of the models' providers."""
    evaluate = evaluation(
        planned(),
        BashResultSensor,
        # Each check collects finished batches and submits the next ones; between checks no slot is
        # used.
        flags="--batch --batch_wait 0",
        skip_on_exit_code=UNDER_WAY,
        mode="reschedule",
        poke_interval=float(os.environ.get("UFO_BATCH_SECONDS", "300")),
        timeout=timedelta(hours=float(os.environ.get("UFO_BATCH_HOURS", "48"))),
    )
    judged(evaluate.output, evaluate)


ufo_batch()


BUILD = """
set -euo pipefail
: "${UFO_DUMP:?the setting 'dump' is missing; see the text of the DAG}"
: "${UFO_INDEX_ROOT:?the setting 'index_root' is missing; see the text of the DAG}"
target="$UFO_INDEX_ROOT/index-$(printf %s "$RUN_ID" | tr -c 'A-Za-z0-9' '-')"
"$UFO_BIN" index info "$target" >/dev/null 2>&1 ||
  "$UFO_BIN" index build --input "$UFO_DUMP" --output "$target"
echo "$target"
"""


@task(outlets=[INDEX])
def switch(built: str) -> Iterator[Metadata]:
    """Point `current` at the new index, atomically; delete the oldest index."""
    completed = subprocess.run([BIN, "index", "info", built], capture_output=True, text=True)
    if completed.returncode:
        raise RuntimeError(completed.stderr)
    folder = Path(built)
    link = folder.parent / f".{CURRENT}.new"
    link.unlink(missing_ok=True)
    link.symlink_to(folder.name)
    link.replace(folder.parent / CURRENT)
    age = {path: path.stat().st_mtime for path in folder.parent.glob("index-*") if path != folder}
    for old in sorted(age, key=age.__getitem__, reverse=True)[INDEXES_KEPT - 1 :]:
        shutil.rmtree(old)
    yield Metadata(INDEX, extra={"index": built})


@dag(
    schedule=os.environ.get("UFO_INDEX_SCHEDULE", "0 0 * * 0"),
    params=parameters("dump", "index_root"),
    **COMMON,
)
def ufo_index() -> None:
    """Build a new index, and switch to it once it is whole."""
    build = BashOperator(
        task_id="build",
        bash_command=BUILD,
        env={
            "UFO_BIN": BIN,
            "UFO_DUMP": setting("dump"),
            "UFO_INDEX_ROOT": setting("index_root"),
            "RUN_ID": "{{ run_id }}",
        },
        append_env=True,
    )
    switch(build.output)


ufo_index()


if RUNNER:
    from airflow.providers.apache.beam.operators.beam import BeamRunPythonPipelineOperator

    @task
    def options(first: dict[str, str], input: str, output: str, config: str) -> dict[str, Any]:
        """Return the flags of the planned run; one without a value is left out."""
        if not input:
            raise AirflowFailException("the setting 'input' is missing; see the text of the DAG")
        flags = {"input": input, "output": output, "config": config, "if_finished": "skip", **first}
        beam_options = json.loads(os.environ.get("UFO_BEAM_OPTIONS", "{}"))
        return {**{name: value for name, value in flags.items() if value}, **beam_options}

    @dag(
        schedule=os.environ.get("UFO_NIGHTLY_SCHEDULE", "0 2 * * *"),
        params=parameters(*NIGHTLY),
        **COMMON,
    )
    def ufo_beam() -> None:
        """Evaluate new responses on a Beam runner; then read the finished run."""
        first = planned()
        work = BeamRunPythonPipelineOperator(
            task_id="run_on_beam",
            runner=RUNNER,
            py_file="ufo.pipelines.evaluate",
            py_options=["-m"],
            py_interpreter=str(Path(BIN).parent / "python"),
            pipeline_options=options(first, setting("input"), setting("output"), setting("config")),
            # A trigger would run the command without the keys of Airflow's worker.
            deferrable=False,
        )
        # The same command leaves a finished run as it is, and prints its summary.
        summary = evaluation(first)
        work >> summary
        judged(summary.output, summary)

    ufo_beam()
