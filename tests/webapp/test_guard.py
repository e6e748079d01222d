"""Who is let in, with what headers, how often, and with how much."""

import socket
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.webapp.conftest import opened
from ufo.webapp.desk import Setup
from ufo.webapp.guard import HEADERS
from ufo.webapp.limits import ServiceLimits

TOKEN = "s3cret-🛸"


def test_only_this_computer_is_let_in_under_its_names(client: httpx.Client) -> None:
    for host in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST"):
        response = client.get("/health", headers={"Host": f"{host}:{client.base_url.port}"})
        assert response.status_code == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "", "["):
        for path in ("/", "/runs", "/openapi.json"):
            assert client.get(path, headers={"Host": host}).status_code in (400, 421)


def test_another_origin_is_refused_and_nothing_is_shared_with_it(client: httpx.Client) -> None:
    port = client.base_url.port or 0
    for origin in ("https://evil.example", "null", f"http://localhost:{port + 1}"):
        for method, path in (("POST", "/check"), ("GET", "/runs"), ("OPTIONS", "/check")):
            response = client.request(method, path, headers={"Origin": origin}, json={})
            assert response.status_code == 403
            assert not [name for name in response.headers if name.startswith("access-control")]
    ours = {"Origin": f"http://127.0.0.1:{port}"}
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/runs", headers=ours).status_code == 200
    assert client.get("/runs", headers=embedded).status_code == 403
    assert client.get("/", headers=linked).status_code == 200


@pytest.mark.parametrize("path", ["/", "/runs", "/nothing", "/page/../app.py", "/openapi.json"])
def test_every_answer_has_the_strict_headers(client: httpx.Client, path: str) -> None:
    response = client.get(path)
    for name in ("Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options"):
        assert response.headers[name] == HEADERS[name]
    policy = response.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "http" not in policy
    if path == "/":  # the page is not sent twice
        again = client.get(path, headers={"If-None-Match": response.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_too_many_requests_are_told_when_to_come_again_but_for_the_page(base: Setup) -> None:
    few = replace(base, limits=ServiceLimits(reads_per_minute=8, writes_per_minute=4))
    with opened(few) as client:
        # The files of the page are not counted.
        assert {client.get("/page/main.js").status_code for _ in range(20)} == {200}
        codes = [client.get("/health").status_code for _ in range(4)]
        response = client.get("/health")
    assert codes == [200, 200, 429, 429]
    assert response.headers["content-type"] == "application/problem+json"
    assert int(response.headers["retry-after"]) >= 1


def test_a_body_that_is_too_large_is_refused(client: httpx.Client) -> None:
    large = b" " * (1 << 21)
    parts = (b" " * (1 << 16) for _ in range(32))
    for path, content in (("/score", large), ("/score", parts), ("/upload", large)):
        response = client.post(path, content=content)
        assert response.status_code == 413
        assert response.headers["content-type"] == "application/problem+json"


def test_a_body_that_never_ends_is_refused_in_time(base: Setup) -> None:
    with opened(replace(base, limits=ServiceLimits(body_seconds=0.1))) as client:
        host, port = client.base_url.host, client.base_url.port or 0
        with socket.create_connection((host, port)) as connection:
            connection.sendall(
                f"POST /score HTTP/1.1\r\nHost: {host}:{port}\r\n"
                "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode()
            )
            assert connection.recv(1000).startswith(b"HTTP/1.1 408")


def test_a_token_is_asked_for_everywhere_and_kept_by_a_cookie(base: Setup) -> None:
    with opened(replace(base, token=TOKEN)) as client:
        for path in ("/", "/runs", "/openapi.json", "/?token=wrong", f"/runs?token={TOKEN}"):
            refused = client.get(path)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert TOKEN not in refused.text
        # With the token any host is let in.
        bearer: dict[str, Any] = {"Authorization": f"Bearer {TOKEN}".encode(), "Host": "a.example"}
        assert client.get("/runs", headers=bearer).status_code == 200
        wrong = {**bearer, "Authorization": b"Bearer wrong"}
        assert client.get("/runs", headers=wrong).status_code == 401
        assert client.get("/runs", headers={"Authorization": "Basic x"}).status_code == 401
        # The page is entered once.
        entered = client.get("/", params={"token": TOKEN})
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert TOKEN not in cookie
        assert client.get("/runs").status_code == 200
        foreign = {"Origin": "https://evil.example"}
        assert client.post("/check", headers=foreign, json={}).status_code == 403
        client.cookies.clear()
        assert client.get("/runs", headers={"Cookie": 'ufo_session="\\777'}).status_code == 401
