"""What a command logs on stderr: plain lines for people, objects for programs."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from ufo.pipelines import logs
from ufo.schemas.errors import RunError


@pytest.fixture(name="logged")
def _logged(capfd: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Returns the objects that are logged while a function is called."""

    def logged(act: Callable[[], None]) -> Any:
        before = list(logging.getLogger().handlers)
        logs.start(logs.LogSettings("json", "r"))
        try:
            act()
        finally:
            logs.stop()
        assert logging.getLogger().handlers == before
        return [json.loads(line) for line in capfd.readouterr().err.splitlines()]

    return logged


def test_an_event_is_an_object(logged: Callable[..., Any]) -> None:
    (event,) = logged(lambda: logs.event("an event", chunk=3))
    assert event.keys() == {"time", "level", "logger", "run", "step", "worker", "message", "chunk"}
    assert event["level"] == "info"
    assert event["logger"] == "ufo"
    assert event["run"] == "r"
    assert event["message"] == "an event"
    assert event["chunk"] == 3


def test_lines_after_the_run_is_named_have_its_name(logged: Callable[..., Any]) -> None:
    def act() -> None:
        logs.name_run("nightly")
        logs.tell("a word")
        assert logs.settings_for_worker() == logs.LogSettings("json", "nightly")

    assert [line["run"] for line in logged(act)] == ["nightly"]


def test_an_error_is_logged_as_one(logged: Callable[..., Any]) -> None:
    def act() -> None:
        logs.fail("it broke \x1b[2J")
        try:
            raise ValueError("why")
        except ValueError:
            logging.getLogger("library").exception("a library's")

    ours, theirs = logged(act)
    assert ours["level"] == "error"
    assert ours["message"] == "it broke \\x1b[2J"
    assert theirs["logger"] == "library"
    assert "ValueError: why" in theirs["error"]


def test_people_get_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start(logs.LogSettings())
    logs.event("an event that is for programs")
    logs.tell("a word")
    logs.fail("it broke")
    assert capsys.readouterr().err == "a word\nufo: it broke\n"


@pytest.mark.parametrize(
    ("logger", "path", "level", "error", "shown"),
    [
        ("root", "lib/apache_beam/x.py", logging.WARNING, None, False),
        ("root", "lib/apache_beam/x.py", logging.ERROR, None, True),
        ("root", "lib/other.py", logging.WARNING, None, True),
        ("apache_beam.runners.common", "x.py", logging.ERROR, KeyboardInterrupt(), False),
        ("apache_beam.runners.common", "x.py", logging.ERROR, RunError("ours"), False),
        ("apache_beam.runners.common", "x.py", logging.ERROR, ValueError("a bug"), True),
        ("apache_beam.runners.common", "x.py", logging.ERROR, None, True),
    ],
    ids=[
        "a remark of Beam",
        "an error of Beam",
        "a remark of another library",
        "Ctrl-C in a step",
        "an error with its own message",
        "a bug in a step",
        "no error",
    ],
)
def test_what_beam_logs_is_shown_where_it_helps(
    logger: str, path: str, level: int, error: BaseException | None, shown: bool
) -> None:
    logs.quiet_beam()
    exc_info = (type(error), error, None) if error else None
    record = logging.LogRecord(logger, level, path, 1, "a message", None, exc_info)
    assert bool(logging.getLogger(logger).filter(record)) == shown


@pytest.mark.parametrize("name", ["apache_beam", "urllib3"])
def test_libraries_that_retry_are_heard_where_they_fail(name: str) -> None:
    logs.quiet_beam()
    assert not logging.getLogger(name).isEnabledFor(logging.WARNING)
    assert logging.getLogger(name).isEnabledFor(logging.ERROR)
