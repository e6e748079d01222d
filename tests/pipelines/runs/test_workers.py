"""Errors within a chunk: an interrupt is known through others, and messages say what is kept."""

from pathlib import Path

import pytest

from ufo.pipelines.runs.attempt import Attempt
from ufo.pipelines.runs.workers import error_of_step, is_interrupt
from ufo.schemas.errors import CostCapped, RunError, UfoError
from ufo.transforms.llm.request import LlmError


def caused(error: BaseException, by: BaseException, explicitly: bool) -> BaseException:
    """An error that was raised from another, or while that was handled."""
    try:
        try:
            raise by
        except BaseException as cause:
            if explicitly:
                raise error from cause
            raise error  # noqa: B904
    except BaseException as raised:
        return raised


@pytest.mark.parametrize("explicitly", [True, False], ids=["from it", "while it was handled"])
@pytest.mark.parametrize(
    ("by", "interrupt"), [(KeyboardInterrupt(), True), (ValueError("x"), False)]
)
def test_an_error_is_an_interrupt_where_one_caused_it(
    by: BaseException, interrupt: bool, explicitly: bool
) -> None:
    inner = caused(RuntimeError("inner"), by, explicitly)
    assert is_interrupt(caused(RuntimeError("outer"), inner, explicitly)) == interrupt


def test_an_interrupt_is_one_and_nothing_is_none() -> None:
    assert is_interrupt(KeyboardInterrupt())
    assert not is_interrupt(None)


STEP = " [while running 'check/look up-ptransform-7']"


@pytest.mark.parametrize(
    ("error", "kind", "message", "kept"),
    [
        pytest.param(CostCapped(f"the cap{STEP}"), CostCapped, "the cap", False, id="of ours"),
        pytest.param(MemoryError(f"full{STEP}"), RunError, "full", True, id="no memory"),
        pytest.param(
            ValueError(f"no number{STEP}"),
            RunError,
            "a chunk failed: ValueError: no number",
            True,
            id="of a plug-in",
        ),
        pytest.param(
            LlmError("busy"), RunError, "a chunk failed: LlmError: busy", True, id="of one request"
        ),
    ],
)
def test_an_error_of_a_step_ends_the_run_with_what_is_kept(
    tmp_path: Path, error: BaseException, kind: type[UfoError], message: str, kept: bool
) -> None:
    attempt = Attempt(str(tmp_path), "7", {})
    raised = error_of_step(error, attempt)
    assert type(raised) is kind
    first_line, *more = raised.message.split("\n")
    assert first_line == message
    assert (
        more
        == [f"What was finished is kept in {tmp_path}/.attempt-7; the same command resumes it."]
        * kept
    )
