"""Keys from a local Secret Manager, by Google's own client."""

import base64
import json
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.gcs.conftest import PYTHON, ROOT, Place

KEY = "sk-SECRET"
NAME = "projects/my-project/secrets/models/versions/latest"


class _Handler(BaseHTTPRequestHandler):
    """`accessSecretVersion` of the REST API v1, for one secret; any other is forbidden."""

    def do_GET(self) -> None:
        found = self.path.partition("?")[0] == f"/v1/{NAME}:access"
        value: dict[str, Any] = {"error": {"code": 403, "message": "Permission denied on secret"}}
        if found:
            data = base64.b64encode(f"{KEY}\n".encode()).decode()
            value = {"name": NAME, "payload": {"data": data}}
        body = json.dumps(value).encode()
        self.send_response(200 if found else 403)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture
def manager() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def read(address: str, named: str) -> subprocess.CompletedProcess[str]:
    script = Path(__file__).with_name("read_secret.py")
    command = [str(PYTHON), str(script), address, named]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_a_secret_is_in_the_environment(place: Place, manager: str) -> None:
    done = read(manager, "OPENAI_API_KEY=projects/my-project/secrets/models")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{KEY}\n"


def test_one_that_may_not_be_read_is_reported(place: Place, manager: str) -> None:
    done = read(manager, "OPENAI_API_KEY=projects/my-project/secrets/other")
    assert done.returncode == 1
    assert "'projects/my-project/secrets/other/versions/latest' cannot be read" in done.stderr
    assert "Permission denied on secret" in done.stderr
    assert "roles/secretmanager.secretAccessor" in done.stderr
