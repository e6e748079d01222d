"""Compute the cost of requests in US dollars by the prices of models.

Prices come from `prices.yaml` in this package and from the user's `--prices` file. A model in
neither has no price, and its cost is unknown: None, never 0.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from ufo.schemas.errors import UsageError
from ufo.schemas.records import Usage
from ufo.schemas.text_file import read_text
from ufo.transforms.llm.tokens import tokens_at_most

_TOKENS = 1_000_000
_BATCH_SHARE = 0.5
_REPLY_TOKENS = 500  # the least tokens reserved for a choice without a token limit


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million prompt (`input`) and completion (`output`) tokens.

    `source` is the URL of the price list, read on `date`. A request in a batch costs the share
    `batch` of the price; None means that it is unknown, and half is assumed.
    """

    input: float
    output: float
    source: str = ""
    date: str = ""
    batch: float | None = None

    @property
    def of_batch(self) -> "Price":
        """The price of a request in a batch."""
        share = _BATCH_SHARE if self.batch is None else self.batch
        return replace(self, input=self.input * share, output=self.output * share)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost in US dollars."""
        return (self.input * prompt_tokens + self.output * completion_tokens) / _TOKENS


def load_prices(path: str | None = None) -> dict[str, Price]:
    """Return the prices by model; those in the YAML file `path` override the shipped ones.

    Raises:
        UsageError: the file cannot be read, or an entry is not a price.
    """
    return {**_shipped(), **(_read(path) if path else {})}


def with_cost(row: Usage, prices: Mapping[str, Price]) -> Usage:
    """Return the usage row with its cost; unchanged where the price or the tokens are unknown."""
    price = prices.get(row.model or "")
    if price is None or row.prompt_tokens is None or row.completion_tokens is None:
        return row
    return replace(row, cost_usd=price.cost(row.prompt_tokens, row.completion_tokens))


@cache
def _shipped() -> dict[str, Price]:
    text = (resources.files(__package__) / "prices.yaml").read_text(encoding="utf-8")
    return _prices("prices.yaml", text)


def _read(path: str) -> dict[str, Price]:
    try:
        text = read_text(path)
    except ValueError as error:
        raise UsageError(f"--prices {path!r} cannot be read: {error}") from error
    return _prices(f"--prices {path!r}", text)


def _prices(where: str, text: str) -> dict[str, Price]:
    import yaml  # not needed by a run that asks no model

    try:
        prices = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise UsageError(f"{where} is not YAML: {error}") from error
    if not isinstance(prices, dict):
        raise UsageError(f"{where}: {_form('expected models and their prices')}")
    return {str(model): _price(f"{where}: {model}", entry) for model, entry in prices.items()}


def _price(where: str, entry: Any) -> Price:
    try:
        price = Price(**{**entry, "date": str(entry.get("date", ""))})
        # Comparisons with YAML's `.nan` are false, and `true` is an int.
        numbers = [price.input, price.output, 0 if price.batch is None else price.batch]
        if all(type(n) in (int, float) and 0 <= n < math.inf for n in numbers):
            return price
    except (TypeError, AttributeError):
        pass
    raise UsageError(_form(f"{where}: {entry!r} is not a price"))


def _form(message: str) -> str:
    return (
        f"{message}; an entry is `MODEL: {{input: 0.15, output: 0.6, source: URL, date: "
        "2024-07-18}`, in US dollars a million tokens"
    )


def upper_bound(price: Price, body: Mapping[str, Any], longest: float = 0.0) -> float:
    """Return the highest cost of a request, in US dollars.

    A choice without a token limit is assumed to have at most as many tokens as the largest of
    three: its prompt, the `longest` choice so far, and 500.
    """
    prompt = tokens_at_most(body)
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    each = limit if limit is not None else max(prompt, longest, _REPLY_TOKENS)
    return price.cost(prompt, round(each * int(body.get("n", 1))))
