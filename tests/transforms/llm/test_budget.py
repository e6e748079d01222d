"""Prices, what is counted and set aside; replies are what the test says, without a server."""

import asyncio
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.transforms.llm.test_usage_log import row
from ufo.schemas.errors import CostCapped, UsageError
from ufo.transforms.llm.budget import Budget, Price, load_prices, priced
from ufo.transforms.llm.usage_log import (
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


def test_every_shipped_price_has_its_source_and_date() -> None:
    prices = load_prices()
    assert prices["gpt-4o-mini"].cost(1_000_000, 1_000_000) == pytest.approx(0.75)
    for model, price in prices.items():
        assert price.source.startswith("https://"), model
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", price.date), model
        assert 0 < price.input < price.output, model


def test_the_shipped_file_is_read_as_a_user_s_is() -> None:
    text = (resources.files("ufo.transforms.llm") / "prices.yaml").read_text(encoding="utf-8")
    assert set(yaml.safe_load(text)) == set(load_prices())


def test_a_user_s_prices_go_before_the_shipped_ones(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "mine: {input: 0, output: 1.5}\ngpt-4o: {input: 1, output: 2, date: 2030-01-01}"
    )
    prices = load_prices(str(path))
    assert prices["mine"] == Price(0.0, 1.5)
    assert prices["gpt-4o"] == Price(1.0, 2.0, "", "2030-01-01")
    assert prices["gpt-4o-mini"] == load_prices()["gpt-4o-mini"]
    path.write_text("")
    assert load_prices(str(path)) == load_prices()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("m: {input: -1, output: 1}", ["m: {'input': -1", "is not a price"]),
        ("m: {input: 1}", ["is not a price"]),
        ("m: {input: .nan, output: 1}", ["'input': nan"]),
        ("m: {input: true, output: 1}", ["'input': True"]),
        ("m: {input: '1', output: 1}", ["'input': '1'"]),
        ("m: {input: 1, output: 1, per: 1000}", ["'per': 1000", "is not a price"]),
        ("m: 3", ["3 is not a price"]),
        ("- m", ["expected models"]),
        ("m: {", ["is not YAML"]),
    ],
)
def test_what_is_no_price_is_reported(tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        load_prices(str(path))
    for word in [*words, "wrong.yaml"]:
        assert word in error.value.message


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_prices(str(tmp_path / "none.yaml"))


def test_a_cost_that_nobody_knows_is_none_and_not_zero() -> None:
    prices = {"m": Price(1.0, 4.0)}

    def cost(model: str | None, prompt: int | None, completion: int | None) -> float | None:
        one = replace(row(1), model=model, prompt_tokens=prompt, completion_tokens=completion)
        return priced(one, prices).cost_usd

    assert cost("m", 10, 5) == pytest.approx(30e-6)
    assert cost("m", 0, 0) == 0.0
    for unknown in (("other", 10, 5), (None, 10, 5), ("m", None, 5), ("m", 10, None)):
        assert cost(*unknown) is None
