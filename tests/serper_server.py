"""A local search endpoint in the shape of Serper's: `POST /search` with one query or a list.

    with SerperServer() as server:
        server.results["Who built it?"] = result(snippet("It was built by Ada."))
        os.environ["SERPER_BASE_URL"], os.environ["SERPER_API_KEY"] = server.url, server.key

`requests` has what came, in order. `faults` is what is done to the next requests: a status, a
(status, headers) pair, bytes to send in place of the reply, or RESET; None does nothing.
"""

import json
import socket
import struct
from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.local_server import LocalServer

KEY = "serper-0123456789abcdef"
RESET = "reset"


@dataclass(frozen=True, slots=True)
class Searched:
    """A request as it came."""

    path: str
    key: str | None
    body: Any


def snippet(text: str | None, **more: Any) -> dict[str, Any]:
    """An organic result."""
    found = {"title": "A page", "link": "https://example.org/page", "snippet": text, "position": 1}
    return {name: value for name, value in (found | more).items() if value is not None}


def result(*organic: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What the engine says to one query."""
    return {"searchParameters": {"type": "search"}, **more, "organic": list(organic)}


class SerperServer(LocalServer):
    """`results` by query; to another one the engine finds nothing."""

    def __init__(self, key: str = KEY) -> None:
        super().__init__(self._handler())
        self.key = key
        self.results: dict[str, Any] = {}
        self.requests: list[Searched] = []
        self.faults: deque[Any] = deque()

    @property
    def url(self) -> str:
        return self.address

    def answer(self, searched: Searched) -> tuple[int, dict[str, str], Any]:
        fault = self.faults.popleft() if self.faults else None
        if isinstance(fault, bytes):
            return 200, {}, fault
        if fault is not None:
            status, headers = fault if isinstance(fault, tuple) else (fault, {})
            said = "Not enough credits" if status == 400 else f"Status {status}"
            return status, headers, {"message": said, "statusCode": status}
        if searched.path != "/search":
            return 404, {}, {"message": "Not found", "statusCode": 404}
        if searched.key != self.key:
            # A careless endpoint repeats the key, which shows whether a client leaks it.
            return 403, {}, {"message": f"Unauthorized: {searched.key}", "statusCode": 403}
        asked = searched.body if isinstance(searched.body, list) else [searched.body]
        found = [self.results.get(query["q"], result()) for query in asked]
        return 200, {}, found if isinstance(searched.body, list) else found[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                searched = Searched(self.path, self.headers.get("x-api-key"), body)
                server.requests.append(searched)
                if server.faults and server.faults[0] == RESET:
                    server.faults.popleft()
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.close_connection = True
                    return
                status, headers, payload = server.answer(searched)
                data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
                self.send_response(status)
                for name, value in {**headers, "content-length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        return Handler
