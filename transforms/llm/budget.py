"""The budget of a run: the prices of models, the cost of requests, and the limit `--max_cost`.

Prices come from `prices.yaml` in this package and from the user's `--prices` file. A model in
neither has no price, and its cost is unknown: None, never 0.
"""

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from ufo.schemas.errors import CostCapped, UsageError
from ufo.schemas.records import Usage
from ufo.schemas.text_file import read_text
from ufo.transforms.llm.tokens import tokens_at_most
from ufo.transforms.llm.usage_log import (
    COST,
    IN_FLIGHT,
    REQUESTS,
    RESERVED,
    UsageLog,
    UsageReader,
    spent_by,
)

_TOKENS = 1_000_000
_BETWEEN_LINES = 0.5  # seconds between lines of the log that only say that requests began
_BATCH_SHARE = 0.5
_REPLY_TOKENS = 500  # the least tokens reserved for a choice without a token limit


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million prompt (`input`) and completion (`output`) tokens. `source` is the
    URL of the price list, read on `date`. A request in a batch costs the share `batch` of the
    price; None means that it is unknown, and half is assumed."""

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


def cap_error(cap: float | None, spent: float, usd: float) -> CostCapped:
    """Return the error for a request that may cost `usd` US dollars, more than the cap leaves."""
    return CostCapped(
        f"stopped at --max_cost {cap:g}: {spent:.6g} US dollars are spent, and the next request "
        f"may cost {usd:.2g}. What was finished is kept; the same command with a higher "
        "--max_cost resumes from there"
    )


class Budget:
    """The spending of a run: counts its requests and refuses a request that could exceed `cap`.

    `cap` is in US dollars and includes earlier spending that the usage log at `path` records. Use
    one object for each process, on one event loop.
    """

    def __init__(
        self, prices: Mapping[str, Price], cap: float | None = None, path: str | None = None
    ) -> None:
        self._prices = prices
        self._cap = cap
        self._path = path
        self._spent: float | None = None
        self._reserved = 0.0
        self._in_flight = 0
        self._unlogged = 0
        self._next_line = -math.inf
        self._closed = False
        self._largest: dict[str, float] = {}
        self._turn = asyncio.Lock()
        self._settled = asyncio.Event()
        self.log = UsageLog(path)

    async def reserve(self, body: Mapping[str, Any]) -> float:
        """Wait until a request may be sent; return the US dollars reserved for it.

        Call `settle` when the request has ended.

        Raises:
            CostCapped: the request could exceed the cap. All requests in flight have ended by then.
        """
        if self._spent is None:
            limited = self._cap is not None and self.log.shown
            self._spent = UsageReader(str(self._path)).totals().get(COST, 0.0) if limited else 0.0
        price = self._prices.get(str(body.get("model")))
        usd = 0.0
        if self._cap is not None and price is not None:
            usd = upper_bound(price, body, self._largest.get(str(body.get("model")), 0.0))
            await self._wait_for_funds(usd, self._cap)
        self._reserved += usd
        self._in_flight += 1
        self._unlogged += 1
        # Writing a line takes as long as the rest of this method.
        if usd or time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _BETWEEN_LINES
            self.log.add({IN_FLIGHT: self._begun(), RESERVED: usd})
        return usd

    def settle(
        self, body: Mapping[str, Any], reserved: float, row: Usage | None, billed: bool = True
    ) -> Usage | None:
        """Record a request that has ended; return its usage row with its cost.

        A request with unknown tokens costs what was reserved, unless it was not `billed`.
        """
        cost = reserved if billed else 0.0
        added = {REQUESTS: 1.0}
        if row is not None:
            row = with_cost(row, self._prices)
            cost = cost if row.cost_usd is None else row.cost_usd
            added = spent_by(row)
            model, each = str(body.get("model")), (row.completion_tokens or 0) / body.get("n", 1)
            self._largest[model] = max(self._largest.get(model, 0.0), each)
        self._reserved -= reserved
        self._in_flight -= 1
        self._spent = (self._spent or 0.0) + cost
        self._settled.set()
        in_flight = self._begun() - 1
        self.log.add({**added, COST: cost, IN_FLIGHT: in_flight, RESERVED: -reserved}, row)
        return row

    def _begun(self) -> int:
        """Return the number of begun requests that the log does not have yet."""
        begun, self._unlogged = self._unlogged, 0
        return begun

    def close(self) -> None:
        """Close the usage log; a later request opens it again."""
        self.log.close()

    async def _wait_for_funds(self, usd: float, cap: float) -> None:
        assert self._spent is not None
        # Requests wait one at a time, in their order.
        async with self._turn:
            # Those in flight may cost less than what is reserved, and their replies are cached.
            while self._in_flight and self._spent + self._reserved + usd > cap:
                self._settled.clear()
                await self._settled.wait()
            self._closed = self._closed or self._spent + usd > cap
            if self._closed:
                raise cap_error(cap, self._spent, usd)
