"""Texts and names of hosts from outside: what is stored, shown, and taken for a host."""

import json
from functools import partial
from typing import Any

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
    given_value = {"a\0": ["\0", 1, None, {"b": "c\0"}], "d": "\ud800\0"}
    expected = {"a\ufffd": ["\ufffd", 1, None, {"b": "c\ufffd"}], "d": "\ud800\ufffd"}
    assert without_nul(given_value) == expected


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        *((text, "'") for text in ('=HYPERLINK("x")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)")),
        *((text, "'") for text in ("\t=1", "\r=1", "＝1")),
        *((text, "") for text in ("", "a=b", "-3.5", "+1e9", "-5%", "'quoted", "2+2", "– a dash")),
    ],
)
def test_a_formula_has_an_apostrophe_in_front(text: str, mark: str) -> None:
    assert without_formula(text) == f"{mark}{text}"


@given(st.text(st.one_of(st.sampled_from("'=-5\r"), st.characters(codec="utf-8"))))
def test_every_text_comes_back(text: str) -> None:
    assert with_formula(without_formula(text)) == text
    written = escaped_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert visible(written) == written


def test_what_steers_a_terminal_is_written_out() -> None:
    assert visible("a\x1b[2J\x9b1m\u202eb\x07\n\tc\u2066") == (
        "a\\x1b[2J\\x9b1m\\u202eb\\x07\n\tc\\u2066"
    )
    assert visible("Zürich – 東京 👩\u200d🚀") == "Zürich – 東京 👩\u200d🚀"


LONG = ("a" * 64 + ".org", "ü" * 64 + ".org", "a." * 200 + "org")


@pytest.mark.parametrize(
    ("read", "given_text", "host"),
    [
        (host_named, "Example.ORG.", "example.org"),
        (host_named, "www.Bücher.example", "www.xn--bcher-kva.example"),
        (host_named, "a_b.example", "a_b.example"),
        (host_named, "localhost", "localhost"),
        (host_named, "[::1]", "::1"),
        (host_named, "fe80::1%eth0", "fe80::1%eth0"),
        *((host_named, none, "") for none in (".0", "a..b", ".", "", None, "a b.org", "a/b")),
        *((host_named, none, "") for none in (*LONG, "*.org", "::x")),
        (partial(host_named, wild=True), "*.Gov", "*.gov"),
        (partial(host_named, wild=True), "*..gov", ""),
        (host_of, "https://user@WWW.Example.org:8080/a?b#c", "www.example.org"),
        (host_of, "http://[::1]:80/", "::1"),
        *((host_of, none, "") for none in ("http://a..b/", "http://[::1", "", None, "a.b")),
        (host_in, "LocalHost:8080", "localhost"),
        (host_in, "[::1]:80", "::1"),
        (host_in, "127.0.0.1", "127.0.0.1"),
        *((host_in, none, "") for none in ("a@localhost", "localhost/x", "localhost?x", "[", "")),
        *((host_in, none, "") for none in ("localhost#x", "localhost:port", "localhost:99999")),
        *((host_in, none, "") for none in ("a..b:80", ":80")),
    ],
)
def test_a_name_a_url_or_a_header_names_a_host_or_none(
    read: Any, given_text: str | None, host: str
) -> None:
    assert read(given_text) == host


@given(st.text(max_size=40) | st.from_regex(r"[a-z0-9.ü]{0,12}", fullmatch=True))
@example(".0")
@example("a..b")
@example("。0")
def test_what_is_a_host_stays_one(name: str) -> None:
    host = host_named(name)
    assert host_named(host) == host
    assert "" not in host.split(".") or not host
