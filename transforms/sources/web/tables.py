"""Read the YAML tables of this folder."""

from functools import cache
from importlib import resources
from typing import Any

import yaml


@cache
def table(name: str) -> Any:
    """Return the content of a YAML file of this folder, which callers must not change."""
    return yaml.safe_load(resources.files(__package__).joinpath(name).read_text("utf-8"))
