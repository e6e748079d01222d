"""The HTTP in front of the API: batches, tokens, and the faults that a test asks for."""

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.local_server import LocalServer

from .api import Api, Reply, Request, json_reply
from .objects import Bucket, Refused

_GRANT = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"


@dataclass(slots=True)
class _Fault:
    method: str
    pattern: str
    status: int | None
    left: int
    action: Callable[[], None]


class GcsServer(LocalServer):
    """The service on a free port of this machine, while it is entered.

    `log` has (method, path with query, status) of each request, those of a
    batch each by itself.
    """

    def __init__(self) -> None:
        self.log: list[tuple[str, str, int]] = []
        self._token = uuid4().hex
        self._api = Api(self._token)
        self._faults: list[_Fault] = []
        self._lock = threading.Lock()
        super().__init__(type("_Handler", (_Handler,), {"gcs": self}))

    def bucket(self, name: str, private: bool = False) -> Bucket:
        """Make a bucket."""
        return self._api.buckets.setdefault(name, Bucket(name, private))

    def fail(self, method: str, pattern: str, status: int, times: int = 1) -> None:
        """Answer so many requests whose path and query match with an error of that status."""
        self._faults.append(_Fault(method, pattern, status, times, lambda: None))

    def at(self, method: str, pattern: str, action: Callable[[], None]) -> None:
        """Do something when the first such request comes, before it is answered."""
        self._faults.append(_Fault(method, pattern, None, 1, action))

    def key_file(self, path: Path) -> Path:
        """Write a service account's key whose tokens this server gives; returns its path."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        private = rsa.generate_private_key(65537, 2048).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        key = {
            "type": "service_account",
            "project_id": "tests",
            "private_key_id": "1",
            "private_key": private.decode(),
            "client_email": "tests@example.com",
            "client_id": "1",
            "token_uri": f"{self.address}/token",
        }
        path.write_text(json.dumps(key))
        return path

    def variables(self, key_file: Path) -> dict[str, str]:
        """Return what a process needs in its environment to come here: by Google's Python client,
        and by its C++ client, which is in Arrow and sends no token to a server of tests."""
        return {
            "STORAGE_EMULATOR_HOST": self.address,
            "CLOUD_STORAGE_EMULATOR_ENDPOINT": self.address,
            "GOOGLE_APPLICATION_CREDENTIALS": str(key_file),
            "GOOGLE_CLOUD_PROJECT": "tests",
            "NO_GCE_CHECK": "true",
            # Google's client also asks where a key may be used: nothing leaves this machine.
            "HTTPS_PROXY": self.address,
        }

    def answer(self, request: Request) -> Reply:
        """Return the reply to any request."""
        if request.path == "/token":
            if _GRANT not in request.body.decode():
                return json_reply({"error": "unsupported_grant_type"}, 400)
            return json_reply({"access_token": self._token, "expires_in": 3600, "token_type": "B"})
        if request.path == "/batch/storage/v1":
            return self._batch(request)
        reply = self._fault(request) or self._api.answer(request)
        with self._lock:
            self.log.append((request.method, request.target, reply.status))
        return reply

    def _fault(self, request: Request) -> Reply | None:
        with self._lock:
            for fault in self._faults:
                if fault.method == request.method and re.search(fault.pattern, request.target):
                    break
            else:
                return None
            fault.left -= 1
            if not fault.left:
                self._faults.remove(fault)
        fault.action()
        if fault.status is None:
            return None
        return Reply(fault.status, Refused(fault.status, "Asked for by a test").body())

    def _batch(self, request: Request) -> Reply:
        mark = re.search(r'boundary="?([^";]+)"?', request.headers["content-type"])
        assert mark
        out = bytearray()
        for number, part in enumerate(request.body.split(f"--{mark[1]}".encode())[1:-1]):
            inner = part.partition(b"\r\n\r\n")[2] or part.partition(b"\n\n")[2]
            reply = self.answer(_inner(inner, request.headers))
            headers = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
            out += (
                f"--batch\r\nContent-Type: application/http\r\nContent-ID: <r+{number}>\r\n\r\n"
                f"HTTP/1.1 {reply.status} .\r\n{headers}\r\n".encode()
            )
            out += reply.body + b"\r\n"
        out += b"--batch--\r\n"
        return Reply(200, bytes(out), {"Content-Type": "multipart/mixed; boundary=batch"})


def _inner(text: bytes, outer: Mapping[str, str]) -> Request:
    """Return the request that a part of a batch is; who asks is told by the batch."""
    head, _, body = text.replace(b"\r\n", b"\n").partition(b"\n\n")
    method, target, _ = head.decode().splitlines()[0].split(" ", 2)
    return Request(method, re.sub(r"^https?://[^/]+", "", target), outer, body.strip())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    gcs: GcsServer

    def _do(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        if headers.get("transfer-encoding") == "chunked":
            body = self._chunked()
        else:
            body = self.rfile.read(int(headers.get("content-length", 0)))
        reply = self.gcs.answer(Request(self.command, self.path, headers, body))
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 204:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def _chunked(self) -> bytes:
        body = bytearray()
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(body)

    do_GET = do_POST = do_PUT = do_DELETE = _do

    def log_message(self, format: str, *args: Any) -> None:
        return
