"""The open units of a response, made of its claims."""

from collections.abc import Callable

import pytest

from tests.transforms import scripted
from ufo.schemas.records import OpenUnits


@pytest.fixture(scope="session")
def opened() -> Callable[..., OpenUnits]:
    return scripted.opened
