"""What a user reads where the engine of a run does not answer."""

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import grpc
import pytest

from ufo.pipelines.cli import main
from ufo.pipelines.runs import reachable
from ufo.pipelines.runs.reachable import check_engine
from ufo.schemas.errors import RunError, UsageError

StartServer = Callable[[ExitStack], int]


class Web(BaseHTTPRequestHandler):
    """A web server that has no page."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *words: object) -> None:
        pass


class Flink(Web):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"flink-version": "1.20.1"}')


class Hangs(grpc.GenericRpcHandler):
    """Takes each call, and answers none until it is told to."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        return grpc.unary_unary_rpc_method_handler(lambda request, context: self.over.wait())


def closed(stack: ExitStack) -> int:
    taken = stack.enter_context(socket.socket())  # so that no other takes the port
    taken.bind(("127.0.0.1", 0))
    return int(taken.getsockname()[1])


def silent(stack: ExitStack) -> int:
    return int(stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1])


def full(stack: ExitStack) -> int:
    """A port that drops attempts to connect, as a firewall does."""
    listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
    for _ in range(3):
        waiting = stack.enter_context(socket.socket())
        waiting.setblocking(False)
        waiting.connect_ex(listening.getsockname())
    return int(listening.getsockname()[1])


def serving(handler: type[Web]) -> StartServer:
    def start(stack: ExitStack) -> int:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        stack.callback(server.server_close)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        return server.server_port

    return start


def calls(*handlers: Hangs) -> StartServer:
    def start(stack: ExitStack) -> int:
        pool = stack.enter_context(ThreadPoolExecutor(1))
        server = grpc.server(pool, handlers)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        stack.callback(server.stop, None)
        for handler in handlers:
            stack.callback(handler.over.set)
        return port

    return start


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachable, "SECONDS", 0.5)
    monkeypatch.setattr(reachable, "_SECONDS_FOR_REASON", 0.5)


@pytest.mark.parametrize(
    ("start", "job_service", "flink"),
    [
        pytest.param(closed, "connection refused", "connection refused", id="closed"),
        pytest.param(silent, "does not speak gRPC", "says nothing within", id="silent"),
        pytest.param(full, "a firewall may drop it", "a firewall may drop it", id="dropped"),
        pytest.param(serving(Web), "does not speak gRPC", "is not Flink", id="web"),
        pytest.param(calls(), "is no job service of Beam", "is not Flink", id="gRPC"),
        pytest.param(calls(Hangs()), "says nothing within", "is not Flink", id="hangs"),
    ],
)
def test_an_engine_that_cannot_be_asked_is_named_with_cause_and_remedy(
    impatient: None, stack: ExitStack, start: StartServer, job_service: str, flink: str
) -> None:
    address = f"127.0.0.1:{start(stack)}"
    for runner, option, cause in (
        ("PortableRunner", "job_endpoint", job_service),
        ("FlinkRunner", "flink_master", flink),
    ):
        with pytest.raises(RunError) as raised:
            check_engine([f"--runner={runner}", f"--{option}={address}"])
        assert address in raised.value.message
        assert f"--{option}" in raised.value.message
        assert cause in raised.value.message
        assert raised.value.message.endswith("start the engine, or correct the address")


@pytest.mark.parametrize(
    ("option", "address"),
    [("job_endpoint", "nowhere.invalid:80"), ("flink_master", "nowhere.invalid")],
)
def test_a_host_without_an_address_is_named(option: str, address: str) -> None:
    with pytest.raises(RunError, match=r"the host 'nowhere\.invalid' is not known"):
        check_engine(["--runner", "FlinkRunner", f"--{option}", address])


@pytest.mark.parametrize("address", ["localhost", "http://localhost:8099", "localhost:port", ":1"])
def test_an_address_without_host_or_port_is_wrong_usage(address: str) -> None:
    with pytest.raises(UsageError, match="expected HOST:PORT"):
        check_engine(["--runner", "PortableRunner", "--job_endpoint", address])


def test_what_answers_is_used(stack: ExitStack) -> None:
    artifacts, flink = calls()(stack), serving(Flink)(stack)
    check_engine(["--runner", "PortableRunner", "--artifact_endpoint", f"127.0.0.1:{artifacts}"])
    check_engine(["--runner", "FlinkRunner", "--flink_master", f"127.0.0.1:{flink}"])


@pytest.mark.parametrize(
    "flags", [[], ["--flink_master=[local]"], ["--flink_master=[auto]"], ["--job_endpoint=embed"]]
)
def test_what_has_no_address_is_not_asked(flags: list[str]) -> None:
    check_engine(["--runner=FlinkRunner", *flags])


def test_the_command_says_it_before_it_begins_a_run(
    impatient: None,
    stack: ExitStack,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, output = tmp_path / "in.jsonl", tmp_path / "out"
    source.write_text('{"response": "Oslo is in Norway."}', "utf-8")
    flags = ["--judge", "offline", "--runner", "PortableRunner"]
    flags += ["--job_endpoint", f"127.0.0.1:{closed(stack)}"]
    assert main(["evaluate", "--input", str(source), "--output", str(output), *flags]) == 1
    assert "connection refused; start the engine" in capsys.readouterr().err
    assert not output.exists()
