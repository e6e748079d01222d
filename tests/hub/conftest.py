"""An environment with torch: `scripts/hub/setup` makes it, .ci/run calls that."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.parts import missing

ROOT = Path(__file__).parents[2]
PYTHON = Path(os.environ.get("UFO_HUB_VENV", ROOT / ".venv-hub")) / "bin/python"


@pytest.fixture
def with_torch() -> Callable[..., str]:
    """Run the tests of files where torch is, and return what pytest says of them."""
    if not PYTHON.exists():
        missing(f"there is no {PYTHON}: run scripts/hub/setup")

    def run(*paths: Path) -> str:
        words = [str(PYTHON), "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, paths)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
        return done.stdout

    return run
