"""Which elements share a line, and what is before and after one on it."""

import re

import pytest
from lxml.html import HtmlElement, document_fromstring

from ufo.transforms.sources.web.lines import (
    breaks,
    lines_of,
    names,
    phrases,
    text_after,
    text_before,
)
from ufo.transforms.sources.web.tables import table


def body(markup: str) -> HtmlElement:
    return document_fromstring(f"<body>{markup}</body>").find("body")


@pytest.mark.parametrize(
    ("markup", "lines"),
    [
        ("It <b>is</b> <i>4<u>5</u></i> m", ["It is 45 m"]),
        ("It is<br>45 m", ["It is", "45 m"]),
        ("<p>It</p>is<div>4</div>5", ["It", "is", "4", "5"]),
        ("<ul><li>4<li>5</ul>", ["4", "5"]),
        ("<table><tr><td>4<td>5</table>", ["4", "5"]),
        ("It\n is  <x-y>45</x-y>\tm", ["It is 45 m"]),
        ("<p> </p><p></p>", []),
    ],
)
def test_the_lines_of_an_element(markup: str, lines: list[str]) -> None:
    assert lines_of(body(markup)) == lines


@pytest.mark.parametrize(
    ("markup", "before", "after"),
    [
        ("It is <sup>5</sup> m", "It is ", " m"),
        ("<p>Old</p>It is <sup>5</sup> m<p>New</p>", "It is ", " m"),
        ("<p>It <b>is</b> <i><u><sup>5</sup></u> m</i> long</p>", "It is ", " m long"),
        ("Old<br>It <sup>5</sup> m<br>New", "It ", " m"),
        ("<sup>5</sup>", "", ""),
        (f"{'x' * 99}<sup>5</sup>{'y' * 99}", "x" * 60, "y" * 60),
    ],
)
def test_the_text_before_and_after_an_element(markup: str, before: str, after: str) -> None:
    (raised,) = body(markup).iter("sup")
    assert text_before(raised) == before
    assert text_after(raised) == after


@pytest.mark.parametrize(("tag", "ends"), [("p", True), ("br", True), ("b", False), ("x-y", False)])
def test_blocks_and_breaks_end_a_line(tag: str, ends: bool) -> None:
    assert breaks(document_fromstring(f"<body><{tag}></{tag}></body>").find(f".//{tag}")) is ends


def test_phrases_are_found_between_two_patterns_in_any_case() -> None:
    pattern = phrases("lead_in", r"\W*", r"\b")
    assert pattern.match("» READ MORE: it")
    assert not pattern.match("Watchmakers")


def test_the_tables_are_words_and_patterns() -> None:
    assert {"p", "td"} <= names()["blocks"]
    assert names()["renamed"]["summary"] == "p"
    assert all(re.compile(phrase) for kind in table("boilerplate.yaml").values() for phrase in kind)
