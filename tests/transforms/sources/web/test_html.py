"""What of an HTML page is its article: its title, and the lines that belong to it."""

import pytest
from lxml.html import document_fromstring

from tests.transforms.sources.web.pages import fetched
from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web.documents import Document
from ufo.transforms.sources.web.html import (
    article_of,
    clean,
    drop_links_out,
    mask_glued_numbers,
    show_quotes,
)

FIRST = "The old bridge was closed in 1931."
LAST = "The new one was opened a year later."

# --- lines of a text

LEAD_INS = (
    "Related",
    "Related stories",
    "Related articles",
    "Related content",
    "Related links",
    "Related coverage",
    "Related posts",
    "Related news",
    "Read more",
    "Read also",
    "Also read",
    "Read next",
    "Up next",
    "See also",
    "See more",
    "More on this",
    "More from Reuters",
    "Don't miss",
    "Don’t miss",
    "Must read",
    "Recommended",
    "You may like",
    "You may also like",
    "You may be interested",
    "You may also be interested",
    "You might also like",
    "Keep reading",
    "Continue reading",
    "Trending",
    "In case you missed it",
    "Watch",
    "Watch now",
    "What to read next",
    "Lesen Sie auch",
    "Mehr zum Thema",
    "Lire aussi",
    "À lire aussi",
    "Leia também",
    "Lea también",
    "Leggi anche",
)


@pytest.mark.parametrize("words", LEAD_INS)
def test_a_line_that_leads_to_another_page_is_left_out(words: str) -> None:
    for line in (f"{words}: Storm closes the harbour", words, f"» {words.upper()} »"):
        assert clean(f"{FIRST}\n{line}\n{LAST}", None) == f"{FIRST}\n{LAST}"


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        pytest.param("Watch: we saw all of the bridge fall.", False, id="a sentence of 8 words"),
        pytest.param("Watch: we all saw all of the bridge fall.", True, id="a sentence of 9 words"),
        pytest.param("Watch: we all saw all of the bridge fall", False, id="9 words, no sentence"),
        pytest.param("Watch all of what we saw of it fall:", False, id="9 words and a colon"),
        pytest.param("Watch: " + "w" * 192, False, id="199 characters"),
        pytest.param("Watch: " + "w" * 193, True, id="200 characters"),
        pytest.param("Watchmakers: the town had three.", True, id="another word"),
        pytest.param("They watch: a boat comes.", True, id="another beginning"),
    ],
)
def test_a_short_line_that_is_no_sentence_leads_to_another_page(line: str, stays: bool) -> None:
    assert (line in clean(f"{FIRST}\n{line}\n{LAST}", None)) is stays


CALLS = (
    "Subscribe to our paper",
    "Subscribe now",
    "Subscribe today",
    "Subscribe here",
    "Sign up for news",
    "Sign up to our list",
    "Sign up here",
    "Sign up now",
    "Our newsletter",
    "Get all newsletters",
    "Follow the paper on Twitter",
    "Like our page on Facebook",
    "Join our group on WhatsApp",
    "Find our clips on YouTube",
    "Follow us all on Instagram",
    "Follow our people on LinkedIn",
    "Follow our clips on TikTok",
    "Join our talk on Telegram",
    "Follow our day on Snapchat",
    "Follow the paper on X.com",
    "News to your inbox",
    "News in your inbox",
    "Have a tip?",
    "All rights reserved",
    "Click here to read on",
    "Click here for more",
    "Tell us what you think",
    "Leave a comment",
    "Join the conversation",
    "Share this article",
    "Share this story",
    "Share this post",
    "Filed under: Bridges",
    "Contact the author",
    "Contact the writer",
    "Contact the reporter",
    "Listen live",
    "Download the app",
    "Download our new app",
    "Get access to all",
    "Become a member",
    "Become a subscriber",
    "Support our journalism",
    "Advertisement",
    "No paywall here",
    "Terms of use",
    "Terms of service",
    "Privacy policy",
    "This material may not be published",
    "Delivered to your door",
    "Delivered through your post",
    "She may be reached at home",
    "Full coverage of the storm",
    "Copyright the paper",
    "© The paper",
    "12 comments",
    "Comment",
    "Tag: bridges",
    "Tags: bridges",
    "Topic: bridges",
    "Topics : bridges",
    "Image credit: Ada",
    "Image credits: Ada",
    "Photo by Ada",
    "Photo: Ada",
    "Photos by Ada",
    "Photo credit: Ada",
    "Photo credits by Ada",
    "Updated at noon",
    "Updated on Monday",
    "Last updated by Ada",
    "Originally published by Ada",
    "Follow us",
    "Follow me",
    "Follow him",
    "Follow her",
    "Follow them",
    "Follow @ada",
    "Share on any site",
    "Source: Ada",
)


@pytest.mark.parametrize("line", CALLS)
def test_a_call_at_the_end_is_left_out(line: str) -> None:
    assert clean(f"{FIRST}\n{LAST}\n{line}", None) == f"{FIRST}\n{LAST}"


CALL = "Subscribe now"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param([CALL, LAST], [CALL, LAST], id="a call before the end stays"),
        pytest.param([LAST, *[CALL] * 8], [LAST], id="eight lines are looked at"),
        pytest.param([LAST, *[CALL] * 9], [LAST, CALL], id="a ninth is not"),
        pytest.param([LAST, CALL + "!" * 486], [LAST], id="a line of 499 characters"),
        pytest.param([LAST, CALL + "!" * 487], [LAST, CALL + "!" * 487], id="a paragraph stays"),
        pytest.param([LAST, "The end", CALL], [LAST, "The end"], id="a heading stays"),
        pytest.param([LAST, "The end"], [LAST, "The end"], id="a last line that calls nobody"),
        pytest.param([CALL, CALL], [CALL], id="the first line stays"),
        pytest.param(
            [LAST, "[gallery]", '[caption id="a"]x[/caption]'], [LAST, "x"], id="short codes"
        ),
        pytest.param([f"  {LAST} ", "", " "], [LAST], id="white space"),
    ],
)
def test_the_end_of_a_text(text: list[str], left: list[str]) -> None:
    assert clean("\n".join(text), None).split("\n") == left


DATES = (
    "Monday in 1987",
    "May 2024",
    "At 10:30",
    "3.5.24",
    "12/5/2024",
    "4 min read",
    "4-minute read",
    "12 mins",
    "Reading time: short",
    "Tempo de leitura: curto",
    "Lesezeit: kurz",
)


@pytest.mark.parametrize("line", DATES)
def test_a_date_or_a_reading_time_before_a_text_is_left_out(line: str) -> None:
    assert clean(f"{line}\n{FIRST}\n{LAST}", None) == f"{FIRST}\n{LAST}"
    assert clean(f"{LAST}\n{line}\n{FIRST}", None) == f"{LAST}\n{line}\n{FIRST}"


TITLE = "Of bridges: how we cross"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param(["Of bridges – how we cross", FIRST], [FIRST], id="the title"),
        pytest.param(["Of bridges", FIRST], [FIRST], id="its first nine letters"),
        pytest.param(["Of bridge", FIRST], ["Of bridge", FIRST], id="its first eight letters"),
        pytest.param(["How we cross", FIRST], ["How we cross", FIRST], id="its end"),
        pytest.param([TITLE, "2024", "10:30", "2 min", FIRST], [FIRST], id="four lines"),
        pytest.param(
            [TITLE, "2024", "10:30", "2 min", "2023", FIRST], ["2023", FIRST], id="a fifth line"
        ),
        pytest.param(["a " * 10 + "2024", FIRST], [FIRST], id="a date with ten words"),
        pytest.param(
            ["a " * 11 + "2024", FIRST], ["a " * 11 + "2024", FIRST], id="a date with eleven words"
        ),
        pytest.param(["It was 2024.", FIRST], ["It was 2024.", FIRST], id="a sentence with a year"),
        pytest.param(["…", FIRST], ["…", FIRST], id="no letter"),
    ],
)
def test_the_beginning_of_a_text(text: list[str], left: list[str]) -> None:
    assert clean("\n".join(text), TITLE).split("\n") == left


# --- elements of a page


@pytest.mark.parametrize(
    ("element", "stays"),
    [
        pytest.param("<nav>Home</nav>", False, id="navigation"),
        pytest.param("<p>Read more: <a>Storm closes the port</a></p>", False, id="a link out"),
        pytest.param("<li>See also <a>Storm closes</a></li>", False, id="an item"),
        pytest.param("<h4>Related: <a>Storm closes the port</a></h4>", False, id="a heading"),
        pytest.param("<p>Read more: it is told below</p>", True, id="no link"),
        pytest.param("<p>Watch <a>it</a> for a long while and think</p>", True, id="few links"),
        pytest.param("<p>Watch 12 <a>123456789</a></p>", False, id="half of it links"),
        pytest.param("<p>Watch 123 <a>123456789</a></p>", True, id="less than half of it links"),
        pytest.param("<p>It is <a>by the sea</a></p>", True, id="a sentence with a link"),
        pytest.param(
            "<ul><li><a>Storm closes the harbours</a></li><li><a>Sun is back again</a></li></ul>",
            False,
            id="headlines",
        ),
        pytest.param(
            "<ol><li><a>Storm closes the harbours</a></li><li><a>Sun is back again</a></li></ol>",
            False,
            id="numbered headlines",
        ),
        pytest.param("<ul><li><a>Storm closes the harbours</a></li></ul>", True, id="one headline"),
        pytest.param("<ul><li><a>Oslo</a></li><li><a>Bergen</a></li></ul>", True, id="names"),
        pytest.param(
            f"<ul><li><a>{'a' * 20}</a></li><li><a>{'b' * 20}</a></li></ul>",
            False,
            id="links of 20 characters",
        ),
        pytest.param(
            f"<ul><li><a>{'a' * 19}</a></li><li><a>{'b' * 20}</a></li></ul>",
            True,
            id="links of 19 characters",
        ),
        pytest.param(
            f"<ul><li><a>{'a' * 36}</a></li><li>{'b' * 4}</li></ul>", False, id="nine tenths links"
        ),
        pytest.param(
            f"<ul><li><a>{'a' * 35}</a></li><li>{'b' * 5}</li></ul>", True, id="less of it links"
        ),
        pytest.param(
            "<p>It <span><a>one</a><a>two</a><a>three</a></span></p>", False, id="three cards"
        ),
        pytest.param("<p>It <span><a>one</a><a>two</a></span></p>", True, id="two cards"),
        pytest.param(
            "<p>It <span><a>one</a> and <a>two</a> and <a>three</a></span></p>",
            True,
            id="links within a sentence",
        ),
    ],
)
def test_an_element_of_links_to_other_pages_is_dropped(element: str, stays: bool) -> None:
    tree = document_fromstring(f"<body><div><p>{FIRST}</p>{element}</div></body>")
    words = document_fromstring(element).text_content()
    drop_links_out(tree)
    assert FIRST in tree.text_content()
    assert (words in tree.text_content()) is stays


@pytest.mark.parametrize(
    ("name", "left"),
    [("twitter-Embed", None), ("article", "article")],
    ids=["an embedded post", "a quote of the article"],
)
def test_the_wrapper_of_a_quote_loses_the_class_of_embedded_posts(
    name: str, left: str | None
) -> None:
    quote = "<blockquote>We crossed.</blockquote>"
    tree = document_fromstring(f'<body><div class="{name}">{quote}</div></body>')
    show_quotes(tree)
    (wrapper,) = tree.iter("div")
    assert wrapper.get("class") == left


# --- the whole page


def article(html: str) -> Document:
    return article_of(fetched(html.encode()), html)


@pytest.mark.parametrize(
    ("head", "headings", "title"),
    [
        pytest.param(
            "<title>A – B</title>", ["The Site", "A"], "A", id="the heading it begins with"
        ),
        pytest.param("<title>A – B</title>", ["The Site"], "A – B", id="the head"),
        pytest.param(
            '<meta property="og:title" content="C"><title>A</title>', ["A"], "C", id="for sharing"
        ),
        pytest.param('<meta property="og:url" content="C">', ["A", "B"], "A", id="the headings"),
        pytest.param("<title> </title>", ["", " A\n b "], "A b", id="without white space"),
        pytest.param(f"<title>{'a' * 301}</title>", [], "a" * 300, id="300 characters"),
        pytest.param("", [], None, id="none"),
    ],
)
def test_the_title_of_a_page(head: str, headings: list[str], title: str | None) -> None:
    shown = "".join(f"<h1>{heading}</h1>" for heading in headings)
    text = f"<p>{FIRST} {LAST}</p>" * 9
    assert article(f"<head>{head}</head><body>{shown}<article>{text}</article>").title == title


PAYWALLS = (
    "paywall",
    "metered",
    "regwall",
    '"isAccessibleForFree":"false"',
    "isAccessibleForFree: false",
    "Subscribe to continue",
    "Sign in now to keep on",
    "Log in to read",
    "Register and unlock",
    "Subscribers only",
    "member-only",
    "for subscribers only",
    "Already a subscriber?",
    "Already a member?",
    "to continue reading",
    "to keep reading",
    "exclusive to subscribers",
    "exclusive to members",
    "2 free articles left",
    "1 free article remaining",
)
SCRIPTS = (
    "Please enable JavaScript",
    "Activate your JavaScript",
    "Turn on JavaScript",
    "Needs JavaScript",
    "You need to have JavaScript",
    "Requires JavaScript",
    "JavaScript is disabled",
    "JavaScript in your browser must be enabled",
    "JavaScript has been disabled",
    "JavaScript is now required",
    "without JavaScript",
)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        *((words, reasons.PAYWALL) for words in PAYWALLS),
        *((words, reasons.JAVASCRIPT_ONLY) for words in SCRIPTS),
        ("The harbour is open", None),
    ],
)
def test_a_page_of_a_few_lines_is_no_article_where_it_says_so(
    words: str, reason: str | None
) -> None:
    document = article(f"<body><p>{FIRST} {LAST}</p><p data-x='{words}'>{words}.</p></body>")
    assert document.reason == reason
    assert bool(document.text) is (reason is None)


@pytest.mark.parametrize(
    "name", ["root", "app", "__next", "__nuxt", "main-app", "svelte", "ember-app", "react-root"]
)
@pytest.mark.parametrize("tag", ["div", "main"])
def test_a_page_with_an_empty_element_for_a_script_is_filled_by_it(tag: str, name: str) -> None:
    line = f"<p>{FIRST}</p>"
    mount = f'<{tag} id="{name}"> </{tag}>'
    assert article(f"<body>{line}{mount}</body>").reason == reasons.JAVASCRIPT_ONLY
    filled = f'<{tag} id="{name}">{line}</{tag}>'
    assert article(f"<body>{line}{filled}</body>").reason is None


PROSE = """When the storm came in the spring of 1931, the people of the town closed the old bridge
    and crossed the river by boat for most of a year, until a new bridge of steel was opened to all
    of them."""


@pytest.mark.parametrize(
    ("words", "reason"), [(40, None), (39, reasons.PAYWALL)], ids=["40 words", "39 words"]
)
def test_an_article_of_forty_words_is_whole(words: int, reason: str | None) -> None:
    text = " ".join(PROSE.split()[-words:])
    shown = f"<body><p data-x='paywall'>{text}</p></body>"
    assert article(f"<html><head><title>Bridges</title></head>{shown}</html>").reason == reason


@pytest.mark.parametrize(
    "words", ["give[s] us", "[our] bridge", "[sic]", "[the mayor]", "it [he] is"]
)
def test_the_words_of_an_editor_in_a_quotation_stay(words: str) -> None:
    assert clean(f"“It {words} 45.”", None) == f"“It {words} 45.”"


@pytest.mark.parametrize("code", ["[gallery]", "[/caption]", '[embed width="5"]', "[more/]"])
def test_the_codes_of_a_blog_are_left_out(code: str) -> None:
    assert clean(f"{code}It is 45 m long.", None) == "It is 45 m long."


LINKS = (
    "<ul><li><a>The Bridge of Sighs (1932)</a></li><li><a>The River and Town (1935)</a></li></ul>"
)


@pytest.mark.parametrize(
    ("heading", "after", "stays"),
    [
        pytest.param("<h2>Books</h2>", True, True, id="a heading and prose after it"),
        pytest.param("<p>Her books are these:</p>", True, True, id="a sentence that announces it"),
        pytest.param("<h2>Books</h2>", False, False, id="nothing after it"),
        pytest.param("<h2>Related stories</h2>", True, False, id="a heading that leads out"),
        pytest.param("<h2><a>More books here</a></h2>", True, False, id="a heading that is a link"),
        pytest.param("<p>It is red.</p>", True, False, id="no heading"),
        pytest.param("", True, False, id="nothing before it"),
    ],
)
def test_a_list_of_links_within_the_text_stays(heading: str, after: bool, stays: bool) -> None:
    end = f"<p>{PROSE}</p>" if after else ""
    page = f"<body><article><p>{PROSE}</p>{heading}{LINKS}{end}</article></body>"
    assert ("Bridge of Sighs (1932)" in article(page).text) is stays


@pytest.mark.parametrize(
    ("part", "stays"),
    [
        ("<figure><figcaption>The bridge in 1935, when it was red.</figcaption></figure>", True),
        ("<figure><figcaption>The bridge in 1935</figcaption></figure>", True),
        ("<figure><figcaption>In 1935. <i>Photo: A. Berg</i></figcaption></figure>", False),
        ("<div class=wp-caption><p class=wp-caption-text>It stood in 1935.</p></div>", True),
        ("<p class=Caption>In 1935. Photo: A. Berg</p>", False),
        ("<footer><p>Correction: it was opened in 1935, not in 1936.</p></footer>", True),
        ("<footer>Berichtigung: Sie wurde 1935 eröffnet.</footer>", True),
        ("<footer><a href='/1935'>Posts of the year 1935 are all here.</a></footer>", False),
        ("<footer><p>Posted 12:30, May 5, 1935.</p></footer>", False),
        ("<footer><div class='comments'><p>I was there in 1935, too.</p></div></footer>", False),
        ("<header><p>A bridge of 1935 is closed at last.</p></header>", True),
        ("<aside><footer><p>It was opened in 1935, not in 1936.</p></footer></aside>", False),
        ("<details><summary>When?</summary>In the year 1935.</details>", True),
        ("<table><caption>Bridges of 1935</caption><tr><td>Alma</td></tr></table>", True),
    ],
)
def test_captions_and_corrections_of_an_article_stay(part: str, stays: bool) -> None:
    page = f"<body><article><p>{PROSE}</p>{part}<p>{PROSE[:-1]}, too.</p></article></body>"
    assert ("1935" in article(page).text) is stays


@pytest.mark.parametrize("outer", ["<div id=content>", "<section>", "<div><div class=text>"])
def test_a_correction_beside_the_paragraphs_of_an_unmarked_article_stays(outer: str) -> None:
    part = "<footer><p>Correction: it was opened in 1935, not in 1936.</p></footer>"
    page = f"<body>{outer}<p>{PROSE}</p><p>{PROSE[:-1]}, too.</p>{part}</body>"
    assert "1935" in article(page).text


def test_parts_within_parts_are_read() -> None:
    part = "<header><header><p>It was opened in 1935, not in 1936.</p></header></header>"
    page = f"<body><div><p>{PROSE}</p>{part}<p>{PROSE[:-1]}, too.</p></div></body>"
    assert "1931" in article(page).text


def test_the_foot_of_a_page_is_left_out() -> None:
    foot = "<footer><p>We use cookies since the year 1935.</p></footer>"
    page = f"<body><div><p>{PROSE}</p><p>{PROSE[:-1]}, too.</p></div>{foot}</body>"
    assert "1935" not in article(page).text


def test_a_form_to_subscribe_is_left_out() -> None:
    box = "<div class='Newsletter-box'><p>Get the news of all 45 bridges.</p></div>"
    page = f"<body><article><p>{PROSE}</p>{box}<p>{PROSE[:-1]}, too.</p></article></body>"
    assert "45" not in article(page).text


@pytest.mark.parametrize(
    ("text", "shown", "left"),
    [
        ("It has 45 lanes.", "It has\n45 lanes.", "It has 45 lanes."),
        ("It has 4512 lanes.", "It has 45\n12 lanes.", "It has \ufffc lanes."),
        ("It has 45 lanes.", "It has 4\u200b5 lanes.", "It has 45 lanes."),
        ("It has ٤٥ lanes.", "It has ٤\n٥ lanes.", "It has \ufffc lanes."),
    ],
)
def test_a_number_that_the_page_does_not_show_is_none(text: str, shown: str, left: str) -> None:
    assert mask_glued_numbers(text, shown) == left
