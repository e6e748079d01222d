import re
from importlib import resources
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import UsageError
from schemas.records import Usage
from transforms.llm.budget import Price, load_prices, priced
from transforms.llm.window import count, prompt_tokens


def usage(model: str | None, prompt: int | None, completion: int | None) -> Usage:
    return Usage(
        *("id", "verify", None, model, None, None, "ok", False, False, 0),
        *(prompt, completion, 0.1, None),
    )


def test_every_shipped_price_has_its_source_and_date() -> None:
    prices = load_prices()
    assert prices["gpt-4o-mini"].of(1_000_000, 1_000_000) == pytest.approx(0.75)
    for model, price in prices.items():
        assert price.source.startswith("https://"), model
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", price.date), model
        assert 0 < price.input < price.output, model


def test_the_shipped_file_is_read_as_a_user_s_is() -> None:
    text = (resources.files("transforms.llm") / "prices.yaml").read_text(encoding="utf-8")
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
        ("m: {input: -1, output: 1}", ["m: input is -1"]),
        ("m: {input: 1}", ["output is None"]),
        ("m: {input: .nan, output: 1}", ["input is nan"]),
        ("m: {input: true, output: 1}", ["input is True"]),
        ("m: {input: '1', output: 1}", ["input is '1'"]),
        ("m: {input: 1, output: 1, per: 1000}", ["unknown field 'per'"]),
        ("m: 3", ["3 is no price"]),
        ("- m", ["expected models"]),
        ("m: {", ["is not YAML"]),
    ],
)
def test_what_is_no_price_is_told(tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        load_prices(str(path))
    for word in [*words, "wrong.yaml"]:
        assert word in error.value.message


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_prices(str(tmp_path / "none.yaml"))


def test_a_cost_that_nobody_knows_is_none_and_not_zero() -> None:
    prices = {"m": Price(1.0, 4.0)}
    assert priced(usage("m", 10, 5), prices).cost_usd == pytest.approx(30e-6)
    assert priced(usage("m", 0, 0), prices).cost_usd == 0.0
    assert priced(usage("other", 10, 5), prices).cost_usd is None
    assert priced(usage(None, 10, 5), prices).cost_usd is None
    assert priced(usage("m", None, 5), prices).cost_usd is None
    assert priced(usage("m", 10, None), prices).cost_usd is None


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("The river of Oslo is long.", 6, 8),
        ("In 1815 she counted 12,345 stars.", 9, 13),
        ("Donaudampfschifffahrtsgesellschaft", 4, 10),
        ("奥斯陆是一座大城市", 5, 9),
    ],
)
def test_tokens_are_about_as_many_as_byte_pairs(text: str, low: int, high: int) -> None:
    assert low <= count(text) <= high


@given(st.text(), st.text())
def test_a_longer_text_has_no_fewer_tokens(one: str, other: str) -> None:
    assert count(f"{one} {other}") == count(one) + count(other)


def test_a_prompt_is_its_messages_and_its_functions() -> None:
    body = {"messages": [{"role": "user", "content": "one two"}]}
    bare = prompt_tokens(body)
    assert 2 < bare < 10
    assert prompt_tokens({**body, "tools": [{"name": "three"}]}) > bare
