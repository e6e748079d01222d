"""Requests that are made together end together."""

import asyncio

import pytest

from ufo.schemas.errors import NotYetAnswered
from ufo.transforms.llm.request import together


@pytest.mark.parametrize(
    ("error", "end"),
    [
        pytest.param(ValueError("odd"), "cancelled", id="an error cancels the others"),
        pytest.param(asyncio.CancelledError(), "cancelled", id="so does a cancellation"),
        pytest.param(NotYetAnswered("later"), "sent", id="a batch waits for the others"),
    ],
)
def test_an_error_is_raised_once_the_others_have_ended(error: BaseException, end: str) -> None:
    ends: list[str] = []

    async def breaks() -> None:
        await asyncio.sleep(0)
        raise error

    async def other() -> None:
        try:
            for _ in range(9):
                await asyncio.sleep(0)
            ends.append("sent")
        except asyncio.CancelledError:
            for _ in range(3):  # it closes its connection
                await asyncio.sleep(0)
            ends.append("cancelled")
            raise

    async def ask() -> None:
        with pytest.raises(type(error)):
            await together([other(), breaks(), other()])
        assert ends == [end] * 2

    asyncio.run(ask())
