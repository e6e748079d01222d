"""Tables of inputs and of what comes of them."""

from pathlib import Path
from typing import Any

import yaml


def tables(name: str) -> dict[str, Any]:
    """Return the tables of a file of this folder by their names."""
    text = (Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8")
    cases: dict[str, Any] = yaml.safe_load(text)
    return cases
