import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from ufo.pipelines.cli import main
from ufo.webapp.desk import Setup
from ufo.webapp.guard import HEADERS
from ufo.webapp.limits import ServiceLimits
from ufo.webapp.server import served

TOKEN = "s3cret-🛸"


def port(address: str) -> str:
    return address.rpartition(":")[2]


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "127.0.0.2", "", "["],
)
def test_another_host_is_refused(client: httpx.Client, host: str) -> None:
    for path in ("/", "/runs", "/openapi.json"):
        response = client.get(path, headers={"Host": host})
        assert response.status_code in (400, 421)


def test_this_computer_is_let_in_under_its_names(client: httpx.Client, address: str) -> None:
    for host in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST"):
        response = client.get("/health", headers={"Host": f"{host}:{port(address)}"})
        assert response.status_code == 200


def test_another_origin_is_refused_and_nothing_is_shared_with_it(
    client: httpx.Client, address: str
) -> None:
    other = f"http://localhost:{int(port(address)) + 1}"
    for origin in ("https://evil.example", "null", other):
        for method, path in (("POST", "/check"), ("GET", "/runs"), ("OPTIONS", "/check")):
            response = client.request(method, path, headers={"Origin": origin}, json={})
            assert response.status_code == 403
            assert not [name for name in response.headers if name.startswith("access-control")]
    assert client.get("/runs", headers={"Origin": address}).status_code == 200
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert client.get("/runs", headers=embedded).status_code == 403
    linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=linked).status_code == 200


@pytest.mark.parametrize("path", ["/", "/runs", "/nothing", "/page/../app.py", "/openapi.json"])
def test_every_answer_has_the_strict_headers(client: httpx.Client, path: str) -> None:
    response = client.get(path)
    for name in ("Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options"):
        assert response.headers[name] == HEADERS[name]
    policy = response.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "http" not in policy


def test_too_many_requests_are_reported_when_to_come_again(base: Setup) -> None:
    few = replace(base, limits=ServiceLimits(reads_per_minute=8, writes_per_minute=4))
    with served(few) as url, httpx.Client(base_url=url, trust_env=False) as client:
        codes = [client.get("/health").status_code for _ in range(4)]
        response = client.get("/health")
    assert codes == [200, 200, 429, 429]
    assert response.headers["content-type"] == "application/problem+json"
    assert int(response.headers["retry-after"]) >= 1


def test_the_files_of_the_page_are_not_counted(base: Setup) -> None:
    few = replace(base, limits=ServiceLimits(reads_per_minute=8, writes_per_minute=4))
    with served(few) as url, httpx.Client(base_url=url, trust_env=False) as client:
        codes = {client.get("/page/main.js").status_code for _ in range(20)}
    assert codes == {200}


def test_a_body_that_is_too_large_is_refused(client: httpx.Client) -> None:
    parts = (b" " * (1 << 16) for _ in range(32))
    for path, content in (
        ("/score", b" " * (1 << 21)),
        ("/score", parts),
        ("/upload", b" " * (1 << 21)),
    ):
        response = client.post(path, content=content)
        assert response.status_code == 413
        assert response.headers["content-type"] == "application/problem+json"


def test_a_body_that_never_ends_is_refused_in_time(base: Setup) -> None:
    hasty = replace(base, limits=ServiceLimits(body_seconds=0.1))
    with (
        served(hasty) as url,
        socket.create_connection(("127.0.0.1", urlsplit(url).port or 0)) as connection,
    ):
        connection.sendall(
            f"POST /score HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode()
        )
        assert connection.recv(1000).startswith(b"HTTP/1.1 408")


@pytest.fixture(scope="module")
def open_to_others(base: Setup) -> Iterator[httpx.Client]:
    with (
        served(replace(base, token=TOKEN)) as url,
        httpx.Client(base_url=url, trust_env=False) as c,
    ):
        yield c


def test_a_token_is_asked_for_everywhere(open_to_others: httpx.Client) -> None:
    for path in ("/", "/runs", "/openapi.json", "/?token=wrong", f"/runs?token={TOKEN}"):
        response = httpx.get(open_to_others.base_url.join(path), trust_env=False)
        assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
        assert TOKEN not in response.text


def test_with_the_token_any_host_is_let_in(open_to_others: httpx.Client) -> None:
    bearer: dict[str, Any] = {"Authorization": f"Bearer {TOKEN}".encode(), "Host": "ufo.example"}
    assert open_to_others.get("/runs", headers=bearer).status_code == 200
    wrong = {**bearer, "Authorization": b"Bearer wrong"}
    assert open_to_others.get("/runs", headers=wrong).status_code == 401
    assert open_to_others.get("/runs", headers={"Authorization": "Basic x"}).status_code == 401


def test_the_page_is_entered_once_and_kept_by_a_cookie(open_to_others: httpx.Client) -> None:
    entered = open_to_others.get("/", params={"token": TOKEN})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert open_to_others.get("/runs").status_code == 200
    foreign = {"Origin": "https://evil.example"}
    assert open_to_others.post("/check", headers=foreign, json={}).status_code == 403
    open_to_others.cookies.clear()
    assert open_to_others.get("/runs", headers={"Cookie": 'ufo_session="\\777'}).status_code == 401


def test_other_computers_need_a_token(
    capsys: pytest.CaptureFixture[str], index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UFO_TOKEN", raising=False)
    assert main(["serve", "--host", "0.0.0.0", "--index", str(index)]) == 2
    assert "UFO_TOKEN" in capsys.readouterr().err
