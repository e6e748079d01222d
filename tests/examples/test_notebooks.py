"""The notebooks of the examples run in a real kernel, and are stored with what they show."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples/notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 4


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    stored = nbformat.read(path, as_version=4)
    notebook = nbformat.from_dict(stored)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
        record_timing=False,
        coalesce_streams=True,
    )
    client.execute()
    notebook.metadata = stored.metadata  # without the version of this Python
    if pytestconfig.getoption("--write-notebooks"):
        nbformat.write(notebook, path)
        return
    assert shown(notebook) == shown(stored), "see --write-notebooks in CONTRIBUTING.md"


def shown(notebook: Any) -> list[list[Mapping[str, Any]]]:
    """Return the outputs of each cell; of a picture, which is drawn a little differently with
    another font, only that it is there."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for output in (output for cell in cells for output in cell.outputs):
        if "image/png" in output.get("data", {}):
            output.data["image/png"] = "…"
    return [cell.outputs for cell in cells]
