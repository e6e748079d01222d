"""A clock that jumps, so that tests of limits by the minute take no time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.limiter import AdmittedRequest, Limiter, RateLimits
from ufo.transforms.llm.retry import Timing
from ufo.transforms.llm.tokens import tokens_at_most
from ufo.transforms.llm.usage import usage_row

ASKED: dict[str, Any] = {"model": "m", "messages": [], "max_tokens": 10}
ROW = usage_row("verify", "wiki", "m", "r1")
BODY = {"messages": [{"role": "user", "content": "word " * 60}]}


class Simulated(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to whatever is next, so that a minute takes no time."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self._really = self._selector.select  # type: ignore[attr-defined]
        self._selector.select = self._select  # type: ignore[attr-defined]

    def time(self) -> float:
        return self.now

    def _select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise AssertionError("everybody waits for something that never comes")
        self.now += timeout
        return self._really(0)


def simulate(main: Callable[[Simulated], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Simulated)
        return await main(loop)

    with asyncio.Runner(loop_factory=Simulated) as runner:
        return runner.run(run())


def limiter_of(loop: Simulated, limits: RateLimits, **more: Any) -> Limiter:
    return Limiter(limits, timing=Timing(chance=lambda: 0.5, clock=loop.time), **more)


def refused(status: str = "429", **more: Any) -> SendError:
    return SendError("later", status, transient=True, **more)


@asynccontextmanager
async def admitted(
    limiter: Limiter, body: Mapping[str, Any] = BODY
) -> AsyncIterator[AdmittedRequest]:
    """A request in flight until the block ends."""
    sent = await limiter.admit(body)
    try:
        yield sent
    finally:
        limiter.release()


async def exchange(
    limiter: Limiter, loop: Simulated, seconds: float, body: Mapping[str, Any] = BODY
) -> tuple[float, float]:
    """Send a request that takes so many seconds; returns when it was sent and answered."""
    async with admitted(limiter, body) as sent:
        started = loop.time()
        await asyncio.sleep(seconds)
        limiter.answered(sent, {}, tokens_at_most(body) // 2)
    return started, loop.time()
