"""Models by transformers and sentence-transformers, in the environment that has torch.

`scripts/hub/setup` makes it, .ci/run calls that.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.parts import missing

ROOT = Path(__file__).parents[2]
PYTHON = Path(os.environ.get("UFO_HUB_VENV", ROOT / ".venv-hub")) / "bin/python"


@pytest.fixture
def with_torch() -> Path:
    """The Python where torch is."""
    if not PYTHON.exists():
        missing(f"there is no {PYTHON}: run scripts/hub/setup")
    return PYTHON


def test_models_of_each_architecture_and_an_embedder(with_torch: Path) -> None:
    models = str(Path(__file__).with_name("models.py"))
    words = [str(with_torch), "-m", "pytest", "-q", "-p", "no:cacheprovider", models]
    # With pandas, which the embedders' package imports where `datasets` is installed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
    assert "passed" in done.stdout
