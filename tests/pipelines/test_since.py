"""Runs that are there already: replaced, left, errors asked again, or taken over by `--since`."""

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.cities import CITIES, Scene, end
from tests.pipelines.conftest import ends, ok

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


def test_a_killed_run_goes_on_only_from_the_same_run(scene: Scene) -> None:
    ok(*scene.arguments("--run", "one"))
    scene.asked()
    scene.write([*CITIES, "Vienna", "Paris"])
    scene.gate.unlink()
    end(scene.start("--run", "two", "--since", "one"), signal.SIGKILL)
    scene.gate.touch()
    assert 'reused_from: "one@' in ends(2, *scene.arguments("--run", "two")).err
    scene.asked()
    ok(*scene.arguments("--run", "two", "--since", "one"))
    assert scene.asked() <= {"Vienna", "Paris"}
    ok(*scene.arguments("--run", "whole"))
    assert scene.tables("two") == scene.tables("whole")


# --- --if_finished


def test_what_had_errors_is_evaluated_again_and_the_rest_is_kept(scene: Scene) -> None:
    ok(*scene.arguments())
    expected = scene.tables()
    scene.down.touch()
    ok(*scene.arguments())
    failed = scene.tables()
    assert ("source:mine", "OSError") in {(row[0], row[2]) for row in failed["failures"]}
    assert "error" in {row[7] for row in failed["evidence"]}
    scene.asked()
    # Still down: the error is asked for again, and recorded again.
    retry = scene.arguments("--if_finished", "retry_errors")
    assert "5 responses kept, 1 with errors" in ok(*retry).err
    assert scene.asked() == {"Oslo"}
    assert scene.tables() == failed
    scene.down.unlink()
    ok(*scene.arguments("--run", "later", "--since", "r"))
    assert scene.asked() == {"Oslo"}
    assert scene.tables("later") == expected
    for asked in ({"Oslo"}, set()):
        ok(*retry)
        assert scene.asked() == asked
        assert scene.tables("r") == expected
