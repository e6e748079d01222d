"""Runs that are there already: replaced, left, errors asked again, or taken over by `--since`."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.conftest import command, ok, tables, ufo

CITIES = ["Rome", "Bonn", "Oslo", "Lima", "Perth", "Quito"]


class Scene:
    """Responses about cities, and a source that writes down what it is asked."""

    def __init__(self, folder: Path, plug_in: str) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.gate = folder / "gate"
        self.output = folder / "out"
        self.input = folder / "in.jsonl"
        self.down = folder / "down"
        self.gate.touch()
        mine = {
            "name": "mine",
            "type": plug_in,
            "log": str(self.log),
            "fails": str(self.down),
            "waits": "Paris",
            "gate": str(self.gate),
        }
        self.config = folder / "ufo.yaml"
        self.config.write_text(json.dumps({"sources": [mine], "chunk_size": 2, "workers": 1}))
        self.write(CITIES)

    def write(self, cities: Any, **changes: Mapping[str, Any]) -> None:
        """Write a response for each city; `changes` are of the one of that name."""
        records = [
            {"id": city, "response": f"{city} is a large city."} | dict(changes.get(city, {}))
            for city in cities
        ]
        self.input.write_text("\n".join(map(json.dumps, records)))

    def arguments(self, run: str, *flags: object) -> list[object]:
        files = ("--input", self.input, "--output", self.output, "--config", self.config)
        return ["evaluate", *files, "--run", run, *flags]

    def asked(self) -> set[str]:
        """The cities that the source was asked about since this was last called."""
        text = self.log.read_text() if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        return {line.split()[1] for line in text.splitlines()}


@pytest.fixture
def scene(tmp_path: Path, recording: str) -> Scene:
    return Scene(tmp_path, recording)


def results(found: Any) -> Any:
    return {name: rows for name, rows in found.items() if name != "sources"}


CHANGES: dict[str, Mapping[str, Any]] = {
    "Oslo": {"response": "Oslo is a small city."},
    "Lima": {"question": "What is Lima?"},
    "Bonn": {"reference_answers": ["Bonn is a town."]},
    "Bern": {"claims": ["Bern is a large city."]},
    "Cork": {"spans": [{"start": 0, "end": 4}]},
    "Pisa": {"metadata": {"seed": 1}},
    "Graz": {"label": 0.5, "model": "m"},
    "Kiel": {"language": "en"},
    "Nice": {"dataset": "d"},
}


def test_only_new_and_changed_responses_are_evaluated(scene: Scene) -> None:
    scene.write([*CITIES, *(CHANGES.keys() - set(CITIES))])
    ok(*scene.arguments("monday"))
    scene.asked()
    # Rome is gone, Paris is new, and the order is another one.
    scene.write(["Paris", *CHANGES, "Perth", "Quito"], **CHANGES)
    done = ok(*scene.arguments("tuesday", "--since", "monday"))
    assert "2 responses reused from run monday" in done.err
    assert scene.asked() == {"Paris", *CHANGES}
    ok(*scene.arguments("whole"))
    assert results(tables(scene.output, "tuesday")) == results(tables(scene.output, "whole"))
    # Night after night under one name.
    scene.asked()
    scene.write(["Paris", *CHANGES, "Perth", "Quito", "Town"], **CHANGES)
    ok(*scene.arguments("tuesday", "--since", "tuesday"))
    assert scene.asked() == {"Town"}
    assert not list(scene.output.glob("run=tuesday/.attempt-*"))


def test_responses_with_errors_are_evaluated_again(scene: Scene) -> None:
    scene.down.touch()
    ok(*scene.arguments("one"))
    scene.asked()
    scene.down.unlink()
    ok(*scene.arguments("two", "--since", "one"))
    assert scene.asked() == {"Oslo"}
    assert not [row for row in tables(scene.output, "two")["evidence"] if "error" in row]


def test_other_options_cannot_be_taken_over(scene: Scene) -> None:
    ok(*scene.arguments("one"))
    done = ufo(*scene.arguments("two", "--since", "one", "--mode", "mv"))
    assert done.code == 2
    assert 'options.mode: "seq" → "mv"' in done.err
    assert "without --since" in done.err
    for since, said in (("onee", "Did you mean 'one'?"), ("../one", "../one")):
        done = ufo(*scene.arguments("two", "--since", since))
        assert (done.code, said in done.err) == (2, True)
    both = ("--since", "one", "--if_finished", "retry_errors")
    assert ufo(*scene.arguments("one", *both)).code == 2
    # How the work is cut changes no result.
    ok(*scene.arguments("two", "--since", "one", "--chunk_size", 5))


def test_a_killed_run_goes_on_only_from_the_same_run(scene: Scene) -> None:
    ok(*scene.arguments("one"))
    scene.asked()
    scene.write([*CITIES, "Vienna", "Paris"])
    scene.gate.unlink()
    words = command(*scene.arguments("two", "--since", "one"))
    process = subprocess.Popen(words, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while "Paris" not in (scene.log.read_text() if scene.log.exists() else ""):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    scene.gate.touch()
    done = ufo(*scene.arguments("two"))
    assert done.code == 2
    assert 'reused_from: "one@' in done.err
    scene.asked()
    ok(*scene.arguments("two", "--since", "one"))
    assert scene.asked() <= {"Vienna", "Paris"}
    ok(*scene.arguments("whole"))
    assert results(tables(scene.output, "two")) == results(tables(scene.output, "whole"))


# --- --if_finished


def test_a_finished_run_is_left_or_replaced(scene: Scene) -> None:
    ok(*scene.arguments("r"))
    before = tables(scene.output)
    scene.asked()
    done = ufo(*scene.arguments("r", "--if_finished", "skip", "--tie", "factual"))
    assert (done.code, "options.tie" in done.err, scene.asked()) == (0, True, set())
    assert tables(scene.output) == before
    refused = ufo(*scene.arguments("r", "--if_finished", "retry_errors", "--tie", "factual"))
    assert refused.code == 2
    assert 'options.tie: "not_factual" → "factual"' in refused.err
    ok(*scene.arguments("r", "--mode", "mv"))
    assert scene.asked() == set(CITIES)
    assert {row[2] for row in tables(scene.output)["verdicts"]} == {"mv"}


def test_retry_errors_evaluates_what_had_errors_and_keeps_the_rest(scene: Scene) -> None:
    ok(*scene.arguments("r"))
    expected = tables(scene.output)
    scene.down.touch()
    ok(*scene.arguments("r"))
    failed = tables(scene.output)
    assert ("source:mine", "OSError") in {(row[0], row[2]) for row in failed["failures"]}
    assert "error" in {row[7] for row in failed["evidence"]}
    scene.asked()
    # Still down: the error is asked for again, and recorded again.
    for asked, found in (({"Oslo"}, failed), ({"Oslo"}, expected), (set(), expected)):
        done = ufo(*scene.arguments("r", "--if_finished", "retry_errors"))
        assert (done.code, scene.asked()) == (0, asked)
        assert tables(scene.output) == found
        if scene.down.exists():
            assert "5 responses kept, 1 with errors" in done.err
        scene.down.unlink(missing_ok=True)
