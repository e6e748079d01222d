"""scripts/run, with a `ufo` that only takes down what it is told."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tour_needs_no_key_and_no_model_where_one_is_set(tmp_path: Path) -> None:
    venv, log = tmp_path / "an environment", tmp_path / "told"
    (venv / "bin").mkdir(parents=True)
    ufo = venv / "bin/ufo"
    ufo.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\n')
    ufo.chmod(0o755)
    # What scripts/setup takes as installed already.
    summed = 'printf "%s %s" "$(cat setup.py constraints.txt | cksum)" "$PWD"'
    stamp = subprocess.run(["bash", "-c", summed], cwd=ROOT, capture_output=True, check=True)
    (venv / ".ufo-installed").write_bytes(stamp.stdout)
    environment = os.environ | {
        "UFO_VENV": str(venv),
        "UFO_RESULTS": str(tmp_path / "out"),
        "OPENAI_API_KEY": "set",
    }
    command = [str(ROOT / "scripts/run"), "--mode", "all"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    built, evaluated, reported = log.read_text().splitlines()
    assert built.startswith("index build ")
    assert "--judge offline --mode all" in evaluated
    assert reported == f"report {tmp_path}/out/examples"
    # The command that is shown can be pasted, whatever the folder is called.
    assert "an\\ environment/bin/ufo report" in done.stderr
