"""A real HTTP server on loopback for the length of a `with`: what the tests' doubles stand on."""

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Say nothing: whoever asked has hung up."""


class LocalServer:
    """Serves by a handler at a free port, from `with` on."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class JsonHandler(BaseHTTPRequestHandler):
    """Reads a request's JSON and sends a reply's; bytes go as they are."""

    protocol_version = "HTTP/1.1"

    def body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["content-length"])))

    def reply(self, status: int, payload: Any, headers: Mapping[str, str] | None = None) -> None:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        self.send_response(status)
        sent = {"content-type": "application/json", "content-length": str(len(data))}
        for name, value in {**sent, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
