"""When a failed request is sent again."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.transforms.llm.simulated import (
    refused,
)
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.retry import Retry, Timing
from ufo.transforms.llm.send import send_with_retries


@pytest.mark.parametrize(
    ("attempt", "asked", "chance", "pause"),
    [
        pytest.param(0, None, 0.0, 0.25, id="half of the first pause"),
        pytest.param(0, None, 1.0, 0.5, id="the whole first pause"),
        pytest.param(2, None, 1.0, 2.0, id="doubled twice"),
        pytest.param(3, None, 1.0, 4.0, id="the longest"),
        pytest.param(9, None, 1.0, 4.0, id="never over the longest"),
        pytest.param(0, 7.0, 0.0, 7.0, id="what was asked for"),
        pytest.param(0, 7.0, 1.0, 7.5, id="up to a pause more than was asked for"),
        pytest.param(9, 7.0, 1.0, 8.0, id="up to a second more than was asked for"),
        pytest.param(9, 0.0, 1.0, 4.0, id="no time was named by zero"),
    ],
)
def test_a_pause(attempt: int, asked: float | None, chance: float, pause: float) -> None:
    assert POLICY.pause(attempt, asked, chance) == pause


POLICY = Retry(attempts=5, seconds=1000.0, first=0.5, longest=4.0)
ERRORS = {
    "later": refused(),
    "no": SendError("no", "400"),
    "soon": refused(retry_after=300.0),
    "late": refused(retry_after=2000.0),
}
RETRIES = yaml.safe_load(Path(__file__).with_name("retries.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "row", RETRIES, ids=lambda row: f"{len(row['errors'])} errors, then {row['end']}"
)
def test_what_passes_is_tried_again_after_growing_pauses_for_so_long(row: dict[str, Any]) -> None:
    now = 0.0
    paused: list[float] = []

    async def sleep(seconds: float) -> None:
        nonlocal now
        paused.append(seconds)
        now += seconds

    async def send(attempt: int) -> str:
        nonlocal now
        now += 1.0
        if attempt < len(row["errors"]):
            raise ERRORS[row["errors"][attempt]]
        return f"attempt {attempt}"

    retry = Retry(**row["retry"]) if "retry" in row else POLICY
    end: str | SendError
    try:
        end = asyncio.run(send_with_retries(send, retry, Timing(sleep, lambda: 0.0, lambda: now)))
    except SendError as error:
        end = error
    assert paused == row["pauses"]
    assert end == ERRORS.get(row["end"], row["end"])


def test_the_usual_policy() -> None:
    usual = Retry()
    pauses: Sequence[float] = [usual.pause(attempt, None, 1.0) for attempt in range(8)]
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]
    assert usual.attempts == 8
    assert usual.seconds == 900.0
