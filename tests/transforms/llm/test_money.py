"""What is counted and set aside, without a server: replies are what the test says."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import CostCapped, RunError
from transforms.llm.failures import SendError
from transforms.llm.ledger import (
    COMPLETION_TOKENS,
    COST,
    IN_FLIGHT,
    PROMPT_TOKENS,
    REQUESTS,
    RESERVED,
    RESPONSES,
    Counter,
    Ledger,
    begun,
)
from transforms.llm.money import Meter
from transforms.llm.prices import Price

PRICES = {"m": Price(0.0, 1_000_000.0)}  # a dollar a token of the reply
BODY: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "hello"}],
    "max_tokens": 10,
}


def reply(completion: int) -> dict[str, Any]:
    return {"usage": {"prompt_tokens": 7, "completion_tokens": completion}}


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.sqlite")


@pytest.fixture
def ledger(path: str) -> Iterator[Ledger]:
    opened = Ledger(path)
    yield opened
    opened.close()


async def send(meter: Meter, completion: int, body: dict[str, Any] = BODY) -> None:
    async with meter.request(body) as bill:
        await asyncio.sleep(0)
        meter.paid(bill, body, reply(completion))


def test_numbers_are_summed_over_all_who_add(path: str, ledger: Ledger) -> None:
    other = Ledger(path)
    ledger.add({COST: 1.5, REQUESTS: 1})
    other.add({COST: 0.25})
    ledger.add({COST: 1.0})
    assert other.totals() == {COST: 2.75, REQUESTS: 1}
    other.close()


def test_an_amount_fits_may_fit_later_or_never(ledger: Ledger) -> None:
    assert ledger.reserve(6, cap=10) is True
    assert ledger.reserve(6, cap=10) is None
    ledger.add({RESERVED: -6, IN_FLIGHT: -1, COST: 2})
    assert ledger.reserve(8, cap=10) is True
    ledger.add({RESERVED: -8, IN_FLIGHT: -1, COST: 5})
    assert ledger.reserve(4, cap=10) is False
    # Who stopped has stopped, for small requests too.
    assert ledger.reserve(1, cap=10) is False


def test_a_new_process_counts_what_was_sent_and_not_settled(path: str, ledger: Ledger) -> None:
    ledger.add({COST: 3, REQUESTS: 2, PROMPT_TOKENS: 14, COMPLETION_TOKENS: 3, RESPONSES: 5})
    ledger.reserve(4, cap=10)
    ledger.reserve(9, cap=10)  # closes it
    assert begun(path) == path
    assert ledger.totals() == {COST: 7, REQUESTS: 2, PROMPT_TOKENS: 14, COMPLETION_TOKENS: 3}
    assert ledger.reserve(3, cap=10) is True


def test_a_file_that_is_no_ledger_is_told(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_text("no database" * 100)
    with pytest.raises(RunError, match="cannot be used"):
        Ledger(str(path))


def test_what_is_counted_now_and_then_is_written_in_the_end(path: str, ledger: Ledger) -> None:
    counter = Counter(path, clock=lambda: 0.0)
    for _ in range(5):
        counter.add({RESPONSES: 1})
    assert ledger.totals() == {RESPONSES: 1}
    counter.close()
    assert ledger.totals() == {RESPONSES: 5}
    Counter(None).add({RESPONSES: 1})


def test_requests_are_counted_with_their_tokens_and_cost(path: str, ledger: Ledger) -> None:
    meter = Meter(PRICES, path=path)
    asyncio.run(send(meter, 4))
    meter.close()
    found = {REQUESTS: 1, IN_FLIGHT: 0, PROMPT_TOKENS: 7, COMPLETION_TOKENS: 4, COST: 4}
    assert ledger.totals() == found


def test_many_at_once_stay_below_the_cap_and_use_it(path: str, ledger: Ledger) -> None:
    meter = Meter(PRICES, cap=35, path=path)

    async def many() -> list[Any]:
        return await asyncio.gather(*(send(meter, 4) for _ in range(20)), return_exceptions=True)

    found = asyncio.run(many())
    stopped = [one for one in found if isinstance(one, CostCapped)]
    # Each may cost 10 and costs 4: the seventh begins at 24, the eighth would at 28.
    assert len(found) - len(stopped) == 7
    assert len(stopped) == 13
    assert "--max_cost 35: 28 US dollars" in stopped[0].message
    totals = ledger.totals()
    assert (totals[COST], totals[RESERVED], totals[IN_FLIGHT]) == (28, 0, 0)


def test_two_processes_share_a_cap(path: str) -> None:
    one, other = (Meter(PRICES, cap=25, path=path) for _ in range(2))

    async def both() -> list[Any]:
        sends = [send(meter, 9) for meter in (one, other) * 3]
        return await asyncio.gather(*sends, return_exceptions=True)

    found = asyncio.run(both())
    assert found.count(None) == 2
    assert sum(isinstance(error, CostCapped) for error in found) == 4


@pytest.mark.parametrize(
    ("status", "cost"), [("429", 0), ("500", 0), ("timeout", 10), ("connection", 10)]
)
def test_what_broke_off_may_have_been_billed_and_a_refusal_is_not(
    path: str, ledger: Ledger, status: str, cost: int
) -> None:
    meter = Meter(PRICES, cap=100, path=path)

    async def failing() -> None:
        async with meter.request(BODY):
            raise SendError("broken", status)

    with pytest.raises(SendError):
        asyncio.run(failing())
    assert ledger.totals()[COST] == cost
    assert ledger.totals()[RESERVED] == 0


def test_a_reply_without_usage_is_charged_what_was_set_aside(path: str, ledger: Ledger) -> None:
    meter = Meter(PRICES, cap=100, path=path)

    async def silent() -> None:
        async with meter.request(BODY) as bill:
            meter.paid(bill, BODY, {"choices": []})

    asyncio.run(silent())
    assert ledger.totals()[COST] == 10


@pytest.mark.parametrize(
    ("body", "least"),
    [
        ({"max_tokens": 10, "n": 3}, 30),
        ({"max_completion_tokens": 12}, 12),
        ({}, 500),
        ({"messages": [{"role": "user", "content": "word " * 2_000}]}, 2_000),
    ],
)
def test_what_is_set_aside(path: str, body: dict[str, Any], least: int) -> None:
    asked = {"model": "m", "messages": BODY["messages"], **body}

    def fits(cap: float) -> bool:
        meter = Meter(PRICES, cap, f"{path}-{cap}")

        async def one() -> None:
            async with meter.request(asked) as bill:
                bill.cost = 0

        try:
            asyncio.run(one())
        except CostCapped:
            return False
        finally:
            meter.close()
        return True

    assert not fits(least - 1)
    assert fits(least * 2)


def test_a_reply_longer_than_expected_makes_the_next_be_expected_so(path: str) -> None:
    free = {key: value for key, value in BODY.items() if key != "max_tokens"}
    meter = Meter(PRICES, cap=2_000, path=path)
    asyncio.run(send(meter, 900, free))
    asyncio.run(send(meter, 150, free))
    with pytest.raises(CostCapped):  # 950 are left, 900 are expected: one more
        asyncio.run(_twice(meter, free))
    meter.close()


async def _twice(meter: Meter, body: dict[str, Any]) -> None:
    await send(meter, 100, body)
    await send(meter, 100, body)
