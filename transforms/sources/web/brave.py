"""Brave Search (https://api-dashboard.search.brave.com): an index of its own.

`GET /res/v1/web/search?q=…`, the key in `X-Subscription-Token`.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Any

from ufo.transforms.llm.failures import SendError
from ufo.transforms.sources.web.search import (
    Call,
    Locale,
    Result,
    day_of,
    list_of,
    object_of,
    text_of,
)

_MOST = 20  # results that one request can ask for
_LONGEST = 400  # characters of a query, and 50 words
_MARKS = re.compile(r"</?(?:strong|b|em)>")


class Brave:
    """Brave's web search: descriptions and extra snippets."""

    name = "brave"
    batch = 1
    key_variable = "BRAVE_API_KEY"
    url_variable = "BRAVE_BASE_URL"
    default_url = "https://api.search.brave.com"

    def call(self, queries: Sequence[str], count: int, locale: Locale, key: str) -> Call:
        """Return one GET. A query that is longer than the API takes is cut at a word."""
        words = " ".join(queries[0].split()[:50])
        if len(words) > _LONGEST:
            words = words[: _LONGEST + 1].rpartition(" ")[0] or words[:_LONGEST]
        where = {"search_lang": locale.language, "country": locale.country}
        params: dict[str, str | int] = {"q": words, "count": min(count, _MOST)}
        params |= {name: value for name, value in where.items() if value}
        headers = {"X-Subscription-Token": key, "Accept": "application/json"}
        return Call("GET", "/res/v1/web/search", headers, params)

    def split(self, payload: Any, queries: int) -> Sequence[Any] | None:
        """Return the reply itself."""
        return [payload]

    def answers(self, reply: Any) -> bool:
        """Return whether it is a reply to a search; one without results has no part `web`."""
        return isinstance(reply, dict) and (reply.get("type") == "search" or "web" in reply)

    def results(self, reply: Any) -> Iterator[Result]:
        """Yield the web results; the extra snippets of a page follow its description."""
        for item in map(object_of, list_of(object_of(object_of(reply).get("web")).get("results"))):
            extra = [text for text in list_of(item.get("extra_snippets")) if isinstance(text, str)]
            texts = [text_of(item, "description"), *(text_of({"": text}, "") for text in extra)]
            said = " ".join(_plain(text) for text in texts if text)
            title = text_of(item, "title")
            day = day_of(text_of(item, "page_age"))
            yield Result(text_of(item, "url"), title and _plain(title), said or None, day)

    def refused(self, status: int, text: str, url: str) -> SendError | None:
        """Tell of a key that Brave takes for none (422), and of a plan that is used up."""
        if status == 422 and "SUBSCRIPTION_TOKEN_INVALID" in text:
            message = f"{url} refused the key in {self.key_variable} (422); set it to a valid one"
            return SendError(message, str(status), final=True)
        if status == 402 or "QUOTA_LIMITED" in text or "USAGE_LIMIT" in text:
            message = (
                f"the plan of the key in {self.key_variable} at {url} is used up ({status}); raise "
                "it, or set another key, and run the same command again"
            )
            return SendError(message, str(status), final=True)
        return None


def _plain(text: str) -> str:
    """Return a text without the marks of what was searched for."""
    return unescape(_MARKS.sub("", text))
