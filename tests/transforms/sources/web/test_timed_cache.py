"""A value is computed once for all who wait, and again when it is too old."""

import asyncio
import contextlib

import pytest

from ufo.transforms.sources.web.timed_cache import TimedCache


def made_for(moments: list[float], keys: str, most: int = 2, fails: bool = False) -> str:
    """For which of these keys, asked for at these moments, a value is made."""
    now, made_keys = 0.0, ""

    async def ask() -> None:
        nonlocal now, made_keys
        cached = TimedCache[str](most, 10.0, clock=lambda: now)

        async def make() -> str:
            nonlocal made_keys
            made_keys += key
            if fails:
                raise OSError("gone")
            return key

        for now, key in zip(moments, keys, strict=True):  # noqa: B007
            with contextlib.suppress(OSError):
                assert (await cached.get(key, make))[0] == key

    asyncio.run(ask())
    return made_keys


@pytest.mark.parametrize(
    ("moments", "keys", "made_keys"),
    [
        pytest.param([0.0, 9.9], "aa", "a", id="as long as it is fresh"),
        pytest.param([0.0, 10.0], "aa", "aa", id="no longer"),
        pytest.param([0.0] * 4, "abab", "ab", id="as many as there is room for"),
        pytest.param([0.0] * 4, "abca", "abca", id="the oldest goes"),
        pytest.param([0.0] * 5, "abaca", "abc", id="what was used stays"),
    ],
)
def test_a_value_is_made_once(moments: list[float], keys: str, made_keys: str) -> None:
    assert made_for(moments, keys) == made_keys


def test_a_value_that_failed_is_made_again() -> None:
    assert made_for([0.0, 0.0], "aa", fails=True) == "aa"
