"""Where no page is fetched from: every URL here is refused before a single byte is sent to it.

The names are answered by a resolver of the test's own; addresses are spelled in every way that a
resolver would take. A server listens on loopback, where most of these lead, and hears nothing.
"""

import ssl
from collections.abc import Callable, Iterator, Sequence
from ipaddress import ip_address

import httpcore
import pytest

from tests.local_web import LocalWeb, Reply
from tests.local_web.hostile import HOSTILE, NAMES
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.web.addresses import literal, why_refused
from ufo.transforms.sources.web.documents import CONNECTION, REFUSED_ADDRESS, FetchedPage
from ufo.transforms.sources.web.fetch import Fetcher
from ufo.transforms.sources.web.transport import CheckedBackend


async def resolve(host: str, port: int) -> Sequence[str]:
    """What the names above are; no other name is there."""
    if host.lower() not in NAMES:
        raise OSError(f"no such name: {host}")
    return NAMES[host.lower()]


@pytest.fixture
def web() -> Iterator[LocalWeb]:
    with LocalWeb() as web:
        yield web


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses to which a socket was to be opened; those beyond loopback are not there."""
    found: list[str] = []
    connect = httpcore.AnyIOBackend.connect_tcp

    async def noted(self: httpcore.AnyIOBackend, host: str, *rest: object) -> object:
        found.append(host)
        if not ip_address(host).is_loopback:
            raise httpcore.ConnectError("no test leaves this machine")
        return await connect(self, host, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", noted)
    return found


def get(
    url: str, resolver: Callable[..., object] = resolve, allow_private: bool = False
) -> FetchedPage:
    async def fetched() -> FetchedPage:
        fetcher = Fetcher(
            allow_private=allow_private,
            resolve=resolver,  # type: ignore[arg-type]
        )
        try:
            return await fetcher.get(url)
        finally:
            await fetcher.aclose()

    return wait_for(fetched())


@pytest.mark.parametrize("url", HOSTILE, ids=lambda url: ascii(url)[:60])
def test_it_is_refused_and_nothing_is_connected_to(
    web: LocalWeb, connected: list[str], url: str
) -> None:
    page = get(url.replace("PORT", str(web.port)))
    assert page.reason == REFUSED_ADDRESS
    assert page.detail
    assert page.body == b""
    assert connected == []
    assert web.requests == []


def test_a_name_that_is_public_when_looked_at_and_private_when_connected_to_is_refused(
    web: LocalWeb, connected: list[str]
) -> None:
    """DNS rebinding: whatever an answer was before, the one that is connected to counts."""
    answers = [["93.184.216.34"], ["127.0.0.1"], ["93.184.216.34"], ["10.0.0.1"]]
    asked: list[str] = []

    async def changing(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return answers[len(asked) - 1]

    backend = CheckedBackend(resolve=changing)

    async def connect() -> str:
        try:
            await backend.connect_tcp("rebind.example", web.port, timeout=0.01)
        except (httpcore.ConnectError, httpcore.ConnectTimeout):
            return CONNECTION
        except Exception as error:
            return type(error).__name__
        return "connected"

    assert wait_for(connect()) == CONNECTION
    assert wait_for(connect()) == "RefusedAddress"
    assert wait_for(connect()) == CONNECTION
    assert wait_for(connect()) == "RefusedAddress"
    # One question a connection, and the socket went to its answer and to nothing else.
    assert asked == ["rebind.example"] * 4
    assert connected == ["93.184.216.34"] * 2
    assert web.requests == []


def test_a_host_that_moves_between_robots_and_page_is_refused(connected: list[str]) -> None:
    """The second connection to a host is checked as the first was."""
    answers = iter([["127.0.0.1"]])

    async def changing(host: str, port: int) -> Sequence[str]:
        return next(answers)

    page = get("http://rebind.example/", changing)
    assert page.reason == REFUSED_ADDRESS
    assert "127.0.0.1, a loopback address" in page.detail
    assert connected == []


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254:8080/latest/meta-data/",
        "http://[::1]:8080/",
        "http://internal.example:8080/",
        "//10.0.0.1:8080/",
        "file:///etc/passwd",
        "http://user:secret@public.example:8080/",
    ],
)
def test_every_redirect_is_checked(connected: list[str], to: str) -> None:
    """A site that passes for public redirects to where nobody may go."""

    async def answer(host: str, port: int) -> Sequence[str]:
        return ["93.184.216.34"] if host == "public.example" else await resolve(host, port)

    replies = {b"/robots.txt": b"404 No\r\n", b"/": b"302 Moved\r\nLocation: %s\r\n" % to.encode()}
    asked: list[bytes] = []

    class Scripted(httpcore.AsyncMockStream):
        """A connection that answers by the path of what is written to it."""

        async def write(self, buffer: bytes, timeout: float | None = None) -> None:
            path = buffer.split(b" ")[1] if buffer.startswith(b"GET ") else None
            if path is not None:
                asked.append(path)
                self._buffer = [b"HTTP/1.1 %sContent-Length: 0\r\n\r\n" % replies[path]]

    async def connect(self: object, host: str, *_: object) -> object:
        connected.append(host)
        return Scripted([])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
        page = get("http://public.example:8080/", answer)
    assert page.reason == REFUSED_ADDRESS
    assert asked == [b"/robots.txt", b"/"]
    assert set(connected) == {"93.184.216.34"}


def test_the_socket_goes_to_the_address_and_tls_and_host_have_the_name(
    connected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str | None] = []
    written: list[bytes] = []

    class Noted(httpcore.AsyncMockStream):
        async def start_tls(
            self,
            ssl_context: ssl.SSLContext,
            server_hostname: str | None = None,
            timeout: float | None = None,
        ) -> httpcore.AsyncNetworkStream:
            assert ssl_context.verify_mode == ssl.CERT_REQUIRED
            assert ssl_context.check_hostname
            names.append(server_hostname)
            return self

        async def write(self, buffer: bytes, timeout: float | None = None) -> None:
            written.append(buffer)

    async def connect(self: object, host: str, *_: object) -> object:
        connected.append(host)
        return Noted([b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"])

    async def answer(host: str, port: int) -> Sequence[str]:
        return ["93.184.216.34"]

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    assert get("https://public.example/x", answer).reason == "http_404"
    assert connected == ["93.184.216.34"] * 2
    assert names == ["public.example"] * 2
    assert all(b"\r\nHost: public.example\r\n" in b"\r\n" + sent for sent in written if sent)


@pytest.mark.parametrize(
    "spelled", ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "localhost", "rebind.example"]
)
def test_who_allows_private_hosts_gets_there(web: LocalWeb, spelled: str) -> None:
    web.pages["/robots.txt"] = Reply(b"", 404)
    page = get(f"http://{spelled}:{web.port}/lighthouse", allow_private=True)
    # The server listens on IPv4 alone.
    assert page.reason == (CONNECTION if spelled == "[::1]" else None)


@pytest.mark.parametrize(
    "address",
    [
        "93.184.216.34",
        "1.1.1.1",
        "8.8.8.8",
        "2606:2800:220:1:248:1893:25c8:1946",
        "::ffff:93.184.216.34",
        "64:ff9b::808:808",
    ],
)
def test_public_addresses_are_none_of_these(address: str) -> None:
    found = literal(address)
    assert found is not None
    assert why_refused(found) is None


def test_a_space_in_a_path_is_no_reason_to_refuse(web: LocalWeb) -> None:
    web.pages["/robots.txt"] = Reply(b"", 404)
    web.pages["/two%20words"] = web.pages["/beacon"]
    page = get(f" {web.url('/two words')} ", allow_private=True)
    assert page.reason is None
    assert page.final_url == web.url("/two%20words")


@pytest.mark.parametrize("name", ["example.org", "1.example", "127.0.0.1.nip.io", "a", "ü.example"])
def test_a_name_is_no_address(name: str) -> None:
    assert literal(name) is None
