"""What a process has once: its clients, its caches, and what all clients of a run share."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.request import VERIFIER
from ufo.transforms.llm.shared import end_run, once, shared_memory, shared_of

SETTINGS = ClientSettings({VERIFIER: Endpoint("m", "http://localhost:1/v1")})


class Opened:
    """Something that is closed at the end of its run."""

    def __init__(self) -> None:
        self.closed = False

    async def aclose(self) -> None:
        self.closed = True


def test_an_object_is_made_once_for_its_key_and_run() -> None:
    made = once("run a", "key", Opened)
    assert once("run a", "key", Opened) is made
    assert once("run a", "other key", Opened) is not made
    assert once("run b", "key", Opened) is not made


def test_the_end_of_a_run_closes_its_objects_alone() -> None:
    ended, other = once("run c", "key", Opened), once("run d", "key", Opened)
    asyncio.run(end_run("run c"))
    assert ended.closed
    assert not other.closed
    assert once("run c", "key", Opened) is not ended
    assert once("run d", "key", Opened) is other


def test_a_run_shares_its_limits_and_another_does_not(tmp_path: Path) -> None:
    one, two = (replace(SETTINGS, usage_log=str(tmp_path / name)) for name in "ab")
    assert shared_of(replace(one, concurrency=1)) is shared_of(one)
    assert shared_of(two) is not shared_of(one)
    assert shared_of(one).stop is not None
    assert shared_of(SETTINGS).stop is None  # no run: an endpoint says nothing about others
    asyncio.run(end_run(str(tmp_path / "a")))
    asyncio.run(end_run(str(tmp_path / "b")))


@pytest.mark.parametrize("cache", [None, "off"])
def test_without_a_cache_nothing_is_read_or_written(cache: str | None) -> None:
    memory = shared_memory(replace(SETTINGS, cache=cache))
    assert not memory.reads
    assert not memory.writes
    assert not memory.failed


def test_a_cache_is_opened_once_for_each_way_of_using_it(tmp_path: Path) -> None:
    settings = replace(SETTINGS, cache=str(tmp_path / "cache.sqlite"))
    memory = shared_memory(settings)
    assert memory.reads
    assert memory.writes
    assert shared_memory(replace(settings, concurrency=1)) is memory
    only_read = shared_memory(replace(settings, cache_writes=False))
    assert only_read.reads
    assert not only_read.writes
    other = shared_memory(replace(settings, cache=str(tmp_path / "other.sqlite")))
    assert other is not memory


def test_a_failed_cache_is_tried_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    settings = replace(SETTINGS, cache=str(tmp_path / "file" / "cache.sqlite"))
    failed = shared_memory(settings)
    assert failed.failed
    assert not failed.reads
    assert "the cache cannot be opened, and the run continues without it" in capsys.readouterr().err
    assert shared_memory(settings) is failed
    asyncio.run(end_run("any run"))
    assert shared_memory(settings) is not failed
