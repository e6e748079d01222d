"""No sentence of an article loses a word to its markup, and no two numbers become one."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml.html import document_fromstring

from tests.case_files import cases
from tests.transforms.sources.web.pages import ARTICLE, PARAGRAPHS, fetched, html
from ufo.transforms.sources.web.documents import Document
from ufo.transforms.sources.web.markup import read_marks, to_paragraphs
from ufo.transforms.sources.web.reading import document_of

END = "The lake freezes in most winters, and the people of the town skate on it until March."


def article(body: str) -> Document:
    return document_of(fetched(html(f"{ARTICLE}{body}<p>{END}</p>")))


def read(body: str) -> str:
    """The lines of a body between the paragraphs of an article."""
    text = article(body).text
    for paragraph in (*PARAGRAPHS, END):
        assert paragraph in text
        text = text.replace(paragraph, "")
    return text.strip()


@pytest.mark.parametrize(("body", "lines"), cases(Path(__file__).with_name("markup.txt")))
def test_markup_is_read_as_a_page_shows_it(body: str, lines: str) -> None:
    assert read(body) == lines


@pytest.mark.parametrize(
    "body",
    [
        "<p>It is 45<sup>7</sup> m long.</p>",
        "<p>Its root is <math><msqrt><mn>3</mn></msqrt></math>.</p>",
        "<p>It is <img class='tex' alt='10^6'> m long.</p>",
        "<p>It costs $3<sup>99</sup> a day.</p>",
    ],
)
def test_a_sentence_that_cannot_be_told_is_counted(body: str) -> None:
    document = article(body)
    assert document.left_out == 1
    assert document.text == "\n".join([*PARAGRAPHS, END])


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        (".x { vertical-align: super }", "It cost 1,200 and 10^6 7 m."),
        ("#y, span.x {position:relative; top:-0.4em}", "It cost 1,200 and 10^6 7 m."),
        (".x{font-size:70%}.x{vertical-align:sub}", "It cost 1,200_3 and 10_6 7 m."),
        (".x { display: block }", "It cost 1,200\n3\nand 10\n6\n7 m."),
        (".x { text-decoration: line-through }", "It cost 1,200 and 10 7 m."),
        (".x { color: red }", "It cost 1,2003 and 106 7 m."),
    ],
)
def test_the_page_s_own_style_sheet_places_text(rule: str, lines: str) -> None:
    markup = "<p>It cost 1,200<span class=x>3</span> and 10<span class='b x'>6</span> 7 m.</p>"
    assert read(f"<style>{rule}</style>{markup}") == lines


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("Vara bridge<sup>3</sup>", "Vara bridge"),
        ("Vara bridge<br>1932", "Vara bridge 1932"),
        ("Vara <s>ferry</s> bridge", "Vara bridge"),
        ("Area of 5 km<sup>2</sup>", "Area of 5 km²"),
        ("Root of <math><msqrt><mn>3</mn></msqrt></math>", "Lakes"),
    ],
)
def test_a_title_is_read_like_a_sentence(heading: str, title: str) -> None:
    page = f"<html><head><title>Lakes</title></head><body><h1>{heading}</h1>{ARTICLE}</body></html>"
    page = page.replace("<title>Lakes</title>", "") if title != "Lakes" else page
    assert document_of(fetched(page)).title == title


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>It is 210 metres long.</p>", "It is 210 metres long."),
        ("<div>It is 210 metres long.</div>", "It is 210 metres long."),
        ("It is 210 metres long.", "It is 210 metres long."),
        ("<p>It is long.<p>It is red.", "It is long.\nIt is red."),
    ],
)
def test_a_page_of_one_element_is_read(page: str, text: str) -> None:
    assert document_of(fetched(page)).text == text


# --- random markup

NUMBERS = st.integers(11, 9999).map(str)
SHOWN_TAGS = """time ins abbr mark data bdi bdo b i em strong u small big span font cite dfn var kbd
    samp tt code output label nobr my-element"""
SHOWN = SHOWN_TAGS.split()
PIECES = st.one_of(
    st.sampled_from(["word", "of the", "in", "and then", "(see)", "it,"]).map(lambda w: (w, w)),
    st.tuples(st.sampled_from(SHOWN), NUMBERS).map(lambda p: (f"<{p[0]}>{p[1]}</{p[0]}>", p[1])),
    st.tuples(st.sampled_from(SHOWN), st.sampled_from(SHOWN), NUMBERS).map(
        lambda p: (f"<{p[0]} class='meta bar'><{p[1]}>{p[2]}</{p[1]}></{p[0]}>", p[2])
    ),
    NUMBERS.map(lambda n: (f"<a href='/{n}'>{n} men</a>", f"{n} men")),
    st.tuples(st.sampled_from(["del", "s", "strike"]), NUMBERS).map(
        lambda p: (f"<{p[0]}>{p[1]}</{p[0]}>", "")
    ),
    NUMBERS.map(lambda n: (f"word<sup><a href='#n{n}'>{n}</a></sup>", "word")),
    NUMBERS.map(lambda n: (f"word<sup class='reference'>{n}</sup>", "word")),
    st.integers(1, 999).map(lambda n: (f"{n},000<sup>{n}</sup>", f"{n},000")),
    st.integers(3, 30).map(lambda n: (f"3×10<sup>{n}</sup>", f"3×10^{n}")),
    st.integers(3, 30).map(lambda n: (f"10<sup>-{n}</sup>", f"10^-{n}")),
    NUMBERS.map(lambda n: (f"{n}<sup>1</sup>/<sub>2</sub>", f"{n} 1/2")),
    NUMBERS.map(lambda n: (f"{n} km<sup>2</sup>", f"{n} km²")),
    NUMBERS.map(lambda n: (f"<q>{n}</q>", f"“{n}”")),
    NUMBERS.map(lambda n: (f"x<sub>{n}</sub>", f"x{n}")),
)
HOLDERS = st.sampled_from(["p", "div", "section", "blockquote", "center", "details"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(HOLDERS, st.lists(PIECES, min_size=1, max_size=8)), max_size=4))
def test_random_markup_loses_and_invents_nothing(
    lines: list[tuple[str, list[tuple[str, str]]]],
) -> None:
    body, shown = "", []
    for holder, pieces in lines:
        inner = " ".join(markup for markup, _ in pieces)
        body += f"<{holder}>It was {inner} metres.</{holder}>"
        words = " ".join(f"It was {' '.join(text for _, text in pieces)} metres.".split())
        shown.append(words)
    # A line that stands there again may be left out.
    assert list(dict.fromkeys(read(body).split("\n"))) == list(dict.fromkeys(shown or [""]))


SOUP = """
    <p> </p> <sup> </sup> <sub> </sub> <a|href='#x'> </a> <td> <br> <table> </table> <div> </div>
    <span|style='display:block'> </span> <math> </math> <mfrac> <q> </q> <figure> <figcaption> <li>
    <ul> </ul> <span|class=frac> <span|class=num> <span|class=den> <small> 12 10 word"""


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(SOUP.split()), max_size=40))
def test_any_soup_of_inline_markup_is_read(pieces: list[str]) -> None:
    tree = document_fromstring(f"<body><div>{''.join(pieces).replace('|', ' ')}</div></body>")
    read_marks(tree)
    to_paragraphs(tree)
    numbers = re.findall("[0-9]+", "".join(tree.itertext()))
    assert all(re.fullmatch("(?:10|12)+", number) for number in numbers)
