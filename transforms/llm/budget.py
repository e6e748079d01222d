"""Keep the cost of a run below `--max_cost`, over all of its processes."""

import asyncio
import math
import time
from collections.abc import Mapping
from typing import Any

from ufo.schemas.errors import CostCapped
from ufo.schemas.records import Usage
from ufo.transforms.llm.prices import Price, upper_bound, with_cost
from ufo.transforms.llm.usage_log import (
    COST,
    IN_FLIGHT,
    REQUESTS,
    RESERVED,
    UsageLog,
    UsageReader,
    spent_by,
)

_BETWEEN_LINES = 0.5  # seconds between lines of the log that only say that requests began


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
