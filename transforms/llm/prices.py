"""Read the prices of models: a shipped YAML, each figure with its source, and a user's own.

A model that is in neither has no price, and its cost is unknown: None, never 0.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from schemas.errors import UsageError
from schemas.records import Usage

_TOKENS = 1_000_000
_FIELDS = ("input", "output", "source", "date")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a million tokens of prompts and of completions; where it is from, since when."""

    input: float
    output: float
    source: str = ""
    date: str = ""

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost in US dollars."""
        return (self.input * prompt_tokens + self.output * completion_tokens) / _TOKENS


def load_prices(path: str | None = None) -> dict[str, Price]:
    """Return the price of each known model: the shipped ones, those in the file `path` before them.

    Raises:
        UsageError: the file cannot be read, or an entry is no price.
    """
    return {**_shipped(), **(_read(Path(path)) if path else {})}


def priced(row: Usage, prices: Mapping[str, Price]) -> Usage:
    """Return the usage row with its cost, which is unknown without a price or without tokens."""
    price = prices.get(row.model or "")
    if price is None or row.prompt_tokens is None or row.completion_tokens is None:
        return row
    return replace(row, cost_usd=price.of(row.prompt_tokens, row.completion_tokens))


@cache
def _shipped() -> dict[str, Price]:
    text = (resources.files(__package__) / "prices.yaml").read_text(encoding="utf-8")
    return _prices("prices.yaml", text)


def _read(path: Path) -> dict[str, Price]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--prices {str(path)!r} cannot be read: {error}") from error
    return _prices(f"--prices {str(path)!r}", text)


def _prices(where: str, text: str) -> dict[str, Price]:
    try:
        given = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise UsageError(f"{where} is not YAML: {error}") from error
    if not isinstance(given, dict):
        raise UsageError(f"{where}: {_form('expected models and their prices')}")
    return {str(model): _price(f"{where}: {model}", entry) for model, entry in given.items()}


def _price(where: str, entry: Any) -> Price:
    if not isinstance(entry, Mapping):
        raise UsageError(_form(f"{where}: {entry!r} is no price"))
    for name in entry:
        if name not in _FIELDS:
            raise UsageError(_form(f"{where}: unknown field {name!r}"))
    return Price(
        _dollars(where, entry, "input"),
        _dollars(where, entry, "output"),
        str(entry.get("source") or ""),
        str(entry.get("date") or ""),
    )


def _dollars(where: str, entry: Mapping[str, Any], name: str) -> float:
    value = entry.get(name)
    # YAML's `.nan` compares with nothing, and `true` is an int.
    if isinstance(value, int | float) and value is not True and 0 <= value < math.inf:
        return float(value)
    raise UsageError(_form(f"{where}: {name} is {value!r}, not US dollars from 0"))


def _form(message: str) -> str:
    return (
        f"{message}; an entry is `MODEL: {{input: 0.15, output: 0.6, source: URL, date: "
        "2024-07-18}`, in US dollars a million tokens"
    )
