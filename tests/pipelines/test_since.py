"""A run by `--since`: what an earlier one has of equal responses is taken over."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.cities import CITIES, Scene
from tests.pipelines.conftest import ok

pytestmark = pytest.mark.slow


@pytest.fixture
def scene(tmp_path: Path, recording: str) -> Scene:
    scene = Scene(tmp_path, recording, waits="Paris")
    scene.gate.touch()
    return scene


CHANGES: dict[str, Mapping[str, Any]] = {
    "Oslo": {"response": "Oslo is a small city."},
    "Graz": {"label": 0.5, "model": "m"},
}


def test_only_new_and_changed_responses_are_evaluated(scene: Scene) -> None:
    scene.write([*CITIES, *(CHANGES.keys() - set(CITIES))])
    ok(*scene.arguments("--run", "monday"))
    scene.asked()
    # Rome is gone, Paris is new, and the order is another one.
    scene.write(["Paris", *CHANGES, "Perth", "Quito"], **CHANGES)
    done = ok(*scene.arguments("--run", "tuesday", "--since", "monday"))
    assert "2 responses reused from run monday" in done.err
    assert scene.asked() == {"Paris", *CHANGES}
    ok(*scene.arguments("--run", "whole"))
    assert scene.tables("tuesday") == scene.tables("whole")
    # Night after night under one name.
    scene.asked()
    scene.write(["Paris", *CHANGES, "Perth", "Quito", "Town"], **CHANGES)
    ok(*scene.arguments("--run", "tuesday", "--since", "tuesday"))
    assert scene.asked() == {"Town"}
    assert not list(scene.output.glob("run=tuesday/.attempt-*"))
