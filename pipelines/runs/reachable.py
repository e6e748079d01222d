"""Check that an engine answers, before a run is begun on it.

Beam waits five minutes for an engine that does not answer, and then does not say which.
"""

import socket
import time
from collections.abc import Sequence
from queue import Empty, SimpleQueue
from ssl import SSLError
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

from ufo.pipelines.logs import quiet_beam
from ufo.pipelines.options.beam_flags import FLINK, runner_of, value_of
from ufo.pipelines.runs.engine import ask_flink, flink_url
from ufo.schemas.errors import RunError, UsageError

SECONDS = 6.0
"""How many seconds an engine has to answer."""
_SECONDS_FOR_REASON = 2.0
_SILENT = f"it takes connections, but says nothing within {SECONDS:.0f} seconds"
_EMBEDDED = "embed"
_REMEDY = "start the engine, or correct the address"
_PORTS = "a job server of Flink or Spark listens on port 8099, Prism on 8073"


def check_engine(flags: Sequence[str]) -> None:
    """Check that the addresses in Beam's flags answer as the runner needs it.

    Raises:
        UsageError: an address is not HOST:PORT.
        RunError: one does not answer; the message has the address, the cause and the remedy.
    """
    endpoint = value_of(flags, "job_endpoint")
    if endpoint and endpoint != _EMBEDDED:
        _check_service("job_endpoint", endpoint, is_job_service=True)
    artifacts = value_of(flags, "artifact_endpoint")
    if artifacts:
        _check_service("artifact_endpoint", artifacts, is_job_service=False)
    master = flink_url(flags)
    if runner_of(flags) == FLINK and master and not endpoint:  # else the job server asks it
        _check_flink(master)


def _check_service(option: str, address: str, is_job_service: bool) -> None:
    quiet_beam()  # before the import, which logs
    # Of Beam, which is slow to import.
    import grpc
    from apache_beam.portability.api import beam_job_api_pb2, beam_job_api_pb2_grpc

    where = f"the engine at --{option} {address}"
    host, port = _host_and_port(option, address)
    until = time.monotonic() + SECONDS
    channel = grpc.insecure_channel(address)
    states: SimpleQueue[Any] = SimpleQueue()
    channel.subscribe(states.put, try_to_connect=True)
    ended = (grpc.ChannelConnectivity.READY, grpc.ChannelConnectivity.TRANSIENT_FAILURE)
    state = None
    while state not in ended:
        try:
            state = states.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            break
    # The channel is closed with its last reference: `close` would fail the thread that watches it.
    channel.unsubscribe(states.put)
    if state is not grpc.ChannelConnectivity.READY:
        reason = (
            _connection_problem(host, port) or f"what answers there does not speak gRPC; {_PORTS}"
        )
        raise RunError(f"{where} cannot be asked: {reason}; {_REMEDY}")
    if not is_job_service:
        return
    left = max(1.0, until - time.monotonic())
    try:
        beam_job_api_pb2_grpc.JobServiceStub(channel).DescribePipelineOptions(
            beam_job_api_pb2.DescribePipelineOptionsRequest(), timeout=left
        )
    except grpc.RpcError as error:
        silent = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        reason = (
            _SILENT
            if silent
            else f"what answers there is no job service of Beam ({error.details()}); {_PORTS}"
        )
        raise RunError(f"{where} cannot be asked: {reason}; {_REMEDY}") from None


def _check_flink(url: str) -> None:
    where = f"Flink at --flink_master {url}"
    parts = urlsplit(url)
    reason = "what answers there is not Flink's REST interface, which listens on port 8081"
    try:
        about = ask_flink(f"{url}/config", seconds=SECONDS)
        if "flink-version" in about:
            return
    except (ValueError, TypeError, HTTPError):
        pass
    except OSError as error:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        cause = getattr(error, "reason", error)
        if isinstance(cause, TimeoutError):
            reason = _SILENT
        elif isinstance(cause, SSLError):
            reason = _words(cause)
        reason = _connection_problem(parts.hostname or "", port) or reason
    raise RunError(f"{where} cannot be asked: {reason}; {_REMEDY}")


def _host_and_port(option: str, address: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{address}")
        if parts.hostname and parts.port and "/" not in address:
            return parts.hostname, parts.port
    except ValueError:
        pass
    raise UsageError(f"--{option}: expected HOST:PORT, found {address!r}")


def _connection_problem(host: str, port: int) -> str:
    """Return why nothing at this address takes a connection; "" if something does."""
    reasons: SimpleQueue[str] = SimpleQueue()

    def connect() -> None:
        try:
            socket.create_connection((host, port), _SECONDS_FOR_REASON).close()
            reasons.put("")
        except socket.gaierror:
            reasons.put(f"the host {host!r} is not known")
        except OSError as error:
            reasons.put(_words(error))

    # A thread, since nothing limits how long a name is looked up.
    Thread(target=connect, daemon=True).start()
    try:
        return reasons.get(timeout=_SECONDS_FOR_REASON + 0.5)
    except Empty:
        return _words(TimeoutError())


def _words(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "nothing takes the connection in time; a firewall may drop it"
    return (error.strerror or str(error)).lower()
