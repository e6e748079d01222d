"""Serve the app with uvicorn on one address."""

import asyncio
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ufo.schemas.errors import UsageError
from ufo.webapp.app import create_app
from ufo.webapp.guard import LOOPBACK
from ufo.webapp.service import Setup

_ENDING_SECONDS = 5
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def header_deadline(seconds: float) -> type[H11Protocol]:
    """Return a protocol that cuts a connection if a request's headers take longer than `seconds`.

    uvicorn limits how long a connection may be idle after a response, but neither how long its
    first request may take to begin, nor how long the headers of any request may take. The time
    begins with the connection or, later, with the first byte after a response.
    """

    class Punctual(H11Protocol):
        _cut: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait(transport)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._end_wait()
            elif self._cut is None and not self.transport.is_closing():
                self._wait(self.transport)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            # The beginning of the next request may have come together with this one.
            if self.cycle.response_complete and self.conn.trailing_data[0]:
                self._wait(self.transport)

        def connection_lost(self, exc: Exception | None) -> None:
            self._end_wait()
            super().connection_lost(exc)

        def _wait(self, transport: asyncio.Transport) -> None:
            def cut() -> None:
                if not transport.is_closing():
                    transport.write(_TOO_SLOW)
                    transport.close()

            self._cut = asyncio.get_running_loop().call_later(seconds, cut)

        def _end_wait(self) -> None:
            if self._cut is not None:
                self._cut.cancel()
            self._cut = None

    return Punctual


def serve(setup: Setup, host: str = "127.0.0.1", port: int = 8080) -> None:
    """Serve until interrupted. Port 0 means any free port; the address is printed on stderr.

    Raises:
        UsageError: the address cannot be used, or is open to others without a token.
    """
    if host not in LOOPBACK and not setup.token:
        raise UsageError(
            f"--host {host!r} opens the service to other computers, which needs a token in "
            "UFO_TOKEN; without one it serves this computer alone: --host 127.0.0.1"
        )
    listening = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}/"
    print(f"ufo: serving at {address}  (Ctrl-C ends it)", file=sys.stderr, flush=True)
    if setup.token:
        print("ufo: open it as that address with ?token=… once", file=sys.stderr, flush=True)
    # Uvicorn raises the interrupt again after closing, which is the normal end of a service.
    with listening, suppress(KeyboardInterrupt):
        _server(setup).run(sockets=[listening])


@contextmanager
def serve_in_thread(setup: Setup) -> Iterator[str]:
    """Serve in a thread on a free port and yield the address; for tests and benchmarks."""
    listening = _listen("127.0.0.1", 0)
    server = _server(setup)
    thread = threading.Thread(target=server.run, args=([listening],), name="ufo-web", daemon=True)
    with listening:
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def _server(setup: Setup) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            create_app(setup),
            http=header_deadline(setup.limits.header_seconds),
            log_level="warning",
            server_header=False,
            # Otherwise a header could name another client, and rates are counted by client.
            proxy_headers=False,
            timeout_graceful_shutdown=_ENDING_SECONDS,
            # The ids of 500 passages that a reader left out are in an address.
            h11_max_incomplete_event_size=256 * 1024,
        )
    )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Where a socket names its protocol, asyncio sends the last part of a response at once.
    # Otherwise that waits 40 ms, until the client acknowledges the first part.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"--host {host} --port {port} cannot be used: {error.strerror or error}; choose "
            "another port, or 0 for any free one"
        ) from error
    return listener
