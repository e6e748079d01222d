"""Serper (https://serper.dev): Google's results; many queries in one request.

`POST /search` with a JSON array of queries, the key in `X-API-KEY`; the reply is an array of
results in the same order.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ufo.schemas.text import storable
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

_PARTS = ("organic", "answerBox", "knowledgeGraph", "searchParameters")  # of a result, any of them


class Serper:
    """Serper's API: snippets, the answer box and the knowledge graph."""

    name = "serper"
    batch = 100  # Serper's limit of queries in one request
    key_variable = "SERPER_API_KEY"
    url_variable = "SERPER_BASE_URL"
    default_url = "https://google.serper.dev"

    def call(self, queries: Sequence[str], count: int, locale: Locale, key: str) -> Call:
        """Return one POST for all queries."""
        where = {"hl": locale.language, "gl": locale.country.lower()}
        more = {name: value for name, value in where.items() if value}
        body = [{"q": query, "num": count, **more} for query in queries]
        return Call("POST", "/search", {"X-API-KEY": key}, json=body)

    def split(self, payload: Any, queries: int) -> Sequence[Any] | None:
        """Return the results; one query may be answered by an object alone."""
        replies = [payload] if isinstance(payload, dict) else payload
        return replies if isinstance(replies, list) and len(replies) == queries else None

    def answers(self, reply: Any) -> bool:
        """Return whether it has any part of a result."""
        return isinstance(reply, dict) and any(part in reply for part in _PARTS)

    def results(self, reply: Any) -> Iterator[Result]:
        """Yield the answer box, the knowledge graph, and the organic results."""
        found = object_of(reply)
        box = object_of(found.get("answerBox"))
        answer = text_of(box, "answer", "snippet")
        if answer:
            day = day_of(text_of(box, "date"))
            yield Result(text_of(box, "link"), text_of(box, "title"), answer, day, True)
        graph = object_of(found.get("knowledgeGraph"))
        said = list(_statements(graph))
        if said:
            url = text_of(graph, "descriptionLink", "website")
            yield Result(url, text_of(graph, "title"), " ".join(said), stands_alone=True)
        for item in map(object_of, list_of(found.get("organic"))):
            yield Result(
                text_of(item, "link"),
                text_of(item, "title"),
                text_of(item, "snippet"),
                day_of(text_of(item, "date")),
            )

    def refused(self, status: int, text: str, url: str) -> SendError | None:
        """Tell when the credits are spent."""
        if status == 402 or (status == 400 and "credits" in text.lower()):
            message = (
                f"the credits of the key in {self.key_variable} at {url} are spent ({status}); top "
                "them up, or set another key, and run the same command again"
            )
            return SendError(message, str(status), final=True)
        return None


def _statements(graph: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a knowledge graph says as sentences about its title."""
    title = text_of(graph, "title")
    if title is None:
        return
    kind, description = text_of(graph, "type"), text_of(graph, "description")
    if kind:
        yield f"{title}: {kind}."
    if description:
        yield description
    for name, value in object_of(graph.get("attributes")).items():
        if isinstance(value, str) and value.strip():
            yield storable(f"{name}: {value.strip()}.")
