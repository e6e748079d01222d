import asyncio

import pytest

from ufo.transforms.sources.web.fetch import Cached


class Maker:
    """Makes 1, 2, 3, … when `go` is set; counts how often it was asked."""

    def __init__(self) -> None:
        self.made = 0
        self.go = asyncio.Event()

    async def make(self) -> int:
        self.made += 1
        number = self.made
        await self.go.wait()
        return number


def test_those_who_ask_at_once_share_one_value_also_where_the_first_gives_up() -> None:
    async def asked() -> tuple[list[tuple[int, bool]], int]:
        maker, cached = Maker(), Cached[int](10, 60.0)
        tasks = [asyncio.create_task(cached.get("a", maker.make)) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        maker.go.set()
        return await asyncio.gather(*tasks[1:]), maker.made

    assert asyncio.run(asked()) == ([(1, True), (1, True)], 1)


def test_a_value_is_made_again_once_it_is_old_or_others_took_its_place() -> None:
    async def asked() -> list[tuple[int, bool]]:
        now = 0.0
        maker, cached = Maker(), Cached[int](1, 60.0, lambda: now)
        maker.go.set()
        found = [await cached.get("a", maker.make)]
        now = 59.0
        found.append(await cached.get("a", maker.make))
        now = 61.0
        found.append(await cached.get("a", maker.make))
        await cached.get("b", maker.make)
        return [*found, await cached.get("a", maker.make)]

    assert asyncio.run(asked()) == [(1, False), (1, True), (2, False), (4, False)]


def test_what_fails_is_asked_for_again() -> None:
    async def asked() -> int:
        cached = Cached[int](10, 60.0)

        async def fail() -> int:
            raise OSError("down")

        async def work() -> int:
            return 5

        with pytest.raises(OSError, match="down"):
            await cached.get("a", fail)
        return (await cached.get("a", work))[0]

    assert asyncio.run(asked()) == 5
