"""Emulators of S3, Azure and Google Cloud Storage, each in a process of its own, with a bucket."""

import base64
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

import fsspec
import pytest

from tests.parts import missing

_AZURITE = Path(__file__).parents[1] / ".ci/buckets/node_modules/.bin/azurite-blob"
_ACCOUNT, _KEY = "ufo", base64.b64encode(b"the key of the account").decode()
VARIABLES = (
    "AWS_ENDPOINT_URL",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_DEFAULT_REGION",
    "AZURE_STORAGE_CONNECTION_STRING",
    "STORAGE_EMULATOR_HOST",
)
SCHEMES = {"s3": "s3", "azure": "abfs", "google": "gs"}


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket: the scheme and the name to give, and the environment in which it is found."""

    scheme: str
    environment: Mapping[str, str]
    address: str
    """Host and port of the emulator."""
    uri: str


@contextmanager
def emulated(kind: str) -> Iterator[Bucket]:
    """Start the emulator of a kind (`SCHEMES`), and make a bucket there."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    address = f"127.0.0.1:{port}"
    environment = _environment(kind, address)
    with _serving(_command(kind, port)):
        bucket = Bucket(SCHEMES[kind], environment, address, f"{SCHEMES[kind]}://box")
        with pytest.MonkeyPatch.context() as patch:
            visible(bucket, patch)
            fsspec.filesystem(bucket.scheme).mkdir("box")
        yield bucket


def visible(bucket: Bucket, patch: pytest.MonkeyPatch) -> None:
    """Set the environment so that a bucket is found, and forget clients that others made."""
    for name in VARIABLES:
        patch.delenv(name, raising=False)
    for name, value in bucket.environment.items():
        patch.setenv(name, value)
    # Else Google's client asks at each request, and in vain, for a kind of buckets of Google.
    patch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    forget_clients()


def forget_clients() -> None:
    """Have the next request read the environment again."""
    for scheme in SCHEMES.values():
        fsspec.get_filesystem_class(scheme).clear_instance_cache()


def connection_string(address: str, key: str = _KEY) -> str:
    """Return what Azure's client asks for: the emulator's address, its account and the key."""
    parts = {
        "DefaultEndpointsProtocol": "http",
        "AccountName": _ACCOUNT,
        "AccountKey": key,
        "BlobEndpoint": f"http://{address}/{_ACCOUNT}",
    }
    return ";".join(f"{name}={value}" for name, value in parts.items())


def _environment(kind: str, address: str) -> dict[str, str]:
    if kind == "s3":
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
        region = {"AWS_DEFAULT_REGION": "us-east-1"}
        return {"AWS_ENDPOINT_URL": f"http://{address}", **dict.fromkeys(names, "me"), **region}
    if kind == "azure":
        return {"AZURE_STORAGE_CONNECTION_STRING": connection_string(address)}
    return {"STORAGE_EMULATOR_HOST": f"http://{address}"}


def _command(kind: str, port: int) -> list[str]:
    python = Path(sys.executable).parent
    if kind == "s3":
        return [str(python / "moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    if kind == "google":
        program = [str(python / "gcp-storage-emulator"), "start", "--host", "127.0.0.1"]
        return [*program, "--port", str(port), "--in-memory"]
    if not _AZURITE.exists() or not shutil.which("node"):
        missing(f"azurite is not installed in {_AZURITE.parents[1]}: run scripts/setup_buckets")
    return [
        "env",
        f"AZURITE_ACCOUNTS={_ACCOUNT}:{_KEY}",
        str(_AZURITE),
        "--blobPort",
        str(port),
        "--skipApiVersionCheck",
        "--inMemoryPersistence",
        "--disableTelemetry",
        "--silent",
    ]


@contextmanager
def _serving(command: Sequence[str]) -> Iterator[None]:
    """Run a server from when it says that it listens."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        printed = []
        for line in process.stdout:
            printed.append(line)
            if re.search("Running on|successfully listens|services started", line):
                break
        else:
            pytest.fail(f"{command[0]} did not start: {''.join(printed)}")
        reader = Thread(target=_read, args=(process.stdout,), daemon=True)
        reader.start()
        try:
            yield
        finally:
            process.terminate()
            process.wait()
            reader.join()


def _read(stream: IO[str]) -> None:
    """Read what a server prints: it would wait for a full pipe."""
    for _ in stream:
        pass
