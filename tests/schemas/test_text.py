"""Texts and names of hosts from outside: what is stored, shown, and taken for a host."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ufo.schemas.text import (
    escaped_json,
    host_in,
    host_named,
    host_of,
    storable,
    visible,
    with_formula,
    without_formula,
    without_nul,
)


@given(st.text(st.characters()))
def test_any_text_can_be_stored_with_the_same_offsets(text: str) -> None:
    found = storable(text)
    assert len(found) == len(text)
    assert "\0" not in found
    assert found.encode().decode() == found
    assert all(new in (old, "\ufffd") for old, new in zip(text, found, strict=True))


def test_every_text_of_a_value() -> None:
    given_value = {"a\0": ["\0", 1, None, {"b": "c\0"}], "d": True}
    assert without_nul(given_value) == {
        "a\ufffd": ["\ufffd", 1, None, {"b": "c\ufffd"}],
        "d": True,
    }
    assert without_nul("\ud800\0") == "\ud800\ufffd"


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("x")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1"]
)
def test_a_formula_has_an_apostrophe_in_front(text: str) -> None:
    assert without_formula(text) == f"'{text}"
    assert with_formula(f"'{text}") == text


@pytest.mark.parametrize("text", ["", "a=b", "-3.5", "+1e9", "-5%", "'quoted", "2+2", "– a dash"])
def test_what_is_none_stays(text: str) -> None:
    assert without_formula(text) == with_formula(text) == text


@given(st.text(st.one_of(st.sampled_from("'=-5\r"), st.characters(codec="utf-8"))))
def test_every_text_comes_back(text: str) -> None:
    assert with_formula(without_formula(text)) == text


def test_what_steers_a_terminal_is_written_out() -> None:
    assert visible("a\x1b[2J\x9b1m\u202eb\x07\n\tc\u2066") == (
        "a\\x1b[2J\\x9b1m\\u202eb\\x07\n\tc\\u2066"
    )
    assert visible("Zürich – 東京 👩\u200d🚀") == "Zürich – 東京 👩\u200d🚀"


@given(st.text(st.characters(codec="utf-8")))
def test_json_escapes_it_and_means_the_same(text: str) -> None:
    written = escaped_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert visible(written) == written


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
