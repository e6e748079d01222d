"""A real Airflow in its own environment: `scripts/airflow/setup` makes that, .ci/run calls it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.parts import missing

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
Airflow = Callable[..., Any]
PYTHON = Path(os.environ.get("UFO_AIRFLOW_VENV", ROOT / ".venv-airflow")) / "bin/python"
REMEDY = f"Airflow is not installed in {PYTHON.parents[1]}: run scripts/airflow/setup"


@pytest.fixture(scope="session")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Airflow:
    """Run `run_dag.py` with a DAG, its settings and variables; returns what it printed last."""
    if not PYTHON.exists():
        missing(REMEDY)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("UFO_")},
        "AIRFLOW_HOME": str(tmp_path_factory.mktemp("airflow")),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "scripts/airflow"),
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "UFO_BIN": str(Path(sys.executable).parent / "ufo"),
        "UFO_RETRY_SECONDS": "0",
    }
    database = [str(PYTHON), "-m", "airflow", "db", "migrate"]
    process = subprocess.run(database, env=environment, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[-2000:]

    def run(dag: str = "", settings: Any = None, **variables: str) -> Any:
        words = [dag, json.dumps(settings, default=str)] if dag else []
        program = [str(PYTHON), str(Path(__file__).parent / "run_dag.py"), *words]
        done = subprocess.run(
            program, env={**environment, **variables}, capture_output=True, text=True
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
        report = json.loads(done.stdout.splitlines()[-1])
        return {**report, "log": done.stdout + done.stderr}

    return run


@pytest.fixture
def airflow_beam(airflow: Airflow) -> Airflow:
    """The same where Airflow finds its Beam operator and what that imports, too."""
    folder = PYTHON.parents[1] / "beam"
    assert folder.is_dir(), REMEDY

    return partial(airflow, UFO_AIRFLOW_PATH=str(folder))
