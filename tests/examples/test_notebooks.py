"""The notebooks of the examples run from top to bottom, each in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples/notebooks").glob("*.ipynb"))


def cells(notebook: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


def test_there_are_notebooks_and_they_hold_no_output() -> None:
    assert len(NOTEBOOKS) == 4
    assert [cell["outputs"] for one in NOTEBOOKS for cell in cells(one) if cell["outputs"]] == []


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_run_in_order(notebook: Path, tmp_path: Path) -> None:
    code = "\n\n".join("".join(cell["source"]) for cell in cells(notebook))
    script = tmp_path / "notebook.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
