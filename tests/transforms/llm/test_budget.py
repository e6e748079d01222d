"""Prices, and what is counted, set aside and logged; replies are what the test says."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.golden.tables import tables
from ufo.schemas.errors import CostCapped, RunError, UsageError
from ufo.schemas.records import Usage
from ufo.transforms.llm.budget import Budget, Price, load_prices
from ufo.transforms.llm.usage_log import COST, IN_FLIGHT, REQUESTS, RESERVED, UsageLog, UsageReader

PRICES = {"m": Price(0.0, 1_000_000.0)}  # a dollar a token of the reply
FREE = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
BODY: dict[str, Any] = {**FREE, "max_tokens": 10}


def row(number: int) -> Usage:
    who = (f"req-{number}", "verify", None, "m", "r\n½", "host:1")
    return Usage(*who, "ok", False, False, 0, 1000, 500, 0.1 + number, None)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "usage.jsonl")


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
    found = {REQUESTS: 7, IN_FLIGHT: 0, "prompt_tokens": 49, "completion_tokens": 28, COST: 28}
    assert UsageReader(path).totals() == {**found, RESERVED: 0}
    assert [written.cost_usd for written in UsageReader(path).rows()] == [4] * 7
    # Who stopped has stopped, for small requests too.
    with pytest.raises(CostCapped):
        asyncio.run(send(budget, 1, {**BODY, "max_tokens": 1}))


@pytest.mark.parametrize(("billed", "cost"), [(False, 0), (True, 10)])
def test_what_broke_off_may_have_been_billed_and_a_refusal_is_not(
    path: str, billed: bool, cost: int
) -> None:
    budget = Budget(PRICES, cap=100, path=path)
    failed = replace(row(1), prompt_tokens=None, completion_tokens=None)
    budget.settle(BODY, asyncio.run(budget.reserve(BODY)), failed, billed)
    totals = UsageReader(path).totals()
    assert totals.get(COST, 0) == cost
    assert totals[RESERVED] == 0


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
    with pytest.raises(CostCapped):
        asyncio.run(Budget(PRICES, least - 1).reserve(FREE | body))
    asyncio.run(Budget(PRICES, least * 2).reserve(FREE | body))
    # A reply longer than expected makes the next be expected so.
    budget = Budget(PRICES, cap=2_000)
    for completion in (900, 150, 100):
        asyncio.run(send(budget, completion, FREE))
    with pytest.raises(CostCapped):  # 850 are left, 900 are expected
        asyncio.run(send(budget, 100, FREE))


def test_shipped_prices_have_a_source_and_a_date_and_a_user_s_go_before_them(
    tmp_path: Path,
) -> None:
    prices = load_prices()
    assert prices["gpt-4o-mini"].cost(1_000_000, 1_000_000) == pytest.approx(0.75)
    for model, price in prices.items():
        assert price.source.startswith("https://"), model
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", price.date), model
        assert 0 < price.input < price.output, model
    path = tmp_path / "mine.yaml"
    path.write_text(
        "mine: {input: 0, output: 1.5}\ngpt-4o: {input: 1, output: 2, date: 2030-01-01}"
    )
    mine = {"mine": Price(0.0, 1.5), "gpt-4o": Price(1.0, 2.0, "", "2030-01-01")}
    assert load_prices(str(path)) == {**prices, **mine}
    path.write_text("")
    assert load_prices(str(path)) == prices


@pytest.mark.parametrize(("text", "said"), tables("endpoints")["prices"])
def test_what_is_no_price_is_reported(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "wrong.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(said)) as error:
        load_prices(str(path))
    assert "wrong.yaml" in error.value.message


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


def test_a_line_that_was_cut_short_is_passed_over_until_it_is_whole(path: str) -> None:
    log, reader = UsageLog(path), UsageReader(path)
    log.add({REQUESTS: 1}, row(1))
    with open(path, "ab", buffering=0) as file:
        file.write(b'{"add": {"requests"')
        assert reader.totals() == {REQUESTS: 1}
        file.write(b': 1}}\n{"add": {"requests": 1}, "row": {"st\xff\n[1]\n{"row": {"x": 1}}\n{"ad')
    assert reader.totals() == {REQUESTS: 2}
    UsageLog(path).begin()
    log.add({REQUESTS: 1}, row(3))
    assert list(UsageReader(path).rows()) == [row(1), row(3)]
    assert UsageReader(path).totals()[REQUESTS] == 3


def test_without_a_path_nothing_is_written_and_one_that_cannot_be_ends_the_run(
    tmp_path: Path,
) -> None:
    for log in (UsageLog(), UsageLog(str(tmp_path / "nowhere" / "usage.jsonl"))):
        log.report("a message is not worth the run")
    UsageLog().add({REQUESTS: 1}, row(1))
    with pytest.raises(RunError, match="cannot be written"):
        log.add({REQUESTS: 1})
