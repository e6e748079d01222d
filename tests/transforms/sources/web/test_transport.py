"""Bodies as they are decoded, and the addresses of a host that are tried."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpcore
import pytest

from ufo.transforms.llm.errors import SendError
from ufo.transforms.sources.web.transport import CheckedBackend, read_body

TEXT = b"A text of a page. " * 100  # 1,800 bytes


def read(body: bytes, coding: str = "", most: int = 10_000, size: int = 7) -> bytes:
    """A body that comes in parts of this size."""

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, len(body), size):
            yield body[start : start + size]

    return asyncio.run(read_body(parts(), coding, most))


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "GZIP", " gzip , identity"])
@pytest.mark.parametrize("plain", ["", "identity", "Identity, identity"])
def test_a_body_is_read_as_it_is_coded(coding: str, plain: str) -> None:
    assert read(gzip.compress(TEXT), coding) == TEXT
    assert read(TEXT, plain) == TEXT


@pytest.mark.parametrize("coding", ["deflate", "br", "zstd", "gzip, gzip", "gzip, br"])
def test_another_coding_is_not_read(coding: str) -> None:
    with pytest.raises(SendError, match="content coding that was not asked for") as caught:
        read(gzip.compress(TEXT), coding)
    assert caught.value.transient
    assert caught.value.status == "garbled"


@pytest.mark.parametrize("size", [7, 10_000])
@pytest.mark.parametrize("coding", ["", "gzip"])
def test_a_body_has_at_most_so_many_bytes(coding: str, size: int) -> None:
    body = gzip.compress(TEXT) if coding else TEXT
    assert read(body, coding, len(TEXT), size) == TEXT
    with pytest.raises(SendError, match="over 1,799 bytes") as caught:
        read(body, coding, len(TEXT) - 1, size)
    assert caught.value.status == "too_large"
    assert not caught.value.transient


def test_a_body_is_counted_before_decoding_too() -> None:
    body = gzip.compress(b"short")
    assert read(body, "gzip", len(body)) == b"short"
    with pytest.raises(SendError, match="over 20 bytes"):
        read(body, "gzip", 20)


@pytest.mark.parametrize(("place", "reached"), [(1, True), (3, True), (4, False)])
def test_three_addresses_of_a_host_are_tried(
    monkeypatch: pytest.MonkeyPatch, place: int, reached: bool
) -> None:
    addresses = [f"93.184.216.{number}" for number in range(1, 6)]
    tried: list[str] = []

    async def connect(self: object, host: str, *_: Any) -> httpcore.AsyncNetworkStream:
        tried.append(host)
        if host != addresses[place - 1]:
            raise [httpcore.ConnectError, httpcore.ConnectTimeout][len(tried) % 2]("not there")
        return httpcore.AsyncMockStream([])

    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    connected = CheckedBackend(resolve=resolve).connect_tcp("a.example", 80)
    if reached:
        assert asyncio.run(connected)
    else:
        with pytest.raises((httpcore.ConnectError, httpcore.ConnectTimeout)):
            asyncio.run(connected)
    assert tried == addresses[: min(place, 3)]


@pytest.mark.parametrize("error", [OSError("gone"), UnicodeError("label too long")], ids=str)
def test_a_name_that_cannot_be_resolved_is_not_reached(error: Exception) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise error

    with pytest.raises(httpcore.ConnectError, match=r"a\.example cannot be resolved"):
        asyncio.run(CheckedBackend(resolve=resolve).connect_tcp("a.example", 80))
