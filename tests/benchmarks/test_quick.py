"""Every script of benchmarks/ runs in the `dev` environment, or says in one line what it needs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHROMIUM
from tests.llm_server import LlmServer
from tests.parts import missing

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks"
SCRIPTS = sorted(
    path.relative_to(FOLDER).as_posix()
    for path in FOLDER.rglob("*.py")
    if "__main__" in path.read_text()
)
READS = {  # --data DIR
    "speed/index.py",
    "training/overlap.py",
    "accuracy/claims.py",
    "accuracy/evidence.py",
    "accuracy/main_text.py",
    "accuracy/judge.py",
    "accuracy/templates.py",
}
ASKS = {"accuracy/injection.py", "accuracy/models.py"}  # a model: --base_url, --model
NO_JSON = {"training/overlap.py"}  # it prints a module
NEEDS = {"training/train.py": "train.py needs torch: see docs/verifiers.md\n"}


def words(script: str, data: Path, server: LlmServer) -> list[str]:
    """Return what a person would type behind the script's name."""
    arguments = ["--quick"]
    if script in READS:
        arguments += ["--data", str(data)]
    if script in ASKS:
        arguments += ["--base_url", server.base_url, "--model", "offline-judge"]
    if script == "compare_commits.py":
        arguments += ["HEAD", "HEAD"]
    return arguments


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_runs_or_says_what_it_needs(script: str, data: Path) -> None:
    if script == "speed/page.py" and not any(map(shutil.which, CHROMIUM)):
        missing("no Chromium on PATH; on Debian and Ubuntu: apt-get install chromium")
    with LlmServer(keys=None) as server:
        done = subprocess.run(
            [sys.executable, f"benchmarks/{script}", *words(script, data, server)],
            cwd=ROOT,
            env=os.environ | {"OPENAI_API_KEY": server.key},
            capture_output=True,
            text=True,
        )
    if script in NEEDS:
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr == NEEDS[script]
        return
    assert done.returncode == 0, done.stderr
    if script not in NO_JSON:
        assert json.loads(done.stdout[done.stdout.index("{") :].splitlines()[-1])
