"""Texts and names of hosts from outside: what is stored, shown, and taken for a host."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.schemas import text as texts
from ufo.schemas.text import host_named, storable, visible, with_formula, without_formula


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
    assert texts.without_nul(given_value) == expected


def test_a_formula_has_an_apostrophe_in_front() -> None:
    calls = ('=HYPERLINK("x")', "+1+cmd|' /C calc'!A0", "@SUM(A1)")
    for text in (*calls, "-2+3", "\t=1", "\r=1", "＝1"):
        assert without_formula(text) == f"'{text}"
    for text in ("", "a=b", "-3.5", "+1e9", "-5%", "'quoted", "2+2", "– a dash"):
        assert without_formula(text) == text


@given(st.text(st.one_of(st.sampled_from("'=-5\r"), st.characters(codec="utf-8"))))
def test_every_text_comes_back(text: str) -> None:
    assert with_formula(without_formula(text)) == text
    written = texts.escaped_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert visible(written) == written


def test_what_steers_a_terminal_is_written_out() -> None:
    assert visible("a\x1b[2J\x9b1m\u202eb\x07\n\tc\u2066") == (
        "a\\x1b[2J\\x9b1m\\u202eb\\x07\n\tc\\u2066"
    )
    assert visible("Zürich – 東京 👩\u200d🚀") == "Zürich – 東京 👩\u200d🚀"


READ: dict[str, Callable[..., str]] = {
    "name": host_named,
    "wild": partial(host_named, wild=True),
    "url": texts.host_of,
    "header": texts.host_in,
}


@pytest.mark.parametrize(("kind", "text", "host"), cases(Path(__file__).with_name("hosts.txt")))
def test_a_name_a_url_or_a_header_names_a_host_or_none(kind: str, text: str, host: str) -> None:
    assert READ[kind](text) == host


def test_what_is_too_long_or_not_there_names_no_host() -> None:
    for text in ("a" * 64 + ".org", "ü" * 64 + ".org", "a." * 200 + "org", None):
        assert host_named(text) == texts.host_of(text) == ""


@given(st.text(max_size=40) | st.from_regex(r"[a-z0-9.ü]{0,12}", fullmatch=True))
@example(".0")
@example("a..b")
@example("。0")
def test_what_is_a_host_stays_one(name: str) -> None:
    host = host_named(name)
    assert host_named(host) == host
    assert "" not in host.split(".") or not host
