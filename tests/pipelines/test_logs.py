"""What a command logs on stderr: plain lines for people, objects for programs."""

import json
import logging
from collections.abc import Iterator

import pytest

from ufo.pipelines import logs


@pytest.fixture(name="as_json")
def _as_json(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    before = list(logging.getLogger().handlers)
    logs.start(logs.LogSettings("json", "r"))
    yield
    logs.stop()
    assert logging.getLogger().handlers == before


def lines(capfd: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capfd.readouterr().err.splitlines()]


def test_an_event_is_an_object(as_json: None, capfd: pytest.CaptureFixture[str]) -> None:
    logs.event("an event", chunk=3)
    (found,) = lines(capfd)
    assert list(found) == [
        "time",
        "level",
        "logger",
        "run",
        "step",
        "worker",
        "message",
        "chunk",
    ]
    assert found["level"] == "info"
    assert found["logger"] == "ufo"
    assert found["run"] == "r"
    assert found["message"] == "an event"
    assert found["chunk"] == 3


def test_lines_after_the_run_is_named_have_its_name(
    as_json: None, capfd: pytest.CaptureFixture[str]
) -> None:
    logs.name_run("nightly")
    logs.tell("a word")
    assert [line["run"] for line in lines(capfd)] == ["nightly"]
    assert logs.settings_for_worker() == logs.LogSettings("json", "nightly")


def test_an_error_is_logged_as_one(as_json: None, capfd: pytest.CaptureFixture[str]) -> None:
    logs.fail("it broke \x1b[2J")
    try:
        raise ValueError("why")
    except ValueError:
        logging.getLogger("library").exception("a library's")
    ours, theirs = lines(capfd)
    assert ours["level"] == "error"
    assert ours["message"] == "it broke \\x1b[2J"
    assert theirs["logger"] == "library"
    assert "ValueError: why" in str(theirs["error"])


def test_people_get_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start(logs.LogSettings())
    logs.event("an event that is for programs")
    logs.tell("a word")
    logs.fail("it broke")
    assert capsys.readouterr().err == "a word\nufo: it broke\n"
