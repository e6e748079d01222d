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
from ufo.transforms.sources.web.addresses import RefusedAddress, checked_url, literal, why_refused
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
    addresses: list[str] = []
    connect = httpcore.AnyIOBackend.connect_tcp

    async def noted(self: httpcore.AnyIOBackend, host: str, *rest: Any) -> object:
        addresses.append(host)
        if not ip_address(host).is_loopback:
            raise httpcore.ConnectError("no test leaves this machine")
        return await connect(self, host, *rest)

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", noted)
    return addresses


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
    class FakeConnection(Site):
        paths, names = [], []

    async def connect(self: object, host: str, *_: object) -> object:
        connected.append(host)
        return FakeConnection([])

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    return FakeConnection


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


LOOPBACK, PRIVATE, RESERVED = (f"a {kind} address" for kind in ("loopback", "private", "reserved"))
INTERNAL = "an internal address of a network"
OTHER_USE = "an address for another use (6to4, Teredo, documentation)"
ISATAP = "an address that contains another one (ISATAP)"


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        ("0.0.0.0", "0.0.0.0", "a unspecified address"),
        ("0.0.0.1", "0.255.255.255", PRIVATE),
        ("10.0.0.0", "10.255.255.255", PRIVATE),
        ("100.64.0.0", "100.127.255.255", "no public address"),
        ("127.0.0.0", "127.255.255.255", LOOPBACK),
        ("168.63.129.16", "168.63.129.16", INTERNAL),
        ("169.254.0.0", "169.254.255.255", "a link-local address"),
        ("172.16.0.0", "172.31.255.255", PRIVATE),
        ("192.0.0.0", "192.0.0.255", INTERNAL),
        ("192.0.2.0", "192.0.2.255", PRIVATE),
        ("192.88.99.0", "192.88.99.255", INTERNAL),
        ("192.168.0.0", "192.168.255.255", PRIVATE),
        ("198.18.0.0", "198.19.255.255", PRIVATE),
        ("198.51.100.0", "198.51.100.255", PRIVATE),
        ("203.0.113.0", "203.0.113.255", PRIVATE),
        ("224.0.0.0", "239.255.255.255", "a multicast address"),
        ("240.0.0.0", "255.255.255.255", PRIVATE),
        ("::", "::", "a unspecified address"),
        ("::1", "::1", LOOPBACK),
        ("::ffff:10.0.0.0", "::ffff:10.255.255.255", f"{PRIVATE} mapped into IPv6"),
        ("64:ff9b::a00:0", "64:ff9b::aff:ffff", f"{PRIVATE} behind NAT64"),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", OTHER_USE),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", PRIVATE),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", OTHER_USE),
        ("2606:2800::5efe:0:0", "2606:2800::5efe:ffff:ffff", ISATAP),
        ("2606:2800::200:5efe:0:0", "2606:2800::200:5efe:ffff:ffff", ISATAP),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", OTHER_USE),
        ("4000::", "5fff::", RESERVED),
        ("fc00::", "fdff::", PRIVATE),
        ("fe80::", "febf::", "a link-local address"),
        ("fec0::", "feff::", "no public address"),
        ("ff00::", "ffff::", "a multicast address"),
    ],
)
def test_a_range_is_refused_from_first_to_last_address(first: str, last: str, why: str) -> None:
    assert why_refused(ip_address(first)) == why
    assert why_refused(ip_address(last)) == why


@pytest.mark.parametrize(
    "address",
    [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "::ffff:9.255.255.255",
        "64:ff9b::9ff:ffff",
        "2000::1",
        "2001:200::",
        "2003::",
        "2606:2800::5eff:0:0",
        "3ffe::1",
        "3fff:1000::",
        PUBLIC,
        "1.1.1.1",
        f"::ffff:{PUBLIC}",
        "64:ff9b::808:808",
        "2606:2800:220:1:248:1893:25c8:1946",
    ],
)
def test_the_addresses_beside_a_range_are_public(address: str) -> None:
    parsed = literal(address)
    assert parsed == ip_address(address)
    assert why_refused(parsed) is None


@pytest.mark.parametrize("port", [80, 443, 8000, 8008, 8080, 8443, 8888])
@pytest.mark.parametrize("scheme", ["http", "https", "HTTP"])
def test_a_web_server_has_one_of_these_ports(scheme: str, port: int) -> None:
    url = f"{scheme}://public.example:{port}/a"
    assert checked_url(f" {url}#part ") == url


@pytest.mark.parametrize("port", [1, 22, 79, 81, 442, 444, 3000, 7999, 8001, 9200, 65535])
def test_another_port_is_refused_unless_private_hosts_are_allowed(port: int) -> None:
    url = f"http://public.example:{port}/"
    with pytest.raises(RefusedAddress, match=f"port {port} is none of a web server"):
        checked_url(url)
    assert checked_url(url, allow_private=True) == url


SCHEMES = ("", "ftp", "file", "ws", "httpx", "data", "javascript")
CONTROLS = [*map(chr, range(32)), "\x7f", "\\"]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        *((f"http://public.example:{port}/", "no URL|port") for port in ("0", "65536", "x")),
        *((f"http://public.example/a{one}b", "has ones that no URL has") for one in CONTROLS),
        *((f"{scheme}://public.example/", "is neither http nor https") for scheme in SCHEMES),
        ("http://a b.example/", "the host has a space in it"),
        ("http://user@public.example/", "the URL holds a user name"),
        ("http://user:secret@public.example/", "the URL holds a user name"),
        ("http:///", "the URL names no host"),
        ("http://[::1/", "no URL"),
    ],
    ids=ascii,
)
def test_what_is_no_url_of_a_page_is_refused(url: str, why: str) -> None:
    with pytest.raises(RefusedAddress, match=why):
        checked_url(url, allow_private=True)


def test_a_url_has_at_most_4096_characters() -> None:
    url = "http://public.example/".ljust(4096, "a")
    assert checked_url(url) == url
    with pytest.raises(RefusedAddress, match="over 4096 characters"):
        checked_url(f"{url}a")


@pytest.mark.parametrize(
    "name", ["example.org", "1.example", "127.0.0.1.nip.io", "a", "\xfc.example", "127.0.0.1 x"]
)
def test_a_name_is_no_address(name: str) -> None:
    assert literal(name) is None


def test_a_url_with_spaces_is_asked_for_as_a_browser_does(web: LocalWeb) -> None:
    web.pages["/two%20words"] = web.pages["/beacon"]
    page = fetched(f" {web.url('/two words')} ", allow_private=True)
    assert page.reason is None
    assert page.final_url == web.url("/two%20words")
