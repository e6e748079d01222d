"""Extract the article of an HTML page: its title, main text and date of publication.

trafilatura (Barbaresi 2021) finds the main text in its precision mode. Before that, hidden text and
links to other pages are removed from the tree. After that, lines that do not belong to the article
are removed. If the precision mode finds little, the balanced mode is used.
"""

import logging
import re
from itertools import islice
from typing import TYPE_CHECKING

from htmldate import find_date
from lxml.etree import strip_tags
from trafilatura import extract, load_html

from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web.documents import MAX_CHARACTERS, Document, FetchedPage
from ufo.transforms.sources.web.lines import SENTENCE_END, lines_of, phrases
from ufo.transforms.sources.web.markup import read_marks, to_paragraphs
from ufo.transforms.sources.web.styles import apply_styles, drop
from ufo.transforms.sources.web.superscripts import UNREADABLE, drop_unreadable
from ufo.transforms.sources.web.tables import table
from ufo.transforms.sources.web.walls import canonical_of, refresh_of, shown_on, wall_in

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MIN_WORDS = 40
"""An article with fewer words may be a stub, from a paywall or a page that a script fills."""

MOST_ELEMENTS = 100_000
"""The most elements of a page that is read: long articles have some thousands."""

MOST_ATTRIBUTES = 1_000
"""The most attributes of an element of a page that is read: libraries take quadratic time for
them."""

_DIGITS = re.compile(r"\d+")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")  # of no width
_STARTS = re.compile("<[a-zA-Z]")
_FEW_CHARACTERS = 250  # with no more, the precision mode may have missed the article
_MAX_TITLE = 300
_PAYWALL = phrases("paywall")
_NEEDS_SCRIPT = phrases("needs_script")
_SEARCHED = 200_000

# These packages log problems of single pages, which a document's `reason` has.
for _name in ("trafilatura", "htmldate"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


def article_of(page: FetchedPage, html: str) -> Document:
    """Return the article of a page, `html` its characters.

    `published_at` is an ISO 8601 date that the page or its address states, never later than the day
    of retrieval. A page behind a paywall, or one that a script fills, has only a few lines that are
    not its content: they are not returned as its text.
    """
    if sum(1 for _ in islice(_STARTS.finditer(html), MOST_ELEMENTS + 1)) > MOST_ELEMENTS:
        return _too_large(f"it has over {MOST_ELEMENTS:,} elements")
    # trafilatura takes a page of one element for a text, unless it says that it is HTML.
    whole = html if "html" in html[:50].lower() else f"<html>{html}"
    tree = load_html(whole) if html.strip() else None
    if tree is None:
        return Document(None, "", reason=reasons.NO_TEXT)
    if tree.xpath(f"boolean(descendant-or-self::*[@*[{MOST_ATTRIBUTES + 1}]])"):
        return _too_large(f"an element has over {MOST_ATTRIBUTES:,} attributes")
    published = _published(tree, page.final_url, page.retrieved_at)
    mounted = _is_mounted(tree)
    shown = shown_on(tree)
    canonical = canonical_of(tree, page.final_url)
    moved_to = refresh_of(tree, page.final_url)
    apply_styles(tree)
    read_marks(tree)
    title = _title(tree)
    drop_links_out(tree)
    show_quotes(tree)
    to_paragraphs(tree)
    lines = "\n".join(lines_of(tree))
    text, left_out = drop_unreadable(mask_glued_numbers(clean(_main_text(tree), title), lines))
    if moved_to is not None and len(text) < _FEW_CHARACTERS:
        detail = f"it sends its readers to {moved_to}"
        return Document(title, "", published, reasons.MOVED, detail, moved_to=moved_to)
    wall = wall_in(shown, text)
    if wall is not None:
        kind, words = wall
        return Document(title, "", published, kind, f"the site shows {words!r} in place of a page")
    reason = _stub_reason(html, text, mounted) if len(text.split()) < MIN_WORDS else None
    if reason:
        return Document(title, "", published, reason, left_out=left_out)
    return Document(title, text[:MAX_CHARACTERS], published, left_out=left_out, canonical=canonical)


def _too_large(detail: str) -> Document:
    return Document(None, "", reason=reasons.TOO_MANY_ELEMENTS, detail=detail)


def _stub_reason(html: str, text: str, mounted: bool) -> str | None:
    """Return the reason why a page has only a few lines, None where they may be the whole page."""
    if _PAYWALL.search(html, 0, _SEARCHED):
        return reasons.PAYWALL
    if mounted or _NEEDS_SCRIPT.search(html, 0, _SEARCHED):
        return reasons.JAVASCRIPT_ONLY
    return None if text else reasons.NO_TEXT


def _main_text(tree: "HtmlElement") -> str:
    text = extract(tree, favor_precision=True, include_comments=False) or ""
    if len(text) < _FEW_CHARACTERS:
        # A page without the structure of an article: a table, a list, a few lines.
        other = extract(tree, include_comments=False) or ""
        return max(text, other, key=len)
    return text


def mask_glued_numbers(text: str, shown: str) -> str:
    """Return a text with UNREADABLE for each number that is not on the page as `shown`.

    Where lines are nested in unusual ways, the extraction joins the end of one to the next.
    """
    numbers = set(_DIGITS.findall(_UNSEEN.sub("", shown)))
    return _DIGITS.sub(lambda match: match[0] if match[0] in numbers else UNREADABLE, text)


def _title(tree: "HtmlElement") -> str | None:
    """Return the title as the page shows it: its first heading, else the title in its head."""
    shown = [" ".join(lines_of(heading)) for heading in tree.iter("h1")]
    stated = [
        _joined(meta.get("content", ""))
        for meta in tree.iter("meta")
        if meta.get("property") == "og:title"
    ]
    named = [_joined(title.text or "") for title in tree.iter("title")]
    # One of several headings may be the site's name; the title in the head begins with the page's.
    heads = stated or named
    best = [text for text in shown if any(text and head.startswith(text) for head in heads)]
    for text in best + stated + named + shown:
        if text and UNREADABLE not in text:
            return text[:_MAX_TITLE]
    return None


def _joined(text: str) -> str:
    return " ".join(text.split())


def _published(tree: "HtmlElement", url: str, retrieved_at: str) -> str | None:
    """Return the day of publication that the page's markup, or else its address, states."""
    day = retrieved_at[:10]
    try:
        return find_date(tree, extensive_search=False, original_date=True, url=url, max_date=day)
    except (ValueError, OverflowError, TypeError):
        return None  # a date of the year 0, or with a garbled zone


def _is_mounted(tree: "HtmlElement") -> bool:
    """Return whether the page is an empty element for a script to fill."""
    return any(
        element.get("id") in table("boilerplate.yaml")["mounts"]
        and not "".join(element.itertext()).strip()
        for element in tree.iter("div", "main")
    )


# --- boilerplate --------------------------------------------------------------------------------
#
# Boilerplate is text in or around an article that does not belong to it: links to others, calls to
# subscribe. There are two passes: over the tree, where links and text are still distinct, and over
# the extracted lines. The rules depend on form (share of link text, place, a few standing phrases),
# never on a site.

_LINK_OUT = phrases("lead_in", r"\W*", r"\b")
_LINK_OUT_LINE = phrases("lead_in", r"\W*", r"\s*(?:[:|»>›\W]\s*\S.*|\W*)$")
_CALL = phrases("calls", r"\b")
_CALL_AT_START = phrases("calls_at_start", r"^\W*")
_DATED = phrases("dated")
# Not the words that an editor puts in a quotation: "[our]".
_SHORTCODE = re.compile(
    r"\[(?:/[a-z][\w-]*|[a-z][\w-]*\s+[\w-]+\s*=\s*[\"'”″“][^\]\n]{0,300}/?|[a-z][\w-]*/"
    r"|(?:gallery|caption|embed|audio|video|playlist))\]"
)
_TAIL = 8  # lines checked at the end
_LONG = 500  # characters: a longer line is a paragraph, whatever it mentions
_HEAD = 4  # lines checked at the beginning
_BLOCKS = ("p", "li", "h2", "h3", "h4", "h5", "div", "span", "section", "aside", "ul", "ol")
_INLINE = ("p", "span", "a", "em", "strong")
_LINKED = 0.9  # share of link text from which an element counts as links
_LONGEST_BOX = 1000  # characters of a form to subscribe
_PROSE = 12  # words of a paragraph that belongs to the text
_HEADINGS = ("h2", "h3", "h4", "h5", "h6")
_HEADLINE = 20  # characters: shorter link texts may be names in a list of the article


def drop_links_out(tree: "HtmlElement") -> None:
    """Remove links to other pages: "Related: …", lists of headlines, cards of links."""
    for element in list(tree.iter("nav", "div", "section", "form")):
        is_box = "newsletter" in element.get("class", "").lower()
        if element.tag == "nav" or (is_box and len(element.text_content()) < _LONGEST_BOX):
            drop(element)
    _keep_lists(tree)
    for element in list(tree.iter(*_BLOCKS)):
        parent = element.getparent()
        if parent is None or element.find(".//a") is None:
            continue
        if element.tag in ("ul", "ol"):
            leads_out = _is_headlines(element)
        elif element.tag in ("span", "div") and parent.tag in _INLINE:
            leads_out = len(element.findall(".//a")) > 2 and _linked(element) >= _LINKED
        else:
            leads_out = bool(_LINK_OUT.match(_beginning(element))) and _linked(element) >= 0.5
        if leads_out:
            drop(element)


def _keep_lists(tree: "HtmlElement") -> None:
    """Make text of the links in a list with a heading that has prose of its article after it."""
    for article in tree.iter("article", "main"):
        lists: list[HtmlElement] = []
        for element in article.iter("ul", "ol", "p"):
            if element.tag != "p":
                lists.append(element)
            elif len(element.text_content().split()) >= _PROSE and _linked(element) < 0.5:
                for items in filter(_has_heading, lists):
                    strip_tags(items, "a")
                lists = []


def _has_heading(items: "HtmlElement") -> bool:
    heading = items.getprevious()
    if heading is None or len(items.findall("li")) < 2:
        return False
    text = _text(heading)
    leads_in = heading.tag in _HEADINGS or text.endswith((":", "："))
    return bool(text) and leads_in and not _LINK_OUT.match(text) and _linked(heading) < 0.5


def show_quotes(tree: "HtmlElement") -> None:
    """Remove the class names of embedded posts, so that their text stays as a quote."""
    for quote in tree.iter("blockquote"):
        wrapper = quote.getparent()
        if wrapper is not None and "embed" in wrapper.get("class", "").lower():
            del wrapper.attrib["class"]


def _is_headlines(items: "HtmlElement") -> bool:
    count = len(items.findall("li"))
    return count > 1 and _linked(items) >= _LINKED and len(_text(items)) >= _HEADLINE * count


def _linked(element: "HtmlElement") -> float:
    """Return the share of an element's text that is in links."""
    linked = sum(len(_text(link)) for link in element.iter("a"))
    return linked / max(1, len(_text(element)))


def _beginning(element: "HtmlElement") -> str:
    return next((piece for piece in element.itertext() if piece.strip()), "").strip()


def _text(element: "HtmlElement") -> str:
    return " ".join("".join(element.itertext()).split())


def clean(text: str, title: str | None) -> str:
    """Return a text without the lines that do not belong to the article.

    At the beginning the title is left out, since a passage has it beside its text, and a date or a
    reading time. At the end calls to subscribe and the like are left out.
    """
    lines = [line.strip() for line in _SHORTCODE.sub("", text).split("\n")]
    lines = [line for line in lines if line and not _leads_out(line)]
    lines = _without_head(lines, title)
    return "\n".join(_without_tail(lines))


def _leads_out(line: str) -> bool:
    long = len(line.split()) > 8 and not line.endswith(":")
    is_sentence = long and bool(SENTENCE_END.search(line))
    return len(line) < 200 and bool(_LINK_OUT_LINE.match(line)) and not is_sentence


def _without_head(lines: list[str], title: str | None) -> list[str]:
    named = _letters(title or "")
    start = 0
    while start < min(_HEAD, len(lines)) and _is_head(lines[start], named):
        start += 1
    return lines[start:]


def _is_head(line: str, named: str) -> bool:
    """Return whether a line is the beginning of the title, a date or a time of reading."""
    letters = _letters(line)
    is_title = len(letters) > 8 and named.startswith(letters)
    is_short = len(line.split()) < 12 and not SENTENCE_END.search(line)
    return is_title or (is_short and bool(_DATED.search(line)))


def _without_tail(lines: list[str]) -> list[str]:
    end = len(lines)
    while end > max(1, len(lines) - _TAIL) and _is_call(lines[end - 1]):
        end -= 1
    return lines[:end]


def _is_call(line: str) -> bool:
    return len(line) < _LONG and bool(_CALL.search(line) or _CALL_AT_START.search(line))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
