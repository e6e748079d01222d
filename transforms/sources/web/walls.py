"""Recognise the walls that a site shows in place of a page.

A wall is a request for consent, a check for robots, a login, "page not found" sent as 200, or a
page that only sends its readers on. It has little text, and its title, its heading or its text say
what it is. `walls.yaml` has their phrases in several languages. The more of the three say it, the
longer the text may be.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final
from urllib.parse import urldefrag, urljoin

from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web.tables import table

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MOST_TEXT: Final = (200, 500, 1_500, 6_000)
"""The most characters of text on a wall, by how many of title, heading and text clearly name it."""
_KINDS: Final = (
    reasons.BOT_WALL,
    reasons.NOT_FOUND,
    reasons.LOGIN_WALL,
    reasons.UNAVAILABLE,
    reasons.MOVED,
)
_MOST_CONSENT: Final = 6_000
_BESIDE: Final = 0.25  # share of a request for consent that may be about something else
_MOST_SECONDS: Final = 30.0  # of a refresh; a later one is for a page that is read meanwhile
_SHORT_LINE: Final = 120  # characters
_MOST_WORDS: Final = 12  # of a heading, or a sentence, that is more than an article's
_SEARCHED: Final = 1_500  # characters of a heading or of the text
_IGNORED: Final = frozenset(("a", "an", "the", "that", "please", "sorry"))
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u2e80-\u9fff\u1100-\u11ff\uac00-\ud7ff]")
_SEPARATORS: Final = re.compile(r"\s[-–—·/]\s|[|»«•:!…。！]|\.(?=\s|$)")
_REFRESH: Final = re.compile(r"\s*(\d{1,9})?[\d.]{0,9}\s*[;,]?\s*(?:url\s*=)?\s*(.*)", re.I | re.S)
_BUTTONS: Final = "//button | //*[@role='button'] | //a | //input[@type='submit' or @type='button']"
_MOST_BUTTONS: Final = 500


@cache
def _phrases() -> dict[str, dict[str, list[str]]]:
    """Return the lists of each kind in `walls.yaml`, with phrases as `_plain` writes them."""
    kinds = table("walls.yaml").items()
    return {
        kind: {name: [_plain(phrase) for phrase in phrases] for name, phrases in lists.items()}
        for kind, lists in kinds
    }


@dataclass(frozen=True, slots=True)
class Shown:
    """The title, headings, buttons and forms of a page, before anything of it is dropped.

    Texts are as shown, by the form in which they are compared. `titles` are the parts of its title,
    `tops` those of its first level of headings, and `headings` those of all. `buttons` are its
    buttons and links. `form` says whether it asks for a password or an e-mail address.
    """

    titles: Mapping[str, str]
    tops: Mapping[str, str]
    headings: Mapping[str, str]
    buttons: Mapping[str, str]
    form: bool


def shown_on(tree: "HtmlElement") -> Shown:
    """Return the title, headings, buttons and forms of a page."""
    titles = [element.text_content() for element in tree.iter("title")]
    levels = [[one.text_content() for one in tree.iter(tag)] for tag in ("h1", "h2", "h3")]
    buttons = tree.xpath(_BUTTONS)[:_MOST_BUTTONS]
    fields = {one.get("type", "").lower() for one in tree.iter("input")}
    return Shown(
        parts_of(titles[:1]),
        parts_of(next(filter(None, levels), ())),
        parts_of(chain.from_iterable(levels)),
        parts_of(one.get("value") or one.text_content() for one in buttons),
        not fields.isdisjoint(("password", "email")),
    )


def wall_in(shown: Shown, text: str) -> tuple[str, str] | None:
    """Return the reason why a page is a wall, and the words that show it; None for an article.

    `text` is the main text of the page.
    """
    text_parts = parts_of([text[:_SEARCHED]])
    for reason in _KINDS:
        signs = [_named(reason, parts) for parts in (shown.titles, shown.tops, text_parts)]
        words = next(filter(None, signs), "")
        number = sum(1 for sign in signs if sign and not _is_weak(reason, sign, shown))
        if words and len(text) <= _MOST_TEXT[number]:
            return reason, {**text_parts, **shown.tops, **shown.titles}[words]
    words = _consent_in(shown, text)
    return (reasons.CONSENT_WALL, words) if words else None


def _consent_in(shown: Shown, text: str) -> str:
    """Return the heading or button by which a page is a request for consent, else ""."""
    buttons = _phrases()[reasons.CONSENT_WALL]["buttons"]
    title, heading = (
        _named(reasons.CONSENT_WALL, parts) for parts in (shown.titles, shown.headings)
    )
    named = title or heading  # any site with a banner has the button
    words = named or next((button for button in shown.buttons if button in buttons), "")
    if not words or len(text) > _MOST_CONSENT or not (text or named):
        return ""
    short, long = (1, 2) if named else (3, 3)
    beside = _beside_consent(text, short, long)
    if beside > len(text) * _BESIDE:
        return ""
    return {**shown.buttons, **shown.headings, **shown.titles}[words]


def _is_weak(reason: str, words: str, shown: Shown) -> bool:
    """Return whether words may mean something else: "404" a year, "Log in" a link of any site."""
    alone = words in _phrases()[reason]["whole"]
    return alone and (words.isdigit() or (reason == reasons.LOGIN_WALL and not shown.form))


def _named(reason: str, parts: Iterable[str]) -> str:
    """Return the shortest of these texts that is or has a phrase of this kind, "" for none.

    A number is taken only if there is nothing else.
    """
    phrases = _phrases()[reason]
    named = [
        part
        for part in parts
        if part in phrases["whole"]
        or (
            len(part.split()) <= _MOST_WORDS
            and any(_has(part, phrase) for phrase in phrases["within"])
        )
    ]
    return min(named, key=lambda part: (part.isdigit(), len(part)), default="")


def _beside_consent(text: str, short: int, long: int) -> int:
    """Return the number of characters of paragraphs that are not about consent.

    A short or long paragraph without at least `short` or `long` terms of consent is not.
    """
    terms = _phrases()[reasons.CONSENT_WALL]["terms"]
    beside = 0
    for line in text.splitlines():
        plain = _plain(line)
        number = sum(_has(plain, term, begins=True) for term in terms)
        if number < (long if len(line) > _SHORT_LINE else short):
            beside += len(line)
    return beside


def refresh_of(tree: "HtmlElement", url: str) -> str | None:
    """Return the address that a page's meta element sends its readers to, None without one.

    A refresh that loads the same page again, or only after a while, does not count.
    """
    for meta in tree.iter("meta"):
        if meta.get("http-equiv", "").strip().lower() != "refresh":
            continue
        match = _REFRESH.match(meta.get("content", ""))
        target = match[2].strip(" \t\r\n\"'") if match else ""
        if match is None or not target or int(match[1] or 0) > _MOST_SECONDS:
            continue
        address = absolute(tree, url, target)
        if address and urldefrag(address)[0] != urldefrag(url)[0]:
            return address
    return None


def canonical_of(tree: "HtmlElement", url: str) -> str | None:
    """Return the address that a page states as its own, None without one."""
    links = tree.xpath("//link[@href][contains(translate(@rel, 'CANOIL', 'canoil'), 'canonical')]")
    stated = [link.get("href") for link in links]
    stated += tree.xpath("//meta[@property='og:url']/@content")
    return next((absolute(tree, url, address) for address in stated if address.strip()), None)


def absolute(tree: "HtmlElement", url: str, address: str) -> str | None:
    """Return an address in a page as an absolute URL, None if it is not of the web."""
    try:
        base = next((one.get("href") for one in tree.iter("base") if one.get("href")), "")
        resolved = urljoin(urljoin(url, base), address.strip())
    except ValueError:
        return None
    return resolved if resolved.startswith(("http://", "https://")) else None


def parts_of(texts: Iterable[str]) -> dict[str, str]:
    """Return texts and their parts between separators, by the form in which they are compared."""
    parts: dict[str, str] = {}
    for text in texts:
        for part in (text, *_SEPARATORS.split(text[:_SEARCHED])):
            shown = " ".join(part[:_SEARCHED].split())
            if plain := _plain(shown):
                parts.setdefault(plain, shown)
    return parts


def _plain(text: str) -> str:
    """Return a text in lower case, without punctuation, accents and words that do not matter."""
    kept = []
    for character in unicodedata.normalize("NFKD", text.casefold()):
        if character.isalnum():
            kept.append(character)
        elif not unicodedata.category(character).startswith("M"):
            kept.append(" ")
    return " ".join(word for word in "".join(kept).split() if word not in _IGNORED)


def _has(text: str, phrase: str, begins: bool = False) -> bool:
    """Return whether a text has the words of a phrase, or words that begin with it."""
    if _UNSPACED.search(phrase):
        return phrase in text
    return f" {phrase}{'' if begins else ' '}" in f" {text} "
