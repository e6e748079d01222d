"""What is counted and set aside, without a server: replies are what the test says."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import CostCapped
from tests.transforms.llm.test_usage_log import row
from transforms.llm.budget import Budget, Price
from transforms.llm.usage_log import (
    COMPLETION_TOKENS,
    COST,
    IN_FLIGHT,
    PROMPT_TOKENS,
    REQUESTS,
    RESERVED,
    UsageLog,
    UsageReader,
)

PRICES = {"m": Price(0.0, 1_000_000.0)}  # a dollar a token of the reply
BODY: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "hello"}],
    "max_tokens": 10,
}


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "usage.jsonl")


async def send(budget: Budget, completion: int, body: dict[str, Any] = BODY) -> None:
    reserved = await budget.reserve(body)
    await asyncio.sleep(0)
    budget.settle(body, reserved, replace(row(1), prompt_tokens=7, completion_tokens=completion))


def test_requests_are_counted_with_their_tokens_and_cost(path: str) -> None:
    budget = Budget(PRICES, path=path)
    asyncio.run(send(budget, 4))
    found = {REQUESTS: 1, IN_FLIGHT: 0, PROMPT_TOKENS: 7, COMPLETION_TOKENS: 4, COST: 4}
    assert UsageReader(path).totals() == found
    (written,) = UsageReader(path).rows()
    assert written.cost_usd == 4


def test_many_at_once_stay_below_the_cap_and_use_it(path: str) -> None:
    budget = Budget(PRICES, cap=35, path=path)

    async def many() -> list[Any]:
        return await asyncio.gather(*(send(budget, 4) for _ in range(20)), return_exceptions=True)

    found = asyncio.run(many())
    stopped = [one for one in found if isinstance(one, CostCapped)]
    # Each may cost 10 and costs 4: the seventh begins at 24, the eighth would at 28.
    assert len(found) - len(stopped) == 7
    assert len(stopped) == 13
    assert "--max_cost 35: 28 US dollars" in stopped[0].message
    totals = UsageReader(path).totals()
    assert (totals[COST], totals[RESERVED], totals[IN_FLIGHT]) == (28, 0, 0)
    # Who stopped has stopped, for small requests too.
    with pytest.raises(CostCapped):
        asyncio.run(send(budget, 1, {**BODY, "max_tokens": 1}))


def test_what_earlier_processes_spent_counts_for_the_cap(path: str) -> None:
    log = UsageLog(path)
    log.add({COST: 9})
    log.add({RESERVED: 10, IN_FLIGHT: 1})  # and was killed before the reply
    log.begin()
    budget = Budget(PRICES, cap=35, path=path)
    asyncio.run(send(budget, 9))
    with pytest.raises(CostCapped, match="28 US dollars"):
        asyncio.run(send(budget, 9))


@pytest.mark.parametrize(("billed", "cost"), [(False, 0), (True, 10)])
def test_what_broke_off_may_have_been_billed_and_a_refusal_is_not(
    path: str, billed: bool, cost: int
) -> None:
    budget = Budget(PRICES, cap=100, path=path)

    async def failing() -> None:
        failed = replace(row(1), prompt_tokens=None, completion_tokens=None)
        budget.settle(BODY, await budget.reserve(BODY), failed, billed)

    asyncio.run(failing())
    totals = UsageReader(path).totals()
    assert (totals.get(COST, 0), totals[RESERVED]) == (cost, 0)


@pytest.mark.parametrize(
    ("body", "least"),
    [
        ({"max_tokens": 10, "n": 3}, 30),
        ({"max_completion_tokens": 12}, 12),
        ({}, 500),
        ({"messages": [{"role": "user", "content": "word " * 2_000}]}, 2_000),
    ],
)
def test_what_is_set_aside(body: dict[str, Any], least: int) -> None:
    asked = {"model": "m", "messages": BODY["messages"], **body}

    def fits(cap: float) -> bool:
        try:
            asyncio.run(Budget(PRICES, cap).reserve(asked))
        except CostCapped:
            return False
        return True

    assert not fits(least - 1)
    assert fits(least * 2)


def test_a_reply_longer_than_expected_makes_the_next_be_expected_so() -> None:
    free = {key: value for key, value in BODY.items() if key != "max_tokens"}
    budget = Budget(PRICES, cap=2_000)
    asyncio.run(send(budget, 900, free))
    asyncio.run(send(budget, 150, free))
    asyncio.run(send(budget, 100, free))
    with pytest.raises(CostCapped):  # 850 are left, 900 are expected
        asyncio.run(send(budget, 100, free))
