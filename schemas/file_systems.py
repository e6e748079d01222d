"""Find the file system that a URI names; its errors say what to do.

fsspec knows the file systems by their schemes (`gs://`, `s3://`, `hdfs://`, `file://`). For most it
needs a package, and it reads options from its own configuration.
"""

import logging
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ufo.schemas.errors import RunError, UfoError, UsageError, has_cause
from ufo.schemas.text import hide_secrets

OBJECT_STORES: Final = {"gs", "gcs", "s3", "s3a", "abfs", "abfss", "az", "adl", "oss"}
"""The schemes of object stores: there are no folders, and an object appears when it is whole."""


_EXTRAS: Final = {"gs": "gs", "gcs": "gs", "s3": "s3", "s3a": "s3", "abfs": "abfs", "az": "abfs"}
"""The extra with the package for a scheme; for other schemes fsspec names the package."""


class RemoteError(OSError):
    """A file system refused a request or could not be reached.

    `filename` is the address, and `strerror` why.
    """

    def __init__(self, _: None, why: str, uri: str) -> None:
        super().__init__(None, why, uri)

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


class BucketMissing(RemoteError):
    """There is no bucket of the name."""


class Refused(RemoteError):
    """A file system asks for other credentials, or for more permissions."""


class Unreachable(RemoteError):
    """A file system did not answer."""


def command_error(message: str, error: Exception) -> UfoError:
    """Return the error of a command for an unusable file.

    It is RunError (exit 1) if another machine does not answer, else UsageError (exit 2)."""
    return RunError(message) if isinstance(error, Unreachable) else UsageError(message)


def is_remote(path: str) -> bool:
    """Return whether the path names another file system (`gs://…`, `s3://…`)."""
    return "://" in path


@contextmanager
def file_system(uri: str) -> Iterator[tuple[Any, str]]:
    """Yield the file system that a URI names, and the path in it.

    Raises:
        FileNotFoundError: a file that the block asks for does not exist.
        RemoteError: there is no such file system or bucket, or it refuses or cannot be reached.
    """
    from fsspec.core import url_to_fs  # with its imports only where it is needed

    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    shown = hide_secrets(uri)
    try:
        if uri.startswith("://"):
            raise ValueError("it has no scheme")
        # Other processes write there, so a cached listing may be out of date.
        system, path = url_to_fs(uri, use_listings_cache=False)
        if scheme_of(uri) in OBJECT_STORES:
            _check_bucket(system, path, shown)
        yield system, path
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{shown}: there is no such file") from error
    except RemoteError:
        raise
    except Exception as error:  # each client has its own errors
        raise _remote_error(uri, error) from error


_TALKATIVE: Final = ("gcsfs", "azure", "adlfs")
"""Loggers of clients that print warnings, or tracebacks of errors that they raise as well."""


_PATIENCE: Final = 20.0
"""Seconds that a bucket has for its first answer. The clients try again for up to minutes."""


_checked_buckets: set[tuple[int, str]] = set()


def _check_bucket(system: Any, path: str, shown: str) -> None:
    """Check, once in a process, that the bucket of a path exists and answers.

    A client may list a missing bucket as an empty one. An account without the permission to ask may
    be allowed to read or write files of the bucket.
    """
    bucket = system.split_path(path)[0] if hasattr(system, "split_path") else ""
    place = hash(system), bucket
    if not bucket or place in _checked_buckets or not system.async_impl:
        return
    try:
        system.info(bucket, timeout=_PATIENCE)
    except FileNotFoundError as error:
        if not has_cause(error.__cause__ or error.__context__, _refuses):
            why = _server_message(error, bucket)
            what = f"there is no bucket {bucket!r}{why}; make it, or check its name and the account"
            raise BucketMissing(None, what, shown) from error
    except Exception as error:
        if not has_cause(error, _refuses) or has_cause(error, _lacks_credentials):
            raise
    _checked_buckets.add(place)


def _remote_error(uri: str, error: Exception) -> RemoteError:
    """Convert an error of a client to a RemoteError that says what to do."""
    shown, scheme = hide_secrets(uri), scheme_of(uri)
    text = _first_words(error) or type(error).__name__
    extra = _EXTRAS.get(scheme)
    if isinstance(error, ImportError) and extra:
        return RemoteError(None, f"{text}: pip install 'ufo-factuality[{extra}]'", shown)
    if text.startswith("Protocol not known"):
        text += "; known are file, gs, s3, abfs, hdfs and others of fsspec"
    elif has_cause(error, _refuses):
        known = f"; {_CREDENTIALS[extra]}" if extra else ""
        return Refused(None, f"access is refused: {text}{known}", shown)
    elif has_cause(error, _does_not_answer):
        waited = f"in {_PATIENCE:.0f} seconds" if isinstance(error, TimeoutError) else f"({text})"
        known = f"; check the network and the endpoint; {_CREDENTIALS[extra]}" if extra else ""
        return Unreachable(None, f"it does not answer {waited}{known}", shown)
    return RemoteError(None, text, shown)


_CREDENTIALS: Final = {
    "gs": "credentials come from GOOGLE_APPLICATION_CREDENTIALS or `gcloud auth application-default"
    " login`, the endpoint from STORAGE_EMULATOR_HOST",
    "s3": "credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, the "
    "endpoint from AWS_ENDPOINT_URL",
    "abfs": "account and credentials come from AZURE_STORAGE_CONNECTION_STRING, or from "
    "AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN or "
    "`az login`",
}
"""Where the client of each extra looks for its credentials and its endpoint."""


_NO_CREDENTIALS: Final = re.compile(r"Credential|ClientAuthentication|RefreshError|ProfileNotFound")
_NO_ANSWER: Final = re.compile(r"Connect|Timeout|ServiceRe|ProxyError|SSLError|TransportError")
_REFUSALS: Final = {"401", "403"}


def _lacks_credentials(error: BaseException) -> bool:
    # By name, since the packages of these classes may not be installed.
    named = _NO_CREDENTIALS.search(type(error).__name__)
    return bool(named) or "with credentials" in str(error)


def _refuses(error: BaseException) -> bool:
    codes = {str(getattr(error, name, None)) for name in ("code", "status", "status_code")}
    if isinstance(error, PermissionError) or codes & _REFUSALS or _lacks_credentials(error):
        return True
    return isinstance(error, OSError) and str(error).startswith("Forbidden")


def _does_not_answer(error: BaseException) -> bool:
    kinds = (ConnectionError, TimeoutError, socket.gaierror)
    return isinstance(error, kinds) or bool(_NO_ANSWER.search(type(error).__name__))


def _words(error: BaseException) -> str:
    """Return an error's message in one line, without secrets or identifiers of requests."""
    lines = [line.strip() for line in str(error).splitlines()]
    words = [line for line in lines if line and not _OF_REQUESTS.match(line)]
    return hide_secrets(" ".join(words[:2]))[:_LONGEST_WORDS]


def _first_words(error: BaseException | None) -> str:
    """Return the first message in an error's chain of causes."""
    while error is not None:
        if words := _words(error):
            return words
        error = error.__cause__ or error.__context__
    return ""


def _server_message(error: BaseException, path: str) -> str:
    """Return the server's message on a missing path in brackets; "" if it has only the path."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = _words(error)
    return f" ({text})" if " " in text and path not in text else ""


_OF_REQUESTS: Final = re.compile(r"RequestId:|Time:|ErrorCode:|Content:|<")
_LONGEST_WORDS: Final = 300


def scheme_of(uri: str) -> str:
    """Return the scheme of a URI."""
    return uri.partition("://")[0]
