"""The local web as a server on loopback: `with LocalWeb() as web: web.url("/lighthouse")`."""

import re
import threading
from collections import Counter
from dataclasses import dataclass

from tests.local_server import JsonHandler, LocalServer
from tests.local_web.pages import LISTED, PAGES, Listed, Reply

_COMMON = "a and did in is it of on the to was were what when"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    method: str = "GET"


class LocalWeb(LocalServer):
    """`pages` by path and what an engine knows of them, `listed`, which a test may change;
    `requests` has what was asked for, in order.

    A host of its own for each of several sites: `url("/x", host="127.0.0.1")`.
    """

    def __init__(self) -> None:
        super().__init__(type("Handler", (_Handler,), {"web": self}))
        self.pages = dict(PAGES)
        self.listed = list(LISTED)
        self.requests: list[Asked] = []
        self._served: Counter[str] = Counter()
        self.closing = threading.Event()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def paths(self) -> list[str]:
        """The paths that were asked for, robots.txt aside."""
        return [asked.path for asked in self.requests if asked.path != "/robots.txt"]

    def find(self, query: str, count: int = 10) -> list[Listed]:
        """What a search engine would list: by the words that titles and snippets share with it."""
        words = _words(query)
        scored = [(len(words & _words(f"{one.title} {one.snippet}")), one) for one in self.listed]
        ranked = sorted(scored, key=lambda item: -item[0])
        return [one for score, one in ranked if score >= 2][:count]

    def __exit__(self, *raised: object) -> None:
        self.closing.set()
        super().__exit__(*raised)

    def answer(self, path: str) -> Reply:
        """The reply to a path: its first some `times`, and then the next."""
        reply = self.pages.get(path) or Reply(b"not here", 404, {"content-type": "text/html"})
        self._served[path] += 1
        seen = self._served[path]
        while reply.then is not None and seen > reply.times:
            seen -= reply.times
            reply = reply.then
        return reply


class _Handler(JsonHandler):
    web: LocalWeb

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.web.requests.append(Asked(self.path, headers, self.command))
        reply = self.web.answer(self.path)
        self.send_response(reply.status)
        if reply.endless:
            self.close_connection = True
            sent = {"connection": "close"}
        else:
            sent = {"content-length": str(len(reply.body) * reply.chunks)}
        for name, value in {**reply.headers, **sent}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self._send(reply)
        except OSError:
            self.close_connection = True  # whoever asked has heard enough

    do_PATCH = do_GET

    def _send(self, reply: Reply) -> None:
        sent = 0
        while reply.endless or sent < reply.chunks:
            if reply.pause and self.web.closing.wait(reply.pause):
                self.close_connection = True
                return
            self.wfile.write(reply.body)
            sent += 1


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - set(_COMMON.split())
