"""Where no page is fetched from: every URL here is refused before a single byte is sent to it.

The names are answered by a resolver of the test's own; addresses are spelled in every way that a
resolver would take. A server listens on loopback, where most of these lead, and hears nothing.
"""

import json
import ssl
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpcore
import pytest

from tests.local_web import LocalWeb, Reply
from tests.transforms.sources.web.pages import get
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.web.addresses import RefusedAddress, literal, why_refused
from ufo.transforms.sources.web.documents import CONNECTION, REFUSED_ADDRESS, FetchedPage
from ufo.transforms.sources.web.transport import CheckedBackend

_TOLD = json.loads(Path(__file__).with_name("hostile.json").read_text(encoding="utf-8"))
NAMES: dict[str, list[str]] = _TOLD["names"]
HOSTILE: list[str] = [*_TOLD["urls"], f"http://{'a' * 5000}.example/"]
PUBLIC = "93.184.216.34"


async def resolve(host: str, port: int) -> Sequence[str]:
    """What the names above are, and one of a public host; no other name is there."""
    if host == "public.example":
        return [PUBLIC]
    if host.lower() not in NAMES:
        raise OSError(f"no such name: {host}")
    return NAMES[host.lower()]


@pytest.fixture
def web() -> Iterator[LocalWeb]:
    with LocalWeb() as web:
        web.pages["/robots.txt"] = Reply(b"", 404)
        yield web


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses to which a socket was to be opened; those beyond loopback are not there."""
    found: list[str] = []
    connect = httpcore.AnyIOBackend.connect_tcp

    async def noted(self: httpcore.AnyIOBackend, host: str, *rest: Any) -> object:
        found.append(host)
        if not ip_address(host).is_loopback:
            raise httpcore.ConnectError("no test leaves this machine")
        return await connect(self, host, *rest)

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", noted)
    return found


def fetched(url: str, allow_private: bool = False) -> FetchedPage:
    (page,) = get(url, allow_private=allow_private, resolve=resolve)
    return page


@pytest.mark.parametrize("url", HOSTILE, ids=lambda url: ascii(url)[:60])
def test_it_is_refused_unconnected(web: LocalWeb, connected: list[str], url: str) -> None:
    page = fetched(url.replace("PORT", str(web.port)))
    assert page.reason == REFUSED_ADDRESS
    assert page.body == b""
    assert page.detail
    assert connected == []
    assert web.requests == []


def test_a_name_that_turns_private_is_refused(web: LocalWeb, connected: list[str]) -> None:
    """DNS rebinding: whatever an answer was before, the one that is connected to counts."""
    asked: list[str] = []

    async def changing(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return [[PUBLIC], ["127.0.0.1"], [PUBLIC], ["10.0.0.1"]][len(asked) - 1]

    backend = CheckedBackend(resolve=changing)
    for error in (httpcore.ConnectError, RefusedAddress) * 2:
        with pytest.raises(error):
            wait_for(backend.connect_tcp("rebind.example", web.port, timeout=0.01))
    # One question a connection, and the socket went to its answer and to nothing else.
    assert asked == ["rebind.example"] * 4
    assert connected == [PUBLIC] * 2
    assert web.requests == []


class Site(httpcore.AsyncMockStream):
    """A connection to public.example: it has no rules, and leads to where `to` says."""

    to = ""
    paths: list[bytes]
    names: list[str | None]

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: Any = None
    ) -> httpcore.AsyncNetworkStream:
        assert ssl_context.verify_mode == ssl.CERT_REQUIRED
        assert ssl_context.check_hostname
        self.names.append(server_hostname)
        return self

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer.startswith(b"GET "):
            return
        assert b"\r\nHost: public.example" in buffer
        self.paths.append(buffer.split(b" ")[1])
        moved = f"302 Moved\r\nLocation: {self.to}" if self.to else "404 No"
        status = "404 No" if self.paths[-1] == b"/robots.txt" else moved
        self._buffer = [f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode()]


@pytest.fixture
def site(connected: list[str], monkeypatch: pytest.MonkeyPatch) -> type[Site]:
    class Made(Site):
        paths, names = [], []

    async def connect(self: object, host: str, *_: object) -> object:
        connected.append(host)
        return Made([])

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    return Made


@pytest.mark.parametrize("to", _TOLD["redirects"])
def test_every_redirect_is_checked(connected: list[str], site: type[Site], to: str) -> None:
    site.to = to
    assert fetched("http://public.example:8080/").reason == REFUSED_ADDRESS
    assert site.paths == [b"/robots.txt", b"/"]
    assert set(connected) == {PUBLIC}


def test_tls_and_host_have_the_name(connected: list[str], site: type[Site]) -> None:
    assert fetched("https://public.example/x").reason == "http_404"
    assert {*connected} == {PUBLIC}
    assert {*site.names} == {"public.example"}
    assert site.paths == [b"/robots.txt", b"/x"]


@pytest.mark.parametrize(
    "spelled", ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "localhost", "rebind.example"]
)
def test_who_allows_private_hosts_gets_there(web: LocalWeb, spelled: str) -> None:
    page = fetched(f"http://{spelled}:{web.port}/lighthouse", allow_private=True)
    # The server listens on IPv4 alone.
    assert page.reason == (CONNECTION if spelled == "[::1]" else None)


def test_public_addresses_and_names_are_no_reason_to_refuse(web: LocalWeb) -> None:
    mapped = [f"::ffff:{PUBLIC}", "64:ff9b::808:808", "2606:2800:220:1:248:1893:25c8:1946"]
    found = [literal(address) for address in (PUBLIC, "1.1.1.1", *mapped)]
    assert all(found)
    assert [why_refused(address) for address in found if address] == [None] * 5
    names = ("example.org", "1.example", "127.0.0.1.nip.io", "a", "ü.example")
    assert {literal(name) for name in names} == {None}
    web.pages["/two%20words"] = web.pages["/beacon"]
    page = fetched(f" {web.url('/two words')} ", allow_private=True)
    assert page.reason is None
    assert page.final_url == web.url("/two%20words")
