"""Politeness, on a clock of the test's own."""

import asyncio

from ufo.transforms.sources.web.fetch import LONGEST_DELAY, Hosts


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def starts(hosts: Hosts, clock: Clock, names: list[str]) -> list[float]:
    """The moments at which requests to these hosts start, one after another."""

    async def ask() -> list[float]:
        moments = []
        for name in names:
            async with hosts.turn(name):
                moments.append(round(clock.now - 100.0, 6))
        return moments

    return asyncio.run(ask())


def test_a_host_has_a_pause_between_requests_and_another_host_its_own() -> None:
    clock = Clock()
    hosts = Hosts(sleep=clock.sleep, clock=clock)
    assert starts(hosts, clock, ["a", "a", "b", "a"]) == [0.0, 0.1, 0.1, 0.2]


def test_the_processes_of_a_run_share_the_pace() -> None:
    clock = Clock()
    hosts = Hosts(workers=4, sleep=clock.sleep, clock=clock)
    assert starts(hosts, clock, ["a", "a"]) == [0.0, 0.4]


def test_a_crawl_delay_is_kept_up_to_a_cap() -> None:
    clock = Clock()
    hosts = Hosts(sleep=clock.sleep, clock=clock)
    for host, delay in (("a", 3.0), ("b", 86_400.0), ("c", None), ("d", -5.0)):
        hosts.crawl_delay(host, delay)
    assert starts(hosts, clock, ["a", "a"]) == [0.0, 3.0]
    assert starts(hosts, clock, ["b", "b"])[1] - 3.0 == LONGEST_DELAY
    for host in "cd":
        one, two = starts(hosts, clock, [host, host])
        assert round(two - one, 6) == 0.1


def test_no_more_than_a_few_are_under_way_at_a_host() -> None:
    hosts = Hosts(sleep=Clock().sleep)
    under_way = most = 0

    async def one() -> None:
        nonlocal under_way, most
        async with hosts.turn("a"):
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            under_way -= 1

    async def many() -> None:
        await asyncio.gather(*(one() for _ in range(9)))

    asyncio.run(many())
    assert most == 2
