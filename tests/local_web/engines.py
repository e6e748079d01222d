"""Search engines over the local web, in the shapes of Serper, SearXNG and Brave.

    with LocalWeb() as web, Engines(web) as engines:
        os.environ["SERPER_BASE_URL"] = engines.url      # POST /search
        os.environ["SEARXNG_BASE_URL"] = engines.url     # GET /search?format=json
        os.environ["BRAVE_BASE_URL"] = engines.url       # GET /res/v1/web/search

`extra` has results of a test's own by query, before those of the web; `results` has Serper's raw
reply to a query. `faults` is what is done to the next requests: a status; a (status, body) or
(status, body, headers); bytes, which go as they are; RESET; None does nothing.
"""

import socket
import struct
from collections import deque
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.local_server import JsonHandler, LocalServer
from tests.local_web.pages import Listed
from tests.local_web.server import LocalWeb

RESET = "reset"


@dataclass(frozen=True, slots=True)
class Query:
    """A search as it came: in which shape, what was asked, and its headers."""

    shape: str
    query: str
    asked: dict[str, Any]
    headers: dict[str, str]


def snippet(text: str | None, **more: Any) -> dict[str, Any]:
    """One of Serper's organic results."""
    fields = {"title": "A page", "link": "https://example.org/page", "snippet": text, "position": 1}
    return {name: value for name, value in (fields | more).items() if value is not None}


def result(*organic: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Serper's reply to one query."""
    return {"searchParameters": {"type": "search"}, **more, "organic": list(organic)}


class Engines(LocalServer):
    """Three engines at one address; Serper's asks for the `key`, where there is one."""

    def __init__(self, web: Any = None, key: str = "") -> None:
        super().__init__(type("Handler", (_Handler,), {"engines": self}))
        self.web: LocalWeb = web
        self.key = key
        self.queries: list[Query] = []
        self.bodies: list[Any] = []
        self.requests = 0
        self.faults: deque[Any] = deque()
        self.extra: dict[str, list[Listed]] = {}
        self.results: dict[str, Any] = {}

    @property
    def url(self) -> str:
        return self.address

    def listed_for(self, query: str) -> list[tuple[str, Listed]]:
        """What is listed for a query, with its address."""
        listed = [*self.extra.get(query, ()), *(self.web.find(query) if self.web else ())]
        return [(self.web.url(item.path), item) for item in listed]

    def serper(self, query: str) -> Any:
        if query in self.results:
            return self.results[query]
        return result(
            *(
                snippet(item.snippet, title=item.title, link=url, position=place, date=item.date)
                for place, (url, item) in enumerate(self.listed_for(query), 1)
            )
        )

    def searxng(self, query: str) -> Any:
        results = [
            {"url": url, "title": item.title, "content": item.snippet, "publishedDate": _day(item)}
            for url, item in self.listed_for(query)
        ]
        return {"query": query, "number_of_results": len(results), "results": results}

    def brave(self, query: str) -> Any:
        results = [
            {"url": url, "title": item.title, "description": item.snippet, "page_age": _day(item)}
            for url, item in self.listed_for(query)
        ]
        return {"type": "search", "query": {"original": query}, "web": {"results": results}}

    def answer(self, shape: str, body: Any, headers: dict[str, str]) -> tuple[Any, ...]:
        """The status, the body and the headers of the reply to one query or a list of them."""
        self.requests += 1
        self.bodies.append(body)
        fault = self.faults.popleft() if self.faults else None
        if isinstance(fault, tuple):
            return (*fault, {})[:3]
        if fault is not None:
            return (200, fault, {}) if isinstance(fault, (bytes, str)) else (fault, {}, {})
        key = headers.get("x-api-key")
        if not shape or (shape == "serper" and self.key and key != self.key):
            # A careless endpoint repeats the key, which shows whether a client leaks it.
            return 403 if shape else 404, {"message": f"Unauthorized: {key}"}, {}
        asked = body if isinstance(body, list) else [body]
        self.queries += [Query(shape, one["q"], one, headers) for one in asked]
        replies = [getattr(self, shape)(one["q"]) for one in asked]
        return 200, replies if isinstance(body, list) else replies[0], {}


def _day(item: Listed) -> str | None:
    return "2021-03-05T00:00:00" if item.date else None


class _Handler(JsonHandler):
    engines: Engines

    def do_POST(self) -> None:
        self._answer("serper" if self.path == "/search" else "", self.body())

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        shapes = {"/res/v1/web/search": "brave"}
        if asked.get("format") == "json":
            shapes["/search"] = "searxng"
        self._answer(shapes.get(parts.path, ""), asked)

    def _answer(self, shape: str, body: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, payload, more = self.engines.answer(shape, body, headers)
        if payload == RESET:
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True
            return
        self.reply(status, payload, more)
