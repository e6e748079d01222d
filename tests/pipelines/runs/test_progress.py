import io
import time

import pytest

from ufo.pipelines.runs.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("ufo.pipelines.runs.progress.monotonic", lambda: now[0])
    return now


COUNTS = {"extract": {"responses": 10, "units": 40, "failures": 1}}


def test_plain_lines_now_and_then(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    bar = Progress(100)
    clock[0] += 1
    bar.chunk(10, COUNTS, fresh=True)
    assert stream.getvalue() == ""
    clock[0] += 9
    bar.chunk(10, COUNTS, fresh=True)
    expected = "20/100 responses · 80 units · 2 failures · 2/s · 40 s left"
    assert stream.getvalue() == expected + "\n"
    bar.say("a line")
    assert stream.getvalue().endswith("a line\n")


def test_what_was_done_earlier_does_not_count_for_the_rate(clock: list[float]) -> None:
    bar = Progress(100, quiet=True)
    bar.chunk(50, {}, fresh=False)
    assert bar.line() == "50/100 responses · 0 units"
    clock[0] += 10
    bar.chunk(10, {}, fresh=True)
    assert bar.line() == "60/100 responses · 0 units · 1/s · 40 s left"


@pytest.mark.parametrize(
    ("lines", "seconds", "left"), [(1, 20, "3 min"), (1, 100, "15 min"), (1, 1000, "2.5 h")]
)
def test_the_time_left(clock: list[float], lines: int, seconds: float, left: str) -> None:
    bar = Progress(10, quiet=True)
    clock[0] += seconds
    bar.chunk(lines, {}, fresh=True)
    assert bar.line().endswith(f"{left} left")


def test_a_bar_on_a_terminal(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    bar = Progress(8)
    bar.chunk(2, COUNTS, fresh=True)
    assert stream.getvalue().startswith("\r")
    assert "█" * 6 + "░" * 18 + "  25%" in stream.getvalue()
    # An estimate that was too low is no bar over its end.
    bar.chunk(20, COUNTS, fresh=True)
    assert "100%" in stream.getvalue()
    assert "22/22 responses" in stream.getvalue()


@pytest.mark.parametrize(
    ("columns", "drawn"),
    [
        (20, "█░░░  25% 0:10 · 2/"),
        (40, "█░░░  25% 0:10 · 2/8 responses"),
        (60, "█░░░  25% 0:10 · 2/8 responses · 0.20/s · 30 s left"),
        (100, f"{'█' * 6}{'░' * 18}  25% 0:10 · 2/8 responses · 1 failure · 0.20/s · 30 s left"),
    ],
)
def test_a_bar_fits_its_terminal(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, columns: int, drawn: str
) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("COLUMNS", str(columns))
    bar = Progress(8, sources=["reference", "wikipedia"])
    clock[0] += 10
    answered = {"source:reference": {"answered": 30}, "source:wikipedia": {"answered": 10}}
    bar.chunk(2, {**COUNTS, **answered}, fresh=True)
    assert stream.getvalue() == f"\r\x1b[2K{drawn}"


def test_a_bar_moves_where_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("ufo.pipelines.runs.progress._SECONDS_BETWEEN_LOOKS", 0.001)
    give_up = time.monotonic() + 30
    with Progress(8).watching():
        while stream.getvalue().count("0/8 responses") < 3 and time.monotonic() < give_up:
            pass
    assert stream.getvalue().count("0/8 responses") >= 3


def test_quiet_says_nothing(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    bar = Progress(8, quiet=True)
    bar.chunk(8, COUNTS, fresh=True)
    bar.say("a line")
    assert stream.getvalue() == ""
