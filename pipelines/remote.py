"""What other file systems need before they are asked, and what they say when they refuse."""

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from typing import Any, BinaryIO, Final, cast

_BUFFER: Final = 1 << 20

_EXTRAS: Final = {  # by scheme: the library that its file system needs, and what brings it
    "gs": ("google.cloud.storage", "ufo-factuality[gcp]"),
    "s3": ("boto3", "apache-beam[aws]"),
    "azfs": ("azure.storage.blob", "apache-beam[azure]"),
    "hdfs": ("hdfs", "apache-beam[hadoop]"),
}
_REMEDIES: Final = {
    401: "no credentials were found, or these are not accepted: run `gcloud auth "
    "application-default login`, or name a key file in GOOGLE_APPLICATION_CREDENTIALS",
    403: "the credentials do not reach so far: give their account the role Storage Object User "
    "on the bucket",
    404: "there is no such bucket or object; check the path",
}


class RemoteError(OSError):
    """Another file system refused, or could not be reached; the message tells the remedy."""


def ready(path: str) -> None:
    """Raise a RemoteError where nothing that is installed knows the path's file system."""
    _ready(path.partition("://")[0])


@cache
def _ready(scheme: str) -> None:
    from apache_beam.io.filesystem import FileSystem

    library, extra = _EXTRAS.get(scheme, (None, ""))
    if library and not _installed(library):
        raise RemoteError(f"{scheme}:// needs an extra: pip install '{extra}'")
    known = {kind.scheme() or "" for kind in FileSystem.get_all_subclasses()} - {""}
    if scheme not in known:
        shown = ", ".join(f"{name}://" for name in sorted({*known, *_EXTRAS}))
        raise RemoteError(f"no file system is known by {scheme}://; known are {shown}")
    if scheme == "gs":
        _look_for_credentials()


def _installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:
        return False


def _look_for_credentials() -> None:
    """Look once; Beam would look for half a minute before it goes on without, as it does here."""
    from apache_beam.internal.gcp import auth
    from google.auth import default
    from google.auth.exceptions import GoogleAuthError

    # An account to act as needs Beam's options, which Beam reads when it looks.
    with suppress(AttributeError):
        found = auth._Credentials
        if found._credentials_init:
            return
        try:
            default()
        except GoogleAuthError:
            found._credentials_init = True


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Make an OSError with the remedy of whatever a file system raises."""
    try:
        yield
    except RemoteError:
        raise
    except Exception as error:
        raise RemoteError(f"{path}: {_said(error)}") from error


def _said(error: Exception) -> str:
    status, text = _cause(error)
    remedy = _REMEDIES.get(status)
    return f"{remedy} ({text})" if remedy else text


def _cause(error: object) -> tuple[int, str]:
    """Return the HTTP status behind an error, 0 where there is none, and what it says."""
    if isinstance(error, int):  # Beam gives the status alone for what it asked in a batch
        return error, f"HTTP status {error}"
    details = getattr(error, "exception_details", None)
    if details:
        return _cause(next(iter(details.values())))
    reply = getattr(error, "response", None)
    status = getattr(reply, "status_code", None) or getattr(error, "code", None)
    inner = getattr(error, "cause", None)
    if not isinstance(status, int) and isinstance(inner, Exception):
        return _cause(inner)
    if type(error).__module__ == "google.auth.exceptions" and "Transport" not in str(type(error)):
        status = 401  # there was no token to send, or none to be had
    text = str(getattr(error, "message", None) or error)
    return int(status) if isinstance(status, int) else 0, f"{type(error).__name__}: {text}"


class _Explained(io.RawIOBase):
    """A file of another file system, whose errors are explained while it is read, too."""

    def __init__(self, path: str, file: Any) -> None:
        self._path = path
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def readinto(self, buffer: Any) -> int:
        with explained(self._path):
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        with explained(self._path):
            return bytes(self._file.read())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with explained(self._path):
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def stream(path: str, file: Any) -> BinaryIO:
    """Return a file of Beam's such that whatever goes wrong with it is explained."""
    return cast(BinaryIO, io.BufferedReader(_Explained(path, file), _BUFFER))
