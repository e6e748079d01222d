"""What stands in or around an article and is not of it: links to others, calls to subscribe.

Two passes: over the tree, where links and text are still distinct, and over the lines of what was
extracted. The rules look at form (share of link text, place, a few standing phrases), never at
a site.
"""

import re
from typing import TYPE_CHECKING

from ufo.transforms.sources.web.hidden import drop

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LEAD_IN = (
    r"(?:related(?: (?:stories|articles|content|links|coverage|posts|news))?|read more|read also"
    r"|also read|read next|up next|see also|see more|more on this|more from \w+|don['’]t miss"
    r"|must read|recommended|you may (?:also )?(?:like|be interested)|you might also like"
    r"|keep reading|continue reading|trending|in case you missed it|watch(?: now)?"
    r"|what to read next|lesen sie auch|mehr zum thema|lire aussi|à lire aussi"
    r"|leia também|lea también|leggi anche)"
)
_LINK_OUT = re.compile(rf"\W*{_LEAD_IN}\b", re.IGNORECASE)
_LINK_OUT_LINE = re.compile(
    rf"\W*{_LEAD_IN}\s*(?:[:|»>›\W]\s*\S.*|\W*)$", re.IGNORECASE | re.DOTALL
)
_SITE = r"(?:twitter|facebook|instagram|youtube|linkedin|tiktok|telegram|whatsapp|snapchat|x\.com)"
_CALL = re.compile(
    rf"\b(?:subscribe (?:to|now|today|here)|sign up (?:for|to|here|now)|newsletters?\b"
    rf"|(?:follow|like|join|find) (?:\S+ ){{1,6}}on (?:\S+ )?{_SITE}|to your inbox|in your inbox"
    rf"|have a tip\b|all rights reserved|click here (?:to|for)|tell us what you think"
    rf"|leave a comment|join the conversation|share this (?:article|story|post)|filed under"
    rf"|contact the (?:author|writer|reporter)|listen live|download (?:the|our) (?:\S+ )?app"
    rf"|get access to|become a (?:member|subscriber)|support our journalism|advertisement"
    rf"|no paywall|terms of (?:use|service)|privacy policy|this material may not be published"
    rf"|delivered (?:to|through) your|may be reached at|full coverage of)"
    rf"|^\W*(?:copyright\b|©|\d* ?comments?\W*$|tags?\s*:|topics?\s*:|image credits?\s*:"
    rf"|photo(?:s| credits?)?\s*(?:by\b|:)|updated (?:at|on)\b|last updated|originally published"
    rf"|follow (?:us|me|him|her|them|@)|share on\b|source\s*:)",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}:\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d+[ -]min(?:ute)?s?\b"
    r"|\breading time\b|\btempo de leitura\b|\blesezeit\b",
    re.IGNORECASE,
)
_SHORTCODE = re.compile(r"\[/?[a-z][\w-]*(?:\s+[\w-]+\s*=\s*[\"'”″“][^\]\n]{0,300})?/?\]")
_SENTENCE_END = re.compile(r"[.!?…。！？:][\"'”’»)\]]*$")
_TAIL = 8  # lines looked at from the end
_LONG = 500  # characters: a paragraph, whatever it mentions
_HEAD = 4  # and from the beginning
_BLOCKS = ("p", "li", "h2", "h3", "h4", "h5", "div", "span", "section", "aside", "ul", "ol")
_INLINE = ("p", "span", "a", "em", "strong")
_LINKED = 0.9  # from this share of link text on, an element is links
_HEADLINE = 20  # characters: shorter link texts may be names in a list that is the article's


def drop_links_out(tree: "HtmlElement") -> None:
    """Take out what only leads elsewhere: "Related: …", lists of headlines, cards of links."""
    for element in list(tree.iter("nav")):
        drop(element)
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


def show_quotes(tree: "HtmlElement") -> None:
    """Take the names off the wrappers of embedded posts: an article quotes what they say."""
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
    """Return the lines of a text without those that are not of the article.

    The title is left out at the beginning, since a passage has it beside its text; so are a date
    or a reading time there. At the end go calls to subscribe and the like, with their headings.
    """
    lines = [line.strip() for line in _SHORTCODE.sub("", text).split("\n")]
    lines = [line for line in lines if line and not _leads_out(line)]
    lines = _without_head(lines, title)
    return "\n".join(_without_tail(lines))


def _leads_out(line: str) -> bool:
    return len(line) < 200 and bool(_LINK_OUT_LINE.match(line)) and not _is_sentence(line)


def _is_sentence(line: str) -> bool:
    return bool(_SENTENCE_END.search(line)) and not line.endswith(":") and len(line.split()) > 8


def _without_head(lines: list[str], title: str | None) -> list[str]:
    named = _letters(title or "")
    kept = lines[:_HEAD]
    for line in lines[:_HEAD]:
        letters = _letters(line)
        is_title = bool(letters) and len(letters) > 8 and named.startswith(letters)
        is_dated = len(line.split()) < 12 and not _SENTENCE_END.search(line) and _DATED.search(line)
        if not (is_title or is_dated):
            break
        kept = kept[1:]
    return kept + lines[_HEAD:]


def _without_tail(lines: list[str]) -> list[str]:
    end = len(lines)
    for at in range(len(lines) - 1, max(0, len(lines) - 1 - _TAIL), -1):
        line = lines[at]
        heads = at == end - 1 and end < len(lines) and _is_heading(line)
        if (len(line) < _LONG and _CALL.search(line)) or heads:
            end = at
        else:
            break
    return lines[:end]


def _is_heading(line: str) -> bool:
    return len(line.split()) <= 6 and not _SENTENCE_END.search(line)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
