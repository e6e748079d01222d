"""What a run tells while it goes on: lines or a bar, and the counts of chunks under way."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.case_files import cases
from tests.llm_server import LlmServer
from tests.pipelines.conftest import evaluation, ok
from tests.pipelines.llm_runs import at
from ufo.pipelines import logs
from ufo.pipelines.runs.progress import Progress, duration, sum_counters
from ufo.transforms.llm.usage_log import UsageLog, UsageReader


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
    for seconds, line in (
        (1, ""),
        (9, "20/100 responses · 80 claims · 2 failures · 2/s · 40 s left\n"),
    ):
        clock[0] += seconds
        bar.chunk(10, COUNTS, fresh=True)
        assert stream.getvalue() == line
    bar.say("a line")
    assert stream.getvalue().endswith("a line\n")


def test_a_line_is_told_every_five_seconds(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    bar = Progress(100)
    counts = []
    for now in (104.5, 105, 109.5, 110):
        clock[0] = now
        bar.chunk(1, {}, fresh=True)
        counts.append(len(stream.getvalue().splitlines()))
    assert counts == [0, 1, 1, 2]


Draw = Callable[..., list[str]]


@pytest.fixture
def drawn(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> Draw:
    """The lines that are drawn on a terminal of so many columns, after so many seconds of a run."""
    monkeypatch.setenv("TERM", "xterm")

    def drawn(
        columns: int, seconds: float, total: int = 8, lines: int = 2, note: str = "", **counts: Any
    ) -> list[str]:
        stream = Terminal()
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setenv("COLUMNS", str(columns))
        bar = Progress(total, sources=["reference", "wikipedia"])
        bar.chunk(lines, counts, fresh=True)
        bar.note(note)
        clock[0] += seconds
        with bar.watching():
            pass
        plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", stream.getvalue())
        return [line.rstrip() for line in re.split(r"[\r\n]+", plain) if line.strip()]

    return drawn


def test_a_bar_has_what_a_run_waits_for(drawn: Draw) -> None:
    assert " · round 1 · 2/8 responses" in drawn(100, 1, note="round 1")[0]


@pytest.mark.parametrize(
    ("total", "lines", "share"),
    [
        pytest.param(4, 3, "75%", id="some"),
        pytest.param(4, 4, "100%", id="all"),
        pytest.param(4, 5, "100%", id="more than were counted"),
        pytest.param(0, 0, "100%", id="all of an empty input"),
    ],
)
def test_a_bar_shows_the_share_that_is_done(
    drawn: Draw, total: int, lines: int, share: str
) -> None:
    assert drawn(100, 1, total, lines)[0].split()[1] == share


@pytest.mark.parametrize(
    ("columns", "expected"),
    cases(Path(__file__).with_name("bars.txt")),
    ids=["20 columns", "40 columns", "60 columns", "100 columns"],
)
def test_a_bar_fits_its_terminal(drawn: Draw, columns: str, expected: str) -> None:
    answered = {"source:reference": {"answered": 30}, "source:wikipedia": {"answered": 10}}
    bars = drawn(int(columns), 10, **COUNTS, **answered)
    assert set(bars) == {expected}


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        pytest.param(9.9, "0:09", id="the seconds of one digit"),
        pytest.param(59.9, "0:59", id="under a minute"),
        pytest.param(60, "1:00", id="a minute"),
        pytest.param(61, "1:01", id="over a minute"),
        pytest.param(3600, "60:00", id="an hour"),
    ],
)
def test_the_time_of_a_bar_is_in_minutes_and_seconds(
    drawn: Draw, seconds: float, shown: str
) -> None:
    assert drawn(100, seconds)[0].split(" · ")[0].split()[-1] == shown


@pytest.mark.parametrize(
    ("columns", "width"),
    [pytest.param(79, 4, id="79 columns"), pytest.param(80, 24, id="80 columns")],
)
def test_a_bar_is_short_on_a_narrow_terminal(drawn: Draw, columns: int, width: int) -> None:
    assert len(drawn(columns, 10)[0].split()[0]) == width


def test_a_terminal_without_movement_gets_lines(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "dumb")
    bar = Progress(4)
    clock[0] += 10
    with bar.watching():
        bar.chunk(2, {}, fresh=True)
    assert stream.getvalue() == "2/4 responses · 0 claims · 0.20/s · 10 s left\n"


def test_a_message_stays_above_the_bar(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    bar = Progress(4)
    with bar.watching():
        bar.say("[bold] a price: $1 …")
    assert stream.getvalue().count("[bold] a price: $1 …\n") == 1


def test_quiet_says_nothing(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    bar = Progress(8, quiet=True)
    bar.chunk(8, COUNTS, fresh=True)
    bar.say("a line")
    assert stream.getvalue() == ""


# --- its figures


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (89.4, "89 s"), (90, "1 min"), (5399, "89 min"), (5400, "1.5 h")],
    ids=[
        "none",
        "under ninety seconds",
        "ninety seconds",
        "under ninety minutes",
        "ninety minutes",
    ],
)
def test_a_time_is_told_in_its_unit(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_counts_of_chunks_are_added_by_step() -> None:
    sums = sum_counters([{"read": {"a": 1}}, {"read": {"a": 2, "b": 1}, "verify": {"a": 4}}])
    assert sums == {"read": {"a": 3, "b": 1}, "verify": {"a": 4}}


# Of two sources and ten units: what each answered, by the mode of the run.
ANSWERED = {
    "source:one": {"answered": 6, "units_in": 10, "responses": 4, "responses_out": 3},
    "source:two": {"answered": 3, "units_in": 4, "responses": 3},
    "extract": {"units": 10, "responses": 5, "no_claims": 1},
}


@pytest.mark.parametrize(
    ("mode", "shares"),
    [
        pytest.param(
            "seq", "10 claims (one 6, two 3, undecided 1)", id="seq: the first that answers"
        ),
        pytest.param("mv", "10 claims (answered by one 6, two 3)", id="mv: all that answered"),
        pytest.param("all", "10 claims (answered by one 6, two 3)", id="all: all that answered"),
    ],
)
def test_units_are_told_by_the_source_that_decided(
    clock: list[float], mode: str, shares: str
) -> None:
    bar = Progress(9, mode, ["one", "two"], quiet=True)
    bar.chunk(5, ANSWERED, fresh=True)
    assert shares in bar.line().split(" · ")


@pytest.mark.parametrize(
    ("mode", "done"),
    [
        # Those without a claim, those that the first source settled, and those of the last one.
        pytest.param("seq", 1 + 4 - 3 + 3, id="seq"),
        pytest.param("mv", 1 + 3, id="mv: all have been at the last source"),
    ],
)
def test_responses_under_way_are_done_after_their_last_source(
    clock: list[float], tmp_path: Path, mode: str, done: int
) -> None:
    log = UsageLog(str(tmp_path / "log"))
    counts = {f"{step}.{name}": n for step, some in ANSWERED.items() for name, n in some.items()}
    log.add({**counts, "requests": 2, "prompt_tokens": 1_500, "cost_usd": 0.25})
    log.close()
    bar = Progress(9, mode, ["one", "two"], quiet=True)
    with bar.watching(UsageReader(str(tmp_path / "log")), priced=True):
        pass
    parts = bar.line().split(" · ")
    assert parts[0] == f"{done}/9 responses"
    assert ("5 extracted" in parts) is (done < 5)
    assert parts[-3:] == ["0 requests in flight", "1.5k tokens", "$0.2500"]


def test_what_an_earlier_process_finished_counts_for_no_rate(clock: list[float]) -> None:
    bar = Progress(20, quiet=True)
    clock[0] += 10
    bar.chunk(10, {}, fresh=False)
    bar.chunk(5, {}, fresh=True)
    assert bar.line().split(" · ") == ["15/20 responses", "0 claims", "0.50/s", "10 s left"]


@pytest.mark.parametrize(
    ("seconds", "rate"),
    [
        pytest.param(11, "0.91/s", id="under one a second"),
        pytest.param(10, "1/s", id="one a second"),
        pytest.param(4, "2/s", id="some a second"),
    ],
)
def test_a_rate_is_told_in_whole_numbers_from_one(
    clock: list[float], seconds: float, rate: str
) -> None:
    bar = Progress(10, quiet=True)
    clock[0] += seconds
    bar.chunk(10, {}, fresh=True)
    assert bar.line().split(" · ")[-1] == rate


def test_more_responses_than_were_counted_are_all_of_them(clock: list[float]) -> None:
    bar = Progress(2, quiet=True)
    bar.chunk(3, {}, fresh=True)
    assert bar.line().split(" · ")[0] == "3/3 responses"


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(999, "999"), (1_000, "1.0k"), (1_000_000, "1.0M"), (2_500_000_000, "2.5G")],
    ids=["under a thousand", "a thousand", "a million", "billions"],
)
def test_tokens_are_told_in_their_unit(
    clock: list[float], tmp_path: Path, tokens: int, text: str
) -> None:
    log = UsageLog(str(tmp_path / "log"))
    log.add({"in_flight": 1, "prompt_tokens": tokens - 9, "completion_tokens": 9})
    log.close()
    bar = Progress(9, quiet=True)
    with bar.watching(UsageReader(str(tmp_path / "log"))):
        pass
    assert bar.line().split(" · ")[-2:] == ["1 request in flight", f"{text} tokens"]


def test_responses_that_wait_for_a_batch_are_told_until_the_next_round(clock: list[float]) -> None:
    bar = Progress(9, quiet=True)
    bar.add_waiting(2)
    bar.add_waiting(3)
    assert bar.line().split(" · ")[0] == "5 prepared for the next round"
    bar.note("")
    assert bar.line().split(" · ")[0] == "0/9 responses"
    bar.add_waiting(1)
    assert bar.line().split(" · ")[0] == "1 prepared for the next round"


def test_a_run_of_recall_is_told_by_its_facts(clock: list[float]) -> None:
    bar = Progress(9, quiet=True)
    bar.chunk(0, {"recall": {"recall_facts": 7, "records": 2}}, fresh=True)
    assert bar.line().split(" · ") == ["2/9 responses", "7 facts"]


def test_a_program_gets_the_figures_once_a_second(
    clock: list[float], capfd: pytest.CaptureFixture[str]
) -> None:
    logs.start(logs.LogSettings("json", "r"))
    try:
        bar = Progress(9)
        for seconds in (0.9, 0.1):
            clock[0] += seconds
            bar.chunk(2, COUNTS, fresh=True)
        bar.say("a word")
    finally:
        logs.stop()
    begun, later, event = map(json.loads, capfd.readouterr().err.splitlines())
    assert begun["responses"] == 0
    assert begun["run"] == "r"
    assert event["message"] == "a word"
    figures = {"responses": 4, "of": 9, "extracted": 20, "failures": 2, "seconds": 1.0}
    assert {name: later[name] for name in figures} == figures
    assert {name: event[name] for name in figures} == figures


def test_a_program_gets_what_the_log_counts(
    clock: list[float], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    counts = {
        "requests": 4,
        "in_flight": 3,
        "prompt_tokens": 200,
        "completion_tokens": 10,
        "cost_usd": 0.25,
    }
    log = UsageLog(str(tmp_path / "log"))
    log.add(counts)
    log.close()
    logs.start(logs.LogSettings("json", "r"))
    try:
        bar = Progress(9)
        with bar.watching(UsageReader(str(tmp_path / "log"))):
            pass
        bar.say("a word")
    finally:
        logs.stop()
    event = json.loads(capfd.readouterr().err.splitlines()[-1])
    assert {name: event.get(name) for name in counts} == counts


# --- chunks that are under way


def test_a_run_tells_it_in_the_end(tmp_path: Path, llm_server: LlmServer) -> None:
    texts = [f"Oslo is a large city. Oslo has {n} bridges." for n in range(4)]
    records = [{"response": text, "reference_answers": [text]} for text in texts]
    done = ok(*evaluation(tmp_path, records, *at(llm_server, "--chunk_size", 2)))
    last = done.err.splitlines()[-1]
    assert last.startswith("4/4 responses · 8 claims (reference 8) · 0 requests in flight · ")
    assert "tokens" in last
    assert "$" not in last
