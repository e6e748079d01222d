"""What requests cost, and the cap that all processes of a run stay below together."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from schemas.errors import CostCapped
from transforms.llm.failures import SendError
from transforms.llm.ledger import (
    COMPLETION_TOKENS,
    COST,
    IN_FLIGHT,
    PROMPT_TOKENS,
    REQUESTS,
    RESERVED,
    Counter,
    Ledger,
)
from transforms.llm.limits import estimated
from transforms.llm.prices import Price

_BETWEEN_LOOKS = 0.02  # seconds
_REPLY_TOKENS = 500  # the least that a choice without a limit may have


@dataclass(slots=True)
class Bill:
    """What one request comes to; before its reply is there, what it may come to."""

    reserved: float
    cost: float
    tokens: dict[str, float] = field(default_factory=dict)


class Meter:
    """Counts the requests of a client, and holds them back where they would pass the cap.

    `cap` is in US dollars, for all processes that share the ledger at `path`; it needs one.
    """

    def __init__(
        self, prices: Mapping[str, Price], cap: float | None = None, path: str | None = None
    ) -> None:
        self._prices = prices
        self._cap = cap
        self._path = path
        self._counter = Counter(path)
        self._ledger: Ledger | None = None
        self._under_way = 0
        self._largest: dict[str, float] = {}
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def request(self, body: Mapping[str, Any]) -> AsyncIterator[Bill]:
        """Account for one request that is sent within this context; `paid` tells its reply.

        Raises:
            CostCapped: it could pass the cap. Everything that was under way has ended by then.
        """
        model = str(body.get("model"))
        price = self._prices.get(model)
        bill = Bill(0.0, 0.0)
        if self._cap is not None and price is not None:
            bill.reserved = bill.cost = self._at_most(price, body)
            await self._reserve(bill.reserved)
        else:
            self._counter.add({IN_FLIGHT: 1})
        self._under_way += 1
        try:
            yield bill
        except SendError as error:
            if error.status.isdigit():
                bill.cost = 0.0  # refused, so not billed; what broke off on the way may have been
            raise
        finally:
            self._under_way -= 1
            self._settle(bill)

    def paid(self, bill: Bill, body: Mapping[str, Any], payload: Any) -> None:
        """Note what a reply says that it used."""
        model = str(body.get("model"))
        usage = payload.get("usage") if isinstance(payload, Mapping) else None
        if not isinstance(usage, Mapping):
            return
        tokens = [usage.get(name) for name in (PROMPT_TOKENS, COMPLETION_TOKENS)]
        if not all(isinstance(number, int) for number in tokens):
            return
        prompt, completion = (int(number or 0) for number in tokens)
        bill.tokens = {PROMPT_TOKENS: prompt, COMPLETION_TOKENS: completion}
        each = completion / max(1, int(body.get("n", 1)))
        self._largest[model] = max(self._largest.get(model, 0.0), each)
        if model in self._prices:
            bill.cost = self._prices[model].of(prompt, completion)

    def close(self) -> None:
        """Write what is not written yet, and close the ledger; a later request opens it again."""
        self._counter.close()
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def _at_most(self, price: Price, body: Mapping[str, Any]) -> float:
        """What a request may cost. A choice without a limit is taken to be no longer than its
        prompt, than the longest so far, and than 500 tokens, whichever is most."""
        prompt = estimated(body)
        limit = body.get("max_completion_tokens", body.get("max_tokens"))
        longest = self._largest.get(str(body.get("model")), 0.0)
        each = limit if limit is not None else max(prompt, longest, _REPLY_TOKENS)
        return price.of(prompt, round(each * int(body.get("n", 1))))

    async def _reserve(self, usd: float) -> None:
        assert self._cap is not None
        if self._ledger is None:
            self._ledger = Ledger(self._path or ":memory:")
        # One waits at a time, the others behind it.
        async with self._turn:
            while (fits := self._ledger.reserve(usd, self._cap)) is None:
                await asyncio.sleep(_BETWEEN_LOOKS)
        if fits:
            return
        # What is under way is paid for: its answers are waited for, and can be kept.
        while self._ledger.totals().get(IN_FLIGHT, 0.0) > 0:
            await asyncio.sleep(_BETWEEN_LOOKS)
        spent = self._ledger.totals().get(COST, 0.0)
        raise CostCapped(
            f"stopped at --max_cost {self._cap:g}: {spent:.6g} US dollars are spent, and the next "
            f"request may cost {usd:.2g}. What was finished is kept; the same command with a "
            "higher --max_cost goes on from there"
        )

    def _settle(self, bill: Bill) -> None:
        changes = {**bill.tokens, REQUESTS: 1, IN_FLIGHT: -1, COST: bill.cost}
        if self._ledger is not None:
            self._ledger.add({**changes, RESERVED: -bill.reserved})
        else:
            self._counter.add(changes, now=not self._under_way)
