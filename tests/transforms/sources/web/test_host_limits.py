"""The pauses between the requests to a web host, by a clock that jumps."""

import asyncio

import pytest

from tests.transforms.sources.web.pages import TABLES, no_pause
from ufo.transforms.sources.web.host_limits import Hosts


@pytest.mark.parametrize(
    ("workers", "delay", "names", "moments"), TABLES["paces"].values(), ids=TABLES["paces"]
)
def test_a_host_has_a_pause_between_requests_and_another_host_its_own(
    workers: int, delay: float | None, names: str, moments: list[float]
) -> None:
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        await asyncio.sleep(0)

    async def ask() -> list[float]:
        hosts = Hosts(workers=workers, sleep=sleep, clock=lambda: now)
        hosts.crawl_delay("a", delay)
        starts = []
        for name in names:
            async with hosts.turn(name):
                starts.append(round(now, 6))
        return starts

    assert asyncio.run(ask()) == moments


@pytest.mark.parametrize(("workers", "most"), [(1, 2), (2, 1), (3, 1)])
def test_no_more_than_a_few_are_under_way_at_a_host(workers: int, most: int) -> None:
    hosts, under_way, counts = Hosts(workers, sleep=no_pause), [0], [0]

    async def take_turn() -> None:
        async with hosts.turn("a"):
            under_way[0] += 1
            counts.append(under_way[0])
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            under_way[0] -= 1

    async def many() -> None:
        await asyncio.gather(*(take_turn() for _ in range(9)))

    asyncio.run(many())
    assert max(counts) == most
