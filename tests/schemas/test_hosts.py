"""Names of hosts: what is one, and how it is written."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ufo.schemas.text import host_in, host_named, host_of


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("Example.ORG.", "example.org"),
        ("www.Bücher.example", "www.xn--bcher-kva.example"),
        ("a_b.example", "a_b.example"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("fe80::1%eth0", "fe80::1%eth0"),
        *((none, "") for none in (".0", "a..b", ".", "..", "", None, "a b.org", "a/b", "*.org")),
        *((none, "") for none in ("a" * 64 + ".org", "ü" * 64 + ".org", "a." * 200 + "org", "::x")),
    ],
)
def test_a_name_is_a_host_or_none(name: str | None, host: str) -> None:
    assert host_named(name) == host


def test_a_pattern_may_have_wildcards() -> None:
    assert host_named("*.Gov", wild=True) == "*.gov"
    assert host_named("*..gov", wild=True) == ""


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://user@WWW.Example.org:8080/a?b#c", "www.example.org"),
        ("http://[::1]:80/", "::1"),
        *((none, "") for none in ("http://a..b/", "http://.0/", "http://[::1", "", None, "a.b")),
    ],
)
def test_a_url_has_a_host_or_none(url: str | None, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("authority", "host"),
    [
        ("LocalHost:8080", "localhost"),
        ("[::1]:80", "::1"),
        ("127.0.0.1", "127.0.0.1"),
        *((none, "") for none in ("a@localhost", "localhost/x", "localhost?x", "localhost#x")),
        *((none, "") for none in ("localhost:port", "localhost:99999", "a..b:80", "[", "", ":80")),
    ],
)
def test_a_header_names_a_host_or_none(authority: str, host: str) -> None:
    assert host_in(authority) == host


@given(st.text(max_size=40) | st.from_regex(r"[a-z0-9.ü]{0,12}", fullmatch=True))
@example(".0")
@example("a..b")
@example("。0")
def test_what_is_a_host_stays_one(name: str) -> None:
    host = host_named(name)
    assert host_named(host) == host
    assert "" not in host.split(".") or not host
