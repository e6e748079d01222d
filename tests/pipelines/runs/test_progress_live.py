"""What a run tells of chunks that are under way: the counts of the processes that work on them."""

import io
import re
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.llm_runs import rows
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

COUNTS = {
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
    log.add(COUNTS)
    return log


@pytest.fixture
def counts(log: UsageLog, tmp_path: Path) -> UsageReader:
    """What a reader finds of the counts above."""
    return UsageReader(str(tmp_path / "usage.jsonl"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("ufo.pipelines.runs.progress.monotonic", lambda: now[0])
    return now


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


def test_a_finished_chunk_is_not_counted_twice(counts: UsageReader, clock: list[float]) -> None:
    bar = Progress(100, sources=["reference"], quiet=True)
    chunk = {"extract": {"units": 40}, "source:reference": {"units_in": 40, "answered": 30}}
    with bar.watching(counts, True):
        bar.chunk(6, chunk, True)
    assert bar.line().startswith("6/100 responses · 40 units (reference 30, none 10)")


def test_lines_come_while_a_chunk_is_under_way(
    counts: UsageReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("ufo.pipelines.runs.progress._SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr("ufo.pipelines.runs.progress._SECONDS_BETWEEN_LOOKS", 0.001)
    bar = Progress(100, sources=["reference"])
    give_up = time.monotonic() + 30
    with bar.watching(counts, True):
        while "16 requests in flight" not in stream.getvalue() and time.monotonic() < give_up:
            pass
    assert "5/100 responses" in stream.getvalue()


def test_what_goes_wrong_is_reported_as_a_line_of_its_own(
    counts: UsageReader, log: UsageLog, capsys: pytest.CaptureFixture[str]
) -> None:
    bar = Progress(100)
    log.report("3 requests timed out, retrying in 8 s")
    with bar.watching(counts, True):
        pass
    assert "3 requests timed out, retrying in 8 s" in capsys.readouterr().err.splitlines()


def test_where_votes_are_pooled_it_tells_who_answered(
    counts: UsageReader, log: UsageLog, clock: list[float]
) -> None:
    bar = Progress(100, "mv", ["reference", "llm"], quiet=True)
    before = {"extract": {"units": 60}, "source:reference": {"answered": 50}}
    bar.chunk(20, before, fresh=False)
    log.add({"source:llm.answered": 20, "source:llm.responses": 5})
    with bar.watching(counts, True):
        pass
    told = "25/100 responses · 26 extracted · 100 units (answered by reference 80, llm 20) · "
    assert bar.line().startswith(told)


@pytest.mark.parametrize("mode", ["mv", "all", "single"])
@pytest.mark.parametrize("live", [True, False])
def test_it_is_the_same_from_the_log_and_from_finished_chunks(
    tmp_path: Path,
    ufo: Callable[..., Any],
    write_lines: Any,
    llm_server: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    live: bool,
) -> None:
    if live:
        monkeypatch.setattr("ufo.pipelines.runs.progress.Progress.chunk", lambda *_: None)
    else:
        monkeypatch.setattr(
            "ufo.pipelines.runs.progress.Progress.watching", lambda *_: nullcontext()
        )
    text = "Oslo is a large city. Oslo has {0} bridges."
    path = write_lines(
        tmp_path / "in.jsonl",
        [
            {"response": text.format(n), "reference_answers": ["Oslo is a large city."]}
            for n in range(4)
        ],
    )
    done = ufo(
        *("evaluate", "--input", path, "--output", tmp_path / "out", "--workers", 1),
        *("--sources", "reference" if mode == "single" else "reference,llm", "--mode", mode),
        *("--base_url", llm_server.base_url, "--cache", "off", "--model", "offline-judge"),
    )
    assert done.code == 0, done.err
    query = """
        SELECT source, count(DISTINCT unit_id) AS n FROM evidence WHERE label IS NOT NULL GROUP BY 1
    """
    answered = {row["source"]: row["n"] for row in rows(tmp_path / "out", query)}
    assert answered["reference"] == 4
    (told,) = re.findall(r"8 units \((answered by )?(.*?)\)", done.err.splitlines()[-1])
    said = {name: int(n) for name, n in (one.split() for one in told[1].split(", "))}
    assert said == (answered | {"none": 4} if mode == "single" else answered)
    assert bool(told[0]) == (mode != "single")


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
