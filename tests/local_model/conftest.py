"""A real small model behind llama.cpp's server: `scripts/local_model/setup` makes its environment,
.ci/run calls that."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parts import missing

ROOT = Path(__file__).parents[2]
CONTEXT = 4096
REPLY = 512
_VENV = Path(os.environ.get("UFO_LOCAL_MODEL_VENV", ROOT / ".venv-local-model"))
PYTHON = _VENV / "bin/python"


@pytest.fixture(scope="session")
def local_model() -> Iterator[str]:
    """Where the model is while the tests run."""
    if not PYTHON.exists():
        missing(f"there is no {PYTHON}: run scripts/local_model/setup")
    program = [str(PYTHON), str(ROOT / "scripts/local_model/serve.py"), "--port", "0"]
    # One thread: two would wait for each other while other tests use the cores.
    sizes = ["--context", str(CONTEXT), "--reply_tokens", str(REPLY), "--threads", "1"]
    with subprocess.Popen([*program, *sizes], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = server.stdout.readline().strip()
        try:
            assert url.startswith("http://127.0.0.1:"), "the server did not start"
            yield url
        finally:
            server.terminate()
