"""Recognise the addresses of one page, so that a page is read once and has one vote.

Search engines list a page under several addresses: with a fragment or tracking parameters, as its
AMP or mobile version, with and without `www.`. Other such addresses are only known once they are
read, by the canonical address that the page states.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from ufo.schemas.text import host_of
from ufo.transforms.sources.web.engines import SearchResult
from ufo.transforms.sources.web.tables import table

if TYPE_CHECKING:
    from ufo.transforms.sources.web.pages import ReadPage

_VERSIONS: Final = ("amp", "m", "mobile", "www")  # labels of hosts with the same pages
_AMP_PATH: Final = re.compile(r"^/amp(?=/.)|/amp(?=/?$)|\.amp(?=(?:\.html?)?$)")
_AMP_CACHE: Final = re.compile(r"/(?:amp|[cv])(?:/s)?/([^/]+\.[^/]+)(/.*)?$")
_INDEX: Final = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)


def page_key(url: str) -> str:
    """Return a key that is equal for the addresses of one page, as far as they show it.

    It has the host without `www`, `m`, `mobile` and `amp`, the port if it is unusual, the path
    without its last slash, `index.html` and parts for AMP, and the other parameters in order.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = host_of(url), parts.port
    except ValueError:
        return url
    path = unquote(parts.path)
    if host.endswith("cdn.ampproject.org") or re.fullmatch(r"(?:www\.)?google\.[a-z.]+", host):
        cached = _AMP_CACHE.match(path)
        if cached:
            host, path = cached[1].lower(), cached[2] or ""
    labels = host.split(".")
    if not host.replace(".", "").isdigit():
        labels = [name for name in labels[:-2] if name not in _VERSIONS] + labels[-2:]
    path = _INDEX.sub("", _AMP_PATH.sub("", path)).rstrip("/")
    parameters = sorted(
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if not _beside_page().fullmatch(f"{name}={value}")
    )
    shown_port = "" if port in (None, 80, 443) else f":{port}"
    return f"{'.'.join(labels)}{shown_port}{path}?{urlencode(parameters)}"


@cache
def _beside_page() -> re.Pattern[str]:
    """Return the pattern of parameters that do not distinguish pages."""
    return re.compile("|".join(table("parameters.yaml")), re.IGNORECASE | re.DOTALL)


def page_keys(urls: Iterable[str], canonical: str | None = None, text: str = "") -> frozenset[str]:
    """Return the keys of a page that was fetched; two pages that share one are the same.

    `urls` are its addresses before and after redirects, `text` is its text. A canonical address on
    the same host is trusted, unless it is the home page, which careless sites state on all their
    pages. One on another host (a syndicated article) is trusted for pages with the same text, or a
    site could silence another.
    """
    keys = {page_key(url) for url in urls}
    hosts = {key.partition("/")[0].partition("?")[0] for key in keys}
    stated = page_key(canonical) if canonical else None
    if stated is not None:
        host, slash, _ = stated.partition("/")
        if host.partition("?")[0] in hosts and slash:
            keys.add(stated)
    with_text = {f"{key} {hash(text)}" for key in (*keys, stated) if key and text}
    return frozenset(keys | with_text)


@dataclass(slots=True)
class Listing:
    """The results of a search about one page, or about none (`url` None).

    `result` is the first of them. `statements` are the engine's own about the page, which are
    passages. `snippets` are its excerpts, used if the page is not read. `keys` are those of its
    known addresses, and `page` is the page if it was read.
    """

    result: SearchResult
    statements: list[str]
    snippets: list[str]
    keys: frozenset[str] = frozenset()
    page: "ReadPage | None" = None

    def add(self, other: "Listing") -> None:
        """Add the results of another listing of the same page."""
        if self.result.stands_alone:
            self.result = other.result
        _add_new(self.statements, other.statements)
        _add_new(self.snippets, other.snippets)
        self.keys |= other.keys
        self.page = self.page or other.page


def listing_of(result: SearchResult) -> Listing:
    """Return the listing of one result."""
    text = [result.text] if result.text else []
    statements, snippets = (text, []) if result.stands_alone else ([], text)
    return Listing(result, statements, snippets, page_keys([result.url] if result.url else []))


def by_page(listings: Iterable[Listing]) -> list[Listing]:
    """Return one listing for each page, in order; listings that share a key are of one page."""
    pages: list[Listing] = []
    for listing in listings:
        same = next((page for page in pages if page.keys & listing.keys), None)
        if same is None:
            pages.append(listing)
        else:
            same.add(listing)
    return pages


def _add_new(texts: list[str], more: Iterable[str]) -> None:
    """Add the texts that no earlier one contains."""
    for text in more:
        if not any(text in known for known in texts):
            texts.append(text)
