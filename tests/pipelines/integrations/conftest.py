"""The environment in which Inspect and DeepEval are, and what scripts that run there print."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.parts import missing

ROOT = Path(__file__).parents[3]
PYTHON = Path(os.environ.get("UFO_TOOLS_VENV", ROOT / ".venv-tools")) / "bin/python"
SILENT = "Hm, what do you think?"
# Nothing is sent, asked or looked for elsewhere.
ALONE = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "CONFIDENT_OPEN_BROWSER": "0",
    "PYTHONPATH": str(ROOT),
    "NO_COLOR": "1",
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"),
}


@pytest.fixture(scope="session")
def with_tools(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """A function that runs a script of this folder with these tools, and returns the JSON of the
    last line that it prints."""
    if not PYTHON.exists():
        missing(f"there is no {PYTHON}: run scripts/tools/setup")

    def run(script: str) -> Any:
        folder = tmp_path_factory.mktemp("tool")
        keys = ("OPENAI", "SERPER", "BRAVE", "CONFIDENT")
        plain = {name: value for name, value in os.environ.items() if not name.startswith(keys)}
        done = subprocess.run(
            [PYTHON, Path(__file__).with_name(script)],
            cwd=folder,
            env={**plain, **ALONE, "HOME": str(folder)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run
