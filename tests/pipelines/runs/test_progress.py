"""What a run tells while it goes on: lines or a bar, and the counts of chunks under way."""

import io
from pathlib import Path

import pytest

from tests.case_files import cases
from tests.llm_server import LlmServer
from tests.pipelines.conftest import evaluation, ok
from tests.pipelines.llm_runs import at
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
    for seconds, told in (
        (1, ""),
        (9, "20/100 responses · 80 units · 2 failures · 2/s · 40 s left\n"),
    ):
        clock[0] += seconds
        bar.chunk(10, COUNTS, fresh=True)
        assert stream.getvalue() == told
    bar.say("a line")
    assert stream.getvalue().endswith("a line\n")


@pytest.mark.parametrize(
    ("columns", "drawn"),
    cases(Path(__file__).with_name("bars.txt")),
    ids=["20 columns", "40 columns", "60 columns", "100 columns"],
)
def test_a_bar_fits_its_terminal(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, columns: str, drawn: str
) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("COLUMNS", columns)
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


def test_a_run_tells_it_in_the_end(tmp_path: Path, llm_server: LlmServer) -> None:
    texts = [f"Oslo is a large city. Oslo has {n} bridges." for n in range(4)]
    records = [{"response": text, "reference_answers": [text]} for text in texts]
    done = ok(*evaluation(tmp_path, records, *at(llm_server, "--chunk_size", 2)))
    last = done.err.splitlines()[-1]
    assert last.startswith("4/4 responses · 8 units (reference 8) · 0 requests in flight · ")
    assert "tokens" in last
    assert "$" not in last
