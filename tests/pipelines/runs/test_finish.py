"""A run that the graph's last step finishes, as nobody waits; also where that step runs again."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines import graph
from ufo.pipelines.runs import finish
from ufo.pipelines.runs.finish import FinishSpec
from ufo.schemas import storage
from ufo.schemas.errors import RunError
from ufo.schemas.records import Part
from ufo.transforms.beam.files import written_parts

ENGINE = ("--runner=FnApiRunner", "--no_wait_until_finish")


@pytest.fixture
def flags(responses: Path, index: Path) -> tuple[object, ...]:
    sources = ("--sources", "reference,wikipedia", "--index", index)
    return ("evaluate", "--input", responses, "--judge", "offline", "--run", "r", *sources)


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[FinishSpec]:
    """Has the last step left out; gives what it would have been told."""
    found: list[FinishSpec] = []

    def keep(parts: Any, ending: FinishSpec) -> None:
        found.append(pickle.loads(pickle.dumps(ending)))

    monkeypatch.setattr(graph, "finish_in_graph", keep)
    return found


def parts_of(output: Path) -> list[Part]:
    (folder,) = output.glob("run=r/.attempt-*/chunks/portable/*/")
    return written_parts(str(folder))


def test_the_graph_finishes_the_run_where_nobody_waits(
    ufo: Any, tables: Callable[..., Any], flags: tuple[object, ...], tmp_path: Path
) -> None:
    assert ufo(*flags, "--output", tmp_path / "here").code == 0
    done = ufo(*flags, "--output", tmp_path / "there", *ENGINE, "--json")
    assert done.code == 0, done.err
    folder = tmp_path / "there" / "run=r"
    assert done.json == {"run": "r", "path": str(folder), "submitted": True}
    assert tables(tmp_path / "there") == tables(tmp_path / "here")
    found, want = (
        json.loads((tmp_path / place / "run=r/manifest.json").read_text())
        for place in ("there", "here")
    )
    assert found["fingerprint"] == want["fingerprint"]
    assert found["counts"] == want["counts"]
    assert found["counters"] == {}
    assert not list(folder.glob(".*"))
    assert ufo("report", tmp_path / "there", "scores").code == 0


def test_what_is_taken_over_from_another_run_is_finished_with_it(
    ufo: Any, tables: Callable[..., Any], flags: tuple[object, ...], tmp_path: Path
) -> None:
    output = ("--output", tmp_path)
    assert ufo(*flags, *output).code == 0
    again = (*flags, "--run", "s", "--since", "r")
    assert ufo(*again, *output, *ENGINE).code == 0
    old, new = tables(tmp_path, "r"), tables(tmp_path, "s")
    assert new["verdicts"] == old["verdicts"]
    assert new["evidence"] == old["evidence"]


@pytest.mark.parametrize("stopped", ["never", "at the manifest", "before the sweep"])
def test_finishing_again_changes_nothing(
    ufo: Any,
    tables: Callable[..., Any],
    flags: tuple[object, ...],
    ended: list[FinishSpec],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stopped: str,
) -> None:
    assert ufo(*flags, "--output", tmp_path / "here").code == 0
    assert ufo(*flags, "--output", tmp_path / "there", *ENGINE).code == 0
    (ending,) = ended
    parts = parts_of(tmp_path / "there")
    places = {
        "at the manifest": (storage, "write"),
        "before the sweep": (finish, "sweep"),
    }
    if stopped in places:
        with monkeypatch.context() as patched:
            patched.setattr(*places[stopped], _fails)
            with pytest.raises(OSError, match="the machine is lost"):
                ending.finish(parts)
    first = ending.finish(parts)
    assert ending.finish(reversed(parts)) == first
    assert tables(tmp_path / "there") == tables(tmp_path / "here")
    assert not list((tmp_path / "there" / "run=r").glob(".*"))


def _fails(*arguments: Any, **more: Any) -> None:
    raise OSError("the machine is lost")


def test_parts_that_are_not_whole_are_no_run(
    ufo: Any, flags: tuple[object, ...], ended: list[FinishSpec], tmp_path: Path
) -> None:
    assert ufo(*flags, "--output", tmp_path, *ENGINE).code == 0
    (ending,) = ended
    parts = [part for part in parts_of(tmp_path) if part.table != "verdicts"]
    with pytest.raises(RunError, match="the runner lost some"):
        ending.finish(parts)
    assert not (tmp_path / "run=r/manifest.json").exists()
    (status,) = ufo("status", tmp_path, "--json").json
    assert (status["state"], "FnApiRunner has it" in status["next"]) == ("elsewhere", True)


@pytest.mark.parametrize(
    "more", [("--fail_under", "0.5", "--runner=FnApiRunner"), ()], ids=["gate", "in process"]
)
def test_what_needs_somebody_who_waits_is_refused(
    ufo: Any, flags: tuple[object, ...], tmp_path: Path, more: tuple[str, ...]
) -> None:
    done = ufo(*flags, "--output", tmp_path, "--no_wait_until_finish", *more)
    assert done.code == 2
    assert "--no_wait_until_finish" in done.err
