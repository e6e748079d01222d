"""SearXNG (https://docs.searxng.org): a metasearch engine that anybody can run.

`GET /search?q=…&format=json`; no key. The JSON format is off in an instance as it is installed,
which then answers 403.
"""

from collections.abc import Iterator, Sequence
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


class Searxng:
    """The JSON API of the user's own instance, at SEARXNG_BASE_URL."""

    name = "searxng"
    batch = 1
    key_variable = None
    url_variable = "SEARXNG_BASE_URL"
    default_url = None

    def call(self, queries: Sequence[str], count: int, locale: Locale, key: str) -> Call:
        """Return one GET. The instance decides how many results a page has."""
        params: dict[str, str | int] = {"q": queries[0], "format": "json"}
        if locale.language:
            params["language"] = str(locale)
        return Call("GET", "/search", params=params)

    def split(self, payload: Any, queries: int) -> Sequence[Any] | None:
        """Return the reply itself."""
        return [payload]

    def answers(self, reply: Any) -> bool:
        """Return whether it lists results. If all engines behind it failed, nothing was searched:
        an empty list with unresponsive engines is not an answer."""
        if not isinstance(reply, dict) or not isinstance(reply.get("results"), list):
            return False
        return bool(reply["results"] or not reply.get("unresponsive_engines"))

    def results(self, reply: Any) -> Iterator[Result]:
        """Yield the results in the instance's order."""
        for item in map(object_of, list_of(object_of(reply).get("results"))):
            yield Result(
                text_of(item, "url"),
                text_of(item, "title"),
                text_of(item, "content"),
                day_of(text_of(item, "publishedDate", "pubdate")),
            )

    def refused(self, status: int, text: str, url: str) -> SendError | None:
        """Tell how the JSON format is switched on."""
        if status == 403:
            message = (
                f"{url} gives no JSON (403); in its settings.yml add json to search.formats (and "
                "allow this machine in its limiter), and restart it"
            )
            return SendError(message, str(status), final=True)
        return None
