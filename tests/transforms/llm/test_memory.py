"""A cache whose store fails, or that has none."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from tests.transforms.llm.cached import ASKED, SETTINGS, Model, complete
from ufo.transforms.llm.answer_store import Entry, StoreError
from ufo.transforms.llm.cache import CachingClient
from ufo.transforms.llm.memory import Memory
from ufo.transforms.llm.request import Completion, Message


class Broken:
    """A store on a disk that fails at writing, or at reading as well."""

    threads = 1

    def __init__(self, reads: bool) -> None:
        self.reads = reads
        self.calls = 0

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        self.calls += 1
        if not self.reads:
            raise StoreError("the disk is gone")
        return {}

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        self.calls += 1
        raise StoreError("the disk is full")

    def entries(self) -> Iterator[Entry]:
        return iter(())

    def remove(self, keys: Sequence[str]) -> None:
        raise AssertionError

    def close(self) -> None:
        raise AssertionError


@pytest.mark.parametrize(("reads", "word"), [(True, "written"), (False, "read")])
def test_a_store_that_fails_is_reported_of_once_and_done_without(reads: bool, word: str) -> None:
    said: list[str] = []
    model = Model()
    memory = Memory(Broken(reads), report=said.append)

    async def ask() -> list[Completion]:
        client = CachingClient(model, SETTINGS, memory)
        numbers = range(5)
        return [
            await client.complete(replace(ASKED, messages=[Message("user", str(n))]))
            for n in numbers
        ]

    assert len(asyncio.run(ask())) == 5
    (message,) = said
    assert f"cannot be {word}" in message
    assert "the disk is" in message
    assert not memory.writes


def test_without_a_store_equal_requests_under_way_are_shared_still() -> None:
    model = Model()

    async def ask() -> None:
        client = CachingClient(model, SETTINGS, Memory(None))
        model.gate = asyncio.Event()
        waiting = asyncio.ensure_future(complete(ASKED, ASKED)(client))
        while not model.requests:
            await asyncio.sleep(0)
        model.gate.set()
        await waiting
        await client.complete(ASKED)

    asyncio.run(ask())
    assert len(model.requests) == 2
