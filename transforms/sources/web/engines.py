"""The APIs of search engines: their requests, and the meaning of their replies.

A class knows only its API. Sending, limits, retries, the cache and the sharing of equal queries are
the same for all (`ufo.transforms.sources.web.searching`). `engines.yaml` has the places of results
in a reply. To add an engine, write a subclass of `SearchApi` and add it to both.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import unescape
from typing import Any

from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.text import storable
from ufo.transforms.sources.web.addresses import RefusedAddress, checked_url
from ufo.transforms.sources.web.tables import table


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result of an engine: the address of a page, and a text about it.

    `text` is the snippet, or None. With `stands_alone` it is the engine's own statement (an answer
    box, an infobox, a question that people also ask), which is a passage although no page is
    fetched for it. `url` is then the page that it was taken from, where the engine names one.
    """

    url: str | None
    title: str | None
    text: str | None
    published_at: str | None = None
    stands_alone: bool = False


class SearchApi:
    """A search API; `batch` is the number of queries that a request can have.

    The key is read from `key_variable`, the address from `url_variable`, else it is `default_url`
    (None: there is no public one).
    """

    name = ""
    batch = 1
    key_variable: str | None = None
    url_variable = ""
    default_url: str | None = None

    def call(self, queries: Sequence[str], count: int, key: str) -> dict[str, Any]:
        """Return the request for up to `batch` queries, with `count` results each.

        It has the arguments of httpx: `method` and `url`, `headers`, `params`, `json`. The headers
        may have the key, and are never shown.
        """
        raise NotImplementedError

    def split(self, payload: Any, queries: int) -> Sequence[Any] | None:
        """Return the raw reply to each query; None where the payload is not a reply to them."""
        return [payload]

    def answers(self, reply: Any) -> bool:
        """Return whether a raw reply has the shape of this API's replies, even without results."""
        raise NotImplementedError

    def results(self, reply: Any) -> Iterator[SearchResult]:
        """Yield the engine's own statements and the results, best first.

        `engines.yaml` has their places in a reply; missing fields and wrong types are left out.
        """
        for part in table("engines.yaml")[self.name]:
            for item in _items(reply, part["at"]):
                yield from _result(item, part)

    def refused(self, status: int, text: str, url: str) -> str:
        """Return the meaning of a status by which this API refuses every search, else ""."""
        raise NotImplementedError

    @property
    def url(self) -> str:
        """The base URL, without a query or a slash at the end."""
        url = variable(self.url_variable) or self.default_url or ""
        return url.partition("?")[0].rstrip("/")

    def unavailable(self) -> str | None:
        """Return why the API cannot be used, with the remedy; None if it can."""
        key, url = variable(self.key_variable), variable(self.url_variable)
        if not (url or (key and self.default_url)):
            wanted = self.url_variable
            if self.key_variable and self.default_url:
                wanted = f"{self.key_variable} (or {self.url_variable})"
            return f"it needs a search engine: set {wanted}"
        if not (key.isascii() and key.isprintable()):
            return f"the key in {self.key_variable} has characters that no key has; set it again"
        try:
            checked_url(url or self.default_url or "", allow_private=True)
        except RefusedAddress:
            name = self.url_variable
            return f"{name} is not an http:// or https:// URL (without user name); set it again"
        return None


class Serper(SearchApi):
    """Serper (https://serper.dev): Google's results; many queries in one request.

    `POST /search` with a JSON array of queries, the key in `X-API-KEY`; the reply is an array of
    results in the same order, with snippets, the answer box, the knowledge graph and the questions
    that people also ask.
    """

    name = "serper"
    batch = 100  # Serper's limit of queries in one request
    key_variable = "SERPER_API_KEY"
    url_variable = "SERPER_BASE_URL"
    default_url = "https://google.serper.dev"

    def call(self, queries: Sequence[str], count: int, key: str) -> dict[str, Any]:
        """Return one POST for all queries."""
        body = [{"q": query, "num": count} for query in queries]
        headers = {"X-API-KEY": key} if key else {}
        return {"method": "POST", "url": f"{self.url}/search", "headers": headers, "json": body}

    def split(self, payload: Any, queries: int) -> Sequence[Any] | None:
        """Return the results; the reply to one query may be a single object."""
        replies = [payload] if isinstance(payload, dict) else payload
        return replies if isinstance(replies, list) and len(replies) == queries else None

    def answers(self, reply: Any) -> bool:
        """Return whether a reply has any part of a result."""
        parts = ("organic", "answerBox", "knowledgeGraph", "peopleAlsoAsk", "searchParameters")
        return isinstance(reply, dict) and any(part in reply for part in parts)

    def refused(self, status: int, text: str, url: str) -> str:
        """Explain that the credits are spent."""
        if status == 402 or (status == 400 and "credits" in text.lower()):
            return (
                f"the credits of the key in {self.key_variable} at {url} are spent ({status}); top "
                "them up, or set another key, and run the same command again"
            )
        return ""


class Searxng(SearchApi):
    """SearXNG (https://docs.searxng.org): a metasearch engine that anybody can run.

    `GET /search?q=…&format=json` at SEARXNG_BASE_URL; no key. A newly installed instance has the
    JSON format disabled, and answers 403.
    """

    name = "searxng"
    url_variable = "SEARXNG_BASE_URL"

    def call(self, queries: Sequence[str], count: int, key: str) -> dict[str, Any]:
        """Return one GET. The instance decides how many results a page has."""
        params = {"q": queries[0], "format": "json"}
        return {"method": "GET", "url": f"{self.url}/search", "params": params}

    def answers(self, reply: Any) -> bool:
        """Return whether a reply lists results, even none.

        One with nothing but unresponsive engines is not an answer: all of them failed.
        """
        if not isinstance(reply, dict) or not isinstance(reply.get("results"), list):
            return False
        shown = reply["results"] or reply.get("answers") or reply.get("infoboxes")
        return bool(shown or not reply.get("unresponsive_engines"))

    def refused(self, status: int, text: str, url: str) -> str:
        """Explain how to enable the JSON format."""
        if status == 403:
            return (
                f"{url} gives no JSON (403); in its settings.yml add json to search.formats (and "
                "allow this machine in its limiter), and restart it"
            )
        return ""


class Brave(SearchApi):
    """Brave Search (https://api-dashboard.search.brave.com): an index of its own.

    `GET /res/v1/web/search?q=…`, the key in `X-Subscription-Token`; the reply has descriptions
    and extra snippets.
    """

    name = "brave"
    key_variable = "BRAVE_API_KEY"
    url_variable = "BRAVE_BASE_URL"
    default_url = "https://api.search.brave.com"

    _MOST = 20  # results that one request can ask for
    _LONGEST = 400  # characters of a query, and 50 words

    def call(self, queries: Sequence[str], count: int, key: str) -> dict[str, Any]:
        """Return one GET. A query that is longer than the API takes is cut at a word."""
        words = " ".join(queries[0].split()[:50])
        if len(words) > self._LONGEST:
            words = words[: self._LONGEST + 1].rpartition(" ")[0] or words[: self._LONGEST]
        headers = {"Accept": "application/json"} | ({"X-Subscription-Token": key} if key else {})
        params = {"q": words, "count": min(count, self._MOST)}
        url = f"{self.url}/res/v1/web/search"
        return {"method": "GET", "url": url, "headers": headers, "params": params}

    def answers(self, reply: Any) -> bool:
        """Return whether a reply is to a search; one without results has no part `web`."""
        return isinstance(reply, dict) and (reply.get("type") == "search" or "web" in reply)

    def refused(self, status: int, text: str, url: str) -> str:
        """Explain a key that Brave does not recognise (422), and a plan that is used up."""
        if status == 422 and "SUBSCRIPTION_TOKEN_INVALID" in text:
            return f"{url} refused the key in {self.key_variable} (422); set it to a valid one"
        if status == 402 or "QUOTA_LIMITED" in text or "USAGE_LIMIT" in text:
            return (
                f"the plan of the key in {self.key_variable} at {url} is used up ({status}); raise "
                "it, or set another key, and run the same command again"
            )
        return ""


APIS: dict[str, type[SearchApi]] = {"serper": Serper, "searxng": Searxng, "brave": Brave}


def api_of(name: str) -> SearchApi:
    """Return the API of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in APIS:
        raise UsageError(unknown_value("--search", name, APIS))
    return APIS[name]()


def variable(name: str | None) -> str:
    """Return an environment variable without surrounding spaces; "" if it is not set."""
    return os.environ.get(name, "").strip() if name else ""


# --- the parts of a reply -----------------------------------------------------------------------


def _items(reply: Any, path: str) -> Iterator[Any]:
    """Yield the parts of a reply at a path: the items of a list, or an object by itself."""
    for name in path.split("."):
        reply = reply.get(name) if isinstance(reply, dict) else None
    yield from reply if isinstance(reply, list) else [reply]


def _result(item: Any, part: Mapping[str, Any]) -> Iterator[SearchResult]:
    """Yield the result in a part of a reply, none for a statement without a text."""
    if isinstance(item, str) and "bare" in part:
        item = {part["bare"]: item}
    if not isinstance(item, dict):
        return
    url, title, day = (_text(item, part.get(name, ())) for name in ("url", "title", "day"))
    links = (link.get("url") for link in _dicts(item.get(part.get("links"))))
    url = url or next(_texts(links), None)
    texts = [*_texts([_text(item, part["text"])]), *_texts(_list(item.get(part.get("more"))))]
    if part.get("marked"):
        title, texts = title and _plain(title), list(map(_plain, texts))
    text = " ".join(texts)
    if "attributes" in part:
        text = _entry(title, _text(item, part.get("kind", ())), text, item.get(part["attributes"]))
    alone = part.get("stands_alone", False)
    if text or not alone:
        yield SearchResult(url, title, text or None, _day(day), alone)


def _text(item: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """Return the first of these fields with a text; characters unfit for tables are replaced."""
    return next(_texts(map(item.get, names)), None)


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str) and value.strip():
            yield storable(value.strip())


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    return (one for one in _list(value) if isinstance(one, dict))


def _entry(title: str | None, kind: str | None, description: str, attributes: object) -> str:
    """Return an entry of a knowledge graph as sentences about its title; "" without a title."""
    if title is None:
        return ""
    sentences = [f"{title}: {kind}."] if kind else []
    if description:
        sentences.append(description)
    for name, value in _pairs(attributes):
        if isinstance(name, str) and isinstance(value, str) and value.strip():
            sentences.append(storable(f"{_plain(name)}: {_plain(value.strip())}."))
    return " ".join(sentences)


def _pairs(attributes: object) -> Iterator[tuple[object, object]]:
    """Yield the names and values of an object, a list of pairs, or a list of labelled values."""
    if isinstance(attributes, dict):
        yield from attributes.items()
    for attribute in _list(attributes):
        if isinstance(attribute, dict):
            yield attribute.get("label"), attribute.get("value")
        elif isinstance(attribute, list) and len(attribute) == 2:
            yield attribute[0], attribute[1]


def _plain(text: str) -> str:
    """Return a text without the marks that highlight the searched words."""
    return unescape(re.sub(r"</?(?:strong|b|em)>", "", text))


def _day(text: str | None) -> str | None:
    """Return a date as ISO 8601; one like "3 days ago" is not a date."""
    text = (text or "").strip()
    for shape in ("%b %d, %Y", "%d %b %Y", "%Y-%m-%d"):
        try:
            return datetime.strptime(text, shape).date().isoformat()
        except ValueError:
            continue
    try:
        return datetime.fromisoformat(text).date().isoformat()
    except ValueError:
        return None
