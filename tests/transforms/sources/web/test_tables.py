"""The YAML files beside the modules of the web source."""

from importlib import resources

import pytest

from ufo.transforms.sources import web
from ufo.transforms.sources.web.tables import table

FILES = [file.name for file in resources.files(web).iterdir() if file.name.endswith(".yaml")]


@pytest.mark.parametrize("name", FILES)
def test_a_table_is_read_once(name: str) -> None:
    assert table(name)
    assert table(name) is table(name)
