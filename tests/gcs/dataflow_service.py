"""A local stand-in for Dataflow's REST API, v1b3: it takes jobs, and says how they are."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Run = Callable[[dict[str, Any]], None]


class DataflowService:
    """The service on a free port of this machine, while it is entered.

    `jobs` are those that it was given, and `run` is what it does with one; `asked` are the states
    that somebody asked for.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.jobs: list[dict[str, Any]] = []
        self.asked: list[str] = []
        handler = type("_Handler", (_Handler,), {"service": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self.url = f"http://localhost:{self._http.server_port}"
        self.state = "JOB_STATE_RUNNING"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        """Return the reply to a request."""
        if path.endswith("/messages"):
            return {}
        if path.endswith("/metrics"):
            told = [_counter("ufo.read", "lines", 20, tentative) for tentative in (True, False)]
            return {"metrics": told}
        if method == "POST":
            self.jobs.append(json.loads(body))
            self.run(self.jobs[-1])
        if method == "PUT":
            self.asked.append(json.loads(body)["requestedState"])
            self.state = self.asked[-1]
        return {"id": "job-1", "name": self.jobs[-1]["name"], "currentState": self.state}


def _counter(step: str, name: str, value: int, tentative: bool) -> dict[str, Any]:
    """Return a counter of a step of ours as the API has it: once as tried, once as it came out."""
    context = {"namespace": step, "step": "s1"} | ({"tentative": "true"} if tentative else {})
    return {"name": {"origin": "user", "name": name, "context": context}, "scalar": value}


class _Handler(BaseHTTPRequestHandler):
    service: DataflowService

    def _do(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.partition("?")[0]
        reply = json.dumps(self.service.answer(self.command, path, body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    do_GET = do_POST = do_PUT = _do

    def log_message(self, format: str, *args: Any) -> None:
        return
