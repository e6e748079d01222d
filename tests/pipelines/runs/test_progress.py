"""What a run tells while it goes on: lines or a bar, and the counts of chunks under way."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from ufo.pipelines.runs.progress import Progress
from ufo.transforms.llm.usage_log import (
    COMPLETION_TOKENS,
    COST,
    IN_FLIGHT,
    PROMPT_TOKENS,
    REQUESTS,
    UsageLog,
    UsageReader,
)


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


def test_quiet_says_nothing(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    bar = Progress(8, quiet=True)
    bar.chunk(8, COUNTS, fresh=True)
    bar.say("a line")
    assert stream.getvalue() == ""


# --- chunks that are under way

LIVE = {
    "extract.responses": 6,
    "extract.units": 40,
    "source:reference.responses": 5,
    "source:reference.units_in": 40,
    "source:reference.answered": 30,
    REQUESTS: 50,
    IN_FLIGHT: 16,
    PROMPT_TOKENS: 1_000_000,
    COMPLETION_TOKENS: 234_567,
    COST: 1.23456,
}


@pytest.fixture
def log(tmp_path: Path) -> UsageLog:
    log = UsageLog(str(tmp_path / "usage.jsonl"))
    log.add(LIVE)
    return log


@pytest.fixture
def counts(log: UsageLog, tmp_path: Path) -> UsageReader:
    """What a reader finds of the counts above."""
    return UsageReader(str(tmp_path / "usage.jsonl"))


@pytest.mark.parametrize(("priced", "cost"), [(True, " · $1.2346"), (False, "")])
def test_what_is_under_way_is_reported(
    counts: UsageReader, clock: list[float], priced: bool, cost: str
) -> None:
    bar = Progress(100, sources=["reference"], quiet=True)
    before = {"source:reference": {"units_in": 100, "answered": 100}, "extract": {"units": 100}}
    bar.chunk(20, before, fresh=False)
    with bar.watching(counts, priced):
        pass  # the last look is at the end
    clock[0] += 10
    assert bar.line() == (
        "25/100 responses · 26 extracted · 140 units (reference 130, none 10) · "
        f"16 requests in flight · 1.2M tokens{cost} · 0.50/s · 2 min left"
    )


def test_a_run_tells_it_in_the_end(
    tmp_path: Path, ufo: Callable[..., Any], write_lines: Any, llm_server: LlmServer
) -> None:
    text = "Oslo is a large city. Oslo has {0} bridges."
    path = write_lines(
        tmp_path / "in.jsonl",
        [{"response": text.format(n), "reference_answers": [text.format(n)]} for n in range(4)],
    )
    done = ufo(
        *("evaluate", "--input", path, "--output", tmp_path / "out", "--workers", 1),
        *("--sources", "reference", "--base_url", llm_server.base_url, "--cache", "off"),
        *("--model", "offline-judge", "--chunk_size", 2),
    )
    assert done.code == 0, done.err
    last = done.err.splitlines()[-1]
    assert last.startswith("4/4 responses · 8 units (reference 8) · 0 requests in flight · ")
    assert "tokens" in last
    assert "$" not in last
