"""A fetched page to its text, title and date, or why it has none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufo.transforms.sources.web.documents import (
    EMPTY,
    JAVASCRIPT_ONLY,
    NO_TEXT,
    PAYWALL,
    UNREADABLE_PDF,
    UNTOLD,
    document_of,
    type_of,
)

from .pages import ARTICLE, PARAGRAPHS, fetched, html, pdf


def test_an_articles_text_is_its_paragraphs_without_the_title() -> None:
    found = document_of(fetched(html()))
    assert found.title == "Lake Veyra"
    assert found.text == "\n".join(PARAGRAPHS)
    assert found.reason is None
    assert found.published_at is None


def test_what_stands_around_an_article_is_left_out() -> None:
    around = (
        '<nav><ul><li><a href="/">Home</a></li><li><a href="/lakes">Lakes</a></li></ul></nav>'
        '<div class="cookie-banner">We use cookies to improve your visit to our site.</div>'
    )
    end = (
        '<p>Related: <a href="/a">The ten deepest lakes of the whole continent</a></p>'
        "<ul><li><a href='/b'>Seven walks around the lakes of the north</a></li>"
        "<li><a href='/c'>What a warden does all day in a nature reserve</a></li></ul>"
        "<p>Subscribe to our newsletter and follow us on Facebook.</p><p>© 2026 Lakes Ltd.</p>"
    )
    assert document_of(fetched(html(ARTICLE + end, around=around))).text == "\n".join(PARAGRAPHS)


def test_a_sentence_that_only_sounds_like_boilerplate_stays() -> None:
    said = (
        "<p>Read more than a hundred letters by Olsen in the archive of the town of Brannick.</p>"
        "<p>In 1990 the club began to publish a newsletter about the lake, with 300 readers.</p>"
        f"<p>{PARAGRAPHS[2]}</p>"
    )
    found = document_of(fetched(html(ARTICLE + said))).text
    assert "hundred letters by Olsen" in found
    assert "with 300 readers" in found


def test_a_list_of_facts_and_a_table_stay() -> None:
    body = (
        f"{ARTICLE}<ul><li>Depth: 214 metres at the eastern shore</li>"
        "<li>Height: 1,204 metres above the sea</li></ul>"
        "<table><tr><th>Year</th><th>Visitors</th></tr><tr><td>2019</td><td>41,300</td></tr></table>"
    )
    found = document_of(fetched(html(body))).text
    assert "Depth: 214 metres" in found
    assert "41,300" in found


@pytest.mark.parametrize(
    "head",
    [
        '<meta property="article:published_time" content="2021-05-06T07:08:09+02:00">',
        '<script type="application/ld+json">{"@type":"NewsArticle","datePublished":"2021-05-06"}'
        "</script>",
        '<meta name="date" content="2021-05-06">',
    ],
)
def test_the_date_of_publication_is_what_the_page_states(head: str) -> None:
    assert document_of(fetched(html(head=head))).published_at == "2021-05-06"


def test_the_first_publication_counts_and_an_address_has_a_date() -> None:
    head = (
        '<meta property="article:modified_time" content="2024-02-03">'
        '<meta property="article:published_time" content="2021-05-06">'
    )
    assert document_of(fetched(html(head=head))).published_at == "2021-05-06"
    page = fetched(html(), url="https://news.example/2020/11/30/lake.html")
    assert document_of(page).published_at == "2020-11-30"


def test_no_date_is_later_than_the_day_of_the_visit() -> None:
    head = '<meta property="article:published_time" content="2031-05-06">'
    assert document_of(fetched(html(head=head))).published_at is None


def test_the_title_is_the_heading_that_the_head_names() -> None:
    body = f"<h1>The Lakes Magazine</h1><h1>Lake Veyra and its survey</h1>{ARTICLE}"
    head = "<title>Lake Veyra and its survey - The Lakes Magazine</title>"
    page = f"<html><head>{head}</head><body><article>{body}</article></body></html>"
    assert document_of(fetched(page)).title == "Lake Veyra and its survey"
    named = '<meta property="og:title" content="Of lakes"><title>Other</title>'
    assert document_of(fetched(html(head=named))).title == "Of lakes"


def test_a_paywalls_stub_is_no_text() -> None:
    body = (
        '<p>The lake has a secret.</p><div class="paywall">Subscribe now to continue reading.</div>'
    )
    found = document_of(fetched(html(body)))
    assert (found.text, found.reason, found.title) == ("", PAYWALL, "Lake Veyra")


def test_an_article_that_mentions_subscribers_is_read() -> None:
    found = document_of(fetched(html(f"{ARTICLE}<p>The paper is for subscribers only.</p>")))
    assert found.reason is None
    assert PARAGRAPHS[1] in found.text


@pytest.mark.parametrize(
    "body",
    [
        '<div id="root"></div><script src="app.js"></script>',
        '<div id="__next"> </div>',
        "<noscript>You need to enable JavaScript to run this app.</noscript><div></div>",
        "<p>Please turn on JavaScript.</p>",
    ],
)
def test_a_page_that_a_script_would_fill_is_reported(body: str) -> None:
    page = f"<!DOCTYPE html><html><head><title>App</title></head><body>{body}</body></html>"
    assert document_of(fetched(page)).reason == JAVASCRIPT_ONLY


def test_a_page_of_navigation_or_nothing_has_no_text() -> None:
    page = "<html><body><nav><a href='/'>Home</a></nav><img src='a.png'></body></html>"
    assert document_of(fetched(page)).reason == NO_TEXT
    assert document_of(fetched(" \n ")).reason == NO_TEXT
    assert document_of(fetched("  ", "text/plain")).reason == EMPTY


def test_a_short_page_is_read() -> None:
    page = html("<p>Lake Veyra is 214 metres deep.</p>")
    assert "214 metres deep" in document_of(fetched(page)).text


def test_a_text_is_as_it_is() -> None:
    found = document_of(fetched("Größe: 5 m.\r\nEnde.\n".encode("cp1252"), "text/plain", "cp1252"))
    assert found.text == "Größe: 5 m.\nEnde."


def test_the_first_bytes_tell_what_the_server_does_not() -> None:
    page = html().encode()
    assert [type_of(declared, page) for declared in ("", UNTOLD[1], "image/png")] == [
        *["text/html"] * 2,
        "image/png",
    ]
    assert type_of("text/html", pdf("Lake Veyra is deep.")) == "application/pdf"
    assert type_of("", b"\x00\x01\x02") == ""


def test_a_pdf_is_read_with_title_and_date() -> None:
    found = document_of(
        fetched(
            pdf(
                "The lake is one of the deep-\nest of the region, and\nreaches 214 metres."
                "\nIt freezes.",
                "A second page.",
            ),
            "application/pdf",
        )
    )
    assert found.title == "Lakes"
    assert found.published_at == "2024-05-17"
    assert found.text == (
        "The lake is one of the deepest of the region, and reaches 214 metres.\nIt freezes."
        "\n\nA second page."
    )


def test_a_pdf_without_text_or_broken_is_reported() -> None:
    assert document_of(fetched(pdf(""), "application/pdf")).reason == NO_TEXT
    assert document_of(fetched(b"%PDF-1.4 and no more", "application/pdf")).reason == UNREADABLE_PDF
    whole = pdf("Some text.")
    assert document_of(fetched(whole[: len(whole) // 3], "application/pdf")).reason


def test_a_pdfs_date_in_the_future_is_none() -> None:
    found = document_of(fetched(pdf("Text.", created="D:20990101"), "application/pdf"))
    assert found.published_at is None
    assert found.text == "Text."


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 3000 + "deep" + "</div>" * 3000,
        "<p>" + "<b>" * 2000 + "bold",
        "<table><tr><td>" * 500,
        "<html><body><p>a" + "\x00\x01\x0b" + "b</p>",
        "<![CDATA[<p>]]>" * 200,
        "<style>" + "{" * 5000 + "</style><p>x</p>",
        "<style>" + "a" * 200_000 + "}</style><p>x</p>",
        "<style>" + "/*" * 100_000 + "</style><p>x</p>",
        "<style>" + "@import" * 30_000 + "</style><p>x</p>",
        "<p>" + "[a b='" * 50_000 + "</p>",
        "<p style='" + "color:" * 4000 + "'>x</p>",
        "&#xD800;&#0;&#x110000; text",
    ],
)
def test_a_broken_or_hostile_page_is_read_or_told(page: str) -> None:
    found = document_of(fetched(page))
    found.text.encode("utf-8")
    assert found.text or found.reason


@settings(max_examples=25)
@given(
    st.lists(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<a href=x>",
                "<!--",
                "<script>",
                "w ",
                "\x00",
                "<",
                "&#xD800;",
                "<meta charset=q>",
                "<h1>T",
            ]
        ),
        max_size=30,
    )
)
def test_any_soup_of_tags_is_read_or_told(pieces: list[str]) -> None:
    found = document_of(fetched("".join(pieces)))
    assert found.text or found.reason
    found.text.encode("utf-8")
