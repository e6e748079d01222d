"""Read the tables of names, phrases and rules beside the modules."""

from functools import cache
from importlib import resources
from typing import Any

import yaml


@cache
def table(name: str) -> Any:
    """Return the content of a YAML file of this folder; callers do not change it."""
    return yaml.safe_load(resources.files(__package__).joinpath(name).read_text("utf-8"))
