"""Who is let in, with what headers, how often, and with how much."""

import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tests.webapp.conftest import opened
from ufo.webapp.guard import Guard
from ufo.webapp.limits import ServiceLimits
from ufo.webapp.service import Setup

TOKEN = "s3cret-🛸"
ADDRESS = "http://127.0.0.1:8080"
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
DECIDING = ("GET", "HEAD", "OPTIONS", "POST")
MANY = ServiceLimits(reads_per_minute=60_000, writes_per_minute=60_000)

Client = httpx.Client


async def _echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"read {len(await request.body())} bytes")


def guarded(token: str | None = None, limits: ServiceLimits = MANY, who: str = "a") -> TestClient:
    """A client of the guard alone: behind it every address says how much it read."""
    echo = Starlette(routes=[Route("/{path:path}", _echo, methods=METHODS)])
    guard = Guard(echo, token, limits)
    return TestClient(guard, ADDRESS, follow_redirects=False, client=(who, 1))


# --- hosts ---


@pytest.mark.parametrize("port", ["", ":8080"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "localhost."])
def test_this_computer_is_let_in_under_each_of_its_names(host: str, port: str) -> None:
    assert guarded().get("/runs", headers={"Host": host + port}).status_code == 200


FOREIGN_HOSTS = (
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.localhost",
    "localhost@evil.example",
    "evil.example/localhost",
    "evil.example#localhost",
    "127.0.0.2",
    "0.0.0.0",
    "[::2]",
    "localhost:port",
    "[",
    "",
)


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_another_host_is_refused(host: str) -> None:
    answer = guarded().get("/runs", headers={"Host": host})
    assert answer.status_code == 421
    assert "another host" in answer.json()["detail"]


def test_a_request_that_names_two_hosts_is_refused() -> None:
    headers = [("Host", "localhost"), ("Host", "localhost")]
    assert guarded().get("/runs", headers=headers).status_code == 421


@pytest.mark.parametrize("path", ["/", "/runs", "/page/main.js", "/docs", "/openapi.json"])
def test_no_address_of_the_service_is_open_to_another_host(client: Client, path: str) -> None:
    assert client.get(path, headers={"Host": "evil.example"}).status_code == 421


# --- origins ---


@pytest.mark.parametrize("method", DECIDING)
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://127.0.0.1",
        "http://127.0.0.1:8081",
        "http://localhost:8080",
        "http://127.0.0.1:8080.evil.example",
        "ftp://127.0.0.1:8080",
    ],
)
def test_a_request_of_another_origin_is_refused(origin: str, method: str) -> None:
    answer = guarded().request(method, "/check", headers={"Origin": origin})
    assert answer.status_code == 403
    assert [name for name in answer.headers if name.startswith("access-control")] == []


@pytest.mark.parametrize("method", DECIDING)
@pytest.mark.parametrize("origin", [ADDRESS, "https://127.0.0.1:8080", ADDRESS.upper()])
def test_a_request_of_the_own_origin_is_let_in(origin: str, method: str) -> None:
    assert guarded().request(method, "/check", headers={"Origin": origin}).status_code == 200


SITES = ("same-origin", "none", "same-site", "cross-site", "a-later-word")
MODES = (None, "cors", "no-cors", "same-origin", "navigate", "websocket")


# Who types the address or follows a link opens the page; whatever else a page of another site
# sends is refused, also of the same domain.
@pytest.mark.parametrize("method", DECIDING)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode or "no mode")
@pytest.mark.parametrize("site", SITES)
def test_a_browser_may_send_what_its_own_page_asks_for_or_a_person_opens(
    site: str, mode: str | None, method: str
) -> None:
    headers = {"Sec-Fetch-Site": site} | ({"Sec-Fetch-Mode": mode} if mode else {})
    opens = method == "GET" and mode == "navigate"
    let_in = site in ("same-origin", "none") or opens
    answer = guarded().request(method, "/runs", headers=headers)
    assert answer.status_code == (200 if let_in else 403)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode or "no mode")
def test_a_program_that_says_nothing_of_a_site_is_let_in(mode: str | None) -> None:
    headers = {"Sec-Fetch-Mode": mode} if mode else {}
    assert guarded().post("/check", headers=headers).status_code == 200


def test_an_origin_counts_for_more_than_a_site() -> None:
    headers = {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}
    assert guarded().get("/runs", headers=headers).status_code == 403
    headers = {"Origin": ADDRESS, "Sec-Fetch-Site": "cross-site"}
    assert guarded().get("/runs", headers=headers).status_code == 200


# --- headers ---

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'none'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}


def policy(headers: Mapping[str, str]) -> dict[str, str]:
    directives = headers["Content-Security-Policy"].split("; ")
    return {name: value for name, _, value in (one.partition(" ") for one in directives)}


@pytest.mark.parametrize("path", ["/runs", "/nothing", "/openapi.json", "/docs", "/refused"])
def test_every_answer_has_the_strict_headers(client: Client, path: str) -> None:
    answer = client.get(path, headers={"Host": "evil.example"} if path == "/refused" else {})
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert policy(answer.headers) == POLICY


def test_the_page_is_strict_too_and_is_not_sent_twice(client: Client) -> None:
    answer = client.get("/")
    # A browser asks each time whether its copy is current.
    expected = HEADERS | {"Cache-Control": "no-cache"}
    assert {name: answer.headers.get(name) for name in HEADERS} == expected
    assert policy(answer.headers) == POLICY
    again = client.get("/", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304
    assert again.content == b""


def test_nothing_runs_or_loads_in_a_drawing_that_is_opened(client: Client) -> None:
    answer = client.get("/page/icon.svg")
    assert policy(answer.headers) == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "sandbox": "",
    }
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


# --- how often ---

ONE_EACH = ServiceLimits(reads_per_minute=1, writes_per_minute=1)
READS = ("GET", "HEAD", "OPTIONS")
WRITES = ("POST", "PUT", "PATCH", "DELETE")


@pytest.mark.parametrize(
    ("method", "of_its_kind", "other"),
    [
        *((method, "GET", "POST") for method in READS),
        *((method, "POST", "GET") for method in WRITES),
    ],
)
def test_reads_and_writes_are_counted_apart(method: str, of_its_kind: str, other: str) -> None:
    client = guarded(limits=ONE_EACH)
    assert client.request(method, "/runs").status_code == 200
    assert client.request(of_its_kind, "/runs").status_code == 429
    assert client.request(other, "/runs").status_code == 200


def test_each_client_has_a_rate_of_its_own() -> None:
    first = guarded(limits=ONE_EACH, who="a")
    second = TestClient(first.app, ADDRESS, client=("b", 1))
    assert first.get("/runs").status_code == 200
    assert second.get("/runs").status_code == 200
    assert first.get("/runs").status_code == 429


@pytest.mark.parametrize("method", READS)
def test_the_files_of_the_page_are_not_counted(method: str) -> None:
    client = guarded(limits=ONE_EACH)
    codes = [client.request(method, "/page/main.js").status_code for _ in range(3)]
    assert codes == [200, 200, 200]


@pytest.mark.parametrize(
    ("method", "path"), [*((method, "/page/main.js") for method in WRITES), ("GET", "/pages")]
)
def test_what_does_not_read_a_file_of_the_page_is_counted(method: str, path: str) -> None:
    client = guarded(limits=ONE_EACH)
    codes = [client.request(method, path).status_code for _ in range(2)]
    assert codes == [200, 429]


def test_one_who_is_refused_is_told_when_to_come_again() -> None:
    client = guarded(limits=ONE_EACH)
    client.get("/health")
    answer = client.get("/health")
    assert answer.headers["content-type"] == "application/problem+json"
    assert 1 <= int(answer.headers["retry-after"]) <= 60


# --- how much ---

SMALL = replace(MANY, body_bytes=10, upload_bytes=20)


def in_parts(size: int) -> Iterator[bytes]:
    """A body that does not declare its size."""
    yield from (b" " for _ in range(size))


@pytest.mark.parametrize("body", [b" ".__mul__, in_parts], ids=["declared", "in parts"])
@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("/score", 10, 200),
        ("/score", 11, 413),
        ("/upload", 20, 200),
        ("/upload", 21, 413),
        ("/columns", 10, 200),
        ("/columns", 11, 413),
    ],
)
def test_a_body_may_have_so_many_bytes(
    body: Callable[[int], Any], path: str, size: int, status: int
) -> None:
    answer = guarded(limits=SMALL).post(path, content=body(size))
    assert answer.status_code == status
    if status == 200:
        assert answer.text == f"read {size} bytes"


@pytest.mark.parametrize(
    ("declared", "status"),
    [("10", 200), ("11", 413), ("0000000000000010", 413), ("9" * 5_000, 413), ("ten", 200)],
    ids=["at the limit", "one more", "sixteen digits", "thousands of digits", "no number"],
)
def test_the_declared_size_of_a_body_is_read(declared: str, status: int) -> None:
    headers = {"Content-Length": declared}
    assert guarded(limits=SMALL).post("/score", headers=headers).status_code == status


def test_the_service_says_that_a_body_is_too_large(client: Client) -> None:
    answer = client.post("/score", content=b" " * ((1 << 20) + 1))
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert "1,048,576" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("path", "limits"),
    [
        ("/score", ServiceLimits(body_seconds=0.05)),
        ("/upload", ServiceLimits(upload_seconds=0.05)),
    ],
    ids=["a request", "an upload"],
)
def test_a_body_that_never_ends_is_refused_in_time(
    base: Setup, path: str, limits: ServiceLimits
) -> None:
    with opened(replace(base, limits=limits)) as client:
        host, port = client.base_url.host, client.base_url.port or 0
        with socket.create_connection((host, port), timeout=10) as connection:
            connection.sendall(
                f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
                "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode()
            )
            assert connection.recv(1000).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(b"GET /health HTTP/1.1\r\nHost:", id="the first request"),
        pytest.param(
            b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HTTP/1.1\r\nHo",
            id="a later one",
        ),
        pytest.param(b"", id="nothing at all"),
    ],
)
def test_headers_that_never_end_are_cut_in_time(base: Setup, first: bytes) -> None:
    with opened(replace(base, limits=ServiceLimits(header_seconds=0.05))) as client:
        address = (client.base_url.host, client.base_url.port or 0)
        with socket.create_connection(address, timeout=10) as connection:
            connection.sendall(first)
            received = b""
            while part := connection.recv(10_000):
                received += part
    assert b"HTTP/1.1 408" in received


def test_neither_an_idle_connection_nor_a_slow_body_is_cut_as_headers_are(base: Setup) -> None:
    limits = ServiceLimits(header_seconds=0.05, body_seconds=0.3)
    with opened(replace(base, limits=limits)) as client:
        address = (client.base_url.host, client.base_url.port or 0)
        head = f"Host: {address[0]}:{address[1]}\r\n"
        with socket.create_connection(address) as connection:
            for _ in range(2):
                connection.settimeout(30)
                connection.sendall(f"HEAD /health HTTP/1.1\r\n{head}\r\n".encode())
                assert connection.recv(10_000).startswith(b"HTTP/1.1 405")  # in one piece
                connection.settimeout(0.2)
                with pytest.raises(TimeoutError):
                    connection.recv(10_000)
            connection.settimeout(30)
            connection.sendall(
                f"POST /check HTTP/1.1\r\n{head}Content-Length: 9\r\n\r\n{{".encode()
            )
            assert connection.recv(10_000).startswith(b"HTTP/1.1 408 Request Timeout\r\ndate")


# --- the token ---


def bearer(token: str = TOKEN, kind: str = "Bearer") -> Any:
    return {"Authorization": f"{kind} {token}".encode()}


def entered(client: TestClient) -> str:
    """Enter the page by the token, and return the cookie that this sets."""
    cookie = client.get("/", params={"token": TOKEN}).headers["set-cookie"]
    client.cookies.clear()
    return str(cookie)


@pytest.mark.parametrize("path", ["/", "/runs", "/page/main.js", "/openapi.json", "/docs"])
def test_a_token_is_asked_for_everywhere(path: str) -> None:
    answer = guarded(TOKEN).get(path)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in answer.text


@pytest.mark.parametrize(("query", "wrong"), [("", False), ("?token=another", True)])
def test_a_browser_gets_a_field_for_the_token(query: str, wrong: bool) -> None:
    answer = guarded(TOKEN).get(f"/{query}", headers={"Accept": "text/html,*/*"})
    assert answer.status_code == 401
    assert answer.headers["content-type"].startswith("text/html")
    assert policy(answer.headers) == POLICY | {"form-action": "'self'"}
    assert 'name="token"' in answer.text
    assert ("not the token" in answer.text) is wrong
    assert TOKEN not in answer.text


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"token": TOKEN}, 303),
        ({"token": "another"}, 401),
        ({"token": ""}, 401),
        ({}, 401),
        pytest.param({"before": "x" * 10_000, "token": TOKEN}, 401, id="too large"),
    ],
)
def test_the_token_is_entered_by_a_form(form: dict[str, str], status: int) -> None:
    answer = guarded(TOKEN).post("/", data=form)
    assert answer.status_code == status
    assert ("set-cookie" in answer.headers) is (status == 303)
    assert answer.headers.get("location") == ("/" if status == 303 else None)


def test_health_needs_no_token() -> None:
    client = guarded(TOKEN)
    assert client.get("/health").status_code == 200
    assert client.post("/health").status_code == 401


def test_the_service_asks_for_its_token(base: Setup) -> None:
    with opened(replace(base, token=TOKEN)) as client:
        assert client.get("/runs").status_code == 401
        assert client.get("/runs", headers=bearer()).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param(bearer(), 200, id="the token"),
        pytest.param(bearer(kind="bearer"), 200, id="small letters"),
        pytest.param(bearer(f" {TOKEN} "), 200, id="more blanks"),
        pytest.param(bearer("wrong"), 401, id="another token"),
        pytest.param(bearer(TOKEN + "x"), 401, id="a longer token"),
        pytest.param(bearer(TOKEN[:-1]), 401, id="a shorter token"),
        pytest.param(bearer(TOKEN.upper()), 401, id="capitals"),
        pytest.param(bearer(""), 401, id="an empty token"),
        pytest.param(bearer(kind="Basic"), 401, id="another kind"),
        pytest.param({}, 401, id="none"),
    ],
)
def test_a_program_sends_the_token(headers: Any, status: int) -> None:
    assert guarded(TOKEN).get("/runs", headers=headers).status_code == status


def test_with_the_token_any_host_and_any_origin_is_let_in() -> None:
    elsewhere = bearer() | {"Host": "a.example", "Origin": "https://b.example"}
    assert guarded(TOKEN).post("/check", headers=elsewhere).status_code == 200


def test_a_bearer_opens_nothing_where_there_is_no_token() -> None:
    foreign = {"Origin": "https://evil.example"}
    for token in ("", "None", TOKEN):
        assert guarded().get("/runs", headers=bearer(token) | foreign).status_code == 403
    assert guarded("").get("/runs", headers=bearer("") | foreign).status_code == 403


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("GET", f"/?token={TOKEN}", 303),
        ("GET", f"/?other=1&token={TOKEN}", 303),
        ("GET", "/?token=wrong", 401),
        ("GET", "/?token=", 401),
        ("GET", f"/?token=wrong&token={TOKEN}", 401),
        ("GET", f"/runs?token={TOKEN}", 401),
        ("GET", f"/page/main.js?token={TOKEN}", 401),
        ("HEAD", f"/?token={TOKEN}", 401),
        ("POST", f"/?token={TOKEN}", 401),
    ],
)
def test_a_person_enters_the_page_by_the_token(method: str, address: str, status: int) -> None:
    answer = guarded(TOKEN).request(method, address)
    assert answer.status_code == status
    assert ("set-cookie" in answer.headers) is (status == 303)


def test_who_has_entered_is_sent_to_the_page_without_the_token() -> None:
    assert guarded(TOKEN).get("/", params={"token": TOKEN}).headers["location"] == "/"


@pytest.mark.parametrize("attribute", ["HttpOnly", "Path=/", "SameSite=strict"])
def test_the_cookie_is_for_this_site_alone_and_for_no_script(attribute: str) -> None:
    _value, *attributes = entered(guarded(TOKEN)).split("; ")
    assert attribute in attributes


def test_the_cookie_opens_everything_and_does_not_reveal_the_token() -> None:
    client = guarded(TOKEN)
    cookie = entered(client).partition(";")[0]
    assert TOKEN not in cookie
    assert client.get("/runs", headers={"Cookie": cookie}).status_code == 200
    assert client.post("/check", headers={"Cookie": f"a=b; {cookie}"}).status_code == 200


@pytest.mark.parametrize(
    "cookie",
    [
        pytest.param("ufo_session=", id="empty"),
        pytest.param("ufo_session=0123", id="another value"),
        pytest.param(f"ufo_session={'0' * 64}", id="another hash"),
        pytest.param("other=1", id="another name"),
        pytest.param('ufo_session="\\777', id="damaged"),
        pytest.param("ufo_session=a; a[]=b", id="a name that is none"),
    ],
)
def test_another_cookie_opens_nothing(cookie: str) -> None:
    assert guarded(TOKEN).get("/runs", headers={"Cookie": cookie}).status_code == 401


def test_the_cookie_of_another_token_opens_nothing() -> None:
    cookie = entered(guarded(TOKEN)).partition(";")[0]
    assert guarded("another").get("/runs", headers={"Cookie": cookie}).status_code == 401


@pytest.mark.parametrize(
    "foreign",
    [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "same-site"}],
    ids=["another site", "another host of the site"],
)
def test_the_cookie_does_not_open_the_service_to_another_origin(foreign: dict[str, str]) -> None:
    client = guarded(TOKEN)
    cookie = entered(client).partition(";")[0]
    assert client.post("/check", headers=foreign | {"Cookie": cookie}).status_code == 403
