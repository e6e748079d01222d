"""Bytes to text: the right declaration wins, a wrong one is passed over."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.sources.web.pages import fetched
from ufo.transforms.sources.web.documents import document_of, text_of

GERMAN = "Über Größe: 12 € für „Bücher“. " * 20
RUSSIAN = "Москва является столицей России с тысяча девятьсот восемнадцатого года. " * 10
JAPANESE = "東京は日本の首都です。人口は千四百万人です。" * 10


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        (GERMAN, "utf-8", None),
        (GERMAN, "utf-8", "utf-8"),
        (GERMAN, "cp1252", "windows-1252"),
        (GERMAN, "cp1252", "ISO-8859-1"),  # as browsers read that label
        (RUSSIAN, "cp1251", '"windows-1251"'),
        (RUSSIAN, "koi8-r", "KOI8-R"),
        (JAPANESE, "shift_jis", "Shift_JIS"),
        (JAPANESE, "euc_jp", "euc-jp"),
        ("中文网页的内容", "gb18030", "gb2312"),
    ],
)
def test_a_declared_charset_is_used(text: str, encoding: str, declared: str | None) -> None:
    assert text_of(text.encode(encoding), declared) == text


def test_the_pages_own_declaration_is_used_where_the_server_is_silent() -> None:
    page = f'<html><head><meta charset="windows-1251"></head><p>{RUSSIAN}</p>'
    assert text_of(page.encode("cp1251")) == page
    old = f'<meta http-equiv=Content-Type content="text/html; charset=euc-jp"><p>{JAPANESE}'
    assert text_of(old.encode("euc_jp")) == old
    xhtml = f'<?xml version="1.0" encoding="koi8-r"?><html><p>{RUSSIAN}'
    assert text_of(xhtml.encode("koi8-r")) == xhtml


def test_a_plain_text_declares_nothing() -> None:
    text = 'The tag <meta charset="utf-16"> is written in the head. ' + GERMAN
    assert text_of(text.encode("cp1252"), "windows-1252") == text
    assert text_of(text.encode(), None) == text


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1251", "gbk", "utf-16", "ascii"])
def test_a_declaration_that_the_bytes_contradict_is_passed_over(declared: str) -> None:
    assert text_of(GERMAN.encode(), declared) == GERMAN
    page = f'<meta charset="{declared}">{RUSSIAN}'
    assert text_of(page.encode()) == page


def test_the_next_declaration_is_tried_where_one_does_not_fit() -> None:
    page = f'<meta charset="windows-1251">{RUSSIAN}'
    assert text_of(page.encode("cp1251"), "utf-8") == page


@pytest.mark.parametrize("label", ["rot13", "base64", "no-such", "", "x\x00y", "idna\n"])
def test_a_label_of_no_charset_is_none(label: str) -> None:
    assert text_of(GERMAN.encode(), label) == GERMAN


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
)
def test_a_byte_order_mark_beats_every_declaration(mark: bytes, encoding: str) -> None:
    assert text_of(mark + GERMAN.encode(encoding), "windows-1251") == GERMAN


def test_an_undeclared_charset_is_detected() -> None:
    assert text_of(RUSSIAN.encode("cp1251")) == RUSSIAN


def test_a_body_cut_inside_a_character_is_still_utf8() -> None:
    assert text_of("für".encode()[:2] + b"") == "f\ufffd"
    assert text_of((GERMAN + "€").encode()[:-1], "iso-8859-1") == GERMAN + "\ufffd"


@given(st.binary(max_size=300), st.none() | st.text(max_size=12))
def test_any_bytes_become_a_text_that_can_be_encoded(body: bytes, declared: str | None) -> None:
    text_of(body, declared).encode("utf-8")


@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_utf8_is_read_back(text: str) -> None:
    assert text_of(text.encode(), "utf-8") == text.removeprefix("\ufeff")


@pytest.mark.parametrize("label", ["unicode_escape", "raw_unicode_escape", "utf-7", "punycode"])
def test_no_charset_makes_half_characters(label: str) -> None:
    body = b"<p>A \\ud800 word +2AA- of a page."
    document_of(fetched(body, charset=label)).text.encode("utf-8")
