"""What a request costs by the prices of its model."""

import gzip
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.golden.tables import tables
from ufo.schemas.errors import UsageError
from ufo.schemas.records import Usage
from ufo.transforms.llm.prices import Price, load_prices, with_cost

PRICES = {"m": Price(0.0, 1_000_000.0)}  # a dollar a token of the reply
WHO = ("req-1", "verify", None, "m", "r1", "host:1")
REQUEST = Usage(*WHO, "ok", False, False, 0, 1000, 500, 0.1, None)


@pytest.mark.parametrize(
    ("changes", "cost"),
    [
        pytest.param({}, 500.0, id="a known price"),
        pytest.param({"model": "other"}, None, id="an unknown price"),
        pytest.param({"model": None}, None, id="no model"),
        pytest.param({"prompt_tokens": None}, None, id="an unknown prompt"),
        pytest.param({"completion_tokens": None}, None, id="an unknown reply"),
        pytest.param({"prompt_tokens": 0, "completion_tokens": 0}, 0.0, id="no tokens"),
    ],
)
def test_a_cost_is_known_with_price_and_tokens(changes: dict[str, Any], cost: float | None) -> None:
    assert with_cost(replace(REQUEST, **changes), PRICES).cost_usd == cost


@pytest.mark.parametrize(("batch", "share"), [(None, 0.5), (0.0, 0.0), (0.25, 0.25), (1.0, 1.0)])
def test_a_request_in_a_batch_costs_its_share(batch: float | None, share: float) -> None:
    price = Price(4.0, 8.0, "https://a.example", "2024-07-18", batch).of_batch
    assert price == Price(4.0 * share, 8.0 * share, "https://a.example", "2024-07-18", batch)


def test_shipped_prices_have_a_source_and_a_date() -> None:
    prices = load_prices()
    assert prices["gpt-4o-mini"].cost(1_000_000, 1_000_000) == pytest.approx(0.75)
    for model, price in prices.items():
        assert price.source.startswith("https://"), model
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", price.date), model
        assert 0 < price.input < price.output, model


def test_a_user_s_prices_go_before_the_shipped_ones(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "mine: {input: 0, output: 1.5, batch: 0}\n"
        "gpt-4o: {input: 1, output: 2, date: 2030-01-01, source: 'https://a.example'}"
    )
    mine = {
        "mine": Price(0.0, 1.5, batch=0.0),
        "gpt-4o": Price(1.0, 2.0, "https://a.example", "2030-01-01"),
    }
    assert load_prices(str(path)) == {**load_prices(), **mine}


def test_prices_may_be_utf_16_and_compressed(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(gzip.compress("mine: {input: 0, output: 1.5}".encode("utf-16")))
    assert load_prices(str(path))["mine"] == Price(0.0, 1.5)


def test_an_empty_file_of_prices_changes_none(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("")
    assert load_prices(str(path)) == load_prices()


@pytest.mark.parametrize("number", ["-0.1", ".inf", "true", "'1'", "[]"])
@pytest.mark.parametrize("field", ["input", "output", "batch"])
def test_each_number_of_a_price_is_zero_or_more(tmp_path: Path, field: str, number: str) -> None:
    numbers = {"input": "0", "output": "0", "batch": "0"} | {field: number}
    path = tmp_path / "wrong.yaml"
    path.write_text(f"m: {{{', '.join(f'{name}: {one}' for name, one in numbers.items())}}}")
    with pytest.raises(UsageError, match="is not a price"):
        load_prices(str(path))


@pytest.mark.parametrize(("text", "message"), tables("endpoints")["prices"])
def test_what_is_no_price_is_reported(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "wrong.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(message)) as error:
        load_prices(str(path))
    assert "wrong.yaml" in error.value.message
