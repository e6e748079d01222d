"""What a process has once: its clients, its caches, and what all clients of a run share."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.request import VERIFIER
from ufo.transforms.llm.shared import end_run, once, run_resources, shared_cache

SETTINGS = ClientSettings({VERIFIER: Endpoint("m", "http://localhost:1/v1")})


class Opened:
    """Something that is closed at the end of its run."""

    def __init__(self) -> None:
        self.closed = False

    async def aclose(self) -> None:
        self.closed = True


def test_an_object_is_made_once_for_its_key_and_run() -> None:
    shared = once("run a", "key", Opened)
    assert once("run a", "key", Opened) is shared
    assert once("run a", "other key", Opened) is not shared
    assert once("run b", "key", Opened) is not shared


def test_the_end_of_a_run_closes_its_objects_alone() -> None:
    ended, other = once("run c", "key", Opened), once("run d", "key", Opened)
    asyncio.run(end_run("run c"))
    assert ended.closed
    assert not other.closed
    assert once("run c", "key", Opened) is not ended
    assert once("run d", "key", Opened) is other


def test_a_run_shares_its_limits_and_another_does_not(tmp_path: Path) -> None:
    first, two = (replace(SETTINGS, usage_log=str(tmp_path / name)) for name in "ab")
    assert run_resources(replace(first, concurrency=1)) is run_resources(first)
    assert run_resources(two) is not run_resources(first)
    assert run_resources(first).stop is not None
    assert run_resources(SETTINGS).stop is None  # no run: an endpoint says nothing about others
    asyncio.run(end_run(str(tmp_path / "a")))
    asyncio.run(end_run(str(tmp_path / "b")))


@pytest.mark.parametrize("cache", [None, "off"])
def test_without_a_cache_nothing_is_read_or_written(cache: str | None) -> None:
    opened = shared_cache(replace(SETTINGS, cache=cache))
    assert not opened.reads
    assert not opened.writes
    assert not opened.failed


def test_a_cache_is_opened_once_for_each_way_of_using_it(tmp_path: Path) -> None:
    settings = replace(SETTINGS, cache=str(tmp_path / "cache.sqlite"))
    opened = shared_cache(settings)
    assert opened.reads
    assert opened.writes
    assert shared_cache(replace(settings, concurrency=1)) is opened
    only_read = shared_cache(replace(settings, cache_writes=False))
    assert only_read.reads
    assert not only_read.writes
    other = shared_cache(replace(settings, cache=str(tmp_path / "other.sqlite")))
    assert other is not opened


def test_a_failed_cache_is_tried_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    settings = replace(SETTINGS, cache=str(tmp_path / "file" / "cache.sqlite"))
    failed = shared_cache(settings)
    assert failed.failed
    assert not failed.reads
    assert "the cache cannot be opened, and the run continues without it" in capsys.readouterr().err
    assert shared_cache(settings) is failed
    asyncio.run(end_run("any run"))
    assert shared_cache(settings) is not failed
