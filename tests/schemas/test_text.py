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
from ufo.schemas.text import (
    decode,
    escape_formula,
    hide_secrets,
    host_named,
    storable,
    unescape_formula,
    visible,
)


@given(st.text(st.characters()))
def test_any_text_can_be_stored_with_the_same_offsets(text: str) -> None:
    stored = storable(text)
    assert len(stored) == len(text)
    assert "\0" not in stored
    assert stored.encode().decode() == stored
    assert all(new in (old, "\ufffd") for old, new in zip(text, stored, strict=True))


@pytest.mark.parametrize(
    ("text", "stored"),
    [("a b", "a b"), ("a\0b", "a\ufffdb"), ("é\0\ud800", "é\ufffd\ufffd")],
    ids=ascii,
)
def test_what_cannot_be_stored_is_replaced(text: str, stored: str) -> None:
    assert storable(text) == stored


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_a_text_is_decoded_by_its_mark(text: str) -> None:
    expected = text.removeprefix("\ufeff")
    assert decode(text.encode()) == expected
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"caf\xe9", "not UTF-8: byte 4 is invalid; convert", id="no mark"),
        pytest.param(b"\xff\xfea", "not UTF-16: byte 3 is invalid; convert", id="half a character"),
    ],
)
def test_a_text_in_another_encoding_is_refused(body: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode(body)


def test_every_text_of_a_value() -> None:
    given_value = {"a\0": ["\0", 1, None, {"b": "c\0"}], "d": "\ud800\0"}
    expected = {"a\ufffd": ["\ufffd", 1, None, {"b": "c\ufffd"}], "d": "\ud800\ufffd"}
    assert texts.replace_nul(given_value) == expected


@pytest.mark.parametrize("first", "=+-@\t\r\n＝＋－＠", ids=ascii)
@pytest.mark.parametrize("before", ["", "'", "''"], ids=["plain", "quoted", "quoted twice"])
def test_a_formula_has_an_apostrophe_in_front(before: str, first: str) -> None:
    text = f"{before}{first}SUM(A1)"
    assert escape_formula(text) == f"'{text}"
    assert unescape_formula(f"'{text}") == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a=b",
        "'quoted",
        "2+2",
        "– a dash",
        "'",
        "-3.5",
        "+1e9",
        "-5%",
        "+1,000.5",
        "-1E-5",
        "-0",
        "+7",
    ],
)
def test_what_is_no_formula_or_is_a_number_stays(text: str) -> None:
    assert escape_formula(text) == text
    assert unescape_formula(text) == text


@pytest.mark.parametrize("text", ["-2+3", "+1+cmd", "-5%%", "-1.", "--1", "-1e", "+"])
def test_what_only_begins_as_a_number_is_a_formula(text: str) -> None:
    assert escape_formula(text) == f"'{text}"


STEERING = "\x00\x08\x0b\x1b\x1f\x7f\x9b\x9f\u061c\u200e\u200f\u2028\u202e\u2066\u2069\ufeff"


@pytest.mark.parametrize("character", STEERING, ids=ascii)
def test_each_character_that_steers_is_written_out(character: str) -> None:
    code = ord(character)
    written = f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    assert visible(f"a{character}b") == f"a{written}b"
    assert texts.escaped_json(f'"{character}"') == f'"\\u{code:04x}"'


@pytest.mark.parametrize("character", "\t\n ~🚀\xa0\u061d\u200d\u2010\u202f\u2065\u206a", ids=ascii)
def test_other_characters_stay(character: str) -> None:
    assert visible(character) == character


@pytest.mark.parametrize(
    ("n", "several", "shown"),
    [
        (0, "", "0 claims"),
        (1, "", "1 claim"),
        (2_000, "", "2,000 claims"),
        (1, "people", "1 claim"),
        (2, "people", "2 people"),
    ],
)
def test_a_number_has_its_noun(n: int, several: str, shown: str) -> None:
    assert texts.quantity(n, "claim", several) == shown


THREE_LABELS = f"{'a' * 63}." * 3  # 192 characters


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        pytest.param(f"{'a' * 63}.org", True, id="a label of 63"),
        pytest.param(f"{'a' * 64}.org", False, id="a label of 64"),
        pytest.param(THREE_LABELS + "a" * 61, True, id="a name of 253"),
        pytest.param(THREE_LABELS + "a" * 62, False, id="a name of 254"),
    ],
)
def test_a_name_of_a_host_has_so_many_characters(name: str, is_one: bool) -> None:
    assert host_named(name) == (name if is_one else "")


@given(st.text(st.one_of(st.sampled_from("'=-5\r"), st.characters(codec="utf-8"))))
def test_every_text_comes_back(text: str) -> None:
    assert unescape_formula(escape_formula(text)) == text
    written = texts.escaped_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert visible(written) == written


READ: dict[str, Callable[..., str]] = {
    "name": host_named,
    "wild": partial(host_named, wild=True),
    "url": texts.host_of,
    "header": texts.host_in,
}


@pytest.mark.parametrize(("kind", "text", "host"), cases(Path(__file__).with_name("hosts.txt")))
def test_a_name_a_url_or_a_header_names_a_host_or_none(kind: str, text: str, host: str) -> None:
    assert READ[kind](text) == host


@pytest.mark.parametrize(
    ("host", "is_one"),
    [("127.0.0.1", True), ("::1", True), ("example.org", False), ("127.0.0.256", False)],
)
def test_an_address_is_no_name(host: str, is_one: bool) -> None:
    assert texts.is_address(host) is is_one


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:word@host/a?b=c", "https://…@host/a?b=c"),
        ("abfs://box@account.dfs.core.windows.net/a", "abfs://box@account.dfs.core.windows.net/a"),
        ("az://box/a?sv=2024&sig=a%2Fb&se=1", "az://box/a?sv=2024&sig=…&se=1"),
        ("AccountName=me;AccountKey=a+b==;Endpoint=x", "AccountName=me;AccountKey=…;Endpoint=x"),
        ("/?X-Amz-Signature=ab&X-Amz-Token=c", "/?X-Amz-Signature=…&X-Amz-Token=…"),
        ("gs://box/in-?.jsonl has 2=2 rows", "gs://box/in-?.jsonl has 2=2 rows"),
    ],
)  # fmt: skip
def test_secrets_in_addresses_are_not_shown(text: str, shown: str) -> None:
    assert hide_secrets(text) == shown
