"""The article of an HTML page: its title, main text and date of publication.

trafilatura (Barbaresi 2021) in its precision mode finds the main text. Before it, what a reader
does not see and what only leads elsewhere goes out of the tree; after it, lines that are not of
the article. Where precision finds little, its balanced mode is asked.
"""

import logging
import re
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from htmldate import find_date
from trafilatura import extract, load_html

from ufo.transforms.sources.web.boilerplate import clean, drop_links_out, show_quotes
from ufo.transforms.sources.web.hidden import drop_hidden

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MIN_WORDS = 40
"""An article of fewer words may be a stub: of a paywall, of a page that a script fills."""

MOST_ELEMENTS = 100_000
"""Of a page that is read: long articles have some thousands."""

MOST_ATTRIBUTES = 1_000
"""Of one element of a page that is read: what libraries do with them grows with their square."""

_STARTS = re.compile("<[a-zA-Z]")
_FEW_CHARACTERS = 250  # precision that finds no more may have missed the article
_MAX_TITLE = 300
_PAYWALL = re.compile(
    r"paywall|metered|regwall|isAccessibleForFree[\"']?\s*:\s*[\"']?false"
    r"|\b(?:subscribe|sign in|log in|register) (?:now )?(?:to|and) (?:continue|keep|read|unlock)"
    r"|\b(?:subscribers?|members?)[- ]only\b|for subscribers only"
    r"|\balready a (?:subscriber|member)\b|to (?:continue|keep) reading"
    r"|\bexclusive to (?:subscribers|members)\b|free articles? (?:left|remaining)",
    re.IGNORECASE,
)
_NEEDS_SCRIPT = re.compile(
    r"(?:enable|activate|turn on|requires?|need(?:s)?) (?:\w+ ){0,3}javascript"
    r"|javascript (?:\w+ ){0,3}(?:is|must be|has been) (?:\w+ )?(?:disabled|enabled|required)"
    r"|without javascript",
    re.IGNORECASE,
)
_MOUNTS = ("root", "app", "__next", "__nuxt", "main-app", "svelte", "ember-app", "react-root")
_SEARCHED = 200_000

# What they log of single pages is in a document's `reason`.
for _name in ("trafilatura", "htmldate"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class TooManyElements(Exception):
    """A page has more elements or attributes than an article has: reading it takes too long."""


class Article(NamedTuple):
    """What a page says. `paywall` and `script` tell why there may be little of it."""

    title: str | None
    text: str
    published_at: str | None
    paywall: bool = False
    script: bool = False


def article_of(html: str, url: str, retrieved_at: str) -> Article:
    """Return the article of a page; its text is empty where the page has none.

    `published_at` is an ISO 8601 date that the page or its address states, never later than the
    day of `retrieved_at`.

    Raises:
        TooManyElements: the page has over MOST_ELEMENTS, or one with over MOST_ATTRIBUTES.
    """
    if sum(1 for _ in islice(_STARTS.finditer(html), MOST_ELEMENTS + 1)) > MOST_ELEMENTS:
        raise TooManyElements(f"it has over {MOST_ELEMENTS:,} elements")
    tree = load_html(html) if html.strip() else None
    if tree is None:
        return Article(None, "", None)
    if tree.xpath(f"boolean(descendant-or-self::*[@*[{MOST_ATTRIBUTES + 1}]])"):
        raise TooManyElements(f"an element has over {MOST_ATTRIBUTES:,} attributes")
    title = _title(tree)
    published = _published(tree, url, retrieved_at)
    mounted = _is_mounted(tree)
    drop_hidden(tree)
    drop_links_out(tree)
    show_quotes(tree)
    text = clean(_main_text(tree), title)
    if len(text.split()) >= MIN_WORDS:
        return Article(title, text, published)
    seen = html[:_SEARCHED]
    script = bool(_NEEDS_SCRIPT.search(seen)) or mounted
    return Article(title, text, published, bool(_PAYWALL.search(seen)), script)


def _main_text(tree: "HtmlElement") -> str:
    text = extract(tree, favor_precision=True, include_comments=False) or ""
    if len(text) < _FEW_CHARACTERS:
        # A page without the structure of an article: a table, a list, a few lines.
        other = extract(tree, include_comments=False) or ""
        return max(text, other, key=len)
    return text


def _title(tree: "HtmlElement") -> str | None:
    """Return the title as the page shows it: its first heading, else what its head says."""
    shown = [_joined(heading.text_content()) for heading in tree.iter("h1")]
    stated = [
        _joined(meta.get("content", ""))
        for meta in tree.iter("meta")
        if meta.get("property") == "og:title"
    ]
    named = [_joined(title.text or "") for title in tree.iter("title")]
    # Of several headings one is the site's name; the page's own is what its head begins with.
    heads = stated or named
    best = [text for text in shown if any(text and head.startswith(text) for head in heads)]
    for text in best + stated + named + shown:
        if text:
            return text[:_MAX_TITLE]
    return None


def _joined(text: str) -> str:
    return " ".join(text.split())


def _published(tree: "HtmlElement", url: str, retrieved_at: str) -> str | None:
    """Return what the page's markup, or else its address, states as the day it was published."""
    latest = retrieved_at[:10]
    try:
        date.fromisoformat(latest)
    except ValueError:
        latest = ""
    try:
        return find_date(
            tree, extensive_search=False, original_date=True, url=url, max_date=latest or None
        )
    except (ValueError, OverflowError, TypeError):
        return None  # a date of the year 0, or with a garbled zone


def _is_mounted(tree: "HtmlElement") -> bool:
    """Return whether the page is an empty element for a script to fill."""
    return any(
        element.get("id") in _MOUNTS and not "".join(element.itertext()).strip()
        for element in tree.iter("div", "main")
    )
