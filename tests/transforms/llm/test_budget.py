"""Prices, and what is counted, set aside and logged; replies are what the test says."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ufo.schemas.errors import CostCapped
from ufo.schemas.records import Usage
from ufo.transforms.llm.budget import Budget
from ufo.transforms.llm.prices import Price, upper_bound
from ufo.transforms.llm.tokens import tokens_at_most
from ufo.transforms.llm.usage_log import COST, IN_FLIGHT, REQUESTS, RESERVED, UsageLog, UsageReader

PRICES = {"m": Price(0.0, 1_000_000.0)}  # a dollar a token of the reply
FREE = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
BODY: dict[str, Any] = {**FREE, "max_tokens": 10}
LONG = {"messages": [{"role": "user", "content": "word " * 2_000}]}


def row(number: int) -> Usage:
    who = (f"req-{number}", "verify", None, "m", "r\n½", "host:1")
    return Usage(*who, "ok", False, False, 0, 1000, 500, 0.1 + number, None)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "usage.jsonl")


def reserved(budget: Budget, body: dict[str, Any]) -> float:
    """What is set aside for a request that may be sent at once."""
    return asyncio.run(asyncio.wait_for(budget.reserve(body), 10))


async def send(budget: Budget, completion: int, body: dict[str, Any] = BODY) -> None:
    reserved = await budget.reserve(body)
    await asyncio.sleep(0)
    budget.settle(body, reserved, replace(row(1), prompt_tokens=7, completion_tokens=completion))


def test_many_at_once_stay_below_the_cap_and_use_it(path: str) -> None:
    budget = Budget(PRICES, cap=35, path=path)

    async def many() -> list[Any]:
        return await asyncio.gather(*(send(budget, 4) for _ in range(20)), return_exceptions=True)

    stopped = [one for one in asyncio.run(many()) if isinstance(one, CostCapped)]
    # Each may cost 10 and costs 4: the seventh begins at 24, the eighth would at 28.
    assert len(stopped) == 13
    assert "--max_cost 35: 28 US dollars" in stopped[0].message
    totals = {REQUESTS: 7, IN_FLIGHT: 0, "prompt_tokens": 49, "completion_tokens": 28, COST: 28}
    assert UsageReader(path).totals() == {**totals, RESERVED: 0}
    assert [written.cost_usd for written in UsageReader(path).rows()] == [4] * 7
    # Who stopped has stopped, for small requests too.
    with pytest.raises(CostCapped):
        asyncio.run(send(budget, 1, {**BODY, "max_tokens": 1}))


def test_the_cap_ends_the_run_once_the_requests_under_way_have_ended(path: str) -> None:
    budget = Budget(PRICES, cap=15, path=path)
    steps: list[str] = []

    async def too_much() -> None:
        with pytest.raises(CostCapped):
            await budget.reserve({**BODY, "max_tokens": 20})
        steps.append("stopped")

    async def both() -> None:
        aside = await budget.reserve(BODY)
        stops = asyncio.ensure_future(too_much())
        for _ in range(5):
            await asyncio.sleep(0)
        steps.append("replied")
        budget.settle(BODY, aside, replace(row(1), completion_tokens=4))
        await stops

    asyncio.run(asyncio.wait_for(both(), 10))
    assert steps == ["replied", "stopped"]


@pytest.mark.parametrize(
    ("billed", "cost"),
    [pytest.param(False, 0, id="refused"), pytest.param(True, 10, id="broke off")],
)
def test_what_broke_off_may_be_billed_and_no_refusal_is(path: str, billed: bool, cost: int) -> None:
    budget = Budget(PRICES, cap=100, path=path)
    failed = replace(row(1), prompt_tokens=None, completion_tokens=None)
    budget.settle(BODY, reserved(budget, BODY), failed, billed)
    totals = UsageReader(path).totals()
    assert totals.get(COST, 0) == cost
    assert totals[RESERVED] == 0


@pytest.mark.parametrize(
    ("body", "most"),
    [
        pytest.param({"max_tokens": 10}, 10, id="the limit of a reply"),
        pytest.param({"max_tokens": 10, "n": 3}, 30, id="the limit of three choices"),
        pytest.param({"max_completion_tokens": 12}, 12, id="the limit by its newer name"),
        pytest.param({}, 500, id="500 tokens without a limit"),
        pytest.param({"n": 2}, 1000, id="500 tokens a choice"),
        pytest.param(LONG, tokens_at_most(FREE | LONG), id="as much as a long prompt"),
    ],
)
def test_what_a_request_may_cost_is_set_aside(body: dict[str, Any], most: int) -> None:
    with pytest.raises(CostCapped):
        reserved(Budget(PRICES, most - 1), FREE | body)
    assert reserved(Budget(PRICES, most), FREE | body) == most


def test_prompt_and_reply_have_a_price_each() -> None:
    body = {"model": "m", "messages": [], "max_tokens": 1_000_000}
    tokens = tokens_at_most(body)
    assert upper_bound(Price(1_000_000, 0.0), body) == tokens
    assert upper_bound(Price(0.0, 3.0), body) == 3.0
    assert Price(2.0, 3.0).cost(1_000_000, 0) == 2.0
    assert Price(2.0, 3.0).cost(0, 1_000_000) == 3.0


def test_the_longest_choice_so_far_is_expected_of_the_next() -> None:
    budget = Budget(PRICES, cap=2_000)
    for completion in (900, 150, 100):
        asyncio.run(send(budget, completion, FREE))
    with pytest.raises(CostCapped):  # 850 are left, 900 are expected
        asyncio.run(send(budget, 100, FREE))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(FREE, 900, id="one choice"),
        pytest.param(FREE | {"n": 2}, 500, id="450 for each of two choices"),
    ],
)
def test_how_long_a_choice_was_is_known_for_each_one(body: dict[str, Any], expected: int) -> None:
    budget = Budget(PRICES, cap=10_000)
    asyncio.run(send(budget, 900, body))
    assert reserved(budget, FREE) == expected


def test_how_long_a_choice_was_is_known_for_each_model() -> None:
    budget = Budget(PRICES | {"other": PRICES["m"]}, cap=10_000)
    asyncio.run(send(budget, 900, FREE))
    assert reserved(budget, FREE | {"model": "other"}) == 500


@pytest.mark.parametrize(
    ("body", "cap"),
    [
        pytest.param(BODY, None, id="no cap"),
        pytest.param(BODY | {"model": "other"}, 5.0, id="a model without a price"),
    ],
)
def test_nothing_is_set_aside_without_cap_or_price(body: dict[str, Any], cap: float | None) -> None:
    assert reserved(Budget(PRICES, cap), body) == 0.0


# --- the log: what is written is there, whatever ended the process ---


def test_a_process_that_goes_on_keeps_what_was_spent_and_what_was_under_way(path: str) -> None:
    spent = {REQUESTS: 2, "prompt_tokens": 14, "completion_tokens": 3}
    UsageLog(path).begin({COST: 9, **spent, "extract.responses": 5})
    assert UsageReader(path).totals() == {COST: 9, **spent}
    log = UsageLog(path)
    log.add({RESERVED: 10, IN_FLIGHT: 1, "extract.responses": 1})  # and was killed before the reply
    log.report("3 requests timed out, retrying in 8 s")
    log.close()
    UsageLog(path).begin({COST: 100})
    reader = UsageReader(path)
    assert reader.totals() == {COST: 19, **spent}
    assert [reader.messages() for _ in range(2)] == [["3 requests timed out, retrying in 8 s"], []]
    budget = Budget(PRICES, cap=35, path=path)
    asyncio.run(send(budget, 9))
    with pytest.raises(CostCapped, match="28 US dollars"):
        asyncio.run(send(budget, 9))
