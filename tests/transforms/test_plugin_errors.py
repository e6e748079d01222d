"""What the tables say of an exception of a plug-in, and which exceptions are not its own."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from ufo.schemas.errors import NotYetAnswered, RunError
from ufo.schemas.records import FactUnit, OpenUnits, Passage, Verdict
from ufo.transforms.check import check, look_up
from ufo.transforms.judges.judge import Judge, Judged, Judgement
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.request import LlmError
from ufo.transforms.plugin_errors import failure_of, message_of, passes, reason_of
from ufo.transforms.sources.fact_source import FactSource, Found, Retrieved


class Unreadable(Exception):
    """Its message cannot be read either."""

    def __str__(self) -> str:
        raise ValueError("no message")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        pytest.param(ZeroDivisionError("division by zero"), ": division by zero", id="with words"),
        pytest.param(KeyError("x"), ": 'x'", id="a key"),
        pytest.param(ValueError(), "", id="without words"),
        pytest.param(SystemExit(3), ": 3", id="an exit"),
        pytest.param(BaseException("b"), ": b", id="of no class"),
        pytest.param(OSError(2, "No such file", "x"), ": [Errno 2] No such file: 'x'", id="a file"),
        pytest.param(ValueError("\ud83d"), r": \ud83d", id="half a character"),
        pytest.param(
            Unreadable(), ": its message cannot be read (ValueError)", id="without a message"
        ),
    ],
)
def test_an_error_of_a_plug_in_names_it(error: BaseException, message: str) -> None:
    row = failure_of("source:mine", "u1", "source mine", error)
    assert row.error_type == type(error).__name__
    assert row.message == f"error in source mine: {type(error).__name__}{message}"
    assert (row.step, row.key) == ("source:mine", "u1")


@pytest.mark.parametrize("error", [SendError("search: 500", "500"), LlmError("model: 500")])
def test_a_request_of_ours_says_what_failed(error: Exception) -> None:
    assert message_of(error, "source mine") in ("search: 500", "model: 500")
    assert reason_of(error) == "transport"


def test_a_message_has_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-12345678")
    monkeypatch.setenv("PLACE", "Oslo-Norway")
    error = ValueError("sk-12345678 at https://me:pass@host/ in Oslo-Norway")
    assert message_of(error) == "*** at https://***@host/ in Oslo-Norway"


def test_a_long_message_is_cut() -> None:
    assert len(message_of(ValueError("x" * 10_000))) == 4096


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ZeroDivisionError(), "exception"),
        (FileNotFoundError(), "exception"),
        (TimeoutError(), "transport"),
        (ConnectionResetError(), "transport"),
        (LlmError("no", "filtered"), "filtered"),
    ],
)
def test_a_reason_fits_its_cause(error: Exception, reason: str) -> None:
    assert reason_of(error) == reason


@pytest.mark.parametrize(
    ("error", "on"),
    [
        (ValueError(), False),
        (SystemExit(), False),
        (RecursionError(), False),
        (RunError("spent"), True),
        (MemoryError(), True),
        (KeyboardInterrupt(), True),
        (asyncio.CancelledError(), True),
        (NotYetAnswered(), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_ends_or_interrupts_the_run_is_raised_on(error: BaseException, on: bool) -> None:
    assert passes(error) == on


# --- what a plug-in returns -----------------------------------------------------------------------

UNIT = FactUnit("r", "u", 0, "Oslo is big.", "How big is Oslo?", None)
ASKED = OpenUnits("r", "Oslo is big.", None, "en", [], [], [UNIT])


class Returning(FactSource):
    """Returns what it is made with."""

    name = "mine"

    def __init__(self, returned: Any) -> None:
        self.found_units = returned

    async def look_up(self, open_units: OpenUnits) -> Any:
        return self.found_units


@pytest.mark.parametrize(
    "returned",
    [
        pytest.param(None, id="nothing"),
        pytest.param([], id="too few"),
        pytest.param([1], id="numbers"),
        pytest.param([Found([Retrieved(Passage(text=5))])], id="a number for a text"),  # type: ignore[arg-type]
    ],
)
def test_a_source_that_returns_something_else_costs_its_response(returned: Any) -> None:
    (row,) = asyncio.run(look_up(ASKED, Returning(returned)))
    assert row.outcome == "error"
    assert row.reason == "exception"
    assert row.message.startswith("error in source mine: ")


class Judging(Judge):
    """Returns rows like it is made with."""

    name = "own"

    def __init__(self, judged: Any) -> None:
        self.judged = judged

    async def verify(self, open_units: OpenUnits, source: str, found: Any) -> Any:
        return self.judged


VERDICT = Verdict("r", "u", "seq", "mine", 1, 1, 0, 0, 0, False, False)


@pytest.mark.parametrize(
    "judged",
    [
        pytest.param(None, id="nothing"),
        pytest.param(Judged([1]), id="numbers"),  # type: ignore[list-item]
        pytest.param(Judged([VERDICT]), id="rows of another table"),  # type: ignore[list-item]
        pytest.param(Judged([]), id="no row"),
    ],
)
def test_a_judge_that_returns_something_else_costs_its_judgements(judged: Any) -> None:
    source = Returning([Found([Retrieved(Passage("Oslo is big.", passage_id="p"))])])
    checked = asyncio.run(check(ASKED, source, Judging(judged)))
    (row,) = checked.evidence
    assert (row.outcome, row.reason) == ("error", "exception")
    (failure,) = checked.failures
    assert failure.message.startswith("error in judge own: ")


def test_a_value_that_no_table_holds_costs_its_judgement() -> None:
    class Wrong(Judge):
        name = "own"

        async def verify(self, open_units: OpenUnits, source: str, found: Any) -> Judged:
            row = self.row(UNIT, source, 1, found[0].passages[0], Judgement("supported"))
            return Judged([replace(row, label="yes")])  # type: ignore[arg-type]

    source = Returning([Found([Retrieved(Passage("Oslo is big.", passage_id="p"))])])
    (row,) = asyncio.run(check(ASKED, source, Wrong())).evidence
    assert (row.outcome, row.reason) == ("error", "exception")
